"""Probabilities that mean what they say, without truth: fitted on candidate sets.

A prediction that did not see the candidate set of its instance should make the set as likely as it
is. So the power and the uniform part of

    q ∝ p^power, mixed with 1/c

are those of the largest likelihood, mean log sum_{i in S} q_i P(S | i). Where wrong candidates go
together with the label, a wrong guess is in the set more often than by chance, which P(S | i) makes
up for; where sets follow the input, or come in copies, it makes up for too much. So probabilities
are the average of a calibration with it and one without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, logsumexp

from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.set_information import channel, log_given_label, log_given_others

LEAST = 1e-6
"""Added to probabilities, so that none is impossible."""
MOST_ROWS, MOST_ENTRIES = 3000, 1_000_000
"""Instances that a calibration is fitted on, at most, and their probabilities in all classes."""
MANY_CLASSES = 1000
"""Classes from which on the channel, one entry for each pair of them, is left out."""
ALLOWANCE = 0.01
"""Half width of an error interval without any other doubt: what the model itself may be off."""
SIZE_STEPS, LEAST_SIZE = 15, 1e-3
"""Steps in which sizes of classes are found, and what is added to each."""
SOFTEST, SHARPEST = 0.3, 8.0
"""Range of powers for label distributions."""


@dataclass(frozen=True)
class Calibration:
    """Power and uniform part that make probabilities mean what they say.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.selection.calibration import Calibration
    >>> rng = np.random.default_rng(0)
    >>> y, sure = rng.integers(4, size=2000), rng.random(2000) < 0.7
    >>> guess = np.where(sure, y, rng.integers(4, size=2000))
    >>> bold = np.where(np.arange(4)[:, None] == guess, 0.97, 0.01)
    >>> mask = (np.arange(4)[:, None] == y) | (rng.random((4, 2000)) < 0.2)
    >>> honest = Calibration.of(bold, mask)(bold).max(axis=0).mean()
    >>> bool(abs(honest - (guess == y).mean()) < 0.02)
    True
    """

    power: float = 1.0
    uniform: float = 0.0

    @classmethod
    def of(cls, proba: Floats, mask: Mask, log_given: Floats | None = None) -> Self:
        """Return the calibration of probabilities (c, n) by candidate sets (c, n).

        ``log_given`` is log P(S | i), by default the same for all candidates.
        """
        most = min(MOST_ROWS, max(MOST_ENTRIES // len(proba), 1))
        step = max(1, -(-proba.shape[1] // most))
        p, inside = proba[:, ::step], mask[:, ::step]
        if not p.size or inside.all():
            return cls()
        log_p = np.log(p + LEAST)
        given = inside.astype(np.float64)
        if log_given is not None:
            each = np.where(inside, log_given[:, ::step], -np.inf)
            given = np.exp(each - each.max(axis=0))

        def loss(parameters: NDArray[np.float64]) -> float:
            q = _powered(log_p, np.exp(parameters[0]), float(expit(parameters[1])))
            return -float(np.log((given * q).sum(axis=0) + 1e-300).mean())

        found = minimize(loss, [0.0, -3.0], method="Nelder-Mead", options={"maxiter": 120}).x
        return cls(float(np.exp(np.clip(found[0], -2, 3))), float(expit(found[1])))

    def __call__(self, proba: Floats) -> Floats:
        """Return calibrated probabilities, (c, n)."""
        return _powered(np.log(proba + LEAST), self.power, self.uniform)


@dataclass(frozen=True)
class HedgedCalibration:
    """The average of calibrations that differ in what candidate sets are taken to follow."""

    parts: tuple[Calibration, ...]

    @classmethod
    def of(cls, proba: Floats, mask: Mask, label: NDArray[np.intp]) -> Self:
        """Return calibrations of probabilities (c, n) by sets (c, n), given labels found (n,)."""
        plain = Calibration.of(proba, mask)
        if len(mask) > MANY_CLASSES:
            return cls((plain,))
        return cls((plain, Calibration.of(proba, mask, log_given_others(label, mask))))

    def __call__(self, proba: Floats) -> Floats:
        """Return calibrated probabilities, (c, n); the order within a column is kept."""
        return np.asarray(np.mean([part(proba) for part in self.parts], axis=0))


def _powered(log_p: Floats, power: float, uniform: float) -> Floats:
    scaled = power * log_p
    scaled = np.exp(scaled - logsumexp(scaled, axis=0))
    return np.asarray((1 - uniform) * scaled + uniform / len(log_p))


@dataclass(frozen=True)
class ErrorEstimate:
    """Share of the labels found that is wrong, estimated without truth, with an interval.

    Examples
    --------
    >>> from candidly.selection.calibration import ErrorEstimate
    >>> print(ErrorEstimate(0.031, 0.01, 0.05))
    3.1% (1.0% to 5.0%)
    """

    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.error:.1%} ({self.low:.1%} to {self.high:.1%})"

    @classmethod
    def between(cls, error: float, views: Sequence[float], sampling: float) -> Self:
        """Return an error with the interval that covers what several views find."""
        half = ALLOWANCE + sampling
        return cls(error, max(min(views) - half, 0.0), min(max(views) + half, 1.0))

    def with_doubt(self, possible: float) -> ErrorEstimate:
        """Return the estimate of an interval that reaches to an error that is possible too."""
        if possible <= self.high:
            return self
        return ErrorEstimate((self.error + possible) / 2, self.low, possible)


def estimate_error(
    hidden: Floats,
    labels: Floats,
    mask: Mask,
    fold: NDArray[np.intp],
    follows_label: bool,
    total: int,
) -> ErrorEstimate:
    """Return an estimate of how many of the labels are wrong.

    Probabilities found with the set hidden are calibrated, and restricted to the set in two ways:
    as they are, and times the chance of this set given each label. The first is right if sets
    follow the input, the second if they follow the label alone; the estimate is between. The
    interval covers both, and what is found where classes are as large as the sets say.

    Parameters
    ----------
    hidden : (c, n) array
        Soft labels, each found with its own set hidden.
    labels : (c, n) array
        Soft labels of the same instances, found with all sets.
    mask : (c, n) array of bool
        Their sets.
    fold : (n,) array of int
        View in which each set was hidden.
    follows_label : bool
        Whether sets follow the label.
    total : int
        Number of instances of which these are a sample.
    """
    q = Calibration.of(hidden, mask)(hidden)
    chosen = np.where(mask, labels, -1.0).argmax(axis=0), np.arange(mask.shape[1])
    wrong = [1 - _inside(q, mask)[chosen]]
    if follows_label and len(mask) <= MANY_CLASSES:
        right = np.empty(mask.shape[1])
        for k in np.unique(fold):
            here, there = fold == k, fold != k
            told = channel(labels[:, there], mask[:, there])
            each = np.log(q[:, here]) + log_given_label(told, mask[:, here])
            at = chosen[0][here], np.arange(int(here.sum()))
            right[here] = np.exp(each[at] - logsumexp(each, axis=0))
        wrong.append(1 - right)
    each_wrong = np.mean(wrong, axis=0)
    sized = 1 - _inside(_with_class_sizes(q, mask), mask)[chosen]
    views = [float(view.mean()) for view in (*wrong, sized)]
    return ErrorEstimate.between(float(each_wrong.mean()), views, sampling(each_wrong, total))


def sampling(wrong: Floats, total: int) -> float:
    """Return two standard errors of a share of which a sample has chances (n,).

    They are of the chances in the sample, and of what happens by these chances among all.
    """
    n = max(len(wrong), 1)
    drawn = float(wrong.var()) / n * max(1 - n / max(total, 1), 0.0)
    happens = max(float((wrong * (1 - wrong)).mean()), 1e-4) / max(total, 1)
    return 2 * float(np.sqrt(drawn + happens))


def _inside(q: Floats, mask: Mask) -> Floats:
    """Return probabilities (c, n) given that the label is a candidate."""
    inside = np.where(mask, q, 0.0)
    return np.asarray(inside / inside.sum(axis=0))


def _with_class_sizes(q: Floats, mask: Mask) -> Floats:
    """Return probabilities (c, n) with factors by which classes are as large as the sets say."""
    for _ in range(SIZE_STEPS):
        step = (_inside(q, mask).mean(axis=1) + LEAST_SIZE) / (q.mean(axis=1) + LEAST_SIZE)
        q = q * step[:, None]
        q = q / q.sum(axis=0)
    return q


def temper(labels: Floats, sets: CandidateSets, error: float) -> Floats:
    """Return soft labels whose mean confidence is that of an estimated error; ranks are kept.

    Parameters
    ----------
    labels : (E,) array
        Soft labels.
    sets : CandidateSets
    error : float
        Share of all labels that is wrong.
    """
    ambiguous = sets.sizes > 1
    if not ambiguous.any():
        return labels
    aim = 1 - min(error / ambiguous.mean(), 1 - 1e-9)
    part, entries = sets.of_instances(np.flatnonzero(ambiguous))
    log_y = np.log(np.maximum(labels[entries], 1e-12))

    def powered(power: float) -> Floats:
        scaled = power * log_y
        scaled = np.exp(scaled - part.largest(scaled)[part.instance])
        return np.asarray(scaled / part.total(scaled)[part.instance])

    def excess(power: float) -> float:
        return float(part.largest(powered(power)).mean()) - aim

    if excess(SHARPEST) <= 0:
        found = powered(SHARPEST)
    elif excess(SOFTEST) >= 0:
        # Soft labels that are exactly 1 cannot be softened by a power: share a part out.
        found, even = powered(SOFTEST), part.uniform()
        sure, least = float(part.largest(found).mean()), float(part.largest(even).mean())
        shared = float(np.clip((sure - aim) / max(sure - least, 1e-9), 0, 0.95))
        found = (1 - shared) * found + shared * even
    else:
        found = powered(float(brentq(excess, SOFTEST, SHARPEST, xtol=1e-3)))
    tempered = labels.copy()
    tempered[entries] = found
    return tempered
