"""Lifts of features: maps to the space whose row space is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Features = NDArray[np.floating]


class Lift(Protocol):
    """Map from features to features: ``fit`` on some rows, then ``transform`` any."""

    def fit(self, X: Features, weight: Features, rng: np.random.Generator) -> Self:
        """Learn the map from rows of X, whose weights sum to 1."""
        ...

    def transform(self, X: Features) -> Features:
        """Return the lifted rows of X."""
        ...


@dataclass
class LinearLift:
    """The identity."""

    def fit(self, X: Features, weight: Features, rng: np.random.Generator) -> Self:
        """Return the lift itself: there is nothing to learn."""
        return self

    def transform(self, X: Features) -> Features:
        """Return X itself."""
        return X


@dataclass
class RBFLift:
    """The Gaussian kernel exp(-|x - z|^2 / (width * mean |x - z|^2)), by landmarks.

    With as many landmarks as rows it is the kernel itself; with fewer, the Nyström
    approximation on rows drawn at random.

    Parameters
    ----------
    width : float
        Squared width, in multiples of the mean squared distance.
    landmarks : int
        Largest number of landmarks.
    """

    width: float = 2.0
    landmarks: int = 800

    def fit(self, X: Features, weight: Features, rng: np.random.Generator) -> Self:
        """Choose the landmarks, and whiten their kernel."""
        few = len(X) <= self.landmarks
        # Rows are sorted by a random projection first, so that their input order does not matter.
        order = np.argsort(X @ rng.normal(size=X.shape[1]), kind="stable")
        rows = order if few else order[np.sort(rng.permutation(len(X))[: self.landmarks])]
        self.points_ = X[rows]
        distance = _squared_distances(self.points_, self.points_)
        mean = 2 * float((weight @ (X - weight @ X) ** 2).sum())
        self.scale_ = self.width * mean if mean > 0 else 1.0
        size, basis = linalg.eigh(np.exp(-distance / self.scale_), check_finite=False)
        kept = size > 1e-10 * size[-1]
        self.whiten_ = basis[:, kept] / np.sqrt(size[kept])
        return self

    def transform(self, X: Features) -> Features:
        """Return coordinates whose inner products are the kernel, exactly on the landmarks."""
        distance = _squared_distances(X, self.points_)
        return np.exp(-distance / self.scale_) @ self.whiten_


def _squared_distances(A, B):
    return np.maximum((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * (A @ B.T), 0)
