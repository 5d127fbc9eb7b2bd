"""The label rows of the ALM: dense by nature, and read, projected and put back in one place."""

from __future__ import annotations

import numpy as np

from candidly.solvers.arrays import here, like, namespace
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet


class LabelRows:
    """Soft labels that lie on the candidates and sum to 1, read from weighted rows and put back.

    In NumPy they are values of entries (E,), and so they are with constraints, whose entries then
    leave a device. On a device they are otherwise matrices (c x N), and nothing leaves it.

    Parameters
    ----------
    P : (E,) array
        Labels of an instance without mass, for which the paper divides by zero.
    sets : CandidateSets
    w : (N,) array
        Weights of the instances; their library, device and dtype are used.
    euclidean : bool
        Project to the nearest point instead of normalising.
    constraints : sequence of Constraint
    """

    def __init__(self, P, sets: CandidateSets, w, euclidean=False, constraints=()):
        self.sets, self.w, xp = sets, w, namespace(w)
        self._feasible = FeasibleSet(sets, CandidateSimplex(here(P), euclidean), constraints)
        self._dense = xp is not np and not euclidean and not constraints
        self._at = tuple(like(index, w, xp.int64) for index in (sets.classes, sets.instance))
        self._entry_weights = here(w)[sets.instance]
        if self._dense:
            fallback = np.where(sets.total(P) > 0, sets.matrix(P), sets.mask)
            self._fallback, self._candidate = like(fallback, w), like(sets.mask, w) > 0
        else:
            self._rows = like(np.zeros(sets.shape), w)

    def read(self, rows):
        """Return the scores in weighted label rows (c x N)."""
        return rows / self.w if self._dense else here(rows[self._at]) / self._entry_weights

    def rows(self, y):
        """Return soft labels as weighted label rows (c x N), valid until the next call."""
        if self._dense:
            return y * self.w
        self._rows[self._at] = like(y * self._entry_weights, self.w)
        return self._rows

    def project(self, y):
        """Return scores projected onto the candidates (Alg. 1, lines 13-16; Alg. 3, 11-29)."""
        if not self._dense:
            return self._feasible.project(y)
        xp = namespace(y)
        y = xp.where(self._candidate, xp.clip(y, 0, None), 0)
        y = xp.where(y.sum(axis=0) > 0, y, self._fallback)
        y /= y.sum(axis=0)
        # Denormal columns lose digits in the division: once more, now that they are near 1.
        y /= y.sum(axis=0)
        return y

    def best(self, y):
        """Return which soft label of each instance is its largest."""
        return y.argmax(axis=0) if self._dense else self.sets.best(y)

    def entries_of(self, y):
        """Return soft labels or scores as values of entries (E,), an array of NumPy."""
        return here(y[self._at]) if self._dense else y

    def violations(self, y):
        """Return how much labels (E,) violate each constraint."""
        return self._feasible.violations(y)
