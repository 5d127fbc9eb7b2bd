"""What every solve projects onto: the simplex of the candidates, and constraints after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints.base import Constraint, Labels


@dataclass(frozen=True)
class CandidateSimplex:
    """Labels of an instance are not negative and sum to 1 over its candidates.

    Parameters
    ----------
    P : (E,) array
        Labels of an instance without mass, for which the paper divides by zero.
    euclidean : bool
        Project to the nearest point instead of normalising. The paper reports that it is
        worse, since it turns exact zeros into mass.
    """

    P: Labels
    euclidean: bool = False
    name: str = "one label each, among the candidates"

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Return y with the labels of every instance projected onto the simplex."""
        if self.euclidean:
            return project_to_simplex(y, sets)
        return normalise(y, self.P, sets)

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return the largest of: negative mass, a sum's distance to 1."""
        negative = np.maximum(-y, 0).max(initial=0)
        return float(max(negative, np.abs(sets.total(y) - 1).max(initial=0)))


@dataclass(frozen=True)
class FeasibleSet:
    """Labels on the simplex that obey all constraints (Alg. 3)."""

    sets: CandidateSets
    simplex: CandidateSimplex
    constraints: Sequence[Constraint] = ()

    def project(self, y: Labels) -> Labels:
        """Return y projected onto each constraint in turn, and onto the simplex after each."""
        y = self.simplex.project(y, self.sets)
        for constraint in self.constraints:
            y = self.simplex.project(constraint.project(y, self.sets), self.sets)
        return y

    def violations(self, y: Labels) -> dict[str, float]:
        """Return how much y violates each constraint: one projection can undo another."""
        return violations(y, self.sets, self.constraints)


def violations(
    y: Labels, sets: CandidateSets, constraints: Sequence[Constraint]
) -> dict[str, float]:
    """Return how much y violates each constraint, by its name."""
    found: dict[str, float] = {}
    for each in constraints:  # two constraints of one kind share a name
        found[each.name] = max(found.get(each.name, 0.0), each.violation(y, sets))
    return found


def normalise(y, P, sets: CandidateSets):
    """Set entries below 0 to 0, then scale those of an instance to sum to 1.

    Alg. 1, lines 13-16; Alg. 3, lines 11-13. An instance without mass gets its part of P, and one
    without any there equal labels.
    """
    y = np.maximum(y, 0)
    total = sets.total(y)
    if (total <= 0).any():
        nothing = sets.total(P) <= 0
        fallback = np.where(nothing[sets.instance], 1, P)
        y = np.where((total <= 0)[sets.instance], fallback, y).astype(y.dtype)
        total = sets.total(y)
    y = y / total[sets.instance]
    # Denormal labels lose digits in the division: once more, now that they are near 1.
    return y / sets.total(y)[sets.instance]


def project_to_simplex(y, sets: CandidateSets):
    """Return argmin_b |b - y|^2 with b on the simplex of the candidates of every instance.

    Entries below the threshold that takes the excess off the others are 0; that of an instance
    only rises as they leave (Michelot, 1986).
    """
    y = np.maximum(y - sets.largest(y)[sets.instance], -2)  # below max - 1 is 0 anyway
    support = np.ones(len(y), dtype=bool)
    while True:
        excess = sets.total(np.where(support, y, 0)) - 1
        threshold = (excess / sets.total(support.astype(y.dtype)))[sets.instance]
        smaller = support & (y > threshold)
        if np.array_equal(smaller, support):
            break
        support = smaller
    b = np.maximum(y - threshold, 0)
    return b / sets.total(b)[sets.instance]
