"""Instances that are decided: known to be somebody, or known not to be.

An instance that looks like one of which it is known that it is not somebody is not that person
either, unless it looks like one that is. So the odds of a name at an instance are divided by

    1 + r/(1 + s)

where r is the largest likelihood ratio of being one person with an instance that is not of the
name, and s the same with one that is. What labels are found does not matter for it: a mistake that
was corrected a few times cannot confirm itself by the instances on which it was not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import here, like, namespace
from candidly.solvers.confidence_limits import Likenesses
from candidly.solvers.entries import CandidateEntries, Indices

COMPARED = 300
"""Decided instances of a name, of each kind, that are compared with: the last ones."""


@dataclass(frozen=True)
class DecidedInstances:
    """Instances of which it is known whether they have a name.

    Parameters
    ----------
    X : (k, M) array
        Features, centred like those to label.
    name : (M,) array of int
    right : (M,) array of bool
        Whether the instance has the name.
    """

    X: NDArray[np.float64]
    name: Indices
    right: NDArray[np.bool_]

    def odds(self, entries: CandidateEntries, pairs: Likenesses) -> NDArray[np.float64]:
        """Return what the odds of each entry lose, as a logarithm; 0 where nothing is decided.

        ``pairs`` has the covariances, and the features of the instances of the entries.
        """
        lost = np.zeros(len(entries))
        if not len(self.name):
            return lost
        D = pairs.covariances.coordinates(self.X.T)
        order = np.argsort(entries.name, kind="stable")
        first = np.searchsorted(entries.name[order], np.arange(entries.n_names + 1))
        for name in np.unique(self.name[~self.right]):
            own = order[first[name] : first[name + 1]]
            if not len(own):
                continue
            there = pairs.rows(entries.instance[own])
            wrong, right = (
                self._most(pairs, D[(self.name == name) & (self.right == kind)], there)
                for kind in (False, True)
            )
            lost[own] = np.logaddexp(0, right) - np.logaddexp(np.logaddexp(0, right), wrong)
        return lost

    def refused(self, X) -> NDArray[np.bool_]:
        """Return which instances (rows of X) are decided not to be somebody."""
        wrong = {row.tobytes() for row in self.X.T[~self.right].astype(np.float32)}
        return np.array([row.astype(np.float32).tobytes() in wrong for row in X], dtype=bool)

    @staticmethod
    def _most(pairs: Likenesses, some, there):
        """Return the largest damped log likelihood ratio of each instance to some others."""
        if not len(some):
            return np.full(len(there), -np.inf)
        ratio = pairs.ratios(like(some[-COMPARED:], there), there)
        return here(namespace(ratio).amax(ratio, axis=0))
