"""Candidate sets as entries: what solvers take instead of matrices of all classes.

An instance has a few candidates, not all classes. So soft labels y and scores are vectors over the
entries (instance, class), instance by instance, and no solver needs a c x N matrix for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.arrays import counting, double, like, namespace, zeros
from candidly.solvers.runs import (
    first_of_runs,
    run_largest,
    run_of_each,
    run_starts,
    run_sums,
    sorted_order,
)

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CandidateSets:
    """The candidates of N instances among c classes, as entries in CSR order.

    Those of instance j are the entries ``start[j]`` to ``start[j + 1]``. Arrays are of NumPy; a
    solve on a device works with the sets that ``beside`` returns, and with values of entries there.

    Parameters
    ----------
    start : (N + 1,) array of int
        First entry of each instance, and the number of entries E. No instance is without any.
    classes : (E,) array of int
        Class of each entry, ascending within an instance.
    n_classes : int
        Number of classes c.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers import CandidateSets
    >>> sets = CandidateSets.of_mask(np.array([[True, True], [False, True]]))
    >>> sets.classes, sets.instance
    (array([0, 0, 1]), array([0, 1, 1]))
    >>> sets.matrix(np.array([1.0, 0.5, 0.5]))
    array([[1. , 0.5],
           [0. , 0.5]])
    """

    start: Indices
    classes: Indices
    n_classes: int

    @classmethod
    def of_mask(cls, mask) -> CandidateSets:
        """Return the sets of a mask (c x N)."""
        j, i = np.nonzero(np.asarray(mask).T)
        start = np.concatenate([[0], np.cumsum(np.bincount(j, minlength=mask.shape[1]))])
        return cls(start, i, len(mask))

    @classmethod
    def of_rows(cls, rows: sparse.csr_array) -> CandidateSets:
        """Return the sets of a sparse matrix (N x c), whose stored entries are the candidates.

        They have to be in the order of their columns within a row.
        """
        return cls(rows.indptr.astype(np.intp), rows.indices.astype(np.intp), rows.shape[1])

    def __len__(self) -> int:
        return len(self.classes)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the sets, and nothing that follows from them."""
        return {name: self.__dict__[name] for name in ("start", "classes", "n_classes")}

    def beside(self, A) -> CandidateSets:
        """Return the sets as arrays of the library and on the device of A; they are kept."""
        xp = namespace(A)
        if namespace(self.start) is xp:
            return self
        twins = self.__dict__.setdefault("_twins", {})
        if A.device not in twins:
            start, classes = (like(each, A, xp.int64) for each in (self.start, self.classes))
            twins[A.device] = CandidateSets(start, classes, self.n_classes)
            twins[A.device].__dict__["longest"] = self.longest
        return twins[A.device]

    @property
    def n_instances(self) -> int:
        """Number of instances N."""
        return len(self.start) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of classes and of instances, the shape of a matrix of soft labels."""
        return self.n_classes, self.n_instances

    @cached_property
    def sizes(self) -> Indices:
        """Number of candidates of each instance."""
        return namespace(self.start).diff(self.start)

    @cached_property
    def longest(self) -> int:
        """Number of candidates of the instance that has most; on a device this waits, once."""
        return int(self.sizes.max()) if self.n_instances else 0

    @cached_property
    def instance(self) -> Indices:
        """Instance of each entry."""
        return run_of_each(self.start, len(self))

    @cached_property
    def by_class(self) -> Indices:
        """Entries in the order of their classes, then of instances."""
        return sorted_order(self.classes, self.n_classes)

    @cached_property
    def instance_by_class(self) -> Indices:
        """Instance of each entry, in the order of their classes."""
        return self.instance[self.by_class]

    @cached_property
    def class_start(self) -> Indices:
        """First place of each class in ``by_class``, and the number of entries."""
        counts = namespace(self.classes).bincount(self.classes, minlength=self.n_classes)
        return run_starts(counts)

    def class_runs(self, most: int) -> tuple[Indices, Indices]:
        """Return the entries of every class cut into runs of at most ``most``; they are kept.

        Where each run begins in ``by_class``, and which run is the first of each class.
        """
        kept = self.__dict__.setdefault("_class_runs", {})
        if most not in kept:
            xp, start = namespace(self.start), self.class_start
            first = run_starts(-(-xp.diff(start) // most))
            number = int(first[-1])
            own = run_of_each(first, number)
            begin = start[own] + most * (counting(number, start) - first[own])
            kept[most] = xp.concatenate([begin, start[-1:]]), first
        return kept[most]

    @property
    def listed(self) -> NDArray[np.bool_]:
        """Whether each class is a candidate of any instance."""
        return np.diff(self.class_start) > 0

    def number(self, classes: Any, instances: Any) -> Indices:
        """Return the number of each entry (class, instance), or -1 where it is no candidate."""
        keys = self.instance * self.n_classes + self.classes
        wanted = np.asarray(instances) * self.n_classes + np.asarray(classes)
        at = np.searchsorted(keys, wanted)
        found = np.minimum(at, max(len(keys) - 1, 0))
        return np.where(keys[found] == wanted, found, -1) if len(keys) else np.full(at.shape, -1)

    def total(self, y):
        """Return the sum of values (E,) over the candidates of each instance."""
        return run_sums(y, self.start, self.longest)

    def largest(self, y):
        """Return the largest of values (E,) among the candidates of each instance."""
        return run_largest(y, self.start, self.longest)

    def best(self, y) -> Indices:
        """Return the entry of largest value (E,) of each instance; of equal ones the first."""
        largest = y == self.largest(y)[self.instance]
        return first_of_runs(largest, self.start, self.instance, self.longest)

    def class_total(self, y):
        """Return the sum of values (E,) over the entries of each class."""
        if isinstance(y, np.ndarray):
            return np.bincount(self.classes, y, minlength=self.n_classes)
        return run_sums(double(y)[self.by_class], self.class_start)

    def rows(self, y) -> sparse.csr_array:
        """Return values (E,) as a sparse matrix, one row per instance."""
        return sparse.csr_array((y, self.classes, self.start), shape=self.shape[::-1])

    def matrix(self, y):
        """Return values (E,) as a matrix (c x N), 0 off the candidates."""
        Y = zeros(self.shape, y)
        Y[self.classes, self.instance] = y
        return Y

    def entries_of(self, Y):
        """Return the values of a matrix (c x N) at the candidates."""
        return Y[self.classes, self.instance]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The candidates as a matrix (c x N) of bool."""
        return self.matrix(np.ones(len(self), dtype=bool))

    def of_instances(self, instances: Any) -> tuple[CandidateSets, Indices]:
        """Return the sets of some instances, by their numbers, and the entries that these are."""
        instances = np.asarray(instances)
        sizes = self.sizes[instances]
        start = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(start[-1]) + np.repeat(self.start[instances] - start[:-1], sizes)
        return CandidateSets(start, self.classes[at], self.n_classes), at

    def kept(self, entries: NDArray[np.bool_]) -> CandidateSets:
        """Return the sets without the entries that are not kept."""
        left = np.bincount(self.instance[entries], minlength=self.n_instances)
        start = np.concatenate([[0], np.cumsum(left)])
        return CandidateSets(start, self.classes[entries], self.n_classes)

    def values_on(self, y, others: CandidateSets):
        """Return values (E,) at the entries of other sets, 0 where these sets have none."""
        if others is self:
            return y
        at = self.number(others.classes, others.instance)
        return np.where(at >= 0, y[at], 0).astype(y.dtype)

    def with_sets(
        self, instances: NDArray[np.bool_], part: CandidateSets
    ) -> tuple[CandidateSets, NDArray[np.bool_]]:
        """Return the sets with others for some instances, and which entries are of these.

        Parameters
        ----------
        instances : (N,) array of bool
            The instances to replace.
        part : CandidateSets
            Their sets, in the same order.
        """
        sizes = self.sizes.copy()
        sizes[instances] = part.sizes
        inside = np.repeat(instances, sizes)
        classes = np.empty(len(inside), dtype=np.intp)
        classes[inside] = part.classes
        classes[~inside] = self.classes[~instances[self.instance]]
        start = np.concatenate([[0], np.cumsum(sizes)])
        return CandidateSets(start, classes, self.n_classes), inside

    def uniform(self):
        """Return soft labels (E,) that are equal for all candidates of an instance."""
        return 1 / self.sizes[self.instance]
