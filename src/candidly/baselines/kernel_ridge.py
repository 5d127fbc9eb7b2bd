"""Kernel ridge regression of soft labels, with a bias: factored once, solved in every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from candidly.baselines.feature_scaling import FeatureScaling
from candidly.solvers.arrays import Floats


@dataclass(frozen=True)
class FactoredKernelRidge:
    """Solver of min |Y - KA - 1b'|^2 + penalty * tr(A'KA) over A and b, for any Y.

    K is the RBF kernel exp(-d^2 / (2 s^2)) whose width s is the mean distance of two
    different instances.
    """

    X: Floats
    gamma: float
    penalty: float
    K: Floats
    factor: tuple[Floats, bool]

    @classmethod
    def of(cls, X: Floats, penalty: float) -> Self:
        """Return the regression on the rows of X, whose kernel matrix is factored here."""
        N = len(X)
        squares = euclidean_distances(X, squared=True)
        width = np.sqrt(squares).sum() / max(N * (N - 1), 1)
        gamma = 0.5 / width**2 if width > 0 else 0.5
        K = np.exp(-gamma * squares)
        try:
            factor = cho_factor(K + penalty * np.eye(N), overwrite_a=True)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"penalty {penalty!r} is too small for these features; raise it"
            ) from error
        return cls(X, gamma, penalty, K, factor)

    def fit(self, Y: Floats) -> tuple[Floats, Floats]:
        """Return A and b; b is such that A has mean 0."""
        ones = cho_solve(self.factor, np.ones(len(Y)))
        A = cho_solve(self.factor, Y)
        b = A.sum(axis=0) / ones.sum()
        return A - np.outer(ones, b), b

    def loss(self, Y: Floats, A: Floats, b: Floats) -> float:
        """Return the value of what :meth:`fit` minimises."""
        F = self.K @ A + b
        return float(np.square(Y - F).sum() + self.penalty * (A * (F - b)).sum())


@dataclass(frozen=True)
class KernelScores:
    """The predictor of the kernel methods."""

    scaling: FeatureScaling
    ridge: FactoredKernelRidge
    A: Floats
    b: Floats

    def scores(self, X: Floats) -> Floats:
        """Return one score per class for each row of X."""
        return rbf_kernel(self.scaling(X), self.ridge.X, gamma=self.ridge.gamma) @ self.A + self.b
