"""Constraints between pairs of instances, e.g. faces of one track, or of twins."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from candidly.solvers.constraints.base import Inequalities, Labels, Mask, make_rows

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
    def _sets(self) -> list[NDArray[np.intp]]:
        """Sets of linked instances."""
        a, b = self.pairs.T
        size = int(self.pairs.max(initial=-1)) + 1
        graph = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(size, size))
        _, which = connected_components(graph, directed=False)
        order = np.argsort(which, kind="stable")
        sets = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
        return [linked for linked in sets if len(linked) > 1]

    def project(self, Y: Labels, mask: Mask) -> Labels:
        """Return the mean of each set, on the candidates that its members share."""
        check_range(self, self.pairs, Y.shape[1])
        Y = Y.copy()
        for linked in self._sets:
            mean = Y[:, linked].mean(axis=1)
            shared = mean * mask[:, linked].all(axis=1)
            # Elimination may have left members without a shared candidate.
            Y[:, linked] = (shared if shared.any() else mean)[:, None]
        return Y

    def violation(self, Y: Labels, mask: Mask) -> float:
        """Return the largest difference between soft labels of linked instances."""
        return max(
            (float(np.ptp(Y[:, linked], axis=1).max()) for linked in self._sets), default=0.0
        )

    def rows(self, mask: Mask) -> Inequalities:
        """Return "y_ia - y_ib = 0" for every class and pair."""
        check_range(self, self.pairs, mask.shape[1])
        return _pair_rows(self.pairs, None, (0, 0), mask, second=-1.0)


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

    def project(self, Y: Labels, mask: Mask) -> Labels:
        """Divide each instance by the largest sum above 1 of a pair that it is in."""
        check_range(self, self.pairs, Y.shape[1])
        divisor = np.ones_like(Y)
        sums = self._sums(Y)
        for end in self.pairs.T:
            np.maximum.at(divisor.T, end, sums.T)
        return Y / divisor

    def violation(self, Y: Labels, mask: Mask) -> float:
        """Return by how much the mass of a class in a pair exceeds 1, at most."""
        return float(np.maximum(self._sums(Y) - 1, 0).max(initial=0))

    def rows(self, mask: Mask) -> Inequalities:
        """Return "y_ia + y_ib <= 1" for every pair and every class except null."""
        check_range(self, self.pairs, mask.shape[1])
        return _pair_rows(self.pairs, self.null, (-np.inf, 1), mask, second=1.0)

    def _sums(self, Y: Labels) -> Labels:
        """Return the mass of each class in each pair; that of the null class is set to 0."""
        sums = Y[:, self.pairs[:, 0]] + Y[:, self.pairs[:, 1]]
        if self.null is not None:
            sums[self.null] = 0
        return sums


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


def _pair_rows(
    pairs: NDArray[np.intp],
    without: int | None,
    bounds: tuple[float, float],
    mask: Mask,
    second: float,
) -> Inequalities:
    """Bound y_ia + second*y_ib for each candidate of either, except for class ``without``."""
    a, b = pairs.T
    either = mask[:, a] | mask[:, b]
    if without is not None:
        either[without] = False
    i, pair = np.nonzero(either)
    which = np.arange(len(i))
    return make_rows(
        np.concatenate([i, i]),
        np.concatenate([a[pair], b[pair]]),
        np.concatenate([which, which]),
        bounds,
        mask,
        np.repeat([1.0, second], len(i)),
    )
