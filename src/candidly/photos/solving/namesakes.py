"""People who share a forename and look alike: likely one person under two names.

They are proposed, never merged: ``candidly merge`` does it. Cosines are judged of SFace only.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from candidly.photos.names.lists import key
from candidly.photos.project.schema import person_id
from candidly.photos.records import Proposal
from candidly.photos.solving.likeness import ALIKE


def namesakes(
    rows: Mapping[int, NDArray[np.floating]],
    names: Mapping[int, str],
    photos: Mapping[int, int],
) -> list[Proposal]:
    """Return pairs of names with one forename whose faces are alike, on average over all pairs.

    Two people in one photo are two. The name with fewer words is proposed to be the other, of
    equally many words that with fewer faces.

    Parameters
    ----------
    rows : dict of int to array
        Embeddings of faces.
    names : dict of int to str
        Names of these faces; leave guesses out.
    photos : dict of int to int
        The photo of each face.

    Examples
    --------
    >>> rows = {1: np.array([1.0, 0.1]), 2: np.array([1.0, 0.0]), 3: np.array([0.0, 1.0])}
    >>> names = {1: "Johnny", 2: "Johnny Galecki", 3: "Johnny Depp"}
    >>> [(one.name, one.likely) for one in namesakes(rows, names, {1: 1, 2: 2, 3: 3})]
    [('Johnny', 'Johnny Galecki')]
    """
    own = defaultdict(list)
    for face in sorted(rows):
        own[names[face]].append(face)
    forenames = defaultdict(list)
    for name in sorted(own):
        forenames[key(name).partition(" ")[0]].append(name)
    found = []
    for shared in forenames.values():
        middle = {name: _middle(rows[face] for face in own[name]) for name in shared}
        there = {name: {photos[face] for face in own[name]} for name in shared}
        for pair in combinations(shared, 2):
            cosine = float(middle[pair[0]] @ middle[pair[1]])
            if cosine >= ALIKE and there[pair[0]].isdisjoint(there[pair[1]]):
                less, more = sorted(pair, key=lambda name: (len(name.split()), len(own[name])))
                found.append(Proposal(less, more, f"one forename, and alike ({cosine:.2f})"))
    return found


def keep_namesakes(sql: sqlite3.Connection, found: Iterable[Proposal]) -> None:
    """Store the proposals instead of those of an earlier solve; those by spelling stay."""
    sql.execute("DELETE FROM proposals WHERE looks = 1")
    for one in found:
        pair = person_id(sql, one.name), person_id(sql, one.likely)
        known = "SELECT 1 FROM proposals WHERE (person, likely) IN (VALUES (?, ?), (?, ?))"
        if sql.execute(known, (*pair, *pair[::-1])).fetchone() is None:
            sql.execute("INSERT INTO proposals VALUES (?, ?, ?, 1)", (*pair, one.why))


def _middle(vectors: Iterable[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Return the mean of unit vectors: of two such the product is the mean cosine of all pairs."""
    X = np.array(list(vectors), dtype=float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    return np.asarray(X.mean(axis=0))
