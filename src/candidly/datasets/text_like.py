"""Made-up texts: words that are there or not, skewed classes, and three kinds of distractors."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import Bunch

from candidly.candidates import Candidates
from candidly.datasets.file_formats import as_bunch

SKEW = 80
"""How much more frequent the first class is than the last."""
USUAL, USUAL_SPREAD = 0.03, 0.7
"""Median frequency of a word, and the standard deviation of its logarithm."""
OWN_WORDS, OWN = 6, (0.2, 0.5)
"""Words that each class uses more often than others, and the range of how often."""
COMPANY = (0.4, 0.9)
"""Range of how often a companion of a class is listed with it."""

KINDS = ("frequency", "label", "input")


def make_text_like(
    n_samples: int = 2000,
    *,
    n_classes: int = 10,
    n_words: int = 300,
    n_extra: int = 2,
    ambiguous_fraction: float = 1.0,
    distractors: str = "frequency",
    random_state: np.random.Generator | int | None = None,
) -> Bunch:
    """Return made-up texts of skewed classes with candidate labels.

    A feature is 1 where a word is in the text. Words are there in about 3 texts of 100; each class
    has six that are in 20 to 50 of 100. The first class is 80 times as frequent as the last, and
    shares fall geometrically between them: from 39% to 0.5% with ten classes.

    Parameters
    ----------
    n_samples, n_classes, n_words : int
        Number of texts, at least one for each class; of classes; of features.
    n_extra : int
        Number of wrong candidates, in the sense of the distractors.
    ambiguous_fraction : float
        Fraction of the texts that have wrong candidates, drawn at random.
    distractors : "frequency", "label" or "input"
        "frequency": every text has ``n_extra`` wrong candidates, frequent classes more often.
        "label": every class has ``n_extra + 1`` companions, each of which is listed with 40 to
        90 of 100 of its texts. "input": the set is a function of the text. The first word that
        is there is looked up in a dictionary, which has for every word the labels that it is
        seen with as the first one, at most ``n_extra + 1``.
    random_state : numpy Generator or int, optional
        Source of randomness; a number is a seed.

    Returns
    -------
    Bunch
        ``X`` (0 or 1), ``candidates``, ``y``, ``classes``, and ``groups``, which is None.

    Examples
    --------
    >>> from candidly.datasets import make_text_like
    >>> texts = make_text_like(500, random_state=0)
    >>> texts.X.shape, texts.candidates
    ((500, 300), Candidates(500 instances, 10 classes, 3.00 candidates each))
    >>> texts.candidates.contain(texts.y).all()
    np.True_
    """
    _check(n_samples, n_classes, n_words, n_extra, ambiguous_fraction, distractors)
    rng = np.random.default_rng(random_state)
    share = SKEW ** -np.linspace(0, 1, n_classes)
    share /= share.sum()
    every = rng.choice(n_classes, n_samples - n_classes, p=share)
    y = rng.permutation(np.concatenate([np.arange(n_classes), every]))
    frequency = _word_frequencies(n_classes, n_words, rng)
    X = rng.random((n_samples, n_words)) < frequency[y]
    if distractors == "input":
        listed = _looked_up(X, y, frequency, share, n_extra + 1, rng)
    elif distractors == "label":
        companions = _drawn(_others(share, np.arange(n_classes)), n_extra + 1, rng)
        often = companions * rng.uniform(*COMPANY, companions.shape)
        listed = rng.random((n_samples, n_classes)) < often[y]
    else:
        listed = _drawn(_others(share, y), n_extra, rng)
    mask = np.zeros((n_samples, n_classes), dtype=bool)
    ambiguous = rng.permutation(n_samples)[: round(ambiguous_fraction * n_samples)]
    mask[ambiguous] = listed[ambiguous]
    mask[np.arange(n_samples), y] = True
    return as_bunch(X.astype(np.float64), Candidates.from_mask(mask), y)


def _word_frequencies(
    n_classes: int, n_words: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return how often each class (rows) uses each word (columns)."""
    usual = np.minimum(USUAL * np.exp(USUAL_SPREAD * rng.normal(size=n_words)), OWN[0])
    frequency = np.tile(usual, (n_classes, 1))
    for row in frequency:
        row[rng.choice(n_words, OWN_WORDS, replace=False)] = rng.uniform(*OWN, OWN_WORDS)
    return frequency


def _others(share: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the shares of the other classes, one row per label; its own is 0."""
    weights = np.tile(share, (len(y), 1))
    weights[np.arange(len(y)), y] = 0
    return weights


def _drawn(weights: NDArray[np.float64], most: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw at most so many columns in each row without replacement, by weight."""
    with np.errstate(divide="ignore"):  # the time of weight 0 is infinite
        times = rng.exponential(size=weights.shape) / weights
    first = np.argsort(times, axis=1)[:, :most]
    chosen = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(chosen, first, True, axis=1)
    return chosen & (weights > 0)


def _looked_up(
    X: NDArray[np.bool_],
    y: NDArray[np.intp],
    frequency: NDArray[np.float64],
    share: NDArray[np.float64],
    most: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return the labels listed for the first word of each text, which is changed to list its own.

    A text is drawn given that its first word lists its label: the first word by its probability,
    no word before it, and the words after it as they are.
    """
    rare = np.log1p(-frequency)
    first = np.log(frequency) + rare.cumsum(axis=1) - rare  # log probability of being the first
    weights = (share[:, None] * frequency).T
    # One word of its own for each class, so that every label is listed somewhere.
    weights[linear_sum_assignment(first, maximize=True)[::-1]] = np.inf
    dictionary = _drawn(weights, most, rng)
    chance = np.where(dictionary.T, first, -np.inf)[y]
    key = (chance + rng.gumbel(size=chance.shape)).argmax(axis=1)
    X &= np.arange(X.shape[1]) > key[:, None]
    X[np.arange(len(X)), key] = True
    return dictionary[key]


def _check(
    n_samples: int,
    n_classes: int,
    n_words: int,
    n_extra: int,
    ambiguous_fraction: float,
    distractors: str,
) -> None:
    for what, value, least in (
        ("n_classes", n_classes, 2),
        ("n_samples", n_samples, n_classes),
        ("n_words", n_words, max(OWN_WORDS, n_classes)),
        ("n_extra", n_extra, 0),
    ):
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{what} is a whole number of at least {least}, got {value!r}")
    if n_extra >= n_classes:
        raise ValueError(f"n_extra is less than the number of classes, got {n_extra!r}")
    if not 0 <= ambiguous_fraction <= 1:
        raise ValueError(f"ambiguous_fraction is between 0 and 1, got {ambiguous_fraction!r}")
    if distractors not in KINDS:
        raise ValueError(f"distractors is {' or '.join(map(repr, KINDS))}, got {distractors!r}")
