"""Keeps a project safe: copies of it, what is wrong with it, and what is to be forgotten.

1. ``examination``: what is wrong with a project file, and what can be read of it saved
2. ``person_traces``: who somebody is in a project; ``remaining_files``: where they are outside of
   it; ``deletion``: deletes what a project has of them
3. ``forgetting``: a person, or what all faces look like, deleted to the last byte
4. ``backup``: copies of a project, and taking one back
"""

from candidly.photos.keeping.backup import Restored, backup, restore
from candidly.photos.keeping.examination import faults, salvage
from candidly.photos.keeping.forgetting import Forgotten, forget_faces, forget_person

__all__ = [
    "Forgotten",
    "Restored",
    "backup",
    "faults",
    "forget_faces",
    "forget_person",
    "restore",
    "salvage",
]
