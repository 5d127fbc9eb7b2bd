"""The protocol of a constraint, on soft labels and on hard ones.

Constraints get soft labels Y (c x N) without the weights: the solver divides by the weights
before and multiplies after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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
