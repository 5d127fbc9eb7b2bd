"""The file that keeps photos, faces, captions, names and decisions: SQLite, one writer.

``schema`` has the tables, ``opening`` and ``lock`` how a file is opened, ``project`` the file
with its roots, runs and decisions, ``store`` what is written for a photo, ``queries`` what is
read.
"""

from candidly.photos.project.place import default_project
from candidly.photos.project.problems import ProjectProblem
from candidly.photos.project.project import Project, Root

__all__ = ["Project", "ProjectProblem", "Root", "default_project"]
