"""Linear scores per class, how they are fitted, and linear support vector machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from candidly.baselines.feature_scaling import FeatureScaling, standardise
from candidly.solvers import Status
from candidly.solvers.arrays import Floats, Mask

MAX_ITER = 10000
"""Iterations of liblinear, which warns where it stops early."""


@dataclass(frozen=True)
class LinearScores:
    """The predictor of the linear methods: scores of scaled features.

    A row of W beyond the features is the bias.
    """

    scaling: FeatureScaling
    W: Floats

    def scores(self, X: Floats) -> Floats:
        """Return one score per class for each row of X."""
        m = X.shape[1]
        return self.scaling(X) @ self.W[:m] + self.W[m:].sum(axis=0)


def with_bias(X: Floats) -> Floats:
    """Return X with a last column of ones, so that the bias is a weight like the others."""
    return np.hstack([X, np.ones((len(X), 1))])


def in_span_of_rows(A: Floats) -> tuple[Floats, Floats | None]:
    """Return the rows of A in a basis of their span, and the basis; None where A is as it was.

    Where features outnumber rows this is shorter. Weights V there are ``basis @ V`` of the
    features: the span contains the minimum of a loss of scores plus a squared norm.
    """
    if A.shape[1] <= A.shape[0]:
        return A, None
    basis, R = np.linalg.qr(A.T)
    return R.T, basis


def minimise_smooth(
    objective: Callable[[Floats], tuple[float, Floats]], start: Floats, max_iter: int, ftol: float
) -> tuple[Floats, list[float], Status]:
    """Return the minimum that L-BFGS finds, the objective after each iteration, and a status.

    ``objective(x)`` returns value and gradient; a relative decrease below ``ftol`` ends it.
    """
    values: list[float] = []
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: values.append(float(intermediate_result.fun)),
        options={"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": ftol, "gtol": 1e-7},
    )
    status = Status.MAX_ITER if found.status == 1 else Status.DONE
    return found.x, values or [float(found.fun)], status


def one_vs_all(X: Floats, positive: Mask, C: float, seed: int) -> LinearScores:
    """Return one linear support vector machine per class, scikit-learn's with squared hinge.

    A class with every instance has no negatives to learn from: its score is 0, at which the
    others reject. A class without instances is never the largest.

    Parameters
    ----------
    X : (N, m) array
        Features as they came.
    positive : (N, c) array of bool
        Instances of each class; an instance may be of several.
    C : float
    seed : int
        Seed of liblinear's dual solver, which is used where features outnumber instances.
    """
    scaling = standardise(X)
    Z, count = scaling(X), positive.sum(axis=0)
    W = np.zeros((X.shape[1] + 1, positive.shape[1]))
    W[-1] = np.where(count > 0, 0, -np.inf)
    for k in np.flatnonzero((count > 0) & (count < len(X))):
        machine = _machine(C, seed).fit(Z, positive[:, k])
        W[:-1, k], W[-1, k] = machine.coef_[0], machine.intercept_[0]
    return LinearScores(scaling, W)


def linear_svm(C: float) -> Any:
    """Return a linear support vector machine, one-vs-all, on standardised features."""
    # The first scaler keeps squares of huge or tiny values within range for the second.
    return make_pipeline(MaxAbsScaler(), StandardScaler(), _machine(C, 0))


def _machine(C: float, seed: int) -> LinearSVC:
    return LinearSVC(C=C, dual="auto", random_state=seed, max_iter=MAX_ITER)
