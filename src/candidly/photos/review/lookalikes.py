"""Known people who look like a face: all embeddings, so that one product compares them.

Embeddings of 100,000 faces are 51 MB, and are held in memory. Those of more faces are in a file
that is mapped into memory, which the system may take back. Only of an embedder whose cosines are
known it is said who looks alike.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import SURE
from candidly.photos.project import Project
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.queries import embeddings
from candidly.photos.solving.likeness import ALIKE, has_known_cosines
from candidly.photos.solving.vectors import empty_rows, working_folder

MANY = 150_000
"""Faces up to which their embeddings are held in memory."""
LOOKED_AT = 100
"""Most similar faces among which people are looked for."""
REMEMBERED = 2000
"""Faces whose nearest ones are kept: a photo is shown again after each decision."""
PEOPLE = 3
"""People who are proposed for a face that nothing written names."""


@dataclass
class FaceIndex:
    """Unit vectors of faces, one row per face, with their numbers, which are sorted.

    ``more`` are vectors of faces that came later.
    """

    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rows: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 1), dtype=np.float32))
    more: dict[int, NDArray[np.float32]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, place: Path | None = None) -> FaceIndex:
        """Return the faces of a project whose cosines are known, in memory or in a folder."""
        with project.snapshot() as sql:
            if not _is_judged(sql):
                return cls()
            (count,) = sql.execute("SELECT count(*) FROM comparable").fetchone()
            numbers, rows, at = np.zeros(count, dtype=np.int64), None, 0
            for some, X in embeddings(project):
                if rows is None:  # one array from the start: to join parts takes twice the room
                    rows = empty_rows(place, "unit", (count, X.shape[1]))
                numbers[at : at + len(some)] = some
                rows[at : at + len(some)] = _unit(X)
                at += len(some)
        return cls() if rows is None else cls(numbers, rows)

    def with_face(self, number: int, vector: NDArray[np.floating]) -> FaceIndex:
        """Return the index with one more face."""
        row = _unit(np.asarray(vector, dtype=np.float32)[None])[0]
        if self._row(number) is not None:
            return self
        if len(self.rows) and len(row) != self.rows.shape[1]:
            return self
        return FaceIndex(self.numbers, self.rows, {**self.more, number: row})

    def _row(self, face: int) -> NDArray[np.float32] | None:
        """Return the vector of a face, if it has one."""
        at = int(np.searchsorted(self.numbers, face))
        if at < len(self.numbers) and int(self.numbers[at]) == face:
            return np.asarray(self.rows[at])
        return self.more.get(face)

    def vectors(self, faces: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """Return the vectors of those faces that have one."""
        return {face: row for face in faces if (row := self._row(face)) is not None}

    def nearest(self, faces: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """Return the faces that look like each of some faces, the most similar first."""
        known = self.vectors(faces)
        if not known:
            return {}
        X = np.array(list(known.values()))
        cosines, numbers = np.zeros((len(X), 0), dtype=np.float32), self.numbers
        if len(self.rows):
            cosines = X @ self.rows.T
        if self.more:
            cosines = np.hstack([cosines, X @ np.array(list(self.more.values())).T])
            numbers = np.append(numbers, list(self.more))
        found = {}
        for face, row in zip(known, cosines, strict=True):
            few = min(LOOKED_AT, len(row))
            near = np.argpartition(row, len(row) - few)[len(row) - few :]
            near = near[np.argsort(-row[near], kind="stable")]
            found[face] = [
                (int(numbers[at]), float(row[at]))
                for at in near
                if row[at] >= ALIKE and numbers[at] != face
            ]
        return found


class Lookalikes:
    """People who look like a face, by an index that is built in the background."""

    def __init__(self) -> None:
        self._files = ExitStack()
        self.index = FaceIndex()
        self._known: dict[int, list[tuple[int, float]]] = {}
        self._added: list[tuple[int, NDArray[np.floating]]] = []
        self._lock = threading.Lock()

    def build(self, path: Path) -> None:
        """Read all embeddings of a project, in the thread that calls."""
        with Project.open(path) as project:
            place = self._files.enter_context(working_folder(project, project.count("faces"), MANY))
            index = FaceIndex.of(project, place)
        with self._lock:
            for number, vector in self._added:
                index = index.with_face(number, vector)
            self.index, self._known = index, {}

    def close(self) -> None:
        """Remove what is on disk."""
        self.index = FaceIndex()
        self._files.close()

    def add(self, number: int, vector: NDArray[np.floating] | None) -> None:
        """Add a face, also while the index is being built."""
        if vector is not None:
            with self._lock:
                self._added.append((number, vector))
                self.index, self._known = self.index.with_face(number, vector), {}

    def people(
        self, sql: sqlite3.Connection, faces: Sequence[int]
    ) -> dict[int, list[tuple[str, float]]]:
        """Return people with confirmed or sure faces like each of some faces of one photo.

        A name comes with the cosine of its most similar face, in another photo.
        """
        found: dict[int, list[tuple[str, float]]] = {}
        own = set(faces)
        for face, near in self._nearest(faces).items():
            best: dict[str, float] = {}
            for other, cosine in near:
                if other in own:
                    continue
                name, confidence = name_and_confidence(sql, other)
                if name is not None and confidence is not None and confidence >= SURE:
                    best.setdefault(name, cosine)
                    if len(best) == PEOPLE:
                        break
            found[face] = list(best.items())
        return found

    def _nearest(self, faces: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """Return the faces that look like each, from memory where they were asked for before."""
        index, known = self.index, self._known
        found = {face: near for face in faces if (near := known.get(face)) is not None}
        found |= index.nearest([face for face in faces if face not in found])
        if len(known) > REMEMBERED:
            known.clear()
        if self.index is index:
            known.update(found)
        return found


def _is_judged(sql: sqlite3.Connection) -> bool:
    row = sql.execute("SELECT model FROM faces JOIN comparable ON face = id LIMIT 1").fetchone()
    return row is not None and has_known_cosines(row[0])


def _unit(X: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30))
