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
) -> list[int]:
    """Return photos with a face to ask about, those first whose face comes first.

    Parameters
    ----------
    sql : Connection
    chosen : QueueFilter
    order : array or None
        Faces in their order; None while it is not known: the least sure first.
    most : int
        Number of photos at most.
    """
    found: dict[int, None] = {}
    for face in _in_order(sql, order):
        photo = _asked(sql, face, chosen)
        if photo is not None:
            found[photo] = None
            if len(found) == most:
                break
    return list(found)


def _in_order(sql: sqlite3.Connection, order: Order | None) -> Iterable[int]:
    if order is not None:
        return order.tolist()
    return _least_sure(sql)


def _least_sure(sql: sqlite3.Connection) -> Iterator[int]:
    for (face,) in sql.execute("SELECT face FROM labels ORDER BY confidence"):
        yield face


_FACE = f"""SELECT photo FROM faces WHERE id = :face AND (:poor OR quality >= {POOR})
    AND NOT EXISTS (SELECT 1 FROM standing WHERE standing.face = :face AND what != 'not')
    AND NOT EXISTS (SELECT 1 FROM exported WHERE exported.face = :face)
    AND EXISTS (SELECT 1 FROM files WHERE files.photo = faces.photo AND gone = 0"""
_PERSON = """ AND (EXISTS (SELECT 1 FROM weighed JOIN known ON known.id = person
    WHERE weighed.face = faces.id AND name = :person) OR EXISTS (SELECT 1 FROM labels
    JOIN known ON known.id = person WHERE labels.face = faces.id AND name = :person))"""
_SURE_LABEL = f""" AND EXISTS (SELECT 1 FROM labels WHERE labels.face = faces.id
    AND person IS NOT NULL AND confidence >= {SURE})"""
_CONFLICT = f""" AND EXISTS (SELECT 1 FROM weighed own JOIN weighed theirs
    ON theirs.person = own.person AND theirs.face != own.face JOIN faces other
    ON other.id = theirs.face WHERE own.face = faces.id AND other.photo = faces.photo
    AND own.probability >= {CONFLICTING} AND theirs.probability >= {CONFLICTING})"""


def _asked(sql: sqlite3.Connection, face: int, chosen: QueueFilter) -> int | None:
    """Return the photo of a face that is to be asked about, else None."""
    query = _FACE
    if chosen.week:
        query += " AND mtime_ns >= :since"
    if chosen.folder:
        query += " AND (path = :folder OR substr(path, 1, length(:folder) + 1) = :folder || '/')"
    query += ")"
    query += _PERSON if chosen.person else ""
    query += {"sure": _SURE_LABEL, "conflicts": _CONFLICT}.get(chosen.only, "")
    row = sql.execute(
        query,
        {
            "face": face,
            "poor": chosen.poor,
            "since": int((time.time() - WEEK) * 1e9),
            "folder": chosen.folder.strip("/"),
            "person": chosen.person,
        },
    ).fetchone()
    return None if row is None else int(row[0])


def asked_faces(sql: sqlite3.Connection, photo: int, chosen: QueueFilter) -> list[int]:
    """Return the faces of a photo to ask about, from left to right."""
    rows = sql.execute("SELECT id FROM faces WHERE photo = ? ORDER BY x, id", (photo,)).fetchall()
    return [face for (face,) in rows if _asked(sql, face, chosen) is not None]


def folders(sql: sqlite3.Connection, most: int) -> list[str]:
    """Return folders of photos from their roots, in order."""
    found = {
        os.fsdecode(path).rpartition("/")[0]
        for (path,) in sql.execute("SELECT path FROM files WHERE gone = 0 AND photo IS NOT NULL")
    }
    return sorted(found - {""})[:most]
