"""Matchings of names to faces, each name at most once: their number, list and marginals.

Leading dimensions are groups of equal size, which are handled together.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import comb, perm

import numpy as np

from candidly.solvers.arrays import double, namespace
from candidly.solvers.kernels.matching_loops import listed_marginals

NEVER = -1e9
"""Logarithm of the weight of what is impossible."""


def matchings_of(faces: int, names: int) -> int:
    """Return the number of ways to give some of the names to some of the faces."""
    return sum(comb(faces, k) * perm(names, k) for k in range(min(faces, names) + 1))


@cache
def matchings(faces, names):
    """Return all matchings, one per row: the name of each face, or ``names`` for none."""
    rows = []
    for k in range(min(faces, names) + 1):
        for chosen in combinations(range(faces), k):
            for given in permutations(range(names), k):
                row = [names] * faces
                for face, name in zip(chosen, given, strict=True):
                    row[face] = name
                rows.append(row)
    return np.array(rows, dtype=np.intp).reshape(len(rows), faces)


def marginals(worth, free, most):
    """Return marginals over matchings: exact if there are at most ``most``, else approximate.

    Parameters
    ----------
    worth : (..., faces, names) array
        Logarithm of the weight of giving a face a name; ``NEVER`` where that is impossible.
    free : (..., faces) array
        Logarithm of the weight of leaving a face without a name.
    most : int
        Number of matchings up to which all are listed.

    Returns
    -------
    soft : (..., faces, names) array
        Probability that a face has a name.
    rest : (..., faces) array
        Probability that it has none.
    """
    return weigh(worth, free, most)[:2]


def weigh(worth, free, most):
    """Return marginals over matchings, and the logarithm of the weight of all of them (...)."""
    return (exact if matchings_of(*worth.shape[-2:]) <= most else balanced)(worth, free)


def mean_matching(allowed, most, somebody=False):
    """Return the mean of all allowed matchings: marginals without evidence.

    Parameters
    ----------
    allowed : (faces, names + 1) array of bool
        Names that each face may have; the last column is none.
    most : int
        Number of matchings up to which all are listed.
    somebody : bool
        Whether to exclude the matching that names nobody.

    Returns
    -------
    (faces, names + 1) array
        ``allowed`` itself where no matching is allowed.
    """
    faces, names = len(allowed), allowed.shape[1] - 1
    if matchings_of(faces, names) > most:
        worth = np.where(allowed, 0.0, NEVER)
        return np.column_stack(balanced(worth[:, :-1], worth[:, -1])[:2])
    ways = matchings(faces, names)
    ways = ways[allowed[np.arange(faces), ways].all(axis=1)]
    if somebody:
        ways = ways[(ways < names).any(axis=1)]
    return (ways[:, :, None] == np.arange(names + 1)).mean(axis=0) if len(ways) else allowed


def exact(worth, free):
    """Return the exact marginals and total weight, by listing all matchings."""
    faces, names = worth.shape[-2:]
    table = namespace(worth).concatenate([worth, free[..., None]], axis=-1)
    tables = double(table.reshape(-1, faces, names + 1))
    soft, total = listed_marginals(tables, matchings(faces, names))
    soft = soft.reshape(table.shape)
    return soft[..., :names], soft[..., names], total.reshape(worth.shape[:-2])


@cache
def usages(faces, names):
    """Return which pairs of a face and a name (or none, last) each matching uses (ways x pairs)."""
    ways = matchings(faces, names)
    used = ways[:, :, None] == np.arange(names + 1)
    return used.reshape(len(ways), faces * (names + 1)).astype(float)


def balanced(worth, free):
    """Return approximate marginals and weight: faces are independent, names scaled down."""
    xp = namespace(worth)
    top = xp.amax(xp.concatenate([worth, free[..., None]], axis=-1), axis=-1)
    name, none = xp.exp(worth - top[..., None]), xp.exp(free - top)
    scaled = xp.zeros_like(worth[..., 0, :])
    for _ in range(30):
        soft = name / xp.clip(name.sum(axis=-1) + none, 1e-300, None)[..., None]
        over = xp.clip(soft.sum(axis=-2), 1, None)
        name, scaled = name / over[..., None, :], scaled + xp.log(over)
    size = xp.clip(name.sum(axis=-1) + none, 1e-300, None)
    soft = name / size[..., None]
    total = (xp.log(size) + top).sum(axis=-1) + scaled.sum(axis=-1)
    return soft, 1 - soft.sum(axis=-1), total
