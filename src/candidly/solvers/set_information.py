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

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.candidate_sets import CandidateSets

PRIOR = 5.0
"""Number of instances that the frequency of a class counts for in the channel of each guess."""
LEAST = 2e-3
"""Smallest probability of a candidate, and of a class not being one."""
ASTRAY = (0.02, 0.1, 0.3, 0.5)
"""Shares of guesses that tell nothing, eta, of which the likeliest counts."""
SHARES = (0.3, 0.6, 0.9)
"""Weights of the regression against frequencies, when features predict the set."""


def frequencies(sets: CandidateSets) -> NDArray[np.float64]:
    """Return how often each class is a candidate, from ``LEAST`` to 1 - ``LEAST``."""
    share = np.diff(sets.class_start) / max(sets.n_instances, 1)
    return np.clip(share if len(sets) else np.full(sets.n_classes, 0.5), LEAST, 1 - LEAST)


def told_by_labels(
    guess: NDArray[np.intp], sets: CandidateSets, fold: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return what each guess tells about the candidate set of its instance, in nats.

    Parameters
    ----------
    guess : (n,) array of int
        Class guessed for each instance while its set was hidden.
    sets : CandidateSets
        The real sets.
    fold : (n,) array of int
        Guesses are scored by channels of the other folds.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers import CandidateSets
    >>> from candidly.solvers.set_information import told_by_labels
    >>> rng = np.random.default_rng(0)
    >>> y, fold = rng.integers(5, size=400), np.arange(400) % 5
    >>> mask = (rng.random((5, 400)) < 0.3) | (np.arange(5)[:, None] == y)
    >>> sets = CandidateSets.of_mask(mask)
    >>> right = told_by_labels(y, sets, fold)
    >>> wrong = told_by_labels(rng.permutation(y), sets, fold)
    >>> bool(right.mean() > 0.7 > 0.1 > wrong.mean())
    True
    """
    given, back = np.empty(len(guess)), np.empty(len(guess))
    n = len(guess)
    one_hot = sparse.csr_array((np.ones(n), guess, np.arange(n + 1)), shape=(n, sets.n_classes))
    for k in np.unique(fold):
        here, there = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        own, seen = sets.of_instances(here)[0], sets.of_instances(there)[0]
        base = frequencies(seen)
        given[here] = log_given_guess(one_hot[there], seen, guess[here], own, base)
        back[here] = log_frequencies(own, base)
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
    mask : (c, n) array of bool
        The sets.
    fold
        As in :func:`told_by_labels`.
    """
    back, base = np.empty(mask.shape[1]), np.empty(mask.shape)
    for k in np.unique(fold):
        share = mask[:, fold != k].mean(axis=1) if (fold != k).any() else np.full(len(mask), 0.5)
        base[:, fold == k] = np.clip(share, LEAST, 1 - LEAST)[:, None]
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
    labels: sparse.csr_array,
    seen: CandidateSets,
    guess: NDArray[np.intp],
    sets: CandidateSets,
    base: Floats,
) -> NDArray[np.float64]:
    """Return log P(S | guess) of each guess, minus infinity off its set.

    Most pairs of a guess and a class were never seen together: their chances follow from the
    frequency of the class, and only pairs that were seen are counted one by one.

    Parameters
    ----------
    labels : (n', c) sparse array
        Labels, which may be soft, that the channel is counted on.
    seen : CandidateSets
        Sets of these n' instances.
    guess : (n,) array of int
    sets : CandidateSets
        Sets of the n instances guessed.
    base : (c,) array
        Frequency of each class.
    """
    classes, row = np.unique(guess, return_inverse=True)
    some = labels.T.tocsr()[classes]
    count = np.asarray(some.sum(axis=1)).ravel()
    listed = (some @ seen.rows(np.ones(len(seen)))).tocsr()

    def logs(a, b, together):
        """Return log P(b in S | a) and log P(b not in S | a) for pairs of classes."""
        chance = (together + PRIOR * base[b]) / (count[a] + PRIOR)
        chance = np.clip(chance, LEAST, 1 - LEAST)
        return np.log(chance), np.log1p(-chance)

    sizes, same = np.unique(count, return_inverse=True)
    never = np.clip(PRIOR * base / (sizes[:, None] + PRIOR), LEAST, 1 - LEAST)
    nobody = np.log1p(-never).sum(axis=1)[same]
    a, b = listed.nonzero()
    together = _values(listed, a, b)
    nobody += np.bincount(a, logs(a, b, together)[1] - logs(a, b, 0.0)[1], minlength=len(classes))
    own = np.arange(len(classes))
    nobody -= logs(own, classes, _values(listed, own, classes))[1]
    j, b = sets.instance, sets.classes
    inside = np.bincount(j[b == guess[j]], minlength=len(guess)) > 0
    j, b = j[b != guess[j]], b[b != guess[j]]
    yes, no = logs(row[j], b, _values(listed, row[j], b))
    summed = np.bincount(j, yes - no, minlength=len(guess))
    return np.where(inside, summed + nobody[row], -np.inf)


def _values(matrix: sparse.csr_array, rows: Any, columns: Any) -> NDArray[np.float64]:
    """Return values of a sparse matrix; of none of them, scipy returns another sparse one."""
    return np.asarray(matrix[rows, columns]).ravel() if len(rows) else np.zeros(0)


def log_frequencies(sets: CandidateSets, base: Floats) -> NDArray[np.float64]:
    """Return log P(S) of each set by the frequency of each class."""
    yes = sets.total((np.log(base) - np.log1p(-base))[sets.classes])
    return np.asarray(yes + np.log1p(-base).sum())


def _log_bernoulli(mask: Mask, chance: Floats) -> NDArray[np.float64]:
    return np.where(mask, np.log(chance), np.log1p(-chance)).sum(axis=0)


def errors_below(best: Floats, other: Floats) -> float:
    """Return by how many standard errors of their paired difference a score is below another."""
    gap = best - other
    spread = float(gap.std()) / np.sqrt(max(len(gap), 1))
    return float(gap.mean() / max(spread, 1e-12)) if len(gap) else 0.0
