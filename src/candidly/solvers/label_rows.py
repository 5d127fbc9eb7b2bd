"""The label rows of the ALM, in the library and on the device of its features."""

from __future__ import annotations

from candidly.solvers.arrays import here, like, namespace
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet


class LabelRows:
    """Soft labels that lie on the candidates and sum to 1, read from weighted rows and put back.

    Without constraints nothing leaves the device; constraints work on arrays of NumPy.

    Parameters
    ----------
    P : (c, N) array
        Labels of a column without mass, for which the paper divides by zero.
    mask : (c, N) bool array
    w : (N,) array
        Weights of the columns; their library, device and dtype are used.
    euclidean : bool
        Project to the nearest point instead of normalising.
    constraints : sequence of Constraint
    """

    def __init__(self, P, mask, w, euclidean=False, constraints=()):
        xp = namespace(w)
        self.n_classes, self.w = len(mask), w
        self._feasible = FeasibleSet(here(mask), CandidateSimplex(here(P), euclidean), constraints)
        self._by_numpy = euclidean or bool(constraints)
        self._candidate = like(mask, w) > 0
        fallback = xp.where(self._candidate, like(P, w), 0)
        self._fallback = xp.where(fallback.sum(axis=0) > 0, fallback, like(mask, w))

    def read(self, rows):
        """Return the scores in weighted label rows (c x N)."""
        return rows / self.w

    def rows(self, y):
        """Return soft labels as weighted label rows (c x N)."""
        return y * self.w

    def best(self, y):
        """Return the class of the largest soft label of each column."""
        return y.argmax(axis=0)

    def project(self, y):
        """Return scores projected onto the candidates (Alg. 1, lines 13-16; Alg. 3, 11-29)."""
        if self._by_numpy:
            return like(self._feasible.project(here(y)), self.w)
        xp = namespace(y)
        y = xp.where(self._candidate, xp.clip(y, 0, None), 0)
        y = xp.where(y.sum(axis=0) > 0, y, self._fallback)
        y /= y.sum(axis=0)
        # Denormal columns lose digits in the division: once more, now that they are near 1.
        y /= y.sum(axis=0)
        return y

    def violations(self, y):
        """Return how much soft labels violate each constraint."""
        return self._feasible.violations(y)
