"""The protocol of a constraint, and the combination of several.

Constraints get soft labels Y (c x N) without the weights: the solver divides by the weights
before and multiplies after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.constraints.simplex import CandidateSimplex

Labels = NDArray[np.floating]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Inequalities:
    """Linear inequalities on hard labels: lower <= A y <= upper.

    Column ``j*c + i`` of A is y_ij: class i of instance j.
    """

    A: sparse.csr_array
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class Constraint(Protocol):
    """A constraint on soft labels Y over the candidates ``mask``."""

    @property
    def name(self) -> str:
        """What it demands, in a few words."""
        ...

    def project(self, Y: Labels, mask: Mask) -> Labels:
        """Return labels near Y that obey the constraint; columns need not sum to 1."""
        ...

    def violation(self, Y: Labels, mask: Mask) -> float:
        """Return how much Y violates the constraint: 0 if it does not."""
        ...

    def rows(self, mask: Mask) -> Inequalities | None:
        """Return the constraint on hard labels, or None if it only guides soft ones."""
        ...


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
        for c in self.constraints:  # two of a kind share a name
            found[c.name] = max(found.get(c.name, 0.0), c.violation(Y, self.mask))
        return found


def make_rows(
    classes: NDArray[np.intp],
    instances: NDArray[np.intp],
    which: NDArray[np.intp],
    bounds: tuple[float, float],
    mask: Mask,
    signs: NDArray[np.float64] | float = 1.0,
) -> Inequalities:
    """Return inequalities with entries (class, instance), each in the one numbered ``which``."""
    c, N = mask.shape
    used, row = np.unique(which, return_inverse=True)
    values = np.broadcast_to(np.asarray(signs, dtype=float), row.shape)
    A = sparse.csr_array((values, (row, instances * c + classes)), shape=(len(used), c * N))
    lower, upper = (np.full(len(used), bound, dtype=float) for bound in bounds)
    return Inequalities(A, lower, upper)
