"""Names written out of a project, and taken back.

1. ``xmp_document``: an XMP packet that is edited without losing anything
2. ``photo_names``: the names of a photo in such a packet
3. ``name_tables``: the same as CSV and JSON
4. ``targets``: which files are written for a photo, and the places of faces as stored
5. ``exiftool``: packets put into copies of photos
6. ``whole_files``: files that are written as a whole or not at all
7. ``export_records``: what was written where, in the project
8. ``export`` and ``undoing``: exports, and exports taken back
"""

from candidly.photos.exporting.export import ExportSummary, ExportTargets, export
from candidly.photos.exporting.undoing import UndoSummary, undo_export

__all__ = ["ExportSummary", "ExportTargets", "UndoSummary", "export", "undo_export"]
