"""PL-SVM: the best candidate ahead of the best other label, by a margin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from candidly.baselines.compared import (
    SETS,
    CandidateProblem,
    ComparedMethod,
    Labelling,
    softmax_over,
)
from candidly.baselines.feature_scaling import standardise
from candidly.baselines.linear_machines import LinearScores
from candidly.parameters import COUNT, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers.arrays import Floats, Mask


class PLSVM(ComparedMethod):
    """Maximum margin between candidates and the rest (Nguyen & Caruana 2008).

    Minimises penalty/2 |W|^2 + mean of max(0, 1 - (max_{S} f - max_{not in S} f)) with linear
    scores f, by Pegasos: step 1 / (penalty t), then projection to radius 1 / sqrt(penalty).

    Features are standardised, since the penalty means nothing without a unit. Assumed: a
    step uses all instances (Pegasos leaves the size of its sample open, and then nothing is
    drawn), labels of equal score share a step (from W = 0 all are equal), scores have no bias
    but features are centred, the weights of the lowest objective met are kept, and an
    instance whose candidates are all labels loses nothing.

    Parameters
    ----------
    penalty : float
        Penalty on the weights; lambda in the publication.
    max_iter : int
        Steps of Pegasos.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("PL-SVM").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.1
    True
    """

    takes = replace(SETS, priors=False)

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "penalty": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        penalty: float = 1.0,
        max_iter: int = 500,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.penalty = penalty
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Fit the scores; the label is the candidate with the largest score."""
        scaling = standardise(problem.X)
        X = scaling(problem.X)
        W, objective = pegasos(X, problem.mask, self.penalty, self.max_iter)
        scores = X @ W
        labels = softmax_over(problem.mask, scores)
        return Labelling(labels, LinearScores(scaling, W), objective, scores)


def pegasos(X: Floats, mask: Mask, penalty: float, max_iter: int) -> tuple[Floats, list[float]]:
    """Return the weights of the lowest objective met, and the lowest objective at every step."""
    W = best = np.zeros((X.shape[1], mask.shape[1]))
    lowest = np.inf
    objective = []
    for t in range(1, max_iter + 1):
        value, slope = margin_loss(X @ W, mask)
        value += penalty / 2 * float(np.square(W).sum())
        if value < lowest:
            best, lowest = W, value
        objective.append(lowest)
        W = (1 - 1 / t) * W - X.T @ slope / (penalty * t)
        W = W / max(1, float(np.linalg.norm(W)) * np.sqrt(penalty))
    return best, objective


def margin_loss(G: Floats, mask: Mask) -> tuple[float, Floats]:
    """Return the mean of max(0, 1 - (max_S g - max_{not in S} g)), and a subgradient in g."""
    inside, outside = np.where(mask, G, -np.inf), np.where(mask, -np.inf, G)
    lost = 1 - inside.max(axis=1) + outside.max(axis=1)
    slope = _share_of_largest(outside) - _share_of_largest(inside)
    counts = (lost > 0)[:, None] / len(G)
    return float(np.maximum(lost, 0).mean()), np.where(counts > 0, slope, 0) * counts


def _share_of_largest(G: Floats) -> Floats:
    """Return 1 at the largest of each row, shared where several are equal up to rounding."""
    top = G.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    equal = top - 1e-12 * np.abs(top) <= G
    return equal / np.maximum(equal.sum(axis=1, keepdims=True), 1)


register(
    "PL-SVM",
    PLSVM,
    "Nguyen & Caruana (2008)",
    "seconds; linear in instances times features times classes",
    "a fast linear method that chooses among candidates as it learns",
)
