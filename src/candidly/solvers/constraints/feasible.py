"""What every solve projects onto: the simplex of the candidates, and constraints after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.constraints.base import Constraint, Labels, Mask


@dataclass(frozen=True)
class CandidateSimplex:
    """Labels lie on the candidates, are not negative and sum to 1.

    Parameters
    ----------
    P : (c, N) array
        Labels of a column without mass, for which the paper divides by zero.
    euclidean : bool
        Project to the nearest point instead of normalising. The paper reports that it is
        worse, since it turns exact zeros into mass.
    """

    P: NDArray[np.floating]
    euclidean: bool = False
    name: str = "one label each, among the candidates"

    def project(self, Y: NDArray[np.floating], mask: NDArray[np.bool_]) -> NDArray[np.floating]:
        """Return Y with every column projected onto the simplex of its candidates."""
        if self.euclidean:
            return project_to_simplex(Y, mask)
        return normalise(Y, self.P, mask)

    def violation(self, Y: NDArray[np.floating], mask: NDArray[np.bool_]) -> float:
        """Return the largest of: mass off the candidates, negative mass, a sum's distance to 1."""
        off = np.where(mask, np.maximum(-Y, 0), np.abs(Y)).max(initial=0)
        return float(max(off, np.abs(Y.sum(axis=0) - 1).max(initial=0)))


@dataclass(frozen=True)
class FeasibleSet:
    """Labels on the simplex that obey all constraints (Alg. 3)."""

    mask: Mask
    simplex: CandidateSimplex
    constraints: Sequence[Constraint] = ()

    def project(self, Y: Labels) -> Labels:
        """Return Y projected onto each constraint in turn, and onto the simplex after each."""
        Y = self.simplex.project(Y, self.mask)
        for constraint in self.constraints:
            Y = self.simplex.project(constraint.project(Y, self.mask), self.mask)
        return Y

    def violations(self, Y: Labels) -> dict[str, float]:
        """Return how much Y violates each constraint: one projection can undo another."""
        found: dict[str, float] = {}
        for c in self.constraints:  # two constraints of one kind share a name
            found[c.name] = max(found.get(c.name, 0.0), c.violation(Y, self.mask))
        return found


def normalise(Y, P, mask):
    """Set entries off the candidates and below 0 to 0, then scale columns to sum to 1.

    Alg. 1, lines 13-16; Alg. 3, lines 11-13.
    """
    Y = np.where(mask, np.maximum(Y, 0), 0)
    total = Y.sum(axis=0)
    empty = total <= 0
    if empty.any():
        fallback = np.where(mask[:, empty], P[:, empty], 0)
        nothing = fallback.sum(axis=0) <= 0
        fallback[:, nothing] = mask[:, empty][:, nothing]
        Y[:, empty] = fallback
        total = Y.sum(axis=0)
    Y = Y / total
    # Denormal columns lose digits in the division: once more, now that they are near 1.
    return Y / Y.sum(axis=0)


def project_to_simplex(Y, mask):
    """Return argmin_B |B - Y|_F^2 with every column of B on the simplex of its candidates."""
    top = np.where(mask, Y, -np.inf).max(axis=0)
    shifted = np.where(mask, np.maximum(Y - top, -2), -np.inf)  # below max - 1 is 0 anyway
    ordered = -np.sort(-shifted, axis=0)
    reach = np.arange(1, len(Y) + 1)[:, None]
    finite = np.isfinite(ordered)
    excess = np.cumsum(np.where(finite, ordered, 0), axis=0) - 1
    support = (finite & (ordered * reach > excess)).sum(axis=0)
    threshold = excess[support - 1, np.arange(Y.shape[1])] / support
    B = np.where(mask, np.maximum(shifted - threshold, 0), 0)
    return B / B.sum(axis=0)
