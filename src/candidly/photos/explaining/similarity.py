"""Confirmed or sure faces of a person, and how similar a face is to them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.project.queries import (
    SURE,
    captions,
    decision_on,
    file_of,
    name_and_confidence,
)

MOST = 3


@dataclass(frozen=True)
class SimilarFace:
    """A confirmed or sure face of a person in another photo, with that photo's caption."""

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
    vector = _vector(sql, face)
    if vector is None:
        return []
    rows = sql.execute(
        "SELECT faces.id, faces.photo, vector FROM faces JOIN comparable ON face = faces.id"
        " WHERE faces.model = (SELECT model FROM faces WHERE id = :face)"
        " AND faces.photo != (SELECT photo FROM faces WHERE id = :face) AND faces.id IN ("
        " SELECT face FROM labels JOIN known ON known.id = person"
        " WHERE name = :name AND confidence >= :sure"
        " UNION SELECT face FROM decisions JOIN known ON known.id = person WHERE name = :name"
        " UNION SELECT face FROM regions JOIN people ON people.id = person"
        " WHERE people.name = :name AND face IS NOT NULL)",
        {"face": face, "name": name, "sure": SURE},
    ).fetchall()
    near = sorted(
        ((_cosine(vector, np.frombuffer(data, "<f4")), -n, photo) for n, photo, data in rows),
        reverse=True,
    )
    found: list[SimilarFace] = []
    for cosine, minus, photo in near:
        if len(found) == most:
            break
        who, sure = name_and_confidence(sql, -minus)
        if who == name and sure is not None:  # a decision may have changed it since
            texts = " ".join(captions(sql, photo))
            confirmed = decision_on(sql, -minus).name == name
            found.append(SimilarFace(-minus, file_of(sql, -minus), cosine, sure, confirmed, texts))
    return found


def _vector(sql: sqlite3.Connection, face: int) -> NDArray[np.float32] | None:
    row = sql.execute("SELECT vector FROM comparable WHERE face = ?", (face,)).fetchone()
    return None if row is None else np.frombuffer(row[0], dtype="<f4")


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30))
