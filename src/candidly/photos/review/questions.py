"""What to ask next: photos with faces that nobody decided, in order, by the user's filters."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import SURE
from candidly.photos.project import Project
from candidly.photos.project.name_counts import OWN
from candidly.photos.reviewing import review_queue

POOR = 0.3
"""Quality below which a face is too small or blurred to be asked about."""
CONFLICTING = 0.2
"""Probability from which a name conflicts with another face of the photo that has it."""
WEEK = 7 * 24 * 3600

Order = NDArray[np.int64]


@dataclass(frozen=True)
class QueueFilter:
    """Which faces to ask about.

    Parameters
    ----------
    week : bool
        Only photos whose file was changed within the last seven days.
    folder : str
        Only photos in this folder, from their photo root, or in one inside it.
    person : str
        Only faces that may be this person.
    only : {"", "sure", "conflicts"}
        Only names that are sure, or names that several faces of a photo may have.
    poor : bool
        Also faces that are too small or blurred.
    """

    week: bool = False
    folder: str = ""
    person: str = ""
    only: str = ""
    poor: bool = False


def is_poor(quality: float) -> bool:
    """Return whether a face is too small or blurred to be asked about."""
    return quality < POOR


def question_order(project: Project) -> Order:
    """Return the faces that nobody decided, in the order in which a decision settles most."""
    return np.array([one.face for one in review_queue(project)], dtype=np.int64)


def next_photos(
    sql: sqlite3.Connection, chosen: QueueFilter, order: Order | None, most: int
) -> dict[int, list[int]]:
    """Return photos with their faces to ask about, those first whose face comes first.

    Parameters
    ----------
    sql : Connection
    chosen : QueueFilter
    order : array or None
        Faces in their order; None while it is not known: the least sure first.
    most : int
        Number of photos at most.
    """
    found: dict[int, list[int]] = {}
    among = _Chosen.of(sql, chosen)
    # A name that is likely on two faces is sure on none.
    sure = 1 - CONFLICTING / 2 if chosen.only == "conflicts" else 1.0
    if order is not None:
        faces: Iterable[int] = order.tolist()
    elif among.faces is not None:
        faces = _least_sure_of(sql, among.faces)
    else:
        faces = _least_sure(sql, sure)
    for face in faces:
        if face not in among:
            continue
        photo = _photo_asked(sql, face, chosen)
        if photo is not None and photo not in found:
            found[photo] = _asked_faces(sql, photo, chosen, among)
            if len(found) == most:
                break
    return found


LEAST_SURE = "SELECT face FROM labels WHERE confidence <= ? ORDER BY confidence"


def _least_sure(sql: sqlite3.Connection, most: float) -> Iterator[int]:
    for (face,) in sql.execute(LEAST_SURE, (most,)):
        yield face


def _least_sure_of(sql: sqlite3.Connection, faces: set[int]) -> list[int]:
    query = "SELECT confidence FROM labels WHERE face = ?"
    rows = ((face, sql.execute(query, (face,)).fetchone()) for face in faces)
    return [face for _, face in sorted((row[0], face) for face, row in rows if row is not None)]


_FACE = f"""SELECT photo FROM faces WHERE id = :face AND (:poor OR quality >= {POOR})
    AND (:any OR EXISTS (SELECT 1 FROM labels WHERE labels.face = faces.id
        AND person IS NOT NULL AND confidence >= {SURE}))
    AND NOT EXISTS (SELECT 1 FROM standing WHERE standing.face = :face AND what != 'not')
    AND NOT EXISTS (SELECT 1 FROM exported WHERE exported.face = :face)
    AND EXISTS (SELECT 1 FROM files WHERE files.photo = faces.photo AND gone = 0)
    AND NOT EXISTS (SELECT 1 FROM photos WHERE photos.id = faces.photo AND barred)"""
_OF_PERSON = f"""WITH own AS ({OWN.replace(":name", ":person")})
    SELECT face FROM weighed WHERE person IN own
    UNION SELECT face FROM labels WHERE person IN own"""
_IN_FILES = """SELECT 1 FROM faces JOIN files ON files.photo = faces.photo WHERE faces.id = :face
    AND gone = 0 AND mtime_ns >= :since AND (:folder = '' OR substr(path, 1, length(:folder) + 1)
    = :folder || '/')"""
_CONFLICT = f"""SELECT 1 FROM faces JOIN weighed own ON own.face = faces.id
    JOIN faces beside ON beside.photo = faces.photo AND beside.id != faces.id
    JOIN weighed other ON other.face = beside.id AND other.person = own.person
    WHERE faces.id = :face AND own.probability >= {CONFLICTING}
    AND other.probability >= {CONFLICTING} LIMIT 1"""


@dataclass(frozen=True)
class _Chosen:
    """Which faces the filters leave, looked up one by one where they are not few."""

    sql: sqlite3.Connection
    values: dict[str, object]
    queries: list[str]
    faces: set[int] | None

    @classmethod
    def of(cls, sql: sqlite3.Connection, chosen: QueueFilter) -> _Chosen:
        values = {
            "person": chosen.person,
            "folder": chosen.folder.strip("/"),
            "since": int((time.time() - WEEK) * 1e9) if chosen.week else 0,
        }
        queries = [_IN_FILES] if chosen.week or values["folder"] else []
        queries += [_CONFLICT] if chosen.only == "conflicts" else []
        faces = None
        if chosen.person:
            own = {"person": chosen.person}
            faces = {face for (face,) in sql.execute(_OF_PERSON, own)}
        return cls(sql, values, queries, faces)

    def __contains__(self, face: int) -> bool:
        if self.faces is not None and face not in self.faces:
            return False
        own = {**self.values, "face": face}
        return all(self.sql.execute(query, own).fetchone() for query in self.queries)


def _photo_asked(sql: sqlite3.Connection, face: int, chosen: QueueFilter) -> int | None:
    """Return the photo of a face that is to be asked about, else None."""
    values = {"face": face, "poor": chosen.poor, "any": chosen.only != "sure"}
    row = sql.execute(_FACE, values).fetchone()
    return None if row is None else int(row[0])


def _asked_faces(
    sql: sqlite3.Connection, photo: int, chosen: QueueFilter, among: _Chosen
) -> list[int]:
    """Return the faces of a photo to ask about, from left to right."""
    rows = sql.execute("SELECT id FROM faces WHERE photo = ? ORDER BY x, id", (photo,)).fetchall()
    return [
        face for (face,) in rows if face in among and _photo_asked(sql, face, chosen) is not None
    ]


def folders(sql: sqlite3.Connection, most: int) -> list[str]:
    """Return folders of photos from their roots, in order."""
    found = {
        os.fsdecode(path).rpartition("/")[0]
        for (path,) in sql.execute("SELECT path FROM files WHERE gone = 0 AND photo IS NOT NULL")
    }
    return sorted(found - {""})[:most]
