"""Views of a problem in which candidate sets are hidden, to score labellers without truth.

Instances whose set is hidden are not learnt from: they are predicted from those that are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.candidate_sets import CandidateSets

FOLDS, VIEWS = 5, 3
"""A fifth of the candidate sets is hidden at a time, three fifths in total."""


@dataclass(frozen=True)
class View:
    """A problem in which the candidate sets of some instances are hidden.

    Attributes
    ----------
    whole : CandidateSets
        All sets, as they were given.
    rows, shown : arrays of int
        Instances that are hidden, and the others.
    sets : CandidateSets
        The sets that are shown.
    P : array
        Soft labels to start from, over the entries of these.
    """

    whole: CandidateSets
    rows: NDArray[np.intp]
    shown: NDArray[np.intp]
    sets: CandidateSets
    P: Floats

    @classmethod
    def of(cls, sets: CandidateSets, P: Floats, rows: NDArray[np.intp]) -> Self:
        """Return the view in which rows are hidden."""
        shown = np.setdiff1d(np.arange(sets.n_instances), rows)
        part, entries = sets.of_instances(shown)
        return cls(sets, rows, shown, part, P[entries])

    def opened(self, Y: Floats | None = None) -> tuple[CandidateSets, Floats]:
        """Return the whole problem with any listed class possible where the set is hidden.

        For labellers that cannot predict: soft labels start from P, or from a matrix Y (c x N).
        """
        mask = self.whole.mask
        mask[:, self.rows] = self.whole.listed[:, None]
        sets = CandidateSets.of_mask(mask)
        if Y is None:
            Y = np.zeros(self.whole.shape)
            Y[self.sets.classes, self.shown[self.sets.instance]] = self.P
            Y[:, self.rows] = (self.whole.listed / self.whole.listed.sum())[:, None]
        return sets, sets.entries_of(Y)

    def allowed(self, scores: Floats) -> Floats:
        """Return scores (c, n) of the hidden instances as soft labels among the listed classes."""
        listed = self.whole.listed[:, None]
        soft = np.where(listed, np.maximum(scores, 0), 0)
        total = soft.sum(axis=0)
        return np.where(total > 0, soft / np.where(total > 0, total, 1), listed / listed.sum())


@dataclass(frozen=True)
class Hiding:
    """One problem with several views, each of which hides a different part of the sets.

    Parameters
    ----------
    sets : CandidateSets
        The candidates as they were given.
    P : (E,) array
        Soft labels to start from.
    fold : (N,) array of int
        View in which each instance is hidden.
    """

    sets: CandidateSets
    P: Floats
    fold: NDArray[np.intp]

    @classmethod
    def of(cls, X: Floats, P: Floats, sets: CandidateSets, seed: int) -> Self:
        """Return the views of a problem, chosen by the instances, not by the order of rows."""
        fold = np.empty(len(X), dtype=np.intp)
        fold[order_of(X, P, sets, seed)] = np.arange(len(X)) % FOLDS
        return cls(sets, P, fold)

    @cached_property
    def views(self) -> list[View]:
        """One view for each fold that is hidden in turn."""
        return [self.view(k) for k in range(VIEWS)]

    @cached_property
    def mask(self) -> Mask:
        """The candidates as a matrix (c, N): a problem to score on is small."""
        return self.sets.mask

    def view(self, k: int) -> View:
        """Return the view in which a fold is hidden."""
        return View.of(self.sets, self.P, np.flatnonzero(self.fold == k))

    def rows(self, count: int = VIEWS) -> NDArray[np.intp]:
        """Return the rows that are hidden in the first views."""
        return np.concatenate([np.flatnonzero(self.fold == k) for k in range(count)])

    def covered(self, guess: NDArray[np.intp], count: int = VIEWS) -> NDArray[np.float64]:
        """Return whether each guess, for the rows hidden in the first views, is in the set."""
        return self.mask[guess, self.rows(count)].astype(np.float64)


def order_of(X: Floats, P: Floats, sets: CandidateSets, seed: int) -> NDArray[np.intp]:
    """Return an order of instances at random that does not depend on the order of rows."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=X.shape[1])
    peak = np.abs(X).max(axis=0, initial=0)
    place = (X / np.where(peak > 0, peak, 1)).astype(np.float64) @ direction
    # Equal rows are ordered by their candidates.
    listed = sets.total(P * rng.random(sets.n_classes)[sets.classes])
    return np.lexsort((listed, place))


def average(labels: Sequence[Floats], weight: Floats, sets: CandidateSets | None = None) -> Floats:
    """Return the weighted average of values; soft labels over sets sum to 1 for each instance."""
    total = np.asarray(sum(w * y for w, y in zip(weight, labels, strict=True) if w > 0))
    return total if sets is None else total / sets.total(total)[sets.instance]
