"""The label rows of the ALM: dense by nature, and read, projected and put back in one place."""

from __future__ import annotations

from candidly.solvers.arrays import here, like, zeros
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet, least_mass
from candidly.solvers.twins import class_keys, twins_of


class LabelRows:
    """Soft labels that lie on the candidates and sum to 1, read from weighted rows and put back.

    They are values of entries (E,), where the weights are: on a device nothing leaves it, except
    for constraints, which work on arrays of NumPy (:class:`FeasibleSet`).

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
    twins : list of arrays of int, optional
        Classes of equal labels, if these are not all instances.
    """

    def __init__(self, P, sets: CandidateSets, w, euclidean=False, constraints=(), twins=None):
        self.sets, self.w, self._there = sets, w, sets.beside(w)
        self._twins = twins_of(class_keys(here(P), sets)) if twins is None else twins
        # A label that nothing else has any more, late in ICE, is a row of rounding errors.
        simplex = CandidateSimplex(like(P, w), euclidean, least_mass(w))
        self._feasible = FeasibleSet(sets, simplex, constraints)
        self._at = self._there.classes, self._there.instance
        self._entry_weights = w[self._there.instance]
        self._rows = zeros(sets.shape, w)

    def level(self, rows):
        """Set label rows (c x N) of classes that are twins to their mean, which rounding leaves."""
        for alike in self._twins:
            rows[alike] = rows[alike].mean(axis=0)

    def read(self, rows):
        """Return the scores (E,) in weighted label rows (c x N)."""
        return rows[self._at] / self._entry_weights

    def rows(self, y):
        """Return soft labels as weighted label rows (c x N), valid until the next call."""
        self._rows[self._at] = y * self._entry_weights
        return self._rows

    def project(self, y):
        """Return scores projected onto the candidates (Alg. 1, lines 13-16; Alg. 3, 11-29)."""
        return self._feasible.project(y)

    def best(self, y):
        """Return which soft label of each instance is its largest."""
        return self._there.best(y)

    def violations(self, y):
        """Return how much labels violate each constraint."""
        return self._feasible.violations(here(y))
