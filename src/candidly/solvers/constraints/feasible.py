"""What every solve projects onto: the simplex of the candidates, and constraints after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from candidly.solvers.arrays import here, like, namespace
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
    least : float
        Sum up to which an instance has no mass.
    """

    P: Labels
    euclidean: bool = False
    least: float = 0.0
    name: str = "one label each, among the candidates"

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Return y with the labels of every instance projected onto the simplex."""
        if self.euclidean:
            return project_to_simplex(y, sets)
        return normalise(y, self.P, sets, self.least)

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return the largest of: negative mass, a sum's distance to 1."""
        negative = np.maximum(-y, 0).max(initial=0)
        return float(max(negative, np.abs(sets.total(y) - 1).max(initial=0)))


@dataclass(frozen=True)
class FeasibleSet:
    """Labels on the simplex that obey all constraints (Alg. 3).

    Labels may be on a device, and are projected onto the simplex there. Constraints work on arrays
    of NumPy: for each of them the values of all entries (E,) leave the device and come back.
    """

    sets: CandidateSets
    simplex: CandidateSimplex
    constraints: Sequence[Constraint] = ()

    def project(self, y: Labels) -> Labels:
        """Return y projected onto each constraint in turn, and onto the simplex after each."""
        sets = self.sets.beside(y)
        y = self.simplex.project(y, sets)
        for constraint in self.constraints:
            found = constraint.project(here(y), self.sets)
            y = self.simplex.project(found if sets is self.sets else like(found, y), sets)
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


def normalise(y, P, sets: CandidateSets, least: float = 0.0):
    """Set entries below 0 to 0, then scale those of an instance to sum to 1.

    Alg. 1, lines 13-16; Alg. 3, lines 11-13. An instance without mass, of which the sum is not over
    ``least``, gets its part of P, and one without any there equal labels.
    """
    xp = namespace(y)
    y = xp.clip(y, 0, None)
    total = sets.total(y)
    if xp is not np or (total <= least).any():  # elsewhere looking would wait for the device
        nothing = sets.total(P) <= 0
        fallback = xp.where(nothing[sets.instance], 1, P)
        y = xp.asarray(xp.where((total <= least)[sets.instance], fallback, y), dtype=y.dtype)
        total = sets.total(y)
    y = y / total[sets.instance]
    # Denormal labels lose digits in the division: once more, now that they are near 1.
    return y / sets.total(y)[sets.instance]


def project_to_simplex(y, sets: CandidateSets):
    """Return argmin_b |b - y|^2 with b on the simplex of the candidates of every instance.

    Entries below the threshold that takes the excess off the others are 0; that of an instance
    only rises as they leave (Michelot, 1986).
    """
    xp = namespace(y)
    y = xp.clip(y - sets.largest(y)[sets.instance], -2, None)  # below max - 1 is 0 anyway
    support = xp.ones_like(y)
    while True:
        excess = sets.total(support * y) - 1
        threshold = (excess / sets.total(support))[sets.instance]
        smaller = support * (y > threshold)
        if bool((smaller == support).all()):
            break
        support = smaller
    b = xp.clip(y - threshold, 0, None)
    return b / sets.total(b)[sets.instance]
