"""Files of photos: where they are, whether their folder moved, and which files are beside them.

A caption can change without its photo: in ``captions.csv``, in a text or sidecar file. Comparing
sizes and times of those files is much faster than reading them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from candidly.photos.parts import FoundFile, IngestParts
from candidly.photos.project import Project, ProjectProblem, Root
from candidly.photos.project.store import file_record, is_gone

TABLES = ("captions.csv", "captions.json")
SIDECARS = (".txt", ".xmp")


def folder_inside(folder: Path, only: Path) -> Path:
    """Return the full path of a folder inside a folder; anything else is refused."""
    whole = folder.resolve()
    for base in (Path(os.path.abspath(folder)), whole):  # noqa: PTH100  as given, or where it is
        inner = Path(os.path.abspath(base / only))  # noqa: PTH100  a link in the folder is in it
        if inner.is_relative_to(base) and inner.is_dir():
            return whole / inner.relative_to(base)
    raise ProjectProblem(f"{only} is no folder in {folder}; name one that is")


def find_root(project: Project, folder: Path, parts: IngestParts, since: datetime | None) -> Root:
    """Return the root of a folder: a new one, or a moved one with the same files."""
    roots = project.roots()
    if any(folder.is_relative_to(r.path) or r.path.is_relative_to(folder) for r in roots):
        return project.root_for(folder)
    absent = [root for root in roots if is_gone(root.path)]
    if absent:
        files, _ = parts.pictures.find(folder, since, None)
        for root in absent:
            same = 0
            for file in files:
                known = file_record(project.connection, root.id, relative_path(folder, file.path))
                same += known is not None and (known.size, known.mtime_ns) == size_and_time(file)
            if 2 * same > len(files):
                project.move_root(root.path, folder)
                break
    return project.root_for(folder)


def relative_path(root: Path, path: Path) -> str:
    """Return a path as the project stores it: from its root, with /."""
    return (root / path).relative_to(root).as_posix()


def size_and_time(file: FoundFile) -> tuple[int, int]:
    """Return size and time: a file where both are as before has not changed."""
    return file.size, file.mtime_ns


class SidecarStamps:
    """Stamps of the files beside the photos below a root; folders are listed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[Path, dict[str, str]] = {}

    def stamp(self, path: Path) -> str:
        """Return a text that changes when a caption file of this photo comes, changes or goes."""
        here = self._listed(path.parent)
        name, stem = path.name.lower(), path.stem.lower()
        near = [here.get(base + end, "") for base in (name, stem) for end in SIDECARS]
        for folder in (path.parent, *path.parent.parents):
            listed = self._listed(folder)
            near.extend(listed.get(table, "") for table in TABLES)
            if folder == self._root:
                break
        return blake2b("|".join(near).encode(), digest_size=12).hexdigest()

    def _listed(self, folder: Path) -> dict[str, str]:
        """Return the files that may have captions, in lower case, with size and time."""
        if folder not in self._folders:
            found = self._folders[folder] = {}
            # What cannot be listed cannot be read either, and the reader reports it.
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name.lower()
                    if name in TABLES or name.endswith(SIDECARS):
                        with suppress(OSError):  # a link that leads nowhere
                            stat = entry.stat()
                            found[name] = f"{stat.st_size}:{stat.st_mtime_ns}"
        return self._folders[folder]
