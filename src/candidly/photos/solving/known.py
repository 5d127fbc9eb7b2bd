"""What new faces are compared with: sums over the faces of everybody, kept in the project.

A full solve says in which coordinates faces vary, and how; for each person it leaves how many faces
they have by soft labels, and the sum of their coordinates. That is all that labelling new faces
needs of the others (``candidly.solvers.two_covariances``), so that a second day reads its own
photos only. The faces that are solved again are taken out of the sums before, and put in after.

A trigger deletes the sums where labels that are in them go otherwise than by a solve, and
forgetting somebody deletes them: everything is solved together then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.photos.project.schema import person_id
from candidly.photos.solving.labels import LabelArrays
from candidly.photos.solving.vectors import Vectors, pieces
from candidly.solvers.arrays import Floats
from candidly.solvers.two_covariances import KnownPeople

Array = NDArray[np.float64]


@dataclass(frozen=True)
class EmbeddingMap:
    """Coordinates of embeddings: x A + b."""

    A: Array
    b: Array

    def __call__(self, X: Floats) -> Array:
        """Return the coordinates of rows of X."""
        return np.asarray(X @ self.A + self.b)

    def then(self, basis: Array) -> EmbeddingMap:
        """Return this map, and after it the coordinates in a basis."""
        return EmbeddingMap(self.A @ basis, self.b @ basis)


@dataclass(frozen=True)
class KnownFaces:
    """People by the faces that a project knows of them.

    Parameters
    ----------
    map : EmbeddingMap
        From embeddings to coordinates in which faces of one person have unit variance.
    between : (k,) array
        Variance between people in these.
    even : float
        Log likelihood ratio that says nothing.
    names : list of str
    count : (c,) array
        Number of faces of each, by soft labels.
    total : (c, k) array
        Sum of their coordinates.
    """

    map: EmbeddingMap
    between: Array
    even: float
    names: list[str]
    count: Array
    total: Array

    def changed_by(self, labels: LabelArrays, vectors: Vectors, sign: int) -> KnownFaces:
        """Return the sums with the labels of some faces added (1) or taken out (-1)."""
        names = sorted({*self.names, *(labels.names[i] for i in _used(labels))})
        row = {name: i for i, name in enumerate(names)}
        count, total = np.zeros(len(names)), np.zeros((len(names), len(self.between)))
        own = [row[name] for name in self.names]
        count[own], total[own] = self.count, self.total
        to = np.array([row.get(name, -1) for name in labels.names], dtype=np.intp)
        for part in pieces(len(labels)):
            some = slice(labels.first[part.start], labels.first[part.stop])
            named = np.flatnonzero(labels.name[some] >= 0)
            who, i = np.unique(to[labels.name[some][named]], return_inverse=True)
            j = np.repeat(
                np.arange(part.stop - part.start), np.diff(labels.first[part.start : part.stop + 1])
            )
            R = sparse.csr_array(
                (labels.probability[some][named], (i, j[named])),
                shape=(len(who), part.stop - part.start),
            )
            Z = self.map(vectors.of_faces(labels.faces[part].tolist()))
            count[who] += sign * R.sum(axis=1)
            total[who] += sign * (R @ Z)
            vectors.release()
        return replace(self, names=names, count=np.maximum(count, 0), total=total)

    def people(self, row: Mapping[str, int]) -> KnownPeople:
        """Return the people in the order of rows, in their own coordinates."""
        k = len(self.between)
        count, total = np.zeros(len(row)), np.zeros((len(row), k))
        at = [row[name] for name in self.names]
        count[at], total[at] = self.count, self.total
        return KnownPeople(np.eye(k), self.between, count, total)


def _used(labels: LabelArrays) -> list[int]:
    used = np.unique(labels.name)
    return used[used >= 0].tolist()


def keep_known(
    sql: sqlite3.Connection, run: int, model: str, known: KnownFaces, only: Iterable[str] | None
) -> None:
    """Store the sums; ``only`` are the people whose sums changed, None for all."""
    sql.execute("DELETE FROM known_sums")
    sql.execute(
        'INSERT INTO known_sums (run, model, map, shift, "between", even)'
        " VALUES (?, ?, ?, ?, ?, ?)",
        (run, model, *map(_bytes, (known.map.A, known.map.b, known.between)), known.even),
    )
    place = {name: i for i, name in enumerate(known.names)}
    if only is None:
        sql.execute("DELETE FROM person_sums")
        names = known.names
    else:
        names = [name for name in only if name in place]
        sql.executemany(
            "DELETE FROM person_sums WHERE person IN (SELECT id FROM people WHERE name = ?1 UNION"
            " SELECT id FROM people WHERE stands_for = (SELECT id FROM people WHERE name = ?1))",
            [(name,) for name in names],
        )
    sql.executemany(
        "INSERT INTO person_sums (person, faces, total) VALUES (?, ?, ?)",
        (
            (
                person_id(sql, name),
                float(known.count[place[name]]),
                _bytes(known.total[place[name]]),
            )
            for name in names
            if known.count[place[name]] > 1e-9
        ),
    )


def has_known(sql: sqlite3.Connection, model: str | None) -> bool:
    """Return whether there are sums, for faces of this detector and embedder."""
    return sql.execute("SELECT 1 FROM known_sums WHERE model = ?", (model,)).fetchone() is not None


def read_known(sql: sqlite3.Connection) -> KnownFaces:
    """Return the sums that are kept, with the names that people have now."""
    A, b, between, even = sql.execute(
        'SELECT map, shift, "between", even FROM known_sums'
    ).fetchone()
    between, b = _array(between), _array(b)
    k = len(between)
    (most,) = sql.execute("SELECT count(*) FROM person_sums").fetchone()
    place: dict[str, int] = {}
    count, total = np.zeros(most), np.zeros((most, k))
    for name, faces, data in sql.execute(
        "SELECT name, faces, total FROM person_sums JOIN known ON known.id = person ORDER BY person"
    ):
        at = place.setdefault(name, len(place))
        count[at] += faces
        total[at] += _array(data)
    n = len(place)
    return KnownFaces(
        EmbeddingMap(_array(A).reshape(-1, k), b), between, even, list(place), count[:n], total[:n]
    )


def _bytes(values: Array) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


def _array(data: bytes) -> Array:
    return np.frombuffer(data, dtype="<f8").astype(float)
