"""Sums over the candidate entries of a name, products with them, and simplices of instances."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from candidly.solvers.kernels.compiling import kernel, prange

PIECE = 2_000_000
"""Numbers that the NumPy twins copy at a time."""

MANY = 2_000_000
"""Numbers from which compiled loops save more than it takes to load them."""

LOOSE = {"reassoc", "contract", "arcp"}
"""Freedom in the order of sums, without which they are not vectorised."""


def _name_sums_loops(X, instance, order, first, values):
    names, k = len(first) - 1, X.shape[1]
    sums = np.zeros((names, k))
    for i in prange(names):
        for p in range(first[i], first[i + 1]):
            value = values[order[p]]
            if value != 0:
                row = X[instance[order[p]]]
                for t in range(k):
                    sums[i, t] += value * row[t]
    return sums


@kernel(_name_sums_loops, least=MANY, parallel=True)
def name_sums(X, instance, order, first, values):
    """Return the sum of rows of X (N x k) over the entries of each name, in double precision.

    Parameters
    ----------
    X : (N, k) array
    instance : (E,) array of int
        Instance of each entry.
    order, first : arrays of int
        Entries sorted by name, and where those of each name begin.
    values : (E,) array
        Weight of each entry.
    """
    shape = len(first) - 1, len(X)
    Y = sparse.csr_array((values[order], instance[order], first), shape=shape)
    step = max(1, PIECE // max(len(X), 1))
    parts = [Y @ X[:, start : start + step].astype(float) for start in range(0, X.shape[1], step)]
    return np.hstack(parts) if parts else np.zeros((shape[0], 0))


def _entry_products_loops(X, A, instance, name):
    found = np.empty(len(name))
    k = X.shape[1]
    for e in prange(len(name)):
        x, a = X[instance[e]], A[name[e]]
        total = X.dtype.type(0)
        for t in range(k):
            total += x[t] * a[t]
        found[e] = total
    return found


@kernel(_entry_products_loops, least=MANY, parallel=True, fastmath=LOOSE)
def products_of_entries(X, A, instance, name):
    """Return the inner product of a row of X (N x k) and one of A (c x k) for each entry."""
    found = np.empty(len(name))
    step = max(1, PIECE // max(X.shape[1], 1))
    for start in range(0, len(name), step):
        part = slice(start, start + step)
        found[part] = np.einsum("ek,ek->e", X[instance[part]], A[name[part]])
    return found


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


@kernel(_simplex_loops, least=MANY // 10, parallel=True)
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
