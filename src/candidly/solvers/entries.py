"""Candidates as entries: one per instance and name, in groups, without a matrix of all names.

Groups of equal size are handled together, as arrays of shape (groups, instances, names).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from candidly.solvers.arrays import counting, here, like, namespace, sorted_values, zeros
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.matchings import NEVER, matchings, matchings_of
from candidly.solvers.runs import run_starts, run_sums, sorted_order

LISTED = 300
"""Number of matchings up to which the best one is found by listing them."""
EQUAL = 1e-12
"""Relative difference of worths below which two choices are equally good."""

FOUND = ("first", "by_name", "by_mention", "mentions", "mention_shown", "size")
"""What follows from entries, and is found on a device before it is needed there."""

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
        return namespace(values).where(self.entries < 0, missing, values[self.entries])

    @cached_property
    def listed(self) -> tuple[Indices, Indices]:
        """Where there is an entry, as places in (g x m x q) numbers, and which one is there."""
        at = np.flatnonzero(self.entries >= 0)
        return at, self.entries.ravel()[at]

    def beside(self, A) -> Batch:
        """Return the groups as arrays of the library and on the device of A."""
        own = (self.instances, self.names, self.entries, *self.listed)
        instances, names, entries, *listed = (like(each, A, namespace(A).int64) for each in own)
        twin = Batch(instances, names, entries)
        twin.__dict__["listed"] = tuple(listed)
        return twin

    def choose(self, worth, nobody) -> Indices:
        """Return the name of each instance (g x m), or -1, of largest total worth.

        Where the best name of every instance is another one, these are it, which is found where the
        worths are. Otherwise all matchings are listed, or, where these are many or equally good,
        the assignment is solved.
        """
        own = self.spread(worth, 2 * NEVER)
        xp, (_, faces, names) = namespace(own), own.shape
        table = xp.concatenate([own, nobody[self.instances][:, :, None]], axis=2)
        best, top = table.argmax(axis=2), xp.amax(table, axis=2)
        close = table >= (top - EQUAL * xp.clip(abs(top), 1, None))[:, :, None]
        used = sorted_values(xp.where(best < names, best, -1 - counting(faces, best)), 1)
        unclear = (close.sum(axis=2) > 1).any(axis=1) | (xp.diff(used, axis=1) == 0).any(axis=1)
        disputed = here(unclear)
        given = here((best < names) & (top > NEVER))
        best = here(best)
        if disputed.any():
            tables = here(table[unclear])
            best[disputed] = own_best = _best_matchings(tables)
            top = np.take_along_axis(tables, own_best[:, :, None], axis=2)[:, :, 0]
            given[disputed] = (own_best < names) & (top > NEVER)
        of_batch = here(self.names)
        return np.where(given, np.take_along_axis(of_batch, np.minimum(best, names - 1), 1), -1)


def _best_matchings(table):
    """Return the place of each instance in tables of worths (g x m x q + 1); the last is none."""
    faces, names = table.shape[1], table.shape[2] - 1
    found = np.empty(table.shape[:2], dtype=np.intp)
    unsolved = np.ones(len(table), dtype=bool)
    if matchings_of(faces, names) <= LISTED:
        ways = matchings(faces, names)
        step = max(1, 4_000_000 // (len(ways) * faces))
        for start in range(0, len(table), step):
            total = table[start : start + step, np.arange(faces), ways].sum(axis=2)
            at = total.argmax(axis=1)
            top = total[np.arange(len(total)), at][:, None]
            several = (total >= top - EQUAL * np.maximum(np.abs(top), 1)).sum(axis=1) > 1
            found[start : start + step] = ways[at]
            unsolved[start : start + step] = several
    for g in np.flatnonzero(unsolved):
        none = np.where(np.eye(faces, dtype=bool), table[g, :, names:], 3 * NEVER)
        _, column = linear_sum_assignment(np.hstack([table[g, :, :names], none]), maximize=True)
        found[g] = np.minimum(column, names)
    return found


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

    def beside(self, A) -> CandidateEntries:
        """Return the entries as arrays of the library and on the device of A.

        What follows from them is found there, once; it is what an iteration needs.
        """
        xp = namespace(A)
        if namespace(self.instance) is xp:
            return self

        def moved(values):
            return like(values, A, xp.float64 if values.dtype.kind == "f" else xp.int64)

        given = ("instance", "name", "prior", "free", "groups")
        shown = None if self.shown is None else moved(self.shown)
        twin = replace(self, shown=shown, **{name: moved(getattr(self, name)) for name in given})
        twin.__dict__["longest"] = self.longest
        twin.__dict__["batches"] = [batch.beside(A) for batch in self.batches]
        for name in FOUND:
            getattr(twin, name)
        return twin

    @property
    def n_instances(self) -> int:
        """Number of instances N."""
        return len(self.groups)

    @cached_property
    def first(self) -> Indices:
        """Where the entries of each instance begin, and the end of the last (N + 1)."""
        xp, each = namespace(self.instance), counting(self.n_instances + 1, self.instance)
        return xp.searchsorted(self.instance, each)

    @cached_property
    def longest(self) -> int:
        """Number of entries of the instance that has most."""
        return int(np.diff(self.first).max(initial=0))

    @cached_property
    def by_name(self) -> tuple[Indices, Indices]:
        """The entries sorted by name, and where those of each name begin (c + 1)."""
        return _sorted_by(self.name, self.n_names)

    @cached_property
    def by_mention(self) -> tuple[Indices, Indices]:
        """The entries sorted by mention, and where those of each mention begin."""
        return _sorted_by(self.mention, len(self.mentioned))

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices, Indices]:
        """The name and group of each mention (a name in a group), and the mention of each entry."""
        width, groups = max(self.n_names, 1), self.groups[self.instance]
        keys = groups * width + self.name
        found, mention = namespace(keys).unique(keys, return_inverse=True)
        return found % width, found // width, mention

    @property
    def mention(self) -> Indices:
        """The mention of each entry: a name in a group is one, however many instances it has."""
        return self._pairs[2]

    @property
    def mentioned(self) -> Indices:
        """The name of each mention."""
        return self._pairs[0]

    @cached_property
    def mentions(self) -> NDArray[np.intp]:
        """In how many groups each name is a candidate."""
        return namespace(self.name).bincount(self.mentioned, minlength=self.n_names)

    @cached_property
    def mention_shown(self) -> NDArray[np.float64]:
        """How likely each mention is shown, against a plain one."""
        shown = zeros(len(self.mentioned), self.prior) + 1
        if self.shown is not None:
            shown[self.mention] = self.shown
        return shown

    @property
    def places(self) -> float:
        """Number of instances that could have a name at once, as far as names are shown."""
        names = np.bincount(self._pairs[1], self.mention_shown)
        faces = np.bincount(self.groups[np.diff(self.first) > 0])
        return float(np.minimum(faces, names).sum())

    @cached_property
    def size(self) -> Indices:
        """Number of instances in the group of each instance."""
        return namespace(self.groups).bincount(self.groups, minlength=1)[self.groups]

    @cached_property
    def batches(self) -> list[Batch]:
        """Groups that have candidates, those of equal size together."""
        if not len(self):
            return []
        mentioned, mention_group, mention = self._pairs
        width = int(self.groups.max(initial=-1)) + 1
        faces = np.bincount(self.groups, minlength=width)
        names = np.bincount(mention_group, minlength=width)
        rows = np.argsort(self.groups, kind="stable")
        place = np.empty_like(rows)  # of an instance in its group
        place[rows] = np.arange(len(rows)) - np.repeat(np.cumsum(faces) - faces, faces)
        column = np.arange(len(mentioned)) - (np.cumsum(names) - names)[mention_group]
        shapes, kind = np.unique(faces * (names.max() + 1) + names, return_inverse=True)
        number = np.empty(width, dtype=np.intp)  # of a group in its batch
        found = []
        own_kind = kind[self.groups[self.instance]]
        for k, shape in enumerate(shapes.tolist()):
            m, q = divmod(shape, int(names.max()) + 1)
            if not q:
                continue
            groups = np.flatnonzero(kind == k)
            number[groups] = np.arange(len(groups))
            entries = np.full((len(groups), m, q), -1)
            at = np.flatnonzero(own_kind == k)
            j = self.instance[at]
            entries[number[self.groups[j]], place[j], column[mention[at]]] = at
            instances = rows[kind[self.groups[rows]] == k].reshape(-1, m)
            of_batch = mentioned[kind[mention_group] == k].reshape(-1, q)
            found.append(Batch(instances, of_batch, entries))
        return found

    def shares(self):
        """Return how many instances each name has, if those of an instance are equally likely."""
        equal = 1 / np.bincount(self.instance, minlength=self.n_instances)[self.instance]
        return np.bincount(self.name, equal, minlength=self.n_names)

    def matrix(self, values) -> sparse.csr_array:
        """Return values of entries as a sparse matrix (c x N)."""
        order, first = self.by_name
        shape = (self.n_names, self.n_instances)
        return sparse.csr_array((values[order], self.instance[order], first), shape=shape)

    def over_names(self, values):
        """Return the sum of values of entries over each name."""
        if not isinstance(values, np.ndarray):
            return run_sums(values[self.by_name[0]], self.by_name[1])
        return np.bincount(self.name, values, minlength=self.n_names)

    def over_instances(self, values):
        """Return the sum of values of entries over each instance."""
        if not isinstance(values, np.ndarray):
            return run_sums(values, self.first, self.longest)
        return np.bincount(self.instance, values, minlength=self.n_instances)

    def over_mentions(self, values):
        """Return the sum of values of entries over each mention."""
        if not isinstance(values, np.ndarray):
            return run_sums(values[self.by_mention[0]], self.by_mention[1])
        return np.bincount(self.mention, values, minlength=len(self.mentioned))

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
            chosen[here(batch.instances)] = batch.choose(worth, nobody)
        return chosen


def _sorted_by(values: Indices, most: int) -> tuple[Indices, Indices]:
    """Return a stable order of values from 0 to ``most``, and where each of them begins."""
    counts = namespace(values).bincount(values, minlength=most)
    return sorted_order(values, most), run_starts(counts)
