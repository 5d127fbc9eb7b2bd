"""Where a project is if no file is named: one per folder of photos, in the user's data folder.

Verbs that name no folder work on the project that was last made or added to. A project of an
earlier version, of whatever folders, stays that of its folders.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from candidly.photos import private
from candidly.photos.project.connection import ProjectProblem

NAME = "photos.candidly"
LAST = "last-project"  # a file with the name of the project used last
SAMPLED = 50  # files by which a folder that was moved is recognised
_COPY = re.compile(r"-(backup|before-restore)-\d{8}-\d{6}")


def data_folder() -> Path:
    """Return the folder of projects for which no file is named."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "Candidly"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Candidly"
    # The convention says that a relative XDG_DATA_HOME is to be ignored.
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else home / ".local" / "share") / "candidly"


def default_project(photos: Path | None = None) -> Path:
    """Return the project file used where none is named.

    Parameters
    ----------
    photos : Path, optional
        The folder of photos: its project, or where a new one is made. None for the project used
        last.

    Raises
    ------
    ProjectProblem
        Where it is not clear which one is meant: the message lists them.

    Examples
    --------
    >>> default_project(Path("Holiday 2024")).name
    'Holiday 2024.candidly'
    """
    return _last() if photos is None else _of_folder(photos.resolve())


def default_projects() -> list[Path]:
    """Return the projects in the data folder, without copies."""
    found = data_folder().glob("*.candidly")
    return sorted(path for path in found if not _COPY.search(path.stem))


def remember(project: Path) -> None:
    """Make a project in the data folder the one used last."""
    if project.parent == data_folder().resolve():
        with suppress(OSError):  # it is a convenience
            private.make_folder(data_folder())
            private.write_file(data_folder() / LAST, project.name.encode())


def _last() -> Path:
    folder, there = data_folder(), default_projects()
    with suppress(OSError, UnicodeDecodeError):
        last = folder / (folder / LAST).read_text(encoding="utf-8")
        if last in there:
            return last
    if len(there) > 1:
        listed = ", ".join(map(str, there))
        raise ProjectProblem(f"say which project with --project FILE; there are {listed}")
    return there[0] if there else folder / NAME


def _of_folder(photos: Path) -> Path:
    there = {path: list(_roots(path)) for path in default_projects()}
    exact = [path for path, roots in there.items() if photos in roots]
    around = [p for p, roots in there.items() if any(map(photos.is_relative_to, roots))]
    inside = [p for p, roots in there.items() if any(root.is_relative_to(photos) for root in roots)]
    for found in (exact, around, inside):
        if len(found) > 1:
            listed = ", ".join(map(str, found))
            raise ProjectProblem(
                f"photos of {photos} are in several projects: {listed}; say which is meant, or "
                "another file, with --project FILE"
            )
        if found:
            return found[0]
    moved = (path for path, roots in there.items() if roots and _moved(path, roots, photos))
    return next(moved, None) or _new(photos, there)


def _new(photos: Path, there: dict[Path, list[Path]]) -> Path:
    """Return a file for a new project, called as its folder; one without any photos will do."""
    stem = re.sub(r'[\x00-\x1f<>:"/\\|?*]', "_", photos.name).strip(". ") or "photos"
    stem = stem.encode("utf-8", "replace").decode()[:60]
    for number in range(1, 10_000):
        path = data_folder() / f"{stem}{f' {number}' if number > 1 else ''}.candidly"
        if not path.exists() or there.get(path) == []:
            return path
    raise ProjectProblem(f"there are too many projects called {stem}; give --project FILE")


def _roots(project: Path) -> Iterator[Path]:
    """Yield the folders of photos of a project; none where it cannot be read."""
    with suppress(sqlite3.DatabaseError), closing(_reader(project)) as sql:
        for (path,) in sql.execute("SELECT path FROM roots").fetchall():
            yield Path(os.fsdecode(path))


def _moved(project: Path, roots: list[Path], photos: Path) -> bool:
    """Return whether a folder has most files of a project whose folders are not there."""
    if any(root.exists() for root in roots):
        return False
    with suppress(sqlite3.DatabaseError), closing(_reader(project)) as sql:
        files = sql.execute(
            "SELECT path, size, mtime_ns FROM files WHERE gone = 0 ORDER BY id LIMIT ?", (SAMPLED,)
        ).fetchall()
        same = 0
        for path, *known in files:
            with suppress(OSError):
                status = (photos / os.fsdecode(path)).stat()
                same += [status.st_size, status.st_mtime_ns] == known
        return 2 * same > len(files)
    return False


def _reader(project: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{project.as_uri()}?mode=ro", uri=True)
