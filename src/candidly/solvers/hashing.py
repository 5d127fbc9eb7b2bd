"""Numbers that look random, and are the same for the same number on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def hashed(numbers: ArrayLike, key: Any = 0) -> Any:
    """Return a random 64-bit number for each number, by a key.

    It is the finalizer of SplitMix64, on multiples of the golden ratio.

    Examples
    --------
    >>> from candidly.solvers.hashing import hashed
    >>> len(set(hashed(range(1000)).tolist()))
    1000
    """
    x = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN + np.uint64(key)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
