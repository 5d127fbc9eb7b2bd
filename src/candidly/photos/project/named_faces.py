"""Faces that have a name now, with who said so and how sure it is."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from candidly.photos.certainty import LIKELY, Certainty, certainty
from candidly.photos.geometry import Box
from candidly.photos.project.face_names import (
    decision_on,
    exported_names,
    metadata_names,
    name_and_confidence,
)
from candidly.photos.project.known_names import current_lists


@dataclass(frozen=True)
class NamedFace:
    """A face with a name that may be given: its place in the upright picture, and how sure it is.

    ``confirmed`` says that somebody decided it, or drew it with another program; its confidence is
    then 1. Otherwise it is that of the method, also of a name that was ``exported`` before.
    """

    face: int
    photo: int
    name: str
    box: Box
    confidence: float
    confirmed: bool
    exported: bool = False

    @property
    def certainty(self) -> Certainty:
        """How sure the name is."""
        return certainty(self.name, self.confidence)


def named_faces(sql: sqlite3.Connection) -> Iterator[NamedFace]:
    """Yield the faces of photos that are there with a name that may be given, by photo.

    People who are never to be named are left out, and so are photos of such folders.
    """
    lists = current_lists(sql)
    places: dict[int, list[str]] = defaultdict(list)
    for photo, path in sql.execute(
        "SELECT photo, path FROM files WHERE gone = 0 AND photo IS NOT NULL"
    ):
        places[photo].append(os.fsdecode(path))
    for face, photo, *box in sql.execute(
        "SELECT id, photo, x, y, w, h FROM faces ORDER BY photo, x, id"
    ).fetchall():
        if not places[photo] or not all(map(lists.permits_folder, places[photo])):
            continue
        name, confidence = name_and_confidence(sql, face)
        if name is None or confidence is None or not lists.permits(name):
            continue
        confirmed = decision_on(sql, face).name == name or name in metadata_names(sql, face)
        if not confirmed:
            confidence = _of_method(sql, face, name)
        exported = name in exported_names(sql, face)
        yield NamedFace(face, photo, name, Box(*box), confidence, confirmed, exported)


def _of_method(sql: sqlite3.Connection, face: int, name: str) -> float:
    """Return how sure a method is of a name; one that it no longer gives was exported."""
    row = sql.execute(
        "SELECT confidence FROM labels JOIN known ON known.id = person WHERE face = ? AND name = ?",
        (face, name),
    ).fetchone()
    return LIKELY if row is None else float(row[0])
