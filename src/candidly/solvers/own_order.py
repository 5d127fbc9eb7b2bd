"""An order of rows and of classes by their content, whatever the order of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.arrays import Floats

MISSING = -1.5
"""Where a missing value is; the others are between -1 and 1."""


def places(X: Any) -> Floats:
    """Return a number for each row of a dense or sparse matrix; only equal rows share it."""
    # One direction for all seeds: a method that draws nothing then always rounds the same way.
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    if sparse.issparse(X):
        values = sparse.csr_array((np.abs(X.data), X.indices, X.indptr), shape=X.shape)
        peak = values.max(axis=0).toarray().ravel() if X.shape[0] else np.ones(X.shape[1])
        return X @ (direction / np.where(peak > 0, peak, 1))
    missing = np.isnan(X)
    peak = np.abs(np.where(missing, 0, X)).max(axis=0, initial=0)
    scaled = np.where(missing, MISSING, X / np.where(peak > 0, peak, 1))
    return scaled.astype(np.float64) @ direction


def own_order(where: Floats, P: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the order of rows at these places, with soft labels P (N x c), and of classes."""
    # Classes by the place of their candidates: sorted first, so that rounding is the same.
    weighted = np.sort(P * where[:, None], axis=0).sum(axis=0)
    columns = np.lexsort((weighted, np.sort(P, axis=0).sum(axis=0)))
    rows = np.lexsort((*P[:, columns].T, where))
    return rows, columns
