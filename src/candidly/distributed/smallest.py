"""The smallest of all rows, wherever they are: digits of their keys are counted, rows stay.

Rows are compared by several numbers, one after another, as in ``numpy.lexsort``. The key of a row
is these numbers as digits of 16 bits, the most significant first. Shards count the rows that have
each first digit, and by the sum of these counts the driver knows the first digit of the last row
that is wanted; then the next digit of the rows that begin like this is counted, until all of them
are wanted. That takes as many bytes for ten rows as for ten billion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Prefix = tuple[int, ...]
"""The first digits of a key."""

DIGIT = 1 << 16
"""Values of a digit."""
PER_NUMBER = 4
"""Digits of a number."""
SIGN = np.uint64(1 << 63)


def keys_of(*numbers: ArrayLike) -> NDArray[np.uint16]:
    """Return the keys (n, 4 k) of rows by k numbers, each (n,); the first counts most.

    Examples
    --------
    >>> from candidly.distributed.smallest import keys_of, up_to
    >>> keys = keys_of([0.5, -1.0, 0.5, -0.0], [3, 1, 2, 9])
    >>> up_to(keys, tuple(map(int, keys[2])))  # the first is larger by its second number
    array([False,  True,  True,  True])
    """
    columns = [np.asarray(values, dtype=np.float64) + 0.0 for values in numbers]  # -0.0 is 0.0
    bits = np.column_stack(columns).view(np.uint64)
    ordered = np.where(bits & SIGN, ~bits, bits | SIGN)
    return ordered.astype(">u8").view(">u2").astype(np.uint16)


def counts_after(keys: NDArray[np.uint16], prefix: Prefix) -> NDArray[np.int64]:
    """Return how many keys that begin like this have each next digit, (DIGIT,)."""
    begins = (keys[:, : len(prefix)] == np.array(prefix, dtype=np.uint16)).all(axis=1)
    return np.bincount(keys[begins, len(prefix)], minlength=DIGIT)


def last_of(count: int, counts: Callable[[Prefix], NDArray[np.int64]]) -> Prefix:
    """Return the first digits of the last of the ``count`` smallest keys, enough to know these.

    Parameters
    ----------
    count : int
        At least 1, and at most as many as there are.
    counts : callable
        As ``counts_after``, summed over all keys, no two of which are equal.
    """
    prefix: Prefix = ()
    while True:
        found = counts(prefix)
        up = np.cumsum(found)
        digit = int(np.searchsorted(up, count))
        count -= int(up[digit] - found[digit])
        prefix = (*prefix, digit)
        if count == found[digit]:
            return prefix


def up_to(keys: NDArray[np.uint16], last: Prefix) -> NDArray[np.bool_]:
    """Return which keys are smaller than those that begin like the last one, or begin like it."""
    smaller, equal = np.zeros(len(keys), dtype=bool), np.ones(len(keys), dtype=bool)
    for column, digit in zip(keys.T, last, strict=False):
        smaller |= equal & (column < digit)
        equal &= column == digit
    return smaller | equal
