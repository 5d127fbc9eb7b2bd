"""The project file: photos, faces, captions, names and decisions in SQLite, one writer at a time.

1. ``connection``: the lock, how the file is opened, and what can be wrong with it
2. ``places``: where it is if no file is named
3. ``forgotten``: names that were forgotten, as keyed hashes
4. ``schema``: its tables, their migrations, and how single values are stored
5. ``decision_log``: decisions in their order, and which of them stand
6. ``known_names``: who people are by lists and decisions, and names like a name
7. ``face_names``: the name that a face has now
8. ``deciding``: what a person decides about faces and names, and takes back
9. ``project``: the ``Project`` itself with its roots and runs
10. ``store``: writes the files, faces and captions of one photo
11. ``queries``: reads lists of faces, photos, captions and names
12. ``named_faces``: reads the faces that have a name, with who said so
13. ``caption_counts``: counts photos without captions, or without names in them
14. ``change_tracking``: triggers that note which photos changed, and count labels
15. ``name_counts``: how many faces each person has, by these counts
16. ``batches``: rows in batches
"""

from candidly.photos.project.connection import ProjectProblem
from candidly.photos.project.places import default_project
from candidly.photos.project.project import Project, Root, open_project

__all__ = ["Project", "ProjectProblem", "Root", "default_project", "open_project"]
