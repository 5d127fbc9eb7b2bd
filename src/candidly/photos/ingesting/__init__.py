"""Ingests photos into a project: finds them, scans them for faces, and reads their captions.

1. ``choices``: a user's choices, stored in the project, and the parts that follow from them
2. ``photo_files``: where photos are, whether their folder moved, and which files are beside them
3. ``scanning``: opens pictures, finds and embeds faces, in a few threads
4. ``ingestion``: one run over one folder, one transaction per photo
"""

from candidly.photos.ingesting.choices import Choices, default_parts, store_choices
from candidly.photos.ingesting.ingestion import IngestSummary, ingest_folder

__all__ = [
    "Choices",
    "IngestSummary",
    "default_parts",
    "ingest_folder",
    "store_choices",
]
