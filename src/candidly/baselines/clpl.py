"""CLPL: the mean score of the candidates is positive, every other score negative."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.linear import Array, label_by_squared_hinge
from candidly.registry import Method, register


class CLPL(ComparedMethod):
    """Convex learning from partial labels (Cour, Sapp & Taskar 2011).

    Minimises 1/2 |W|^2 + C * sum over instances of psi(mean_{a in S} g_a) +
    sum_{a not in S} psi(-g_a), with linear scores g and the squared hinge
    psi(u) = max(0, 1 - u)^2. Assumed: features are standardised and the bias is penalised
    like a weight; where there are priors the mean is weighted by them.

    Parameters
    ----------
    C : float
        Weight of the losses against the penalty.
    max_iter : int
        Most iterations of L-BFGS.
    classifier, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("CLPL").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.1
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        max_iter: int = 2000,
        classifier: Any = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier=classifier, random_state=random_state)
        self.C = C
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Fit the scores; the best among the candidates is the label."""
        return label_by_squared_hinge(problem, mean_of_candidates, self.C, self.max_iter)


def mean_of_candidates(G: Array, P: Array, mask: NDArray[np.bool_]) -> tuple[float, Array]:
    """Psi of the mean score under P, and its gradient; P is 0 off the candidates."""
    shortfall = np.maximum(1 - (P * G).sum(axis=1, keepdims=True), 0)
    return float((shortfall**2).sum()), -2 * P * shortfall


register(
    Method(
        "CLPL",
        CLPL,
        "Cour, Sapp & Taskar (2011)",
        "seconds; linear in instances times features times classes",
        "a fast, convex baseline with few settings",
    )
)
