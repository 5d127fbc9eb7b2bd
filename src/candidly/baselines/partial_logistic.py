"""PL-LR: logistic regression whose likelihood counts every candidate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from candidly.baselines.compared import SETS, CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.feature_scaling import (
    centre,
    standardise,
    to_unit_range,
    with_row_norm,
)
from candidly.baselines.linear_machines import LinearScores, in_span_of_rows, minimise_smooth
from candidly.parameters import COUNT, POSITIVE, Constraints, one_of
from candidly.registry import register
from candidly.solvers import Status
from candidly.solvers.arrays import Floats, Mask

ROW_NORM = 10.0
"""Root mean square norm of the rows, the unit of the penalty."""
TOLERANCE = 1e-6
"""Relative decrease of the objective at which L-BFGS stops: labels no longer change."""
UNLIKELY = 1e-200
"""Probability of a candidate set below which logarithms are taken before sums."""

SCALINGS = {"range": to_unit_range, "standard": standardise, "none": centre}


class PartialLogistic(ComparedMethod):
    """Logistic regression on the partial likelihood (Grandvalet 2002; Jin & Ghahramani 2002).

    Minimises penalty/2 |W|^2 - sum over instances of log sum_{a in S} p_a(x), with candidates S
    and p the softmax of linear scores, whose bias is not penalised. It is not convex; L-BFGS
    starts from 0, where all classes are equally likely. Soft labels are p on the candidates.
    Assumed, since a penalty means nothing without a unit: features are centred and scaled, and
    rows have a mean squared norm of 100. Priors are factors of the p_a in the sum.

    Parameters
    ----------
    penalty : float
        Weight of the penalty.
    scaling : "range", "standard" or "none"
        Features are divided by their ranges, by their standard deviations, which make rare words
        count more than frequent ones, or by nothing but one number for all.
    max_iter : int
        Largest number of iterations of L-BFGS.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("PL-LR").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    >>> model.predict_proba(digits.X).shape
    (300, 10)
    """

    takes = replace(SETS, proba=True)

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "penalty": POSITIVE,
        "scaling": one_of(*SCALINGS),
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        penalty: float = 10.0,
        scaling: str = "range",
        max_iter: int = 500,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.penalty = penalty
        self.scaling = scaling
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Fit the scores; the soft labels are the probabilities of the candidates."""
        scaling = with_row_norm(SCALINGS[self.scaling](problem.X), problem.X, ROW_NORM)
        W, objective, status = minimise_partial_likelihood(
            scaling(problem.X), problem.P, problem.mask, self.penalty, self.max_iter
        )
        predictor = LogisticScores(scaling, W)
        scores = predictor.scores(problem.X)
        with np.errstate(divide="ignore"):  # the logarithm is -inf off the candidates
            labels = softmax(scores + np.log(problem.P), axis=1)
        return Labelling(labels, predictor, objective, scores, status)


class LogisticScores(LinearScores):
    """Linear scores whose softmax is the probability of each class."""

    def probabilities(self, X: Floats) -> Floats:
        """Return the probability of each class for each row of X."""
        return np.asarray(softmax(self.scores(X), axis=1))


def minimise_partial_likelihood(
    A: Floats,
    P: Floats,
    mask: Mask,
    penalty: float,
    max_iter: int,
    start: Floats | None = None,
    weight: Floats | None = None,
) -> tuple[Floats, list[float], Status]:
    """Minimise penalty/2 |W|^2 - sum_j w_j log sum_{i in S_j} pi_ji p_i(x_j) by L-BFGS.

    Here p is the softmax of A W + bias, and pi the soft labels times the size of the set. Sets of
    all classes without a preference say nothing, and cost nothing. Where features outnumber
    instances the weights are sought in the span of the instances.

    Parameters
    ----------
    A : (N, k) array
        Features, without a column for the bias; scores have their precision.
    P : (N, c) array
        Soft labels, 0 off the candidates.
    mask : (N, c) array of bool
        The candidates.
    penalty : float
        Of the weights; the bias has none.
    max_iter : int
    start : (k + 1, c) array, optional
        Where to start, 0 by default.
    weight : (N,) array, optional
        How much an instance counts, 1 by default.

    Returns
    -------
    W : (k + 1, c) array
        Weights; the last row is the bias.
    objective : list of float
        After each iteration.
    status : Status
    """
    size = mask.sum(axis=1, keepdims=True)
    pi = P * (size / P.sum(axis=1, keepdims=True))
    informs = (size[:, 0] < mask.shape[1]) | (np.abs(pi - 1) > 1e-9).any(axis=1)
    if weight is not None:
        informs &= weight > 0
        weight = weight[informs]
    pi = pi[informs].astype(A.dtype, copy=False)
    A, basis = in_span_of_rows(A[informs])
    shape = A.shape[1] + 1, P.shape[1]
    first = np.zeros(shape) if start is None else start
    if basis is not None and start is not None:
        first = np.vstack([basis.T @ start[:-1], start[-1:]])

    def objective(x: Floats) -> tuple[float, Floats]:
        W, bias = x[: -shape[1]].reshape(-1, shape[1]), x[-shape[1] :]
        G = A @ W.astype(A.dtype, copy=False)
        G += bias
        value, slope = partial_likelihood(G, pi)
        if weight is not None:
            value, slope = value * weight, slope * weight[:, None]
        gradient = np.vstack([A.T @ slope + penalty * W, slope.sum(axis=0)])
        total = float(value.sum(dtype=np.float64)) + 0.5 * penalty * float((W**2).sum())
        return total, gradient.ravel()

    x, values, status = minimise_smooth(objective, first.ravel(), max_iter, TOLERANCE)
    W = x.reshape(shape)
    if basis is not None:
        W = np.vstack([basis @ W[:-1], W[-1:]])
    return W, values, status


def partial_likelihood(G: Floats, pi: Floats) -> tuple[Floats, Floats]:
    """Return -log sum_i pi_i p_i of each row and its gradient in the scores G, written over G."""
    G -= G.max(axis=1, keepdims=True)
    p = np.exp(G)
    p /= p.sum(axis=1, keepdims=True)
    inside = np.einsum("ij,ij->i", p, pi)
    low = np.flatnonzero(inside < max(UNLIKELY, np.finfo(inside.dtype).tiny))
    inside[low] = 1
    share = p * pi
    share /= inside[:, None]
    loss = -np.log(inside)
    if len(low):
        with np.errstate(divide="ignore"):
            joint = G[low] + np.log(pi[low])
        share[low] = softmax(joint, axis=1)
        loss[low] = np.log(np.exp(G[low]).sum(axis=1)) - logsumexp(joint, axis=1)
    return loss, np.subtract(p, share, out=G)


register(
    "PL-LR",
    PartialLogistic,
    "Grandvalet (2002); Jin & Ghahramani (2002)",
    "seconds; linear in instances times features times classes",
    "probabilities for new instances; words, skewed classes, distractors by frequency",
)
