"""Classes that are candidates of the same instances, with equal labels: these stay equal.

In exact arithmetic their rows stay equal through all iterations. Rounding moves them apart, and a
solver that looks for low rank moves them on: without their mean, names that are only ever mentioned
together would have labels that depend on the order of sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.hashing import hashed


def class_keys(P: NDArray[np.floating], sets: CandidateSets, rows: Any = None) -> Any:
    """Return a number for each class, which classes of equal labels P (E,) share, (c,).

    Parameters
    ----------
    P : (E,) array
    sets : CandidateSets
    rows : (N,) array of int, optional
        Number of each instance, by which keys of several shards add up to those of all.
    """
    number = sets.instance if rows is None else rows[sets.instance]
    labels = np.ascontiguousarray(P, dtype=np.float64).view(np.uint64)
    keys = np.zeros(sets.n_classes, dtype=np.uint64)
    np.add.at(keys, sets.classes, hashed(hashed(number) ^ labels))
    return keys


def twins_of(keys: NDArray[np.uint64]) -> list[NDArray[np.intp]]:
    """Return the classes of each key that several classes have; those without candidates have 0.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers import CandidateSets
    >>> from candidly.solvers.twins import class_keys, twins_of
    >>> sets = CandidateSets.of_mask(np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=bool))
    >>> twins_of(class_keys(sets.uniform(), sets))
    [array([0, 2])]
    """
    order = np.argsort(keys, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
    return [part for part in parts if len(part) > 1 and keys[part[0]]]
