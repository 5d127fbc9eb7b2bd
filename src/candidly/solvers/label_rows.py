"""The label rows of the ALM: their projection, in the library and on the device of the features."""

from __future__ import annotations

from candidly.solvers.arrays import here, like, namespace
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet


class LabelRows:
    """Soft labels (c x N) that lie on the candidates and sum to 1.

    Without constraints nothing leaves the device; constraints work on arrays of NumPy.

    Parameters
    ----------
    X : array
        Its library and device are used.
    P : (c, N) array
        Labels of a column without mass, for which the paper divides by zero.
    mask : (c, N) bool array
    euclidean : bool
        Project to the nearest point instead of normalising.
    constraints : sequence of Constraint
    """

    def __init__(self, X, P, mask, euclidean=False, constraints=()):
        self.X, self.mask = X, here(mask)
        self.feasible = FeasibleSet(self.mask, CandidateSimplex(here(P), euclidean), constraints)
        self._by_numpy = euclidean or bool(constraints)
        xp = namespace(X)
        self._allowed = like(self.mask, X, xp.bool if xp.__name__ == "torch" else bool)
        fallback = xp.where(self._allowed, like(P, X), 0)
        nothing = fallback.sum(axis=0) <= 0
        self._fallback = xp.where(nothing, like(self.mask, X), fallback)

    def project(self, Y):
        """Return Y projected onto the candidates (Alg. 1, lines 13-16; Alg. 3, lines 11-29)."""
        if self._by_numpy:
            return like(self.feasible.project(here(Y)), self.X)
        xp = namespace(Y)
        Y = xp.where(self._allowed, xp.clip(Y, 0, None), 0)
        Y = xp.where(Y.sum(axis=0) > 0, Y, self._fallback)
        Y /= Y.sum(axis=0)
        # Denormal columns lose digits in the division: once more, now that they are near 1.
        Y /= Y.sum(axis=0)
        return Y

    def violations(self, Y):
        """Return how much Y violates each constraint."""
        return self.feasible.violations(Y)
