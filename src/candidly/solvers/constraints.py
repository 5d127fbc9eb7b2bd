"""Constraints on the soft labels: objects with ``project`` and ``violation``.

They see Y itself, not its weighted form: the solver divides by the weights before and
multiplies after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Constraint(Protocol):
    """What a solver asks of a constraint on Y (c x N)."""

    def project(self, Y: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return labels that obey the constraint, near Y; Y is left as it is."""
        ...

    def violation(self, Y: NDArray[np.floating]) -> float:
        """Return how far Y is from obeying: 0 when it does."""
        ...


@dataclass(frozen=True)
class CandidateSimplex:
    """Labels lie on the candidates, are not negative and sum to 1.

    Parameters
    ----------
    mask : (c, N) bool array
        The candidates.
    P : (c, N) array
        Where a column without mass falls back to; the paper divides by zero there.
    euclidean : bool
        Project to the nearest point instead of normalising. The paper reports that it is
        worse, since it turns exact zeros into mass.
    """

    mask: NDArray[np.bool_]
    P: NDArray[np.floating]
    euclidean: bool = False

    def project(self, Y: NDArray[np.floating]) -> NDArray[np.floating]:
        """Bring every column onto the simplex of its candidates."""
        if self.euclidean:
            return project_to_simplex(Y, self.mask)
        return normalise(Y, self.P, self.mask)

    def violation(self, Y: NDArray[np.floating]) -> float:
        """Largest of: mass off the candidates, negative mass, a sum off 1."""
        off = np.where(self.mask, np.maximum(-Y, 0), np.abs(Y)).max(initial=0)
        return float(max(off, np.abs(Y.sum(axis=0) - 1).max(initial=0)))


def normalise(Y, P, mask):
    """Alg. 1, lines 13-16: zero off the candidates and below 0, then columns sum to 1."""
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
    """argmin_B |B - Y|_F^2 with every column of B on the simplex of its candidates."""
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
