"""Confirmed or sure faces of people, and how similar a face is to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import SURE
from candidly.photos.project.face_names import decision_on, name_and_confidence
from candidly.photos.project.queries import captions, file_of

MOST = 3

# Faces in other photos, by the same model, that were surely somebody when they were last labelled.
_SURE_FACES = """SELECT faces.id, faces.photo, name, vector FROM (
    SELECT face, person FROM labels WHERE confidence >= :sure
    UNION SELECT face, person FROM standing WHERE what = 'is'
    UNION SELECT face, person FROM exported
    UNION SELECT face, person FROM regions
    ) sure JOIN known ON known.id = person AND NOT barred
    JOIN faces ON faces.id = sure.face JOIN comparable ON comparable.face = faces.id
    WHERE faces.model = (SELECT model FROM faces WHERE id = :face)
    AND faces.photo != (SELECT photo FROM faces WHERE id = :face)"""


@dataclass(frozen=True)
class SimilarFace:
    """A confirmed or sure face of a person in another photo, with that photo's caption."""

    name: str
    face: int
    file: str
    cosine: float
    confidence: float
    confirmed: bool
    caption: str


def similar_faces(
    sql: sqlite3.Connection, face: int, name: str, most: int = MOST
) -> list[SimilarFace]:
    """Return the confirmed or sure faces of a person most similar to a face, in other photos."""
    rows = sql.execute(f"{_SURE_FACES} AND name = :name", _values(face, name))
    return _most_similar(sql, face, rows, most)


def lookalike(sql: sqlite3.Connection, face: int, mentioned: Collection[str]) -> SimilarFace | None:
    """Return the sure face most similar to a face, of somebody who is not mentioned with it."""
    rows = (row for row in sql.execute(_SURE_FACES, _values(face)) if row[2] not in mentioned)
    return next(iter(_most_similar(sql, face, rows, 1)), None)


def _values(face: int, name: str | None = None) -> dict[str, object]:
    return {"face": face, "name": name, "sure": SURE}


def _most_similar(
    sql: sqlite3.Connection,
    face: int,
    rows: Iterable[tuple[int, int, str, bytes]],
    most: int,
) -> list[SimilarFace]:
    vector = _vector(sql, face)
    if vector is None:
        return []
    near = sorted(
        (
            (_cosine(vector, np.frombuffer(data, "<f4")), -number, photo, name)
            for number, photo, name, data in rows
        ),
        reverse=True,
    )
    found: list[SimilarFace] = []
    for cosine, minus, photo, name in near:
        if len(found) == most:
            break
        who, sure = name_and_confidence(sql, -minus)
        if who == name and sure is not None:  # a decision may have changed it since
            texts = " ".join(captions(sql, photo))
            confirmed = decision_on(sql, -minus).name == name
            file = file_of(sql, -minus)
            found.append(SimilarFace(name, -minus, file, cosine, sure, confirmed, texts))
    return found


def _vector(sql: sqlite3.Connection, face: int) -> NDArray[np.float32] | None:
    row = sql.execute("SELECT vector FROM comparable WHERE face = ?", (face,)).fetchone()
    return None if row is None else np.frombuffer(row[0], dtype="<f4")


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30))
