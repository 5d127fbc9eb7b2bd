"""Constraints between pairs of instances, e.g. faces of one track, or of twins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints.base import (
    Entries,
    Inequalities,
    Labels,
    make_rows,
    once_per_sets,
)

Pairs = Iterable[tuple[int, int]]


class MustLink:
    """Linked instances have the same label.

    Parameters
    ----------
    pairs : iterable of (int, int)
        Row numbers of instances with the same label; pairs that share an instance are one set.

    Examples
    --------
    >>> from candidly import MustLink
    >>> MustLink([(0, 1), (1, 4)])
    MustLink([(0, 1), (1, 4)])
    """

    name = "linked instances have one label"

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = _as_pairs(pairs)

    def __repr__(self) -> str:
        return f"MustLink({[tuple(p) for p in self.pairs.tolist()]})"

    @cached_property
    def _linked(self) -> NDArray[np.intp]:
        """Set of linked instances that each instance is in, by number; -1 if it is in none."""
        a, b = self.pairs.T
        size = int(self.pairs.max(initial=-1)) + 1
        graph = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(size, size))
        count, which = connected_components(graph, directed=False)
        return np.where(np.bincount(which, minlength=count)[which] > 1, which, -1)

    @once_per_sets
    def _shared(self, sets: CandidateSets) -> _SharedEntries:
        check_range(self, self.pairs, sets.n_instances)
        linked = np.full(sets.n_instances, -1)
        linked[: len(self._linked)] = self._linked
        return _SharedEntries.of(sets, linked)

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Return the mean of each set, on the candidates that its members share."""
        at = self._shared(sets)
        mean = np.bincount(at.which, y[at.entries]) / at.members
        shared = np.where(at.by_all, mean, 0)
        # Elimination may have left members without a shared candidate.
        mass = np.bincount(at.linked, shared, minlength=1)[at.linked]
        y = y.copy()
        y[at.entries] = np.where(mass > 0, shared, mean)[at.which]
        return y

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return the largest difference between soft labels of linked instances."""
        at = self._shared(sets)
        # An instance that has no such candidate has label 0 there.
        highest, lowest = np.zeros(len(at.members)), np.where(at.by_all, np.inf, 0)
        np.maximum.at(highest, at.which, y[at.entries])
        np.minimum.at(lowest, at.which, y[at.entries])
        return float((highest - lowest).max(initial=0))

    def rows(self, sets: CandidateSets) -> Inequalities:
        """Return "y_ia - y_ib = 0" for every class and pair."""
        check_range(self, self.pairs, sets.n_instances)
        ours, theirs, same = _of_pairs(self.pairs, sets)
        others, firsts, known = _of_pairs(self.pairs[:, ::-1], sets)
        # A class that only one of the two could have is 0; a coefficient of 0 blames both.
        first = np.concatenate([ours, others[~known]])
        second = np.concatenate([theirs, firsts[~known]])
        signs = np.concatenate([np.ones(len(first)), -1.0 * same, np.zeros(int((~known).sum()))])
        which = np.tile(np.arange(len(first)), 2)
        return make_rows(np.concatenate([first, second]), which, (0, 0), sets, signs)


@dataclass(frozen=True)
class _SharedEntries:
    """Entries of linked instances, and the class of a set of them that each belongs to.

    Parameters
    ----------
    entries, which : (n,) arrays of int
        The entries, and the number of the pair (set, class) of each.
    linked, members : (p,) arrays of int
        Set of each pair, and how many instances that has.
    by_all : (p,) array of bool
        Whether the class is a candidate of all of them.
    """

    entries: Entries
    which: Entries
    linked: Entries
    members: Entries
    by_all: NDArray[np.bool_]

    @classmethod
    def of(cls, sets: CandidateSets, linked: NDArray[np.intp]) -> _SharedEntries:
        """Return the entries of instances whose set of linked ones is not -1."""
        entries = np.flatnonzero(linked[sets.instance] >= 0)
        key = linked[sets.instance[entries]] * sets.n_classes + sets.classes[entries]
        pairs, which, count = np.unique(key, return_inverse=True, return_counts=True)
        of_pair = pairs // sets.n_classes
        members = np.bincount(linked[linked >= 0], minlength=1)[of_pair]
        return cls(entries, which, of_pair, members, count == members)


class CannotLink:
    """The two instances of a pair have different labels, unless both are the null class.

    Parameters
    ----------
    pairs : iterable of (int, int)
        Row numbers of instances with different labels.
    null : int, optional
        Column of the null class, which both may have; ``fit`` fills it in.

    Examples
    --------
    >>> from candidly import CannotLink
    >>> CannotLink([(0, 1)])
    CannotLink([(0, 1)])
    """

    name = "pairs have different labels"

    def __init__(self, pairs: Pairs, null: int | None = None) -> None:
        self.pairs = _as_pairs(pairs)
        self.null = null

    def __repr__(self) -> str:
        return f"CannotLink({[tuple(p) for p in self.pairs.tolist()]})"

    def bind(self, classes: NDArray[np.object_], null: int | None) -> CannotLink:
        """Return the same pairs with the null class of these candidates."""
        return CannotLink(map(tuple, self.pairs.tolist()), null)

    @once_per_sets
    def _rivals(self, sets: CandidateSets) -> tuple[Entries, Entries]:
        """Entries of both instances of a pair with the same class, side by side."""
        check_range(self, self.pairs, sets.n_instances)
        ours, theirs, same = _of_pairs(self.pairs, sets)
        rivals = same & (sets.classes[ours] != self.null)
        return ours[rivals], theirs[rivals]

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Divide each label by the largest sum above 1 of a pair that it is in."""
        ours, theirs = self._rivals(sets)
        divisor, mass = np.ones_like(y), y[ours] + y[theirs]
        np.maximum.at(divisor, ours, mass)
        np.maximum.at(divisor, theirs, mass)
        return y / divisor

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return by how much the mass of a class in a pair exceeds 1, at most."""
        ours, theirs = self._rivals(sets)
        return float(np.maximum(y[ours] + y[theirs] - 1, 0).max(initial=0))

    def rows(self, sets: CandidateSets) -> Inequalities:
        """Return "y_ia + y_ib <= 1" for every pair and every class except null."""
        ours, theirs = self._rivals(sets)
        which = np.tile(np.arange(len(ours)), 2)
        return make_rows(np.concatenate([ours, theirs]), which, (-np.inf, 1), sets)


def _as_pairs(pairs: Pairs) -> NDArray[np.intp]:
    listed = [tuple(pair) if isinstance(pair, Iterable) else (pair,) for pair in pairs]
    for pair in listed:
        if len(pair) != 2 or not all(isinstance(number, Integral) for number in pair):
            raise ValueError(f"a pair is two row numbers, got {pair!r}")
    array = np.array(listed, dtype=np.intp).reshape(-1, 2)
    itself = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(itself):
        raise ValueError(f"instance {array[itself[0], 0]} is paired with itself")
    return array


def check_range(constraint: object, instances: NDArray[np.intp], N: int) -> None:
    """Raise if a row number is not in 0 to N - 1."""
    wrong = instances[(instances < 0) | (instances >= N)]
    if len(wrong):
        raise ValueError(
            f"{type(constraint).__name__} names instance {wrong[0]}, but there are {N}, "
            f"numbered 0 to {N - 1}"
        )


def _of_pairs(
    pairs: NDArray[np.intp], sets: CandidateSets
) -> tuple[Entries, Entries, NDArray[np.bool_]]:
    """Return the entries of the first of each pair, those of the second, and if they are the same.

    The second has an entry of the same class, or the first of its entries if it has none.
    """
    part, ours = sets.of_instances(pairs[:, 0])
    other = pairs[part.instance, 1]
    theirs = sets.number(part.classes, other)
    return ours, np.where(theirs >= 0, theirs, sets.start[other]), theirs >= 0
