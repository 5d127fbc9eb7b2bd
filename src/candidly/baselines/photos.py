"""Photos: what their faces may be called together, and the best of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from candidly.baselines.compared import Problem
from candidly.solvers.matchings import NEVER, balanced, matchings, matchings_of

MAX_MATCHINGS = 3000
"""Ways to name the faces of a photo up to which all are listed for their average."""


@dataclass(frozen=True)
class Photos:
    """Faces of photos, and the labellings allowed there.

    A face gets one of its candidates, a photo no name twice; null as often as needed, but
    not for all faces of a photo in which somebody has to be named.

    Attributes
    ----------
    mask : (N, c) array of bool
        Candidates. A face alone in its photo that has to be named has null no more.
    groups : (N,) array of int
        Photo of each face, numbered from 0.
    null : int or None
        Column of the null class.
    one_named : (photos,) array of bool
        Photos of several faces in which null for all is not allowed.
    """

    mask: NDArray[np.bool_]
    groups: NDArray[np.intp]
    null: int | None
    one_named: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Read them off a problem."""
        mask, groups, null = problem.mask, problem.groups, problem.null
        faces = np.bincount(groups)
        one_named = np.zeros(len(faces), dtype=bool)
        if problem.one_named is not None and null is not None:
            one_named[groups[problem.one_named]] = True
            alone = one_named[groups] & (faces[groups] == 1)
            mask = mask.copy()
            mask[alone, null] = False
        return cls(mask, groups, null, one_named & (faces > 1))

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """Faces of each photo."""
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.groups))[:-1])

    def best(self, scores: NDArray[np.floating]) -> NDArray[np.intp]:
        """Label of every face, in the allowed labelling with the largest sum of scores.

        Only photos whose faces claim one name, or all null where that is not allowed, need
        solving. Where nothing is allowed, as after elimination, each face has its best.
        """
        chosen = np.where(self.mask, scores, -np.inf).argmax(axis=1)
        for photo in self.broken(chosen):
            faces = self.members[photo]
            chosen[faces] = self._assigned(scores[faces], self.mask[faces], chosen[faces])
            if self.one_named[photo] and (chosen[faces] == self.null).all():
                chosen[faces] = self._one_named(scores[faces], self.mask[faces])
        return chosen

    def broken(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Photos that labels among the candidates are not allowed in."""
        named = chosen != (-1 if self.null is None else self.null)
        key = self.groups[named] * self.mask.shape[1] + chosen[named]
        value, count = np.unique(key, return_counts=True)
        twice = value[count > 1] // self.mask.shape[1]
        nobody = np.bincount(self.groups, weights=named) == 0
        return np.union1d(twice, np.flatnonzero(self.one_named & nobody))

    def average(self) -> NDArray[np.float64]:
        """Share of each label in all allowed labellings, (N, c).

        Photos with more than a few thousand ways are approximated by faces that choose
        alone, with names scaled down to one use.
        """
        share = self.mask / self.mask.sum(axis=1, keepdims=True)
        faces = np.bincount(self.groups)
        for photo in np.flatnonzero(faces > 1):
            rows = self.members[photo]
            if self._conflicting(self.mask[rows]).any() or self.one_named[photo]:
                share[rows] = self._average_of(rows, bool(self.one_named[photo]))
        return share

    def _conflicting(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Names that several faces of a photo could have."""
        several = mask.sum(axis=0) > 1
        if self.null is not None:
            several[self.null] = False
        return several

    def _names(self, mask: NDArray[np.bool_]) -> NDArray[np.intp]:
        names = np.flatnonzero(mask.any(axis=0))
        return names if self.null is None else names[names != self.null]

    def _average_of(self, rows: NDArray[np.intp], one_named: bool) -> NDArray[np.float64]:
        mask = self.mask[rows]
        names = self._names(mask)
        free = np.zeros(len(rows), dtype=bool) if self.null is None else mask[:, self.null]
        table = np.column_stack([mask[:, names], free])
        if matchings_of(len(rows), len(names)) <= MAX_MATCHINGS:
            ways = matchings(len(rows), len(names))
            ways = ways[table[np.arange(len(rows)), ways].all(axis=1)]
            if one_named:
                ways = ways[(ways < len(names)).any(axis=1)]
            each = (
                (ways[:, :, None] == np.arange(len(names) + 1)).mean(axis=0) if len(ways) else table
            )
        else:
            worth = np.where(table, 0.0, NEVER)
            each = np.column_stack(balanced(worth[:, :-1], worth[:, -1]))
        share = np.zeros(mask.shape)
        share[:, names] = each[:, :-1]
        if self.null is not None:
            share[:, self.null] = each[:, -1]
        share = np.where(mask, np.maximum(share, 0), 0)
        return share / share.sum(axis=1, keepdims=True)

    def _assigned(
        self,
        scores: NDArray[np.floating],
        mask: NDArray[np.bool_],
        alone: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        """The assignment problem of one photo; each face has a null of its own."""
        M, names = len(scores), self._names(mask)
        span = float(np.ptp(scores[mask])) + 1
        never = -2 * (M + 1) * span
        worth = np.where(mask, scores - scores[mask].min(), never)
        table = worth[:, names]
        if self.null is not None:
            table = np.hstack(
                [table, np.where(np.eye(M, dtype=bool), worth[:, [self.null]], never)]
            )
        if table.shape[1] < M:
            return alone
        faces, columns = linear_sum_assignment(table, maximize=True)
        if (table[faces, columns] == never).any():
            return alone
        return np.append(names, np.full(M, -1 if self.null is None else self.null))[columns]

    def _one_named(self, scores: NDArray[np.floating], mask: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Null but for the one face that gives up least by a name; all prefer null."""
        null = -1 if self.null is None else self.null
        chosen = np.full(len(scores), null)
        loss = np.where(mask, scores[:, null, None] - scores, np.inf)
        loss[:, null] = np.inf
        face, name = np.unravel_index(loss.argmin(), loss.shape)
        chosen[face] = name
        return chosen


def one_hot(chosen: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Rows with a 1 at the label chosen."""
    return (chosen[:, None] == np.arange(n_classes)).astype(np.float64)
