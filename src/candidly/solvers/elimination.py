"""Algorithm 2: iterative candidate elimination (ICE) with any soft labeller."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from candidly.solvers.constraints import normalise
from candidly.solvers.solution import Round, Solution, Status

SoftLabeller = Callable[[np.ndarray, np.ndarray], Solution]
"""(P, mask) -> Solution: a labeller that already has the features and its settings."""


@dataclass(frozen=True)
class Elimination:
    """Settings of Algorithm 2.

    Parameters
    ----------
    fraction : float
        f_e: fraction of the ambiguous instances that lose their least likely candidate per
        round; 0 only feeds the labels back ("iterative WMCar").
    max_rounds : int

    Examples
    --------
    >>> import candidly
    >>> from candidly.solvers import ALM, Elimination
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> P, mask = digits.candidates.priors.T, digits.candidates.mask.T
    >>> def label(P, mask):
    ...     return ALM(tol=1e-5).solve(digits.X.T, P, mask)
    >>> Elimination(fraction=1.0).solve(label, P, mask).status.name
    'RESOLVED'
    """

    fraction: float = 0.5
    max_rounds: int = 5

    def solve(
        self, labeller: SoftLabeller, P, mask, callback: Callable[[Solution], None] | None = None
    ) -> Solution:
        """Solve, eliminate, project and feed back; there is no solve after the last elimination.

        An input without ambiguity is solved once, for its features.
        """
        mask = mask.copy()
        rounds: list[Round] = []
        status = Status.MAX_ROUNDS
        for _ in range(self.max_rounds):
            solution = labeller(P, mask)  # from scratch: the path decides, a warm start is worse
            ambiguous = np.flatnonzero(mask.sum(axis=0) > 1)
            rows, columns = least_likely(solution, mask, ambiguous, self.fraction)
            mask[rows, columns] = False
            P = normalise(solution.labels, P, mask)
            rounds.append(Round(len(ambiguous), len(columns), len(solution.trace), solution.status))
            solution = replace(solution, labels=P, rounds=tuple(rounds))
            if callback is not None:
                callback(solution)
            if not (mask.sum(axis=0) > 1).any():
                status = Status.RESOLVED
                break
        return replace(solution, status=status)


def least_likely(solution, mask, ambiguous, fraction):
    """Return the candidates to eliminate: the least likely of each of the least likely instances.

    Exact zeros are common, so ties are broken by the unprojected score, then class, then instance.

    Returns
    -------
    rows, columns : arrays of int
        ceil(fraction * |ambiguous|) entries of the mask, in distinct columns.
    """
    count = math.ceil(fraction * len(ambiguous) - 1e-9)
    j, i = np.nonzero(mask[:, ambiguous].T)
    j = ambiguous[j]
    y, score = solution.labels[i, j], solution.scores[i, j]
    order = np.lexsort((i, score, y, j))
    _, first = np.unique(j[order], return_index=True)
    i, j, y, score = (a[order][first] for a in (i, j, y, score))
    chosen = np.lexsort((j, i, score, y))[:count]
    return i[chosen], j[chosen]
