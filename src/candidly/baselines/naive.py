"""naive: every candidate is taken for a true label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.linear import Array, label_by_squared_hinge
from candidly.registry import Method, register


class Naive(ComparedMethod):
    """Every candidate taken for a true label (the baseline of Cour, Sapp & Taskar 2011).

    Minimises 1/2 |W|^2 + C * sum over instances of (1/|S|) sum_{a in S} psi(g_a) +
    sum_{a not in S} psi(-g_a), with linear scores g and the squared hinge
    psi(u) = max(0, 1 - u)^2. Assumed: features are standardised and the bias is penalised
    like a weight; where there are priors they stand in the place of 1/|S|.

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
    >>> model = candidly.methods.get("naive").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
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
        return label_by_squared_hinge(problem, each_candidate, self.C, self.max_iter)


def each_candidate(G: Array, P: Array, mask: NDArray[np.bool_]) -> tuple[float, Array]:
    """Sum of P_a psi(g_a) over the candidates a, and its gradient."""
    shortfall = np.where(mask, np.maximum(1 - G, 0), 0)
    return float((P * shortfall**2).sum()), -2 * P * shortfall


register(
    Method(
        "naive",
        Naive,
        "Cour, Sapp & Taskar (2011), baseline",
        "seconds; linear in instances times features times classes",
        "the floor to compare with",
    )
)
