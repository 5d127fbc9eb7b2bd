"""Candidates as entries: one per instance and name, in groups, without a matrix of all names.

Groups of equal size are handled together, as arrays of shape (groups, instances, names).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.matchings import NEVER

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Batch:
    """Groups with equally many instances and names.

    Parameters
    ----------
    instances : (g, m) array of int
    names : (g, q) array of int
    entries : (g, m, q) array of int
        Number of the entry of an instance and a name; -1 where the name is no candidate.
    """

    instances: Indices
    names: Indices
    entries: Indices

    def spread(self, values, missing):
        """Return a value for each instance and name (g x m x q), from one per entry."""
        return np.where(self.entries < 0, missing, values[self.entries])


@dataclass(frozen=True)
class CandidateEntries:
    """Candidate names of instances in groups; nobody is no entry.

    Parameters
    ----------
    instance, name : (E,) arrays of int
        Instance and name of each entry, sorted by instance.
    prior : (E,) array
        Log odds of the entry against nobody; 0 says nothing.
    free : (N,) array
        0, or ``NEVER`` where an instance cannot be nobody.
    groups : (N,) array of int
        Group of each instance, numbered from 0.
    n_names : int
        Number of names c.
    shown : (E,) array, optional
        How likely the name of the entry is shown in its group, against a plain mention.
    """

    instance: Indices
    name: Indices
    prior: NDArray[np.float64]
    free: NDArray[np.float64]
    groups: Indices
    n_names: int
    shown: NDArray[np.float64] | None = None

    @classmethod
    def of_sets(cls, P, sets: CandidateSets, groups, null) -> CandidateEntries:
        """Return the entries of candidates with prior soft labels P (E,); ``null`` is nobody."""
        odds = np.log(np.maximum(P, 1e-300) * sets.sizes[sets.instance])
        free, named = np.full(sets.n_instances, NEVER), sets.classes != null
        nobody = np.zeros(sets.n_instances)
        nobody[sets.instance[~named]] = odds[~named]
        free[sets.instance[~named]] = 0
        instance = sets.instance[named]
        prior = odds[named] - nobody[instance]
        return cls(instance, sets.classes[named], prior, free, np.asarray(groups), sets.n_classes)

    def __len__(self) -> int:
        return len(self.instance)

    @property
    def n_instances(self) -> int:
        """Number of instances N."""
        return len(self.groups)

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices]:
        """The mentions (a name in a group), and the mention of each entry."""
        width = int(self.groups.max(initial=-1)) + 1
        found = np.unique(self.name * width + self.groups[self.instance], return_inverse=True)
        return found[0] // max(width, 1), found[1]

    @property
    def mention(self) -> Indices:
        """The mention of each entry: a name in a group is one, however many instances it has."""
        return self._pairs[1]

    @property
    def mentioned(self) -> Indices:
        """The name of each mention."""
        return self._pairs[0]

    @cached_property
    def mentions(self) -> NDArray[np.intp]:
        """In how many groups each name is a candidate."""
        return np.bincount(self.mentioned, minlength=self.n_names)

    @cached_property
    def mention_shown(self) -> NDArray[np.float64]:
        """How likely each mention is shown, against a plain one."""
        shown = np.ones(len(self.mentioned))
        if self.shown is not None:
            shown[self.mention] = self.shown
        return shown

    @property
    def places(self) -> float:
        """Number of instances that could have a name at once, as far as names are shown."""
        group = np.zeros(len(self.mentioned), dtype=np.intp)
        group[self.mention] = self.groups[self.instance]
        names = np.bincount(group, self.mention_shown)
        faces = np.bincount(self.groups[np.unique(self.instance)])
        return float(np.minimum(faces, names).sum())

    @cached_property
    def size(self) -> Indices:
        """Number of instances in the group of each instance."""
        return np.bincount(self.groups, minlength=1)[self.groups]

    @cached_property
    def batches(self) -> list[Batch]:
        """Groups that have candidates, those of equal size together."""
        order = np.argsort(self.groups, kind="stable")
        first = np.searchsorted(self.instance, np.arange(self.n_instances + 1))
        blocks = defaultdict(list)
        for rows in np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1):
            own = [np.arange(first[row], first[row + 1]) for row in rows]
            number = np.concatenate(own) if own else np.zeros(0, dtype=np.intp)
            if not len(number):
                continue
            names = np.unique(self.name[number])
            entries = np.full((len(rows), len(names)), -1)
            at = np.repeat(np.arange(len(rows)), [len(part) for part in own])
            entries[at, np.searchsorted(names, self.name[number])] = number
            blocks[entries.shape].append((rows, names, entries))
        return [Batch(*map(np.array, zip(*part, strict=True))) for part in blocks.values()]

    def shares(self):
        """Return how many instances each name has, if those of an instance are equally likely."""
        equal = 1 / np.bincount(self.instance, minlength=self.n_instances)[self.instance]
        return np.bincount(self.name, equal, minlength=self.n_names)

    def matrix(self, values) -> sparse.csr_array:
        """Return values of entries as a sparse matrix (c x N)."""
        shape = (self.n_names, self.n_instances)
        return sparse.csr_array((values, (self.name, self.instance)), shape=shape)

    def over_mentions(self, values):
        """Return the sum of values of entries, or of rows of them, over each mention."""
        return self._adds @ values

    @cached_property
    def _adds(self) -> sparse.csr_array:
        """Sums of entries over mentions, as a matrix."""
        at = (self.mention, np.arange(len(self)))
        return sparse.csr_array((np.ones(len(self)), at), (len(self.mentioned), len(self)))

    def choose(self, worth, nobody) -> Indices:
        """Return the name of each instance, or -1: of largest total worth, each name once a group.

        Parameters
        ----------
        worth : (E,) array
            Worth of each entry.
        nobody : (N,) array
            Worth of no name; ``NEVER`` where an instance needs one.
        """
        chosen = np.full(self.n_instances, -1)
        for batch in self.batches:
            table = batch.spread(worth, 2 * NEVER)
            for rows, names, own in zip(batch.instances, batch.names, table, strict=True):
                m = len(rows)
                none = np.where(np.eye(m, dtype=bool), nobody[rows][:, None], 3 * NEVER)
                at, column = linear_sum_assignment(np.hstack([own, none]), maximize=True)
                given = np.hstack([own > NEVER, np.zeros((m, m), dtype=bool)])[at, column]
                chosen[rows[at[given]]] = names[column[given]]
        return chosen
