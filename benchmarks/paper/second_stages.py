"""Classifiers that are trained on the labels found: one for all methods, and the published one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.convex import LOSSES, minimise_squared_hinge
from candidly.baselines.feature_scaling import FeatureScaling, standardise
from candidly.baselines.linear_machines import with_bias

Floats = NDArray[np.floating]
STRENGTHS = (1e-4, 1e-3, 1e-2, 1.0)
"""C from which cross-validation chooses; 1 is CLPL's, and hardly any point is inside beyond it."""
FOLDS = 3
MAX_ITER = 300


@dataclass(frozen=True)
class CommonMachine:
    """One-against-all squared hinge on standardised features: the machine of CLPL.

    Trained on labels, C chosen by cross-validation on the same labels: no truth is used, and
    every method gets the same.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> float(np.mean(CommonMachine.trained(X, y, seed=0).predict(X) == y)) > 0.9
    True
    """

    scaling: FeatureScaling
    basis: Floats
    W: Floats
    classes: NDArray[Any]
    C: float

    @classmethod
    def trained(cls, X: Floats, labels: NDArray[Any], seed: int) -> CommonMachine:
        """Return the machine trained on labels; the folds are drawn with the seed."""
        scaling = standardise(X)
        A, basis = _in_row_space(with_bias(scaling(X)))
        classes, column = np.unique(labels, return_inverse=True)
        C = _chosen(A, column, len(classes), seed)
        return cls(scaling, basis, _weights(A, column, len(classes), C), classes, C)

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the class with the largest score for each row of X."""
        scores = with_bias(self.scaling(X)) @ self.basis @ self.W
        return self.classes[scores.argmax(axis=1)]


def _in_row_space(A: Floats) -> tuple[Floats, Floats]:
    """Return A in a basis of its rows, and the basis: the solution is the same, and smaller."""
    if A.shape[1] <= A.shape[0]:
        return A, np.eye(A.shape[1])
    basis, R = np.linalg.qr(A.T)
    return R.T, basis


def _weights(A: Floats, column: NDArray[np.intp], c: int, C: float) -> Floats:
    mask = np.zeros((len(A), c), dtype=bool)
    mask[np.arange(len(A)), column] = True
    return minimise_squared_hinge(A, mask.astype(float), mask, LOSSES["mean"], C, MAX_ITER)[0]


def _chosen(A: Floats, column: NDArray[np.intp], c: int, seed: int) -> float:
    """Return the C with the least error on folds left out; of equal ones the smallest."""
    if c < 2 or np.bincount(column).max() < FOLDS:
        return 1.0
    wrong = np.zeros(len(STRENGTHS))
    # Classes with fewer instances than folds are in some folds only: no reason to stop.
    order = np.random.default_rng(seed).permutation(len(A))
    folds = np.empty(len(A), dtype=int)
    folds[order[np.argsort(column[order], kind="stable")]] = np.arange(len(A)) % FOLDS
    for fold in range(FOLDS):
        train, test = folds != fold, folds == fold
        for k, C in enumerate(STRENGTHS):
            scores = A[test] @ _weights(A[train], column[train], c, C)
            wrong[k] += np.sum(scores.argmax(axis=1) != column[test])
    return STRENGTHS[int(wrong.argmin())]
