"""The label rows of the ALM: their projection, in the library and on the device of the features."""

from __future__ import annotations

from candidly.solvers.arrays import here, like, namespace
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet


class LabelRows:
    """Soft labels as a matrix (c x N), which lie on the candidates and sum to 1.

    Without constraints nothing leaves the device; constraints work on entries, in NumPy.

    Parameters
    ----------
    X : array
        Its library and device are used.
    P : (E,) array
        Labels of an instance without mass, for which the paper divides by zero.
    sets : CandidateSets
    euclidean : bool
        Project to the nearest point instead of normalising.
    constraints : sequence of Constraint
    """

    def __init__(self, X, P, sets: CandidateSets, euclidean=False, constraints=()):
        self.X, self.sets = X, sets
        self.feasible = FeasibleSet(sets, CandidateSimplex(here(P), euclidean), constraints)
        xp = namespace(X)
        self._by_entries = euclidean or bool(constraints) or xp.__name__ != "torch"
        if not self._by_entries:
            mask, fallback = sets.mask, sets.matrix(here(P))
            fallback[:, fallback.sum(axis=0) <= 0] = 1
            self._allowed = like(mask, X, xp.bool)
            self._fallback = like(fallback * mask, X)

    def project(self, Y):
        """Return Y projected onto the candidates (Alg. 1, lines 13-16; Alg. 3, lines 11-29)."""
        if self._by_entries:
            y = self.feasible.project(self.sets.entries_of(here(Y)))
            return like(self.sets.matrix(y), self.X)
        xp = namespace(Y)
        Y = xp.where(self._allowed, xp.clip(Y, 0, None), 0)
        Y = xp.where(Y.sum(axis=0) > 0, Y, self._fallback)
        Y /= Y.sum(axis=0)
        # Denormal columns lose digits in the division: once more, now that they are near 1.
        Y /= Y.sum(axis=0)
        return Y

    def entries_of(self, Y):
        """Return the labels at the candidates (E,), as an array of NumPy."""
        return self.sets.entries_of(here(Y))

    def violations(self, y):
        """Return how much labels (E,) violate each constraint."""
        return self.feasible.violations(y)
