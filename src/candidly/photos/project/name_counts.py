"""How many faces each person has, without going through all faces.

By triggers, ``label_counts`` has what labels say. What decisions, exports and metadata say counts
more, and photos that are gone or barred not at all: of their photos alone every face is looked at.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from candidly.photos.certainty import certainty
from candidly.photos.project.face_names import decision_on, name_and_confidence

OWN = (
    "SELECT id FROM people WHERE name = :name AND stands_for IS NULL"
    " UNION SELECT id FROM people WHERE stands_for = (SELECT id FROM people WHERE name = :name)"
)
"""Numbers of the people who have a name now, by indexes."""

_SPECIAL = """SELECT photo FROM standing JOIN faces ON faces.id = face
    UNION SELECT photo FROM exported JOIN faces ON faces.id = face
    UNION SELECT photo FROM regions JOIN faces ON faces.id = face WHERE regions.face IS NOT NULL
    UNION SELECT id FROM photos WHERE barred OR NOT EXISTS
        (SELECT 1 FROM files WHERE files.photo = photos.id AND gone = 0)"""


@dataclass
class FaceCounts:
    """Faces of a person: all, sure, likely, and confirmed by a decision."""

    faces: int = 0
    sure: int = 0
    likely: int = 0
    confirmed: int = 0

    def add(self, kind: str, sign: int = 1) -> None:
        """Count a face that is sure, likely or a guess."""
        self.faces += sign
        self.sure += sign * (kind == "sure")
        self.likely += sign * (kind == "likely")


@dataclass(frozen=True)
class CurrentFace:
    """A face with the name that it has now, None for nobody, and whether somebody decided it."""

    face: int
    photo: int
    name: str | None
    confidence: float
    confirmed: bool


def special_photos(sql: sqlite3.Connection) -> set[int]:
    """Return the photos of which labels alone do not say who has a name."""
    return {photo for (photo,) in sql.execute(_SPECIAL)}


def name_counts(sql: sqlite3.Connection) -> dict[str, FaceCounts]:
    """Return the people who have faces now, with how many."""
    found: dict[str, FaceCounts] = {}
    for name, faces, sure, likely in sql.execute(
        "SELECT name, faces, sure, likely FROM label_counts JOIN known ON known.id = person"
        " WHERE NOT barred AND faces > 0"
    ):
        own = found.setdefault(name, FaceCounts())
        own.faces, own.sure, own.likely = own.faces + faces, own.sure + sure, own.likely + likely
    for photo in special_photos(sql):
        for name, confidence in sql.execute(
            "SELECT name, confidence FROM faces JOIN labels ON face = faces.id JOIN known"
            " ON known.id = person WHERE photo = ? AND NOT known.barred",
            (photo,),
        ).fetchall():
            found[name].add(certainty(name, confidence), -1)
        for face in faces_in(sql, photo):
            if face.name is not None:
                own = found.setdefault(face.name, FaceCounts())
                own.add(certainty(face.name, face.confidence))
                own.confirmed += face.confirmed
    return {name: own for name, own in found.items() if own.faces > 0}


def faces_in(sql: sqlite3.Connection, photo: int) -> Iterator[CurrentFace]:
    """Yield the faces of a photo that have a label or a decision now; none where it is gone."""
    there = "SELECT 1 FROM files WHERE photo = ? AND gone = 0 LIMIT 1"
    if sql.execute(there, (photo,)).fetchone() is None:
        return
    for (face,) in sql.execute("SELECT id FROM faces WHERE photo = ?", (photo,)).fetchall():
        name, confidence = name_and_confidence(sql, face)
        if confidence is not None:
            decision = decision_on(sql, face)
            confirmed = decision.nobody or decision.name is not None
            yield CurrentFace(face, photo, name, confidence, confirmed)


def current_faces(sql: sqlite3.Connection) -> Iterator[CurrentFace]:
    """Yield all faces that have a label or a decision now, of photos that are there."""
    special = special_photos(sql)
    for face, photo, name, confidence, barred in sql.execute(
        "SELECT face, photo, name, confidence, barred FROM labels JOIN faces ON faces.id = face"
        " LEFT JOIN known ON known.id = person"
    ):
        if photo not in special and not barred:
            yield CurrentFace(face, photo, name, confidence, False)
    for photo in sorted(special):
        yield from faces_in(sql, photo)


def faces_of(sql: sqlite3.Connection, name: str) -> list[tuple[int, int, float]]:
    """Return the faces that have a name now: number, photo and confidence."""
    rows = sql.execute(
        f"WITH own AS ({OWN}) SELECT DISTINCT face, photo FROM ("
        " SELECT face FROM labels WHERE person IN own"
        " UNION SELECT face FROM standing WHERE what = 'is' AND person IN own"
        " UNION SELECT face FROM exported WHERE person IN own"
        " UNION SELECT face FROM regions WHERE person IN own) JOIN faces ON faces.id = face"
        " WHERE EXISTS (SELECT 1 FROM files WHERE files.photo = faces.photo AND gone = 0)"
        " ORDER BY face",
        {"name": name},
    ).fetchall()
    found = []
    for face, photo in rows:
        now, confidence = name_and_confidence(sql, face)
        if now == name and confidence is not None:
            found.append((face, photo, confidence))
    return found


def photos_that_mention(sql: sqlite3.Connection, name: str) -> int:
    """Return how many photos mention a person, also doubtfully."""
    parts = " UNION ".join(
        f"SELECT photo FROM {table} JOIN captions ON captions.id = caption"
        " JOIN files ON files.id = file WHERE gone = 0 AND person IN own"
        for table in ("mentions", "given", "regions")
    )
    (found,) = sql.execute(
        f"WITH own AS ({OWN}) SELECT count(photo) FROM ({parts})", {"name": name}
    ).fetchone()
    return int(found)
