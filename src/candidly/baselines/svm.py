"""One linear support vector machine a class, on standardised features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC

from candidly.baselines.linear import Linear
from candidly.baselines.scaling import standardise

MAX_ITER = 10000
"""Of liblinear, which warns where it stops early."""


def one_vs_all(X: NDArray[np.floating], positive: NDArray[np.bool_], C: float, seed: int) -> Linear:
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
    scaling = standardise(X)
    Z, count = scaling(X), positive.sum(axis=0)
    W = np.zeros((X.shape[1] + 1, positive.shape[1]))
    W[-1] = np.where(count > 0, 0, -np.inf)
    for k in np.flatnonzero((count > 0) & (count < len(X))):
        machine = LinearSVC(C=C, dual="auto", random_state=seed, max_iter=MAX_ITER)
        machine.fit(Z, positive[:, k])
        W[:-1, k], W[-1, k] = machine.coef_[0], machine.intercept_[0]
    return Linear(scaling, W)


def linear_svm(C: float) -> Any:
    """Return a linear support vector machine, one-vs-all, on standardised features."""
    if not C > 0:
        raise ValueError(f"C is above 0, got {C!r}")
    machine = LinearSVC(C=C, dual="auto", random_state=0, max_iter=MAX_ITER)
    # The first scaler keeps squares of huge or tiny values within range for the second.
    return make_pipeline(MaxAbsScaler(), StandardScaler(), machine)
