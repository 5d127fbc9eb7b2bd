"""SURE: kernel ridge on labels that are pushed to be sure."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling, nearest_labels
from candidly.baselines.feature_scaling import standardise
from candidly.baselines.kernel_ridge import FactoredKernelRidge, KernelScores
from candidly.parameters import COUNT, NOT_NEGATIVE, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers import CandidateSets, Status
from candidly.solvers.arrays import Floats, Mask


class SURE(ComparedMethod):
    """Self-guided retraining with a reward for sure labels (Feng & An 2019).

    Alternates kernel ridge regression with a bias of the soft labels p, and
    min |p - f|^2 - reward * max(p) over the p on the candidates that sum to 1, for every
    instance with the fitted f. Both lower one objective.

    Features are standardised, since the kernel has one width for all: the mean distance.
    Assumed: it starts from the priors where there are any, stops when the soft labels change
    by less than ``tol``, and among equal best f the first counts as the largest.

    Parameters
    ----------
    reward : float
        Reward of a sure label; lambda in the publication.
    penalty : float
        Penalty on the size of the regression; beta in the publication.
    max_iter : int
        Largest number of rounds.
    tol : float
        Largest change of a soft label at which it stops.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("SURE").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "reward": NOT_NEGATIVE,
        "penalty": POSITIVE,
        "max_iter": COUNT,
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        *,
        reward: float = 0.3,
        penalty: float = 0.05,
        max_iter: int = 200,
        tol: float = 1e-5,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.reward = reward
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol

    def label(self, problem: CandidateProblem) -> Labelling:
        """Alternate regression and soft labels until the soft labels do not change."""
        scaling = standardise(problem.X)
        ridge = FactoredKernelRidge.of(scaling(problem.X), self.penalty)
        P, objective, status = problem.P, [], Status.MAX_ITER
        for _ in range(self.max_iter):
            A, b = ridge.fit(P)
            objective.append(ridge.loss(P, A, b) - self.reward * float(P.max(axis=1).sum()))
            F, before = ridge.K @ A + b, P
            P = sure_labels(F, problem.mask, self.reward)
            if np.abs(P - before).max() <= self.tol:
                status = Status.DONE
                break
        A, b = ridge.fit(P)
        return Labelling(P, KernelScores(scaling, ridge, A, b), objective, ridge.K @ A + b, status)


def sure_labels(F: Floats, mask: Mask, reward: float) -> Floats:
    """Return argmin_p |p - f|^2 - reward * max(p) for each row, p on the candidate simplex.

    The largest of p is where f is largest, else exchanging the two would lower the cost; with
    its place known the cost is a square again, and the answer a projection.
    """
    first = np.where(mask, F, -np.inf).argmax(axis=1)
    pushed = F.copy()
    pushed[np.arange(len(F)), first] += reward / 2
    return nearest_labels(pushed, CandidateSets.of_mask(mask.T))


register(
    "SURE",
    SURE,
    "Feng & An (2019)",
    "an N x N kernel, factored once; some ten thousand instances at most",
    "classes that are not linear; a strong method with little to set",
)
