"""Scores without truth: what a hidden label tells about the candidate set of its instance.

A labeller sees a problem in which some candidate sets are hidden, and guesses the labels there.
How often a guess is in the real set, the covering rate, prefers guesses that are candidates
everywhere. What a guess *tells* about the set does not: if wrong candidates depend on the true
label alone, no guess tells more about the set than the true label does (the data processing
inequality), and the more often it is wrong the less it tells. So a guess a scores

    log( (1 - eta) [a in S] prod_b P(b in S | a) + eta P(S) ) - log P(S)

with P(b in S | a), the channel, counted on the guesses of other folds, and P(S) by the frequency of
each class. Where sets are a function of the input this does not hold, and it shows: then
:func:`told_by_features`, the same score for a prediction of the set from the features themselves,
exceeds what any label tells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats, Mask

PRIOR = 5.0
"""Number of instances that the frequency of a class counts for in the channel of each guess."""
LEAST = 2e-3
"""Smallest probability of a candidate, and of a class not being one."""
ASTRAY = (0.02, 0.1, 0.3, 0.5)
"""Shares of guesses that tell nothing, eta, of which the likeliest counts."""
SHARES = (0.3, 0.6, 0.9)
"""Weights of the regression against frequencies, when features predict the set."""


def frequencies(mask: Mask) -> NDArray[np.float64]:
    """Return how often each class is a candidate, from ``LEAST`` to 1 - ``LEAST``."""
    share = mask.mean(axis=1) if mask.size else np.full(len(mask), 0.5)
    return np.clip(share, LEAST, 1 - LEAST)


def told_by_labels(
    guess: NDArray[np.intp], mask: Mask, fold: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return what each guess tells about the candidate set of its instance, in nats.

    Parameters
    ----------
    guess : (n,) array of int
        Class guessed for each instance while its set was hidden.
    mask : (c, n) array of bool
        The real sets.
    fold : (n,) array of int
        Guesses are scored by channels of the other folds.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers.set_information import told_by_labels
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(5, size=400)
    >>> mask = (rng.random((5, 400)) < 0.3) | (np.arange(5)[:, None] == y)
    >>> right, fold = told_by_labels(y, mask, np.arange(400) % 5), np.arange(400) % 5
    >>> wrong = told_by_labels(rng.permutation(y), mask, fold)
    >>> bool(right.mean() > 0.7 > 0.1 > wrong.mean())
    True
    """
    given, back = np.empty(len(guess)), np.empty(len(guess))
    one_hot = np.arange(len(mask))[:, None] == guess
    for k in np.unique(fold):
        here, there = fold == k, fold != k
        base = frequencies(mask[:, there])
        seen = one_hot[:, there], mask[:, there]
        given[here] = log_given_guess(*seen, guess[here], mask[:, here], base)
        back[here] = log_frequencies(mask[:, here], base)
    return told(given, back)


def told(given: Floats, back: Floats) -> NDArray[np.float64]:
    """Return the score of guesses from log P(S | guess) and log P(S)."""
    each = [np.logaddexp(np.log(1 - eta) + given, np.log(eta) + back) - back for eta in ASTRAY]
    return max(each, key=np.mean)


def told_by_features(predicted: Floats, mask: Mask, fold: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return what predictions of the sets themselves tell about them, in nats.

    Parameters
    ----------
    predicted : (c, n) array
        Prediction of each entry of the mask, by features of instances whose set was left out.
    mask, fold
        As in :func:`told_by_labels`.
    """
    back, base = np.empty(mask.shape[1]), np.empty(mask.shape)
    for k in np.unique(fold):
        base[:, fold == k] = frequencies(mask[:, fold != k])[:, None]
        back[fold == k] = _log_bernoulli(mask[:, fold == k], base[:, fold == k])
    chances = (np.clip(share * predicted + (1 - share) * base, 0.01, 0.99) for share in SHARES)
    return max((_log_bernoulli(mask, chance) - back for chance in chances), key=np.mean)


def channel(labels: Floats, mask: Mask) -> NDArray[np.float64]:
    """Return P(b in S | a) for classes a and b, counted on labels (c, n) that may be soft."""
    base = mask.mean(axis=1)
    count = labels.sum(axis=1)[:, None]
    listed = labels @ mask.T.astype(np.float64)
    return np.clip((listed + PRIOR * base) / (count + PRIOR), LEAST, 1 - LEAST)


def log_given_label(told: Floats, mask: Mask) -> NDArray[np.float64]:
    """Return log P(S | a) for each class a, (c, n), by a channel; minus infinity off the sets."""
    yes, no = np.log(told), np.log1p(-told)
    np.fill_diagonal(yes, 0)
    np.fill_diagonal(no, 0)
    each = (yes - no) @ mask.astype(np.float64) + no.sum(axis=1)[:, None]
    return np.where(mask, each, -np.inf)


def log_given_others(label: NDArray[np.intp], mask: Mask) -> NDArray[np.float64]:
    """Return log P(S | a), (c, n), by the channel of the labels (n,) of all other instances."""
    one_hot = (np.arange(len(mask))[:, None] == label).astype(np.float64)
    each = log_given_label(channel(one_hot, mask), mask)
    base, listed = mask.mean(axis=1), one_hot @ mask.T.astype(np.float64)
    # An instance counts in the channel of its own label alone.
    others = listed[label].T - mask + PRIOR * base[:, None]
    told = np.clip(others / (one_hot.sum(axis=1)[label] - 1 + PRIOR), LEAST, 1 - LEAST)
    log_told = np.where(mask, np.log(told), np.log1p(-told))
    own = label, np.arange(len(label))
    log_told[own] = 0
    each[own] = np.where(mask[own], log_told.sum(axis=0), -np.inf)
    return each


def log_given_guess(
    labels: Floats, seen: Mask, guess: NDArray[np.intp], mask: Mask, base: Floats
) -> NDArray[np.float64]:
    """Return log P(S | guess) of each guess, minus infinity off its set.

    Parameters
    ----------
    labels, seen : (c, n') arrays
        Labels, which may be soft, and sets that the channel is counted on.
    guess : (n,) array of int
    mask : (c, n) array of bool
        Sets of the instances guessed.
    base : (c,) array
        Frequency of each class.
    """
    classes, row = np.unique(guess, return_inverse=True)
    some = labels[classes].astype(np.float64)
    listed = some @ seen.T.astype(np.float64)
    chance = (listed + PRIOR * base) / (some.sum(axis=1)[:, None] + PRIOR)
    chance = np.clip(chance, LEAST, 1 - LEAST)
    yes, no = np.log(chance), np.log1p(-chance)
    own = np.arange(len(classes)), classes
    yes[own] = no[own] = 0
    inside = mask[guess, np.arange(len(guess))]
    j, b = np.nonzero(mask.T)
    summed = np.bincount(j, (yes - no)[row[j], b], minlength=len(guess))
    return np.where(inside, summed + no.sum(axis=1)[row], -np.inf)


def log_frequencies(mask: Mask, base: Floats) -> NDArray[np.float64]:
    """Return log P(S) of each set by the frequency of each class."""
    return _log_bernoulli(mask, base[:, None])


def _log_bernoulli(mask: Mask, chance: Floats) -> NDArray[np.float64]:
    return np.where(mask, np.log(chance), np.log1p(-chance)).sum(axis=0)


def errors_below(best: Floats, other: Floats) -> float:
    """Return by how many standard errors of their paired difference a score is below another."""
    gap = best - other
    spread = float(gap.std()) / np.sqrt(max(len(gap), 1))
    return float(gap.mean() / max(spread, 1e-12)) if len(gap) else 0.0
