"""What is solved: features and candidates, in memory or on disk, in shards of whole groups."""

from __future__ import annotations

import zlib
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.base import warn_of_partial
from candidly.distributed.checksums import (
    SourceError,
)
from candidly.distributed.file_maps import as_array, as_file
from candidly.distributed.known_again import fingerprint_of
from candidly.distributed.stored_features import Features, Rows
from candidly.heap import release
from candidly.solvers import AtLeastOneNamed, AtMostOnce, CandidateSets, Constraint

ENTRYWISE = frozenset(("prior", "shown", "begin"))
"""Further values that are of entries, rather than of instances."""
PRIORS_OFF = 1e-6
"""How far from 1 the priors of an instance may add up."""
ROWS = 1 << 16
"""Rows whose groups are looked at together."""


@dataclass
class Source:
    """Features and candidates of all instances; arrays may be maps of files.

    Parameters
    ----------
    features : Features
    start, classes : arrays of int
        Candidates as in :class:`candidly.solvers.CandidateSets`.
    n_classes : int
    names : array
        Name of each class.
    priors : (E,) array, optional
        Soft labels to start from; by default all candidates of an instance are equal.
    groups : (N,) array of int, optional
    weight : (N,) array, optional
        Positive.
    null : int, optional
        The null class.
    more : dict of str to array
        Further values of instances, or of entries (``ENTRYWISE``).
    empty : bool
        Whether instances may be without candidates.
    partial : (N,) array of bool, optional
        Whether rows of the group of an instance are, or may be, missing.
    is_part : bool
        Whether rows were left out before there were groups: then any group may lack some.
    """

    features: Features
    start: NDArray[Any]
    classes: NDArray[Any]
    n_classes: int
    names: NDArray[Any]
    priors: NDArray[np.floating] | None = None
    groups: NDArray[np.integer] | None = None
    weight: NDArray[np.floating] | None = None
    null: int | None = None
    more: dict[str, NDArray[Any]] = field(default_factory=dict)
    empty: bool = False
    partial: NDArray[np.bool_] | None = None
    is_part: bool = False

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Return what other processes get: of files only their places, from any folder."""
        features = copy(self.features)
        features.parts = [p.absolute() if isinstance(p, Path) else p for p in features.parts]
        state = {name: as_file(values) for name, values in vars(self).items()}
        return {**state, "features": features}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: as_array(values) for name, values in state.items()})

    def columns(self, rows: Rows) -> Columns:
        """Return some instances; their features are read when they are first asked for."""
        some = rows
        if isinstance(rows, slice):
            first, last = int(self.start[rows.start]), int(self.start[rows.stop])
            start = np.asarray(self.start[rows.start : rows.stop + 1], dtype=np.intp) - first
            at: Any = slice(first, last)
        else:
            some = rows = rows.astype(np.intp)  # ``cut`` keeps them in less memory
            sizes = np.asarray(self.start[rows + 1] - self.start[rows], dtype=np.intp)
            start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
            at = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], sizes)
        classes = np.asarray(self.classes[at], dtype=np.intp)
        sets = CandidateSets(start, classes, self.n_classes)
        priors = None if self.priors is None else np.asarray(self.priors[at], dtype=float)
        groups = None if self.groups is None else np.asarray(self.groups[some])
        weight = None if self.weight is None else np.asarray(self.weight[some], dtype=float)
        more = {name: self._part(name, at, some) for name in self.more}
        known = (sets, priors, groups, weight, self.null, at, more)
        partial = None if self.partial is None else np.asarray(self.partial[some])
        return Columns(self.features, rows, *known, partial=partial)

    def _part(self, name: str, at: Any, some: Rows) -> NDArray[Any]:
        """Return further values of some entries or instances."""
        by_entry, values = name in ENTRYWISE, self.more[name]
        return np.asarray(values[at if by_entry else some])

    def release(self) -> None:
        """Let the system take back the pages of files that are mapped."""
        arrays = (self.start, self.classes, self.priors, self.groups, self.weight, self.partial)
        release(*arrays, *self.more.values())

    def warn_of_partial(self, at_least_one: bool) -> None:
        """Warn of groups that are here in part, as ``fit`` does, if they would need a name."""
        if not at_least_one or self.null is None or self.groups is None or self.partial is None:
            return
        rows = np.flatnonzero(self.partial)
        if len(rows):
            count = len(np.unique(np.asarray(self.groups)[rows]))
            warn_of_partial(count, f"that of row {rows[0]}")

    def bytes_per_row(self) -> float:
        """Return about how much memory an instance takes while its shard is worked on."""
        entries = float(self.start[-1]) / max(len(self), 1)
        return self.features.shape[1] * self.features.dtype.itemsize + 64 + 96 * entries

    def cut(self, most: int) -> list[Rows]:
        """Return rows of shards with at most so many instances, groups kept whole."""
        N = len(self)
        if self.groups is None:
            return [slice(a, min(a + most, N)) for a in range(0, N, most)]
        groups: NDArray[Any] = self.groups
        order: NDArray[Any] | None = None
        if _falls(groups):  # groups in the order in which they appear
            groups = _first_rows(groups)
            if _falls(groups):
                order = np.argsort(groups, kind="stable").astype(groups.dtype)
                groups = groups[order]
        found: list[Rows] = []
        start = 0
        while start < N:
            stop = _end_of_shard(groups, start, most)
            if order is not None:
                order[start:stop].sort()
            found.append(slice(start, stop) if order is None else order[start:stop])
            release(groups)
            start = stop
        return found

    def scattered(self) -> bool:
        """Return whether rows of a group do not follow one another."""
        if self.groups is None:
            return False
        groups = np.asarray(self.groups)
        runs = np.count_nonzero(groups[1:] != groups[:-1]) + 1
        return bool(runs > len(np.unique(groups)))

    def fingerprint(self) -> str:
        """Return what tells this source from another: shapes, and the bytes or a sample of them."""
        found = zlib.crc32(repr((self.features.shape, self.n_classes, self.null)).encode())
        arrays = (self.start, self.classes, self.priors, self.groups, self.weight)
        for values in (*self.features.parts, *arrays):
            found = fingerprint_of(values, found)
        if self.partial is not None:
            found = fingerprint_of(self.partial, found)
        return f"{found:08x}"


def _falls(values: NDArray[Any]) -> bool:
    """Return whether one of these values is less than the one before it."""
    for at in range(0, len(values), ROWS):
        piece = values[at : at + ROWS + 1]
        # Compared, since differences of small or unsigned numbers go round.
        if (piece[1:] < piece[:-1]).any():
            return True
        release(values)
    return False


def _first_rows(groups: NDArray[Any]) -> NDArray[Any]:
    """Return the first row of the group of each row."""
    N = len(groups)
    found = np.empty(N, dtype=np.int32 if N < 2**31 else np.int64)
    order = np.argsort(groups, kind="stable")
    for at in range(0, N, ROWS):
        rows = order[max(at - 1, 0) : at + ROWS]
        own = groups[rows]
        begin = np.concatenate([[0], np.flatnonzero(own[1:] != own[:-1]) + 1])
        first = rows[begin]
        if at:  # the group of the row before goes on
            first[0] = found[rows[0]]
        found[rows] = np.repeat(first, np.diff(begin, append=len(rows)))
    release(groups)
    return found


def _end_of_shard(groups: NDArray[Any], start: int, most: int) -> int:
    """Return where a shard ends: with the last group that fits, or with the first one at least."""
    N = len(groups)
    if start + most >= N:
        return N
    near = groups[start : start + most + 1]
    ends = np.flatnonzero(near[1:] != near[:-1])
    if len(ends):
        return start + int(ends[-1]) + 1
    for at in range(start + most, N, ROWS):
        others = np.flatnonzero(groups[at : at + ROWS] != groups[start])
        if len(others):
            return at + int(others[0])
    return N


@dataclass
class Columns:
    """Some instances: features, candidates, soft labels to start from, groups and weights.

    Parameters
    ----------
    features : Features
        Of all instances.
    rows : slice or array of int
        Which of them these are.
    sets : CandidateSets
    priors : (E,) array or None
    groups, weight : (n,) arrays or None
    null : int or None
    entries : slice or array of int
        Which entries of all these are.
    more : dict of str to array
        Further values of these instances or entries.
    number : int
        Place of the shard among all.
    room : array, optional
        Where features are read to.
    partial : (n,) array of bool, optional
        Whether rows of the group of an instance are, or may be, missing.
    """

    features: Features
    rows: Rows
    sets: CandidateSets
    priors: NDArray[np.float64] | None
    groups: NDArray[np.integer] | None
    weight: NDArray[np.float64] | None
    null: int | None
    entries: Any
    more: dict[str, NDArray[Any]] = field(default_factory=dict)
    number: int = 0
    room: NDArray[np.floating] | None = None
    partial: NDArray[np.bool_] | None = None
    _read: tuple[Any, Any] = (None, None)

    @property
    def X(self) -> NDArray[np.floating]:
        """Features of these instances."""
        return self.less(None)

    def less(self, shift: NDArray[np.floating] | None) -> NDArray[np.floating]:
        """Return features of these instances less a shift, kept until another is asked for.

        Features that are far from 0, against their spread, lose their last digits in sums.
        """
        before, found = self._read
        if found is None or before is not shift:
            self._read = None, None
            found = self.features.rows(self.rows, self.room, shift)
            self._read = shift, found
        return found

    @cached_property
    def P(self) -> NDArray[np.float64]:
        """Soft labels to start from: priors, or equal ones."""
        return self.sets.uniform() if self.priors is None else self.priors

    def __len__(self) -> int:
        return self.sets.n_instances

    def check(self) -> None:
        """Raise if candidates are no such thing, with the first instance where that shows."""
        start, classes, c = self.sets.start, self.sets.classes, self.sets.n_classes
        numbers = self.numbers()
        if (np.diff(start) <= 0).any():
            j = int(np.flatnonzero(np.diff(start) <= 0)[0])
            raise SourceError(f"instance {numbers[j]} has no candidate; list all where any may")
        if not 0 <= classes.min() <= classes.max() < c:
            wrong = int(np.flatnonzero((classes < 0) | (classes >= c))[0])
            j = int(np.searchsorted(start, wrong, side="right") - 1)
            raise SourceError(
                f"the candidate {classes[wrong]} of instance {numbers[j]} is no class; these are "
                f"numbered 0 to {c - 1}"
            )
        falls = np.diff(classes) <= 0
        falls[start[1:-1] - 1] = False
        if falls.any():
            j = int(np.searchsorted(start, np.flatnonzero(falls)[0], side="right") - 1)
            raise SourceError(
                f"candidates of instance {numbers[j]} are not ascending, or one twice"
            )
        if self.priors is not None:
            odd = ~(np.abs(np.add.reduceat(self.priors, start[:-1]) - 1) < PRIORS_OFF)
            odd |= np.minimum.reduceat(self.priors, start[:-1]) < 0
            if odd.any():
                j = int(np.flatnonzero(odd)[0])
                raise SourceError(
                    f"priors of instance {numbers[j]} are {self.priors[start[j] : start[j + 1]]}; "
                    "they are at least 0, and add up to 1"
                )

    def some(self, count: int) -> NDArray[np.floating]:
        """Return features of evenly spaced instances, without reading the others."""
        at = np.linspace(0, len(self) - 1, min(count, len(self))).astype(np.intp)
        rows = at + self.rows.start if isinstance(self.rows, slice) else self.rows[at]
        return self.features.rows(rows)

    def numbers(self) -> NDArray[np.intp]:
        """Return the number of each instance among all."""
        rows = self.rows
        return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows

    def local_groups(self) -> NDArray[np.intp]:
        """Return the group of each instance, numbered from 0 in this shard."""
        if self.groups is None:
            return np.arange(len(self))
        return np.unique(self.groups, return_inverse=True)[1].ravel()

    def group_rules(self, at_most_once: bool, at_least_one: bool) -> list[Constraint]:
        """Return Algorithm 3's constraints on these instances, where there are groups."""
        rules: list[Constraint] = []
        if self.groups is not None:
            groups = self.local_groups()
            if at_least_one and self.null is not None:
                partial = () if self.partial is None else groups[self.partial].tolist()
                rules.append(AtLeastOneNamed(groups, self.null, frozenset(partial)))
            if at_most_once:
                rules.append(AtMostOnce(groups, self.null))
        return rules
