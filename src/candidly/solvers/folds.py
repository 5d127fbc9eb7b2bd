"""The folds of an open-set labelling, by a quantity of each group: rounding does not move any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.labelled_features import FOLDS

SAME = 1e-10
"""Part of a quantity by which another may be larger, and is equal but for rounding."""


def folds_of(quantity: NDArray[np.float64]) -> NDArray[np.int8] | None:
    """Return the fold of each group, (n,), or None where groups, or different ones, are few.

    Groups in order of their quantity go to the folds in turn. Copies of a group go to one fold,
    where one does not tell of the other: rounding would decide which of them goes to which.

    Parameters
    ----------
    quantity : (n,) array
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers.folds import folds_of
    >>> folds_of(np.array([1.0, 3, 2, 5, 4, 6, 7, 8, 10, 9, 7 + 1e-14]))
    array([0, 2, 1, 4, 3, 0, 1, 3, 0, 4, 1], dtype=int8)
    """
    n = len(quantity)
    order = np.argsort(quantity, kind="stable")
    ordered, place = quantity[order], np.arange(n)
    begins = np.diff(ordered, prepend=-1.0) > SAME * ordered
    if begins.sum() < 2 * FOLDS:
        return None
    run = np.cumsum(begins) - 1
    size, start = np.bincount(run)[run], np.maximum.accumulate(np.where(begins, place, 0))
    # Where each has five copies all would start at a multiple of five.
    turn = np.where(size % FOLDS, start, start // size)
    folds = np.empty(n, dtype=np.int8)
    folds[order] = turn % FOLDS
    return folds if len(np.unique(folds)) == FOLDS else None
