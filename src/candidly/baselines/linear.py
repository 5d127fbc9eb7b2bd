"""Linear scores a class, and the squared hinge that naive and CLPL fit them by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from candidly.baselines.compared import CandidateProblem, Labelling, softmax_over
from candidly.baselines.scaling import Scaling, standardise
from candidly.solvers import Status

Array = NDArray[np.float64]
Positives = Callable[[Array, Array, NDArray[np.bool_]], tuple[float, Array]]
"""(scores G, soft labels P, mask) -> what the candidates lose, and its gradient in G."""


@dataclass(frozen=True)
class Linear:
    """Scores of scaled features: the predictor of the linear methods.

    A row of W beyond the features is the bias.
    """

    scaling: Scaling
    W: Array

    def scores(self, X: NDArray[np.floating]) -> Array:
        """One score a class."""
        m = X.shape[1]
        return self.scaling(X) @ self.W[:m] + self.W[m:].sum(axis=0)


def with_bias(X: Array) -> Array:
    """A last column of ones, so that the bias is a weight like the others."""
    return np.hstack([X, np.ones((len(X), 1))])


def label_by_squared_hinge(
    problem: CandidateProblem, positives: Positives, C: float, max_iter: int
) -> Labelling:
    """Soft labels and predictor of the weights that minimise the squared hinge.

    Features are standardised, since a penalty on the weights means nothing without a unit.
    """
    if not 0 < C < np.inf:
        raise ValueError(f"C is positive and finite, got {C!r}")
    if not max_iter >= 1:
        raise ValueError(f"max_iter is at least 1, got {max_iter!r}")
    scaling = standardise(problem.X)
    A = with_bias(scaling(problem.X))
    W, objective, status = minimise_squared_hinge(
        A, problem.P, problem.mask, positives, C, max_iter
    )
    scores = A @ W
    labels = softmax_over(problem.mask, scores)
    return Labelling(labels, Linear(scaling, W), objective, scores, status)


def minimise_squared_hinge(
    A: Array, P: Array, mask: NDArray[np.bool_], positives: Positives, C: float, max_iter: int
) -> tuple[Array, list[float], Status]:
    """min_W 1/2 |W|^2 + C (positives(AW) + sum_{a not in S} psi(-g_a)), psi(u) = max(0, 1-u)^2.

    This is the binary problem with an instance in a block of columns a class, without the
    blocks: it is convex with a gradient, and L-BFGS goes to its minimum. Where features
    outnumber instances the weights are sought in the span of the instances, where the
    minimum and every step on the way lie.
    """
    basis = None
    if A.shape[1] > A.shape[0]:
        basis, R = np.linalg.qr(A.T)
        A = R.T
    shape = A.shape[1], P.shape[1]
    values: list[float] = []

    def objective(w: Array) -> tuple[float, Array]:
        W = w.reshape(shape)
        G = A @ W
        lost, slope = positives(G, P, mask)
        shortfall = np.where(mask, 0, np.maximum(1 + G, 0))
        value = 0.5 * float(w @ w) + C * (lost + float((shortfall**2).sum()))
        return value, (W + C * (A.T @ (slope + 2 * shortfall))).ravel()

    found = minimize(
        objective,
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: values.append(float(intermediate_result.fun)),
        options={"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 1e-14, "gtol": 1e-7},
    )
    status = Status.MAX_ITER if found.status == 1 else Status.DONE
    W = found.x.reshape(shape)
    return W if basis is None else basis @ W, values or [float(found.fun)], status
