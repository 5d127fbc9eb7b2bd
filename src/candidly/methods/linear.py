"""Linear scores on standardised features, and one support vector machine a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

MAX_ITER = 10000
"""Of liblinear, which warns where it stops early."""


@dataclass(frozen=True)
class Standardizer:
    """Features less their mean, over their standard deviation; constant ones are 0."""

    peak: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[np.floating]) -> Self:
        """Learn from the rows of X."""
        peak = np.abs(X).max(axis=0)
        peak = np.where(peak > 0, peak, 1)  # squares of huge or tiny values would not fit
        spread = (X / peak).std(axis=0)
        return cls(peak, (X / peak).mean(axis=0), np.where(spread > 1e-12, spread, np.inf))

    def __call__(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Standardised rows of X."""
        return (X / self.peak - self.mean) / self.scale


@dataclass(frozen=True)
class LinearScores:
    """A predictor: weights and an offset a class, on standardised features."""

    standardize: Standardizer
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]

    def scores(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Score of each class for each row."""
        return self.standardize(X) @ self.weights.T + self.offset


def one_vs_all(
    X: NDArray[np.floating], positive: NDArray[np.bool_], C: float, seed: int
) -> LinearScores:
    """Train a linear support vector machine a class, scikit-learn's with the squared hinge.

    A class with every instance has no negatives to learn from: its score is 0, where the
    others reject. A class without any is never the largest.

    Parameters
    ----------
    X : (N, m) array
        Features as they came.
    positive : (N, c) array of bool
        Instances of each class, several classes an instance allowed.
    C : float
    seed : int
        Of liblinear's dual solver, which is used where features outnumber instances.
    """
    if not C > 0:
        raise ValueError(f"C is above 0, got {C!r}")
    standardize = Standardizer.of(X)
    Z, count = standardize(X), positive.sum(axis=0)
    weights = np.zeros((positive.shape[1], X.shape[1]))
    offset = np.where(count > 0, 0, -np.inf)
    for k in np.flatnonzero((count > 0) & (count < len(X))):
        machine = LinearSVC(C=C, dual="auto", random_state=seed, max_iter=MAX_ITER)
        machine.fit(Z, positive[:, k])
        weights[k], offset[k] = machine.coef_[0], machine.intercept_[0]
    return LinearScores(standardize, weights, offset)


def linear_svm(C: float) -> Any:
    """Return a linear support vector machine, one-vs-all, on standardised features."""
    if not C > 0:
        raise ValueError(f"C is above 0, got {C!r}")
    machine = LinearSVC(C=C, dual="auto", random_state=0, max_iter=MAX_ITER)
    # The first scaler keeps squares of huge or tiny values within range for the second.
    return make_pipeline(MaxAbsScaler(), StandardScaler(), machine)
