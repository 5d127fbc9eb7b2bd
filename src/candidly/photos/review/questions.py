"""What to ask next: photos with faces that nobody decided, in order, by the user's filters."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import SURE
from candidly.photos.project import Project
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
    among = _chosen_faces(sql, chosen)
    for face in order.tolist() if order is not None else _least_sure(sql):
        if among is not None and face not in among:
            continue
        photo = _photo_asked(sql, face, chosen)
        if photo is not None and photo not in found:
            found[photo] = _asked_faces(sql, photo, chosen, among)
            if len(found) == most:
                break
    return found


def _least_sure(sql: sqlite3.Connection) -> Iterator[int]:
    for (face,) in sql.execute("SELECT face FROM labels ORDER BY confidence"):
        yield face


_FACE = f"""SELECT photo FROM faces WHERE id = :face AND (:poor OR quality >= {POOR})
    AND (:any OR EXISTS (SELECT 1 FROM labels WHERE labels.face = faces.id
        AND person IS NOT NULL AND confidence >= {SURE}))
    AND NOT EXISTS (SELECT 1 FROM standing WHERE standing.face = :face AND what != 'not')
    AND NOT EXISTS (SELECT 1 FROM exported WHERE exported.face = :face)
    AND EXISTS (SELECT 1 FROM files WHERE files.photo = faces.photo AND gone = 0)
    AND NOT EXISTS (SELECT 1 FROM photos WHERE photos.id = faces.photo AND barred)"""
_OF_PERSON = """SELECT face FROM weighed WHERE person IN (SELECT id FROM known WHERE name = :person)
    UNION SELECT face FROM labels WHERE person IN (SELECT id FROM known WHERE name = :person)"""
_IN_FILES = """SELECT faces.id FROM faces WHERE photo IN (SELECT photo FROM files WHERE gone = 0
    AND mtime_ns >= :since AND (:folder = '' OR substr(path, 1, length(:folder) + 1)
    = :folder || '/'))"""
_CONFLICTS = f"""WITH likely AS (SELECT face, photo, person FROM weighed JOIN faces
        ON faces.id = face WHERE person IS NOT NULL AND probability >= {CONFLICTING})
    SELECT face FROM likely JOIN (SELECT photo, person FROM likely GROUP BY photo, person
        HAVING count(*) > 1) USING (photo, person)"""


def _chosen_faces(sql: sqlite3.Connection, chosen: QueueFilter) -> set[int] | None:
    """Return the faces that the filters leave; None where they leave all."""
    values = {
        "person": chosen.person,
        "folder": chosen.folder.strip("/"),
        "since": int((time.time() - WEEK) * 1e9) if chosen.week else 0,
    }
    queries = [_OF_PERSON] if chosen.person else []
    queries += [_IN_FILES] if chosen.week or values["folder"] else []
    queries += [_CONFLICTS] if chosen.only == "conflicts" else []
    parts = [{face for (face,) in sql.execute(query, values)} for query in queries]
    return set.intersection(*parts) if parts else None


def _photo_asked(sql: sqlite3.Connection, face: int, chosen: QueueFilter) -> int | None:
    """Return the photo of a face that is to be asked about, else None."""
    values = {"face": face, "poor": chosen.poor, "any": chosen.only != "sure"}
    row = sql.execute(_FACE, values).fetchone()
    return None if row is None else int(row[0])


def _asked_faces(
    sql: sqlite3.Connection, photo: int, chosen: QueueFilter, among: set[int] | None
) -> list[int]:
    """Return the faces of a photo to ask about, from left to right."""
    rows = sql.execute("SELECT id FROM faces WHERE photo = ? ORDER BY x, id", (photo,)).fetchall()
    return [
        face
        for (face,) in rows
        if (among is None or face in among) and _photo_asked(sql, face, chosen) is not None
    ]


def folders(sql: sqlite3.Connection, most: int) -> list[str]:
    """Return folders of photos from their roots, in order."""
    found = {
        os.fsdecode(path).rpartition("/")[0]
        for (path,) in sql.execute("SELECT path FROM files WHERE gone = 0 AND photo IS NOT NULL")
    }
    return sorted(found - {""})[:most]
