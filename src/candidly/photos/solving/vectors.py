"""Embeddings of many faces: rows of one file that is mapped into memory, not read into it.

The file lies in a folder of its own that only its owner may read, beside the project. It is removed
with the last use, and what a killed process left is removed when the next one begins.
"""

from __future__ import annotations

import glob
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from candidly.heap import release
from candidly.locking import Lock, LockHeldError
from candidly.photos import private
from candidly.photos.project import Project
from candidly.photos.project.queries import embeddings, in_batches
from candidly.solvers.arrays import Floats

IN_MEMORY = 20_000
"""Faces up to which embeddings are held in memory."""
PIECE = 16_384
"""Rows that are handled at a time."""
RELEASED = 2000
"""Faces looked up one by one after which pages of the file are given back: up to 64 kB each."""
BATCH = 5000
"""Faces that are asked for at a time."""
PREFIX = ".work-"


@dataclass(frozen=True)
class Vectors:
    """Rows of numbers that belong to faces; ``faces`` are sorted."""

    faces: NDArray[np.int64]
    X: Floats

    @classmethod
    def of(cls, faces: Sequence[int], rows: Floats) -> Vectors:
        """Return vectors of faces in any order, one row per face."""
        numbers = np.asarray(faces, dtype=np.int64)
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], np.asarray(rows)[order])

    def rows(self, faces: Iterable[int]) -> NDArray[np.intp]:
        """Return the rows of faces; ``KeyError`` where one has none."""
        wanted = np.fromiter(faces, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.faces, wanted), max(len(self.faces) - 1, 0))
        if len(wanted) and (not len(self.faces) or (self.faces[at] != wanted).any()):
            raise KeyError("a face without an embedding")
        return at

    def of_faces(self, faces: Iterable[int]) -> NDArray[np.float64]:
        """Return the vectors of faces in double precision, one row per face."""
        return np.asarray(self.X[self.rows(faces)], dtype=np.float64)

    def release(self) -> None:
        """Let the system take back the pages of a file that were read."""
        release(self.X)

    def of_each(self, groups: Iterable[Sequence[int]]) -> Iterator[NDArray[np.float64]]:
        """Yield the vectors of the faces of each group, giving pages back in between."""
        looked_up = 0
        for faces in groups:
            yield self.of_faces(faces)
            looked_up += len(faces)
            if looked_up >= RELEASED:
                self.release()
                looked_up = 0

    def __contains__(self, face: int) -> bool:
        at = int(np.searchsorted(self.faces, face))
        return at < len(self.faces) and int(self.faces[at]) == face


def pieces(N: int, step: int = PIECE) -> Iterator[slice]:
    """Yield slices of N rows."""
    for start in range(0, N, step):
        yield slice(start, min(start + step, N))


def read_vectors(project: Project, place: Path | None) -> Vectors:
    """Return all embeddings of a project: in memory, or in a file in a folder."""
    with project.snapshot() as sql:
        (count,) = sql.execute("SELECT count(*) FROM comparable").fetchone()
        numbers, X, at = np.zeros(count, dtype=np.int64), None, 0
        for some, rows in embeddings(project):
            if X is None:
                X = empty_rows(place, "embeddings", (count, rows.shape[1]))
            numbers[at : at + len(some)] = some
            X[at : at + len(some)] = rows
            at += len(some)
            if place is not None and at % (16 * len(some)) == 0:
                X.flush()  # type: ignore[attr-defined]
                release(X)
    return Vectors(numbers, np.zeros((0, 0), dtype=np.float32) if X is None else X)


def read_vectors_of(sql: sqlite3.Connection, faces: Iterable[int]) -> Vectors:
    """Return the embeddings of those faces that have one that is comparable."""
    numbers, rows = [], []
    for some in in_batches(sorted(set(faces)), BATCH):
        for face, vector in sql.execute(
            "SELECT face, vector FROM comparable WHERE face IN (SELECT value FROM json_each(?))"
            " ORDER BY face",
            (json.dumps(some),),
        ):
            numbers.append(face)
            rows.append(np.frombuffer(vector, dtype="<f4"))
    X = np.array(rows, dtype=np.float32) if rows else np.zeros((0, 0), dtype=np.float32)
    return Vectors(np.array(numbers, dtype=np.int64), X)


def mapped(
    vectors: Vectors,
    faces: NDArray[np.int64],
    change: Callable[[Floats], Floats],
    width: int,
    place: Path,
) -> Path:
    """Write the changed vectors of faces into a file, and return it: single precision."""
    X = empty_rows(place, "features", (len(faces), width))
    for part in pieces(len(faces)):
        X[part] = change(vectors.of_faces(faces[part].tolist()))
        vectors.release()
    assert isinstance(X, np.memmap)
    X.flush()
    release(X)
    return place / "features.npy"


def empty_rows(place: Path | None, name: str, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return an array in memory, or in a file in a folder."""
    if place is None:
        return np.zeros(shape, dtype=np.float32)
    return open_memmap(place / f"{name}.npy", mode="w+", dtype=np.float32, shape=shape)


@contextmanager
def working_folder(project: Project, faces: int, most: int | None = None) -> Iterator[Path | None]:
    """Yield a private folder beside the project, or None where so many faces fit into memory.

    ``most`` are the faces that do, ``IN_MEMORY`` by default. It is removed afterwards. A lock
    tells which folders are in use: others were left by a process that was killed, and go.
    """
    if faces <= (IN_MEMORY if most is None else most):
        yield None
        return
    remove_left(project.path)
    folder = Path(tempfile.mkdtemp(prefix=_prefix(project.path), dir=project.path.parent))
    folder.chmod(private.FOLDER)
    lock = Lock(folder / "lock")
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(project: Path) -> None:
    """Remove the folders of processes that were killed."""
    for folder in project.parent.glob(f"{glob.escape(_prefix(project))}*"):
        try:
            lock = Lock(folder / "lock")
        except (LockHeldError, OSError):
            continue
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(project: Path) -> str:
    return f".{project.name[:40]}{PREFIX}"
