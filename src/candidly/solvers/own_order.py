"""An order of rows and of classes by their content, whatever the order of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.arrays import Floats
from candidly.solvers.candidate_sets import CandidateSets

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


def own_order(
    where: Floats, P: Floats, sets: CandidateSets
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return the order of rows at these places, with soft labels P (E,), and that of classes.

    Then the place of each row by its labels, in which only equal ones agree.
    """
    # Classes by the place of their candidates: sorted first, so that rounding is the same.
    weighted = _sum_by_class(P * where[sets.instance], sets)
    columns = np.lexsort((weighted, _sum_by_class(P, sets)))
    labelled = places(sparse.csr_array(sets.rows(P)[:, columns]).sorted_indices())
    return np.lexsort((labelled, where)), columns, labelled


def _sum_by_class(y: Floats, sets: CandidateSets) -> Floats:
    """Return the sum of each class, added up from the smallest to the largest."""
    order = np.lexsort((y, sets.classes))
    return np.asarray(np.bincount(sets.classes[order], y[order], sets.n_classes), np.float64)
