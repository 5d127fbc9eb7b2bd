"""Projection of the candidate entries of each instance onto the simplex."""

from __future__ import annotations

import numpy as np

from candidly.solvers.arrays import namespace
from candidly.solvers.kernels.compiling import MANY, kernel, prange
from candidly.solvers.runs import run_of_each, run_sums


def _simplex_loops(values, first):
    found = np.empty_like(values)
    for j in prange(len(first) - 1):
        own = np.sort(values[first[j] : first[j + 1]])[::-1]
        total, threshold = 0.0, 0.0
        for n in range(len(own)):
            total += own[n]
            if own[n] - (total - 1) / (n + 1) > 0:
                threshold = (total - 1) / (n + 1)
        for p in range(first[j], first[j + 1]):
            found[p] = max(values[p] - threshold, 0)
    return found


def _simplex_tensors(values, first):
    """Return the same: the threshold of an instance only rises as entries leave (Michelot)."""
    xp, row = namespace(values), run_of_each(first, len(values))
    kept = xp.ones_like(values)
    while True:
        over = run_sums(values * kept, first) - 1
        threshold = (over / run_sums(kept, first))[row]
        fewer = kept * (values > threshold)
        if bool((fewer == kept).all()):  # after a few rounds
            return xp.clip(values - threshold, 0, None)
        kept = fewer


@kernel(_simplex_loops, least=MANY // 10, tensors=_simplex_tensors, parallel=True)
def onto_simplex(values, first):
    """Return the entries of each instance projected onto the simplex.

    Parameters
    ----------
    values : (E,) array
    first : (N + 1,) array of int
        Where the entries of each instance begin.
    """
    if not len(values):
        return values.copy()
    count = np.diff(first)
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(values)) - first[row]
    table = np.full((len(count), count.max()), -np.inf)
    table[row, place] = values
    largest = -np.sort(-table, axis=1)
    over = np.cumsum(np.where(np.isfinite(largest), largest, 0), axis=1) - 1
    kept = (largest - over / np.arange(1, table.shape[1] + 1) > 0).sum(axis=1)
    threshold = over[np.arange(len(count)), kept - 1] / np.maximum(kept, 1)
    return np.maximum(values - threshold[row], 0)
