"""Each instance as a combination of its neighbours: small least squares, all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from candidly.solvers.arrays import Floats

Index = NDArray[np.intp]

RIDGE = 1e-11
"""Added to Gram matrices, relative to their trace: duplicated neighbours share their weight."""
CHUNK = 1 << 24
"""Numbers held at once for neighbours of many instances: 128 MB."""


def neighbours(X: Floats, k: int) -> Index:
    """Return the k nearest other instances of each, or as many as there are; (N, k)."""
    k = min(k, len(X) - 1)
    if k == 0:
        return np.zeros((len(X), 0), dtype=np.intp)
    return NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)


def graph(weights: Floats, index: Index, n_nodes: int | None = None) -> sparse.csr_array:
    """Return a sparse matrix of neighbour weights: one row per instance, one column per node."""
    n, k = index.shape
    shape = (n, n if n_nodes is None else n_nodes)
    return sparse.csr_array((weights.ravel(), index.ravel(), np.arange(n + 1) * k), shape=shape)


def non_negative_weights(X: Floats, basis: Floats, index: Index) -> Floats:
    """Return argmin_{w >= 0} |x_i - sum_j w_j basis_{index_ij}|^2 of every row i; (n, k)."""
    n, k = index.shape
    weights = np.zeros((n, k))
    step = max(1, CHUNK // max(1, k * X.shape[1]))
    for start in range(0, n, step):
        part = slice(start, start + step)
        near = basis[index[part]]
        gram, target = near @ near.transpose(0, 2, 1), (near @ X[part, :, None])[:, :, 0]
        weights[part] = batched_nnls(gram, target)
    return weights


def simplex_weights(gram: Floats) -> Floats:
    """Return argmin w'Gw over w >= 0 with sum 1, for every G of a stack (n, k, k).

    The minimiser of w'Gw/2 - sum(w) over w >= 0 is a multiple of it. That needs G to be
    definite: where an instance lies among its neighbours a small ridge chooses one of many
    answers, and costs at most 1e-9 of the mean of G's diagonal.
    """
    n, k, _ = gram.shape
    mean = np.trace(gram, axis1=1, axis2=2)[:, None, None] / max(k, 1)
    unit = gram / np.where(mean > 0, mean, 1) + 1e-9 * np.eye(k)
    weights = batched_nnls(unit, np.ones((n, k)))
    return weights / weights.sum(axis=1, keepdims=True)


def batched_nnls(gram: Floats, target: Floats, max_iter: int = 1000) -> Floats:
    """Return argmin_{w >= 0} w'Gw/2 - b'w for every G of a stack (n, k, k) and b of (n, k).

    Block principal pivoting: guess which weights are free, solve for them, exchange all that
    have the wrong sign. Where that does not reduce their number three times running, only
    the last of them is exchanged, which cannot cycle (Júdice & Pires 1994).
    """
    n, k = target.shape
    if k == 0:
        return np.zeros((n, 0))
    size = np.trace(gram, axis1=1, axis2=2) / k
    size = np.where(size > 0, size, 1)
    gram = gram / size[:, None, None] + RIDGE * np.eye(k)
    target = target / size[:, None]
    slack = 1e-12 * np.maximum(np.abs(target).max(axis=1), 1e-300)[:, None]
    weights = np.zeros((n, k))
    free = np.zeros((n, k), dtype=bool)
    best, patience = np.full(n, k + 1), np.full(n, 3)
    todo = np.arange(n)
    for _ in range(max_iter):
        if not todo.size:
            break
        G, b, f = gram[todo], target[todo], free[todo]
        both = f[:, :, None] & f[:, None, :]
        w = np.linalg.solve(np.where(both, G, np.eye(k)), np.where(f, b, 0)[:, :, None])
        slope = (G @ w)[:, :, 0] - b
        w = w[:, :, 0]
        wrong = np.where(f, w < -slack[todo], slope < -slack[todo])
        count = wrong.sum(axis=1)
        weights[todo] = np.where(f, np.maximum(w, 0), 0)
        fewer = count < best[todo]
        patience[todo] = np.where(fewer, 3, patience[todo] - 1)
        best[todo] = np.minimum(best[todo], count)
        last = np.arange(k) == (k - 1 - wrong[:, ::-1].argmax(axis=1))[:, None]
        careful = patience[todo] < 0
        free[todo] = f ^ np.where(careful[:, None], wrong & last, wrong)
        todo = todo[count > 0]
    return weights
