"""Faces that nobody named, grouped by likeness: average linkage of those that look alike.

Nothing is known of how many people there are. Faces whose cosine is at least ``ALIKE`` are
neighbours; only neighbours of neighbours can be one group, so that each such part is clustered by
itself. A photo shows nobody twice, so a group has one face of a photo, and faces of one photo tell
how alike strangers look in this collection: more than nearly all of them, two faces have to be.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from candidly.photos.project import Project
from candidly.photos.project.face_names import decision_on
from candidly.photos.project.queries import in_batches
from candidly.photos.review.lookalikes import FaceIndex
from candidly.photos.review.photo_view import last_about
from candidly.photos.solving.likeness import ALIKE
from candidly.photos.solving.vectors import working_folder

PAIRS = 20_000_000
"""Cosines that are computed at a time."""
BATCH = 10_000
LARGEST = 2000
"""Faces of a part up to which all pairs are compared; larger parts need closer likeness first."""
CLOSER = 0.05
HARDLY_EVER = 0.99
FEWEST_PAIRS, MOST_PAIRS = 50, 100_000
"""Pairs of faces of one photo from which, and up to which, strangers are compared."""

Cosines = NDArray[np.float32]

# A likely or sure name is one; a guess, nobody, and no label at all are none.
_UNNAMED = """SELECT id FROM faces LEFT JOIN labels ON labels.face = id
    WHERE (person IS NULL OR confidence < 0.5) AND quality >= :least
    AND NOT EXISTS (SELECT 1 FROM standing WHERE standing.face = id AND what != 'not')
    AND NOT EXISTS (SELECT 1 FROM exported WHERE exported.face = id)
    AND NOT EXISTS (SELECT 1 FROM regions WHERE regions.face = id AND regions.person IS NOT NULL)
    AND photo IN (SELECT photo FROM files WHERE gone = 0)
    AND photo NOT IN (SELECT id FROM photos WHERE barred)"""


class GroupFace(BaseModel):
    """A face of a group, with the number of the last decision about it."""

    face: int
    photo: int
    seen: int


class FaceGroup(BaseModel):
    """Faces that look alike and have no name; ``size`` counts also those that are not listed."""

    size: int
    faces: list[GroupFace]


def unnamed_groups(project: Project, least: float) -> list[list[int]]:
    """Return faces without a name in groups, the largest first; faces like no other are last.

    Parameters
    ----------
    project : Project
    least : float
        Quality below which faces are left out.
    """
    with project.snapshot() as sql, working_folder(project, project.count("faces")) as place:
        wanted = _array(sql.execute(_UNNAMED, {"least": least}))[:, 0]
        faces = _array(sql.execute("SELECT id, photo FROM faces ORDER BY id"))
        index = FaceIndex.of(project, place)
        photos = faces[np.searchsorted(faces[:, 0], index.numbers), 1]
        alike = max(ALIKE, alike_strangers(index.rows, photos))
        kept = np.flatnonzero(np.isin(index.numbers, wanted))
        numbers, X = index.numbers[kept], np.asarray(index.rows[kept])
        photo = dict(zip(numbers.tolist(), photos[kept].tolist(), strict=True))
        del faces, photos, index
    groups = [numbers[own].tolist() for own in grouped(X, alike)]
    groups = [part for group in groups for part in _once_per_photo(group, photo)]
    groups += [[face] for face in np.setdiff1d(wanted, numbers).tolist()]
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def _array(rows: Iterable[tuple[int, ...]]) -> NDArray[np.int64]:
    """Return rows of numbers as an array, without a list of them."""
    found = [np.array(some, dtype=np.int64) for some in in_batches(rows, BATCH)]
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)


def alike_strangers(X: Cosines, photos: NDArray[np.int64]) -> float:
    """Return the cosine that faces of one photo hardly ever have; -1 where there are too few.

    Examples
    --------
    >>> alike_strangers(np.eye(2, dtype=np.float32), np.array([1, 1]))
    -1.0
    """
    order = np.argsort(photos, kind="stable")
    ends = np.flatnonzero(np.diff(photos[order])) + 1
    found: list[float] = []
    for own in np.split(order, ends):
        if len(own) > 1:
            found += (X[own] @ X[own].T)[np.triu_indices(len(own), 1)].tolist()
        if len(found) > MOST_PAIRS:
            break
    return float(np.quantile(found, HARDLY_EVER)) if len(found) >= FEWEST_PAIRS else -1.0


def grouped(X: Cosines, least: float = ALIKE) -> list[NDArray[np.intp]]:
    """Return the rows of unit vectors in groups whose mean cosine is at least ``least``.

    Examples
    --------
    >>> X = np.array([[1, 0], [0, 1], [0.9, 0.1], [0, -1]], dtype=np.float32)
    >>> [group.tolist() for group in grouped(X)]
    [[0, 2], [1], [3]]
    """
    if not len(X):
        return []
    found: list[NDArray[np.intp]] = []
    labels = _parts(X, least)
    order = np.argsort(labels, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if len(part) > LARGEST:
            found += [part[own] for own in grouped(X[part], least + CLOSER)]
        elif len(part) > 1:
            distance = np.clip(1 - X[part] @ X[part].T, 0, 2)
            tree = linkage(distance[np.triu_indices(len(part), 1)], "average")
            own = fcluster(tree, 1 - least, "distance")
            found += [part[own == label] for label in np.unique(own)]
        else:
            found.append(part)
    return sorted(found, key=lambda rows: int(rows[0]))


def _parts(X: Cosines, least: float) -> NDArray[np.intp]:
    """Return the part of each row: rows are connected by others that look alike."""
    pairs, block = [], max(1, PAIRS // len(X))
    for start in range(0, len(X), block):
        one, other = np.nonzero(X[start : start + block] @ X[start:].T >= least)
        pairs.append(np.stack([one + start, other + start]).astype(np.int32))
    rows, columns = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(len(X), len(X)))
    return np.asarray(connected_components(graph, directed=False)[1])


def _once_per_photo(group: list[int], photo: dict[int, int]) -> list[list[int]]:
    """Return a group without second faces of a photo, which are groups of their own."""
    first: dict[int, int] = {}
    second = []
    for face in group:
        if photo[face] in first:
            second.append([face])
        else:
            first[photo[face]] = face
    return [list(first.values()), *second]


def still_unnamed(sql: sqlite3.Connection, group: list[int], most: int) -> FaceGroup | None:
    """Return a group without the faces that were decided since; None where none is left."""
    left = [face for face in group if not _is_decided(sql, face)]
    if not left:
        return None
    shown = [
        GroupFace(
            face=face,
            photo=sql.execute("SELECT photo FROM faces WHERE id = ?", (face,)).fetchone()[0],
            seen=last_about(sql, face),
        )
        for face in left[:most]
    ]
    return FaceGroup(size=len(left), faces=shown)


def _is_decided(sql: sqlite3.Connection, face: int) -> bool:
    decision = decision_on(sql, face)
    return decision.name is not None or decision.nobody or decision.ignored
