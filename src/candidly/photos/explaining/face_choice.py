"""Finding the face that a user means: by its number, or by file and place from the left."""

from __future__ import annotations

import difflib
import os
import sqlite3
from pathlib import Path

from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.known_names import CLOSE
from candidly.photos.project.queries import file_of
from candidly.wording import count


def find_face(project: Project, text: str) -> int:
    """Return the number of a face.

    Parameters
    ----------
    project : Project
    text : str
        The number that ``candidly faces --csv`` shows; or a file, as FILE where it has one face,
        and as FILE#2 for the second from the left. A file is given from its photo root, by its
        whole path, or by its name alone where only one has it.

    Raises
    ------
    ProjectProblem
        Where there is no such face, or more than one: the message says how to choose.
    """
    with project.snapshot() as sql:
        if text.isascii() and text.isdigit() and _is_face(sql, int(text)):
            return int(text)
        photos = _photos(sql, text)
        place = None
        head, mark, tail = text.rpartition("#")
        # A file may have a # in its name.
        if not photos and mark and tail.isascii() and tail.isdigit():
            photos, place = _photos(sql, head), int(tail)
        if not photos:
            raise ProjectProblem(
                f"there is no face and no photo {text!r} in {project.path}; "
                f"{_meant(sql, head or text)}candidly faces --csv lists both: give the number of a "
                "face, FILE, or FILE#2 for the second from left"
            )
        photo, file = _only_one(photos, text)
        return _face_of(sql, photo, file, place)


def find_photo(project: Project, text: str) -> int:
    """Return the number of the photo that a user means by a file, given as in ``find_face``."""
    with project.snapshot() as sql:
        photos = _photos(sql, text)
        if not photos:
            raise ProjectProblem(
                f"there is no photo {text!r} in {project.path}; {_meant(sql, text)}candidly photos "
                "lists all"
            )
        return _only_one(photos, text)[0]


def _only_one(photos: dict[int, tuple[Path, str]], text: str) -> tuple[int, str]:
    """Return the one photo that a text means, and its file."""
    if len(photos) > 1:
        some = " and ".join(sorted(str(root / file) for root, file in photos.values())[:2])
        raise ProjectProblem(
            f"{len(photos)} photos are called {text!r}, such as {some}; give more of the path"
        )
    ((photo, (_, file)),) = photos.items()
    return photo, file


def _meant(sql: sqlite3.Connection, text: str) -> str:
    close = " or ".join(_close_files(sql, text))
    return f"did you mean {close}? " if close else ""


def _face_of(sql: sqlite3.Connection, photo: int, file: str, place: int | None) -> int:
    faces = faces_from_left(sql, photo)
    if not faces:
        raise ProjectProblem(f"no face was found in {file}")
    if place is None and len(faces) > 1:
        raise ProjectProblem(
            f"{file} has {len(faces)} faces; say which, from left: {file}#1 to {file}#{len(faces)}"
        )
    if place is not None and not 1 <= place <= len(faces):
        shown = count(len(faces), "face")
        nearest = 1 if place < 1 else len(faces)
        raise ProjectProblem(
            f"{file} has {shown}, so there is no {file}#{place}; the nearest is {file}#{nearest}"
        )
    return faces[0 if place is None else place - 1]


def face_label(sql: sqlite3.Connection, face: int) -> str:
    """Return a face as a user names it: FILE#2 for the second from left."""
    (photo,) = sql.execute("SELECT photo FROM faces WHERE id = ?", (face,)).fetchone()
    return f"{file_of(sql, face)}#{faces_from_left(sql, photo).index(face) + 1}"


def faces_from_left(sql: sqlite3.Connection, photo: int) -> list[int]:
    """Return the faces of a photo from left to right, as ``candidly faces`` lists them."""
    rows = sql.execute("SELECT id FROM faces WHERE photo = ? ORDER BY x, id", (photo,))
    return [face for (face,) in rows]


def _is_face(sql: sqlite3.Connection, number: int) -> bool:
    if number >= 2**63:
        return False
    return sql.execute("SELECT 1 FROM faces WHERE id = ?", (number,)).fetchone() is not None


def _close_files(sql: sqlite3.Connection, text: str) -> list[str]:
    """Return files whose path or name is written most like a text; often none."""
    rows = sql.execute("SELECT path FROM files WHERE gone = 0 AND photo IS NOT NULL")
    paths = [os.fsdecode(path) for (path,) in rows]
    named = {path.rpartition("/")[2]: path for path in reversed(paths)} | {p: p for p in paths}
    close = difflib.get_close_matches(text, list(named), CLOSE)
    return list(dict.fromkeys(named[name] for name in close))


def _photos(sql: sqlite3.Connection, text: str) -> dict[int, tuple[Path, str]]:
    """Return photos that a text may mean, with root and file: by path, else by name alone."""
    files = [
        (photo, os.fsdecode(path), Path(os.fsdecode(root)))
        for photo, path, root in sql.execute(
            "SELECT photo, files.path, roots.path FROM files JOIN roots ON roots.id = root"
            " WHERE gone = 0 AND photo IS NOT NULL"
        )
    ]
    whole = Path(os.path.abspath(text))  # noqa: PTH100  links stay as they were ingested
    exact = {
        photo: (root, path) for photo, path, root in files if text == path or root / path == whole
    }
    if exact:
        return exact
    return {photo: (root, path) for photo, path, root in files if path.rpartition("/")[2] == text}
