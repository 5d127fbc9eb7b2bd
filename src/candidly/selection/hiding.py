"""Scores without truth: hide candidate sets, and compare them with the labels found there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats, Mask

FOLDS, SCORED = 5, 2
"""A fifth of the candidate sets is hidden at a time, two fifths in total."""
SHARING = 3.0
"""A setting this many standard errors below the best has 1/e of its weight in the average."""


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
    mask : (c, N) array of bool
        The candidates as they were given.
    views : sequence of View
        What a labeller sees.
    """

    mask: Mask
    views: Sequence[View]

    @classmethod
    def of(cls, X: Floats, P: Floats, mask: Mask, seed: int) -> Self:
        """Return the views of a problem, chosen by the instances, not by the order of rows."""
        direction = np.random.default_rng(seed).normal(size=X.shape[1])
        peak = np.abs(X).max(axis=0, initial=0)
        place = (X / np.where(peak > 0, peak, 1)).astype(np.float64) @ direction
        order = np.lexsort((*P, place))  # equal rows are ordered by their candidates
        fold = np.empty(len(X), dtype=int)
        fold[order] = np.arange(len(X)) % FOLDS
        listed = np.asarray(mask.any(axis=1))[:, None]
        views = []
        for k in range(SCORED):
            rows = np.flatnonzero(fold == k)
            open_mask, open_P = mask.copy(), P.copy()
            open_mask[:, rows] = listed
            open_P[:, rows] = listed / listed.sum()
            views.append(View(open_P, open_mask, rows))
        return cls(mask, views)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Rows that are hidden in some view."""
        return np.concatenate([view.rows for view in self.views])

    def guesses(self, labels: Sequence[Floats]) -> Floats:
        """Return the labels found for the hidden instances, given all labels of each view.

        Columns are one-hot, or shared where several labels are equally good.
        """
        found = [Y[:, view.rows] for Y, view in zip(labels, self.views, strict=True)]
        together = np.concatenate(found, axis=1)
        best = together == together.max(axis=0, initial=-np.inf)
        return best / best.sum(axis=0)

    def covering_rate(self, guesses: Floats) -> float:
        """Return how often the label found for a hidden instance is in its set."""
        return _mean(np.where(self.mask[:, self.rows], guesses, 0).sum(axis=0))

    def accuracy(self, guesses: Floats, labels: Floats) -> float:
        """Return an estimate of how often the label found for a hidden instance is right.

        A wrong label is in the set as often as it is a candidate of others: so a hit counts 1,
        and a miss as much below 0 as makes wrong labels count nothing on average. A covering
        rate lacks this where one class is nearly everywhere. It is assumed that distractors
        do not depend on the true label.
        """
        share = labels.mean(axis=1)
        elsewhere = (self.mask.mean(axis=1) - share) / np.maximum(1 - share, 1e-9)
        base = np.clip(elsewhere, 0, 0.98)[:, None]
        worth = np.where(self.mask[:, self.rows], 1.0, -base / (1 - base))
        return _mean((guesses * worth).sum(axis=0))

    def agreement(self, guesses: Floats, labels: Floats) -> float:
        """Return how often the label found is the one that the average of all settings gives."""
        chosen = np.where(self.mask, labels, -1.0).argmax(axis=0)[self.rows]
        return _mean(guesses[chosen, np.arange(len(chosen))])

    def weights(self, rates: Sequence[float]) -> NDArray[np.float64]:
        """Return weights for an average, by how many standard errors a rate is below the best."""
        rate = np.asarray(rates, dtype=float)
        weight = np.exp((rate - rate.max()) / (SHARING * self.standard_error(rate.max())))
        return weight / weight.sum()

    def standard_error(self, rate: float) -> float:
        """Return the standard error of a rate over the hidden instances."""
        return float(np.sqrt(max(rate * (1 - rate), 1e-4) / max(len(self.rows), 1)))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 1.0
