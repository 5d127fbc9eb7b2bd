"""Views of a problem in which candidate sets are hidden, to score labellers without truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats, Mask

FOLDS, VIEWS = 5, 3
"""A fifth of the candidate sets is hidden at a time, three fifths in total."""


@dataclass(frozen=True)
class View:
    """A problem in which the candidate sets of some instances are hidden: any class is allowed."""

    P: Floats
    mask: Mask
    rows: NDArray[np.intp]


@dataclass(frozen=True)
class Hiding:
    """One problem with several views, each of which hides a different part of the sets.

    Parameters
    ----------
    P : (c, N) array
        Soft labels to start from.
    mask : (c, N) array of bool
        The candidates as they were given.
    fold : (N,) array of int
        View in which each instance is hidden.
    """

    P: Floats
    mask: Mask
    fold: NDArray[np.intp]

    @classmethod
    def of(cls, X: Floats, P: Floats, mask: Mask, seed: int) -> Self:
        """Return the views of a problem, chosen by the instances, not by the order of rows."""
        fold = np.empty(len(X), dtype=np.intp)
        fold[order_of(X, P, seed)] = np.arange(len(X)) % FOLDS
        return cls(P, mask, fold)

    @cached_property
    def views(self) -> list[View]:
        """One view for each fold that is hidden in turn."""
        return [self.view(k) for k in range(VIEWS)]

    def view(self, k: int) -> View:
        """Return the view in which a fold is hidden."""
        listed = np.asarray(self.mask.any(axis=1))[:, None]
        rows = np.flatnonzero(self.fold == k)
        mask, P = self.mask.copy(), self.P.copy()
        mask[:, rows] = listed
        P[:, rows] = listed / listed.sum()
        return View(P, mask, rows)

    def rows(self, count: int = VIEWS) -> NDArray[np.intp]:
        """Return the rows that are hidden in the first views."""
        return np.concatenate([np.flatnonzero(self.fold == k) for k in range(count)])

    def covered(self, guess: NDArray[np.intp], count: int = VIEWS) -> NDArray[np.float64]:
        """Return whether each guess, for the rows hidden in the first views, is in the set."""
        return self.mask[guess, self.rows(count)].astype(np.float64)


def order_of(X: Floats, P: Floats, seed: int) -> NDArray[np.intp]:
    """Return an order of instances at random that does not depend on the order of rows."""
    direction = np.random.default_rng(seed).normal(size=X.shape[1])
    peak = np.abs(X).max(axis=0, initial=0)
    place = (X / np.where(peak > 0, peak, 1)).astype(np.float64) @ direction
    return np.lexsort((*P, place))  # equal rows are ordered by their candidates


def average(labels: Sequence[Floats], weight: Floats, normalise: bool = True) -> Floats:
    """Return the weighted average of soft labels, with columns that sum to 1 if normalised."""
    total = np.asarray(sum(w * Y for w, Y in zip(weight, labels, strict=True) if w > 0))
    return total / total.sum(axis=0) if normalise else total
