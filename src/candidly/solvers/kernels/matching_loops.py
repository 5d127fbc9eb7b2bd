"""Marginals over all ways to name a group, which are listed."""

from __future__ import annotations

import numpy as np

from candidly.solvers.arrays import like, namespace
from candidly.solvers.kernels.compiling import MANY, kernel, prange

PIECE = 4_000_000
"""Weights of matchings that the NumPy twin holds at a time."""
PIECE_THERE = 64_000_000
"""The same on a device."""


def _listed_loops(table, ways):
    groups, faces = table.shape[:2]
    soft, total = np.zeros(table.shape), np.empty(groups)
    for g in prange(groups):
        weight = np.empty(len(ways))
        top = -np.inf
        for w in range(len(ways)):
            sum_ = 0.0
            for f in range(faces):
                sum_ += table[g, f, ways[w, f]]
            weight[w] = sum_
            top = max(top, sum_)
        size = 0.0
        for w in range(len(ways)):
            weight[w] = np.exp(weight[w] - top)
            size += weight[w]
        for w in range(len(ways)):
            share = weight[w] / size
            if share > 0:
                for f in range(faces):
                    soft[g, f, ways[w, f]] += share
        total[g] = top + np.log(size)
    return soft, total


@kernel(_listed_loops, least=MANY // 10, parallel=True)
def listed_marginals(table, ways):
    """Return marginals over listed matchings, and the logarithm of the weight of all of them.

    Parameters
    ----------
    table : (groups, faces, names + 1) array
        Logarithm of the weight of giving a face a name; the last is none.
    ways : (ways, faces) array of int
        The matchings: the name of each face.
    """
    (groups, faces, width), xp = table.shape, namespace(table)
    use = (ways[:, :, None] == np.arange(width)).reshape(len(ways), faces * width).astype(float)
    rows, use = table.reshape(groups, faces * width), like(use, table)
    soft, total = xp.empty_like(rows), xp.empty_like(table[:, 0, 0])
    step = max(1, (PIECE if xp is np else PIECE_THERE) // len(use))
    for start in range(0, groups, step):
        part = slice(start, start + step)
        weight = rows[part] @ use.T
        top = xp.amax(weight, axis=1, keepdims=True)
        weight = xp.exp(weight - top)
        size = weight.sum(axis=1, keepdims=True)
        soft[part], total[part] = (weight / size) @ use, (top + xp.log(size))[:, 0]
    return soft.reshape(table.shape), total
