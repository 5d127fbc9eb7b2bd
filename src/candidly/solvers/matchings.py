"""Marginals over matchings: names given to faces, each name at most once."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import comb, perm

import numpy as np

NEVER = -1e9
"""Logarithm of what cannot be."""


def marginals(worth, free, most):
    """Marginals, exact where there are at most ``most`` matchings, else balanced.

    Parameters
    ----------
    worth : (faces, names) array
        Log weight of giving each name to each face.
    free : (faces,) array
        Log weight of giving none.
    most : int
        Matchings up to which all are listed.

    Returns
    -------
    soft : (faces, names) array
    rest : (faces,) array
    """
    return exact(worth, free) if matchings_of(*worth.shape) <= most else balanced(worth, free)


def matchings_of(faces: int, names: int) -> int:
    """Number of ways to give some of the names to some of the faces."""
    return sum(comb(faces, k) * perm(names, k) for k in range(min(faces, names) + 1))


@cache
def matchings(faces, names):
    """All of them: for each, the name of each face, or ``names`` for none."""
    rows = []
    for k in range(min(faces, names) + 1):
        for chosen in combinations(range(faces), k):
            for given in permutations(range(names), k):
                row = [names] * faces
                for face, name in zip(chosen, given, strict=True):
                    row[face] = name
                rows.append(row)
    return np.array(rows, dtype=np.intp).reshape(len(rows), faces)


def exact(worth, free):
    """Marginals over all matchings; worth is faces x names, free is having none."""
    faces, names = worth.shape
    ways = matchings(faces, names)
    table = np.column_stack([worth, free])
    weight = table[np.arange(faces), ways].sum(axis=1)
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    soft = np.zeros((faces, names + 1))
    for face in range(faces):
        soft[face] = np.bincount(ways[:, face], weights=weight, minlength=names + 1)
    return soft[:, :names], soft[:, names]


def balanced(worth, free):
    """For large groups: independent faces, names scaled down to be used at most once."""
    top = np.maximum(worth.max(axis=1, initial=NEVER), free)[:, None]
    name, none = np.exp(worth - top), np.exp(free[:, None] - top)
    for _ in range(30):
        soft = name / np.maximum(name.sum(axis=1, keepdims=True) + none, 1e-300)
        name = name / np.maximum(soft.sum(axis=0), 1)
    soft = name / np.maximum(name.sum(axis=1, keepdims=True) + none, 1e-300)
    return soft, 1 - soft.sum(axis=1)
