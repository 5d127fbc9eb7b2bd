"""A small tagger of words: person, place or organisation, learnt from sentences of Wikipedia.

A word's score is a sum of weights, one per feature: the word, its affixes and its shape, those of
its neighbours, and pairs of them, hashed into a table.
``python -m benchmarks.captions.train_tagger`` learns the table, ``data/tagger.npz``.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from candidly.photos.names.lexicon import fold, lexicon

BITS = 18
TAGS = ("first", "person", "place", "body", "other")
"""First and further words of a person's name, places, organisations, and all other words."""
_WORD, _HEAD, _TAIL, _END, _SHAPE, _LISTS = range(6)
# (feature, offset of the word) alone, then combinations of them.
_ALONE = (
    *((_WORD, at) for at in (0, -1, 1, -2, 2)),
    *((feature, 0) for feature in (_HEAD, _TAIL, _END, _SHAPE, _LISTS)),
    *((feature, at) for feature in (_TAIL, _SHAPE, _LISTS) for at in (-1, 1)),
    *((_LISTS, at) for at in (-2, 2)),
)
_TOGETHER = (
    ((_SHAPE, -1), (_SHAPE, 0), (_SHAPE, 1)),
    ((_LISTS, -1), (_LISTS, 0), (_LISTS, 1)),
    ((_WORD, -1), (_LISTS, 0)),
    ((_WORD, 1), (_LISTS, 0)),
    ((_WORD, -1), (_SHAPE, 0)),
    ((_WORD, 1), (_SHAPE, 0)),
    ((_WORD, -1), (_WORD, 0)),
    ((_WORD, 0), (_WORD, 1)),
    ((_TAIL, 0), (_LISTS, 1)),
    ((_TAIL, 0), (_LISTS, -1)),
    ((_SHAPE, 0), (_TAIL, 0)),
)
_PARTS = (*((part,) for part in _ALONE), *_TOGETHER)
# Features of the word itself, whatever stands beside it.
_OWN = [at for at, parts in enumerate(_PARTS) if all(offset == 0 for _, offset in parts)]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SURE = 2e-3  # probabilities closer to 0 or 1 are taken for this

Odds = NDArray[np.float64]


def tag(words: Sequence[str], spoken: Sequence[str]) -> Odds:
    """Return log odds for each word in its language, one column per entry of ``COLUMNS``."""
    if not words:
        return np.zeros((0, len(COLUMNS)))
    weights, bias = _table()
    found = weights[hashed(words, spoken)].astype(np.float64)
    near = _shares(found.sum(axis=1) + bias)
    alone = _shares(found[:, _OWN].sum(axis=1) + bias)
    person = near[:, 0] + near[:, 1]
    lone = alone[:, 0] + alone[:, 1]
    given = alone[:, 0] / np.maximum(lone, 1e-12)
    columns = (person, near[:, 2], near[:, 3], lone, near[:, 0], near[:, 1], given)
    shares = np.clip(np.stack(columns, axis=1), _SURE, 1 - _SURE)
    odds: Odds = np.log(shares / (1 - shares))
    return odds


COLUMNS = ("person", "place", "body", "alone", "first", "further", "given")
"""Log odds that a word is of a person, a place, a body; of a person by the word alone; the first
or a further word of a name; and, if it is of a person by the word alone, the first of a name."""


def _shares(scores: Odds) -> Odds:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@cache
def _table() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the weights and the bias, read once, on first use."""
    with (
        files(__package__).joinpath("data", "tagger.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        return stored["weights"].astype(np.float32) * stored["scale"], stored["bias"]


def hashed(words: Sequence[str], spoken: Sequence[str]) -> NDArray[np.int64]:
    """Return the places in the table of the features of each word in its language.

    Examples
    --------
    >>> hashed(["Ann", "Lee"], ["en", "en"]).shape == (2, len(_PARTS))
    True
    """
    size = len(words)
    own = np.empty((size + 4, 6), dtype=np.uint64)
    own[:2], own[-2:] = 1, 3  # before the text and after it
    own[2:-2] = [_features(word, language) for word, language in zip(words, spoken, strict=True)]
    found = np.empty((size, len(_PARTS)), dtype=np.uint64)
    for column, parts in enumerate(_PARTS):
        mixed = np.full(size, column + 11, dtype=np.uint64)
        for feature, offset in parts:
            mixed = (mixed ^ own[2 + offset : 2 + offset + size, feature]) * _MIX
            mixed ^= mixed >> np.uint64(29)
        found[:, column] = mixed * _MIX
    return (found >> np.uint64(64 - BITS)).astype(np.int64)


@lru_cache(maxsize=65536)
def _features(word: str, language: str) -> tuple[int, ...]:
    """Return a number for each feature of a word alone."""
    plain = fold(word)
    kinds = lexicon().kinds_of(plain, language)
    texts = (plain, plain[:3], plain[-3:], plain[-4:], shape(word), kinds)
    return tuple(zlib.crc32(f"{at}{text}".encode()) for at, text in enumerate(texts))


def shape(word: str) -> str:
    """Return how a word is written.

    Examples
    --------
    >>> shape("McCartney"), shape("NATO"), shape("F-16"), shape("ibn")
    ('XxXxx', 'XX', 'X-99', 'xx')
    """
    drawn = "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word
    )
    return re.sub(r"(.)\1+", r"\1\1", drawn)[:6]
