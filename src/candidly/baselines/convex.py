"""CLPL and naive: linear scores with a convex loss of the candidates' scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling, softmax_over
from candidly.baselines.feature_scaling import standardise
from candidly.baselines.linear_machines import (
    LinearScores,
    in_span_of_rows,
    minimise_smooth,
    with_bias,
)
from candidly.parameters import COUNT, POSITIVE, Constraints, one_of
from candidly.registry import register
from candidly.solvers import Status
from candidly.solvers.arrays import Floats, Mask


class CLPL(ComparedMethod):
    """Convex learning from partial labels, and the naive baseline (Cour, Sapp & Taskar 2011).

    Minimises 1/2 |W|^2 + C * sum over instances of loss(g, S) + sum_{a not in S} psi(-g_a),
    with linear scores g, candidates S and the squared hinge psi(u) = max(0, 1 - u)^2. The
    loss of CLPL asks for a positive mean score of the candidates, psi(mean_{a in S} g_a); the
    naive one takes every candidate for a true label, mean_{a in S} psi(g_a). Assumed:
    features are standardised, since a penalty on the weights means nothing without a unit,
    and the bias is penalised like a weight; where there are priors they weight the mean.

    Parameters
    ----------
    loss : "mean" or "each"
        Loss of the mean score of the candidates (CLPL), or mean of their losses (naive).
    C : float
        Weight of the losses against the penalty.
    max_iter : int
        Largest number of iterations of L-BFGS.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("CLPL").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.1
    True
    >>> naive = candidly.methods.get("naive").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, naive.transduction_) < 0.2
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "loss": one_of("mean", "each"),
        "C": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        loss: str = "mean",
        C: float = 1.0,
        max_iter: int = 2000,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.loss = loss
        self.C = C
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Fit the scores; the label is the candidate with the largest score."""
        scaling = standardise(problem.X)
        A = with_bias(scaling(problem.X))
        W, objective, status = minimise_squared_hinge(
            A, problem.P, problem.mask, LOSSES[self.loss], self.C, self.max_iter
        )
        scores = A @ W
        labels = softmax_over(problem.mask, scores)
        return Labelling(labels, LinearScores(scaling, W), objective, scores, status)


def mean_of_candidates(G: Floats, P: Floats, mask: Mask) -> tuple[float, Floats]:
    """Return psi of the mean score under P, and its gradient; P is 0 off the candidates."""
    shortfall = np.maximum(1 - (P * G).sum(axis=1, keepdims=True), 0)
    return float((shortfall**2).sum()), -2 * P * shortfall


def each_candidate(G: Floats, P: Floats, mask: Mask) -> tuple[float, Floats]:
    """Return the sum of P_a psi(g_a) over the candidates a, and its gradient."""
    shortfall = np.where(mask, np.maximum(1 - G, 0), 0)
    return float((P * shortfall**2).sum()), -2 * P * shortfall


Loss = Callable[[Floats, Floats, Mask], tuple[float, Floats]]
"""(scores G, soft labels P, mask) -> loss of the candidates, and its gradient in G."""
LOSSES: dict[str, Loss] = {"mean": mean_of_candidates, "each": each_candidate}


def minimise_squared_hinge(
    A: Floats, P: Floats, mask: Mask, loss: Loss, C: float, max_iter: int
) -> tuple[Floats, list[float], Status]:
    """Solve min_W 1/2 |W|^2 + C (loss(AW) + sum_{a not in S} psi(-g_a)) by L-BFGS.

    Here psi(u) = max(0, 1 - u)^2. This is the binary problem with each instance in one block of
    columns per class, without forming the blocks; it is convex and differentiable. Where
    features outnumber instances the weights are sought in the span of the instances, which
    contains the minimum and every step.

    Returns
    -------
    W : (m, c) array
    objective : list of float
        After each iteration.
    status : Status
    """
    A, basis = in_span_of_rows(A)
    shape = A.shape[1], P.shape[1]

    def objective(w: Floats) -> tuple[float, Floats]:
        W = w.reshape(shape)
        G = A @ W
        lost, slope = loss(G, P, mask)
        shortfall = np.where(mask, 0, np.maximum(1 + G, 0))
        value = 0.5 * float(w @ w) + C * (lost + float((shortfall**2).sum()))
        return value, (W + C * (A.T @ (slope + 2 * shortfall))).ravel()

    w, values, status = minimise_smooth(objective, np.zeros(shape[0] * shape[1]), max_iter, 1e-14)
    W = w.reshape(shape)
    return W if basis is None else basis @ W, values, status


COST = "seconds; linear in instances times features times classes"

register(
    "CLPL", CLPL, "Cour, Sapp & Taskar (2011)", COST, "a fast, convex baseline with few settings"
)
register(
    "naive",
    partial(CLPL, loss="each"),
    "Cour, Sapp & Taskar (2011), baseline",
    COST,
    "the floor to compare with",
)
