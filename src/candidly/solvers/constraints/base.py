"""The protocol of a constraint, on soft labels and on hard ones.

Constraints get soft labels y, one number per entry of the candidate sets, without the weights: the
solver divides by the weights before and multiplies after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.arrays import namespace
from candidly.solvers.candidate_sets import CandidateSets

Labels = NDArray[np.floating]
Entries = NDArray[np.intp]
T = TypeVar("T")

LEAST_MASS, ROUNDING = 1e-9, 16
"""Sum of labels up to which there is no mass, and the same as a multiple of the precision."""


def least_mass(y: Any) -> float:
    """Return the sum up to which labels of such a precision are rounding errors, and no mass.

    Scaled up to labels they would be as good as random, and others would follow.
    """
    return max(LEAST_MASS, ROUNDING * float(namespace(y).finfo(y.dtype).eps))


@dataclass(frozen=True)
class Inequalities:
    """Linear inequalities on hard labels: lower <= A y <= upper.

    A column of A is an entry of the candidate sets: whether its instance has its class.
    """

    A: sparse.csr_array
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class Constraint(Protocol):
    """A constraint on soft labels y (E,) over the entries of candidate sets."""

    @property
    def name(self) -> str:
        """What it demands, in a few words."""
        ...

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Return labels near y that obey the constraint; those of an instance sum to anything."""
        ...

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return how much y violates the constraint: 0 if it does not."""
        ...

    def rows(self, sets: CandidateSets) -> Inequalities | None:
        """Return the constraint on hard labels, or None if it only guides soft ones."""
        ...


def make_rows(
    entries: Entries,
    which: Entries,
    bounds: tuple[float, float],
    sets: CandidateSets,
    signs: NDArray[np.float64] | float = 1.0,
) -> Inequalities:
    """Return inequalities on sums of entries, each entry in the sum numbered ``which``."""
    used, row = np.unique(which, return_inverse=True)
    values = np.broadcast_to(np.asarray(signs, dtype=float), row.shape)
    A = sparse.csr_array((values, (row, entries)), shape=(len(used), len(sets)))
    lower, upper = (np.full(len(used), bound, dtype=float) for bound in bounds)
    return Inequalities(A, lower, upper)


def once_per_sets(find: Callable[[Any, CandidateSets], T]) -> Callable[[Any, CandidateSets], T]:
    """Return a method that finds something once for the sets a constraint was last used with.

    A solver projects in every iteration, and what a constraint looks up in the sets stays the same.
    """
    place = f"{find.__name__} of sets"

    @wraps(find)
    def kept(self: Any, sets: CandidateSets) -> T:
        before = self.__dict__.get(place)
        if before is None or before[0] is not sets:
            before = self.__dict__[place] = sets, find(self, sets)
        found: T = before[1]
        return found

    return kept
