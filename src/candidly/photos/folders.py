"""Where photos are: the root of a folder, and a folder that is now elsewhere."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from candidly.photos.parts import FoundFile, Parts
from candidly.photos.project import Project, ProjectProblem, Root
from candidly.photos.project.store import is_gone, known_file


def inside(folder: Path, only: Path) -> Path:
    """The whole path of a folder in a folder; anything else is refused."""
    whole = folder.resolve()
    for base in (Path(os.path.abspath(folder)), whole):  # noqa: PTH100  as given, or where it is
        inner = Path(os.path.abspath(base / only))  # noqa: PTH100  a link in the folder is in it
        if inner.is_relative_to(base) and inner.is_dir():
            return whole / inner.relative_to(base)
    raise ProjectProblem(f"{only} is no folder in {folder}; name one that is")


def moved_or_new(project: Project, folder: Path, parts: Parts, since: datetime | None) -> Root:
    """The root of a folder; a root that is gone from its place, with the same files, is it."""
    roots = project.roots()
    if any(folder.is_relative_to(r.path) or r.path.is_relative_to(folder) for r in roots):
        return project.root_for(folder)
    absent = [root for root in roots if is_gone(root.path)]
    if absent:
        files, _ = parts.pictures.find(folder, since, None)
        for root in absent:
            same = 0
            for file in files:
                known = known_file(project.connection, root.id, below(folder, file.path))
                same += known is not None and (known.size, known.mtime_ns) == stat_of(file)
            if 2 * same > len(files):
                project.move_root(root.path, folder)
                break
    return project.root_for(folder)


def below(root: Path, path: Path) -> str:
    """A path as the project keeps it: from its root, with /."""
    return (root / path).relative_to(root).as_posix()


def stat_of(file: FoundFile) -> tuple[int, int]:
    """Size and time: a file where both are as before has not changed."""
    return file.size, file.mtime_ns
