"""People who share a forename and look alike: likely one person under two names.

They are proposed, never merged: ``candidly merge`` does it. Cosines are judged of SFace only.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from candidly.photos.names.lists import key
from candidly.photos.project.schema import person_id
from candidly.photos.records import Proposal
from candidly.photos.solving.likeness import ALIKE, NamedArrays
from candidly.photos.solving.vectors import Vectors


def namesakes(vectors: Vectors, named: NamedArrays) -> list[Proposal]:
    """Return pairs of names with one forename whose faces are alike, on average over all pairs.

    Two people in one photo are two. The name with fewer words is proposed to be the other, of
    equally many words that with fewer faces.

    Parameters
    ----------
    vectors : Vectors
        Embeddings of faces.
    named : NamedArrays
        Faces with their names, without guesses.

    Examples
    --------
    >>> vectors = Vectors.of([1, 2, 3], np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0]]))
    >>> names, numbers = ["Johnny", "Johnny Galecki", "Johnny Depp"], np.array([1, 2, 3])
    >>> named = NamedArrays(names, numbers, numbers, np.array([0, 1, 2]))
    >>> [(one.name, one.likely) for one in namesakes(vectors, named)]
    [('Johnny', 'Johnny Galecki')]
    """
    own = {named.names[named.who[at[0]]]: at for at in named.by_name()}
    forenames = defaultdict(list)
    for name in sorted(own):
        forenames[key(name).partition(" ")[0]].append(name)
    found = []
    for shared in forenames.values():
        if len(shared) < 2:
            continue
        rows = vectors.of_each(named.faces[own[name]].tolist() for name in shared)
        middle = np.array([_middle(X) for X in rows])
        vectors.release()
        cosines = middle @ middle.T
        for one, other in np.argwhere(np.triu(cosines >= ALIKE, 1)).tolist():
            pair = shared[one], shared[other]
            there, also = (set(named.photos[own[name]].tolist()) for name in pair)
            if there.isdisjoint(also):
                less, more = sorted(pair, key=lambda name: (len(name.split()), len(own[name])))
                alike = f"one forename, and alike ({cosines[one, other]:.2f})"
                found.append(Proposal(less, more, alike))
    return found


def keep_namesakes(
    sql: sqlite3.Connection, found: Iterable[Proposal], among: set[str] | None = None
) -> None:
    """Store the proposals instead of those of an earlier solve; those by spelling stay.

    With ``among``, earlier proposals stay as well where not both are one of these people.
    """
    before = sql.execute(
        "SELECT person, likely, one.name, other.name FROM proposals JOIN known one ON one.id ="
        " person JOIN known other ON other.id = likely WHERE looks = 1"
    ).fetchall()
    sql.executemany(
        "DELETE FROM proposals WHERE person = ? AND likely = ?",
        [pair for *pair, a, b in before if among is None or {a, b} <= among],
    )
    for one in found:
        pair = person_id(sql, one.name), person_id(sql, one.likely)
        known = "SELECT 1 FROM proposals WHERE (person, likely) IN (VALUES (?, ?), (?, ?))"
        if sql.execute(known, (*pair, *pair[::-1])).fetchone() is None:
            sql.execute("INSERT INTO proposals VALUES (?, ?, ?, 1)", (*pair, one.why))


def _middle(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of unit vectors: of two such the product is the mean cosine of all pairs."""
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    return np.asarray(X.mean(axis=0))
