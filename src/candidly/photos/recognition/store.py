"""A recogniser as it is stored in a project: plain arrays, checked when they are read."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.project import ProjectProblem
from candidly.photos.project.schema import person_id
from candidly.solvers.recogniser import Array, Recogniser
from candidly.solvers.two_covariances import KnownPeople

AGAIN = "candidly train learns them again"


@dataclass(frozen=True)
class StoredRecogniser:
    """A recogniser, the run that made it, and the model of the embeddings that it is for."""

    run: int
    model: str
    recogniser: Recogniser


def keep_recogniser(sql: sqlite3.Connection, run: int, made: Recogniser, model: str) -> None:
    """Store a recogniser instead of the one before."""
    sql.execute("DELETE FROM learnt")
    sql.execute("DELETE FROM trained")
    known = made.known
    sql.execute(
        'INSERT INTO trained (run, model, power, odds, most, centre, basis, "between")'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run,
            model,
            made.power,
            made.odds,
            made.most,
            *map(_bytes, (made.centre, known.basis, known.between)),
        ),
    )
    sql.executemany(
        "INSERT INTO learnt (person, faces, total) VALUES (?, ?, ?)",
        [
            (person_id(sql, name), float(count), _bytes(total))
            for name, count, total in zip(made.names, known.count, known.total, strict=True)
        ],
    )


def read_recogniser(sql: sqlite3.Connection) -> StoredRecogniser | None:
    """Return the recogniser of a project, or None where nothing was learnt."""
    row = sql.execute(
        'SELECT run, model, power, odds, most, centre, basis, "between" FROM trained'
    ).fetchone()
    if row is None:
        return None
    run, model, power, odds, most, *arrays = row
    people = sql.execute(
        "SELECT name, faces, total FROM learnt JOIN people ON people.id = person ORDER BY name"
    ).fetchall()
    centre = _array(arrays[0])
    k = len(centre)
    known = KnownPeople(
        _array(arrays[1], k * k).reshape(k, k),
        _array(arrays[2], k),
        np.array([count for _, count, _ in people], dtype=float),
        np.array([_array(total, k) for _, _, total in people]).reshape(len(people), k),
    )
    if not np.isfinite([power, odds, most]).all():
        raise _damaged()
    names = [name for name, *_ in people]
    return StoredRecogniser(run, model, Recogniser(names, centre, known, power, odds, most))


def _bytes(values: NDArray[np.floating]) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def _array(data: bytes, size: int | None = None) -> Array:
    if len(data) % 8 or (size is not None and len(data) != 8 * size):
        raise _damaged()
    values = np.frombuffer(data, dtype="<f8").astype(float)
    if not np.isfinite(values).all():
        raise _damaged()
    return values


def _damaged() -> ProjectProblem:
    return ProjectProblem(f"the people learnt are damaged in the project file; {AGAIN}")
