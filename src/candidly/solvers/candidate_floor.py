"""Whether labels tell more about candidate sets than the candidates alone do: a test without truth.

A solve may end at labels that are sure and wrong. Then regression on the features, each instance
left out, does not find them again, and what it finds tells less about the instance's candidate set
than the same regression of the candidates, before anything was resolved. It costs one factorisation
of the features; a second solve with hidden sets costs more and tells less on few instances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.row_space import Basis, RowSpaceCompletion
from candidly.solvers.set_information import errors_below, told_by_labels

RIDGES = (1e-3, 1e-2, 1e-1)
"""Ridges of the regressions, of which the one that tells most counts, for each side its own."""
FOUND_AGAIN = 0.9
"""Share of labels that left-out regression finds again from which on labels are not doubted."""
CLEAR, LEAST = 1.0, 3.0
"""Standard errors by which labels have to tell more than the candidates, and more than nothing."""
ENOUGH, MOST = 50, 3000
"""Ambiguous instances from which on there is a test, and how many it scores at most."""
FOLDS = 5
"""Parts of the instances, each scored by what was counted on the others."""


def below_floor(
    features: Floats, labels: Floats, P: Floats, mask: Mask, weight: Floats | None = None
) -> bool:
    """Return whether labels tell no more about candidate sets than the candidates alone do.

    Parameters
    ----------
    features : (N, m) array
    labels : (c, N) array
        Soft labels found.
    P : (c, N) array
        Soft labels before: uniform, or priors.
    mask : (c, N) array of bool
        Candidates.
    weight : (N,) array, optional
        Positive weights of the instances.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers.candidate_floor import below_floor
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(120) % 4
    >>> features = np.eye(4)[y] + 0.1 * rng.normal(size=(120, 4))
    >>> mask = (np.arange(4)[:, None] == y) | (rng.random((4, 120)) < 0.3)
    >>> P = mask / mask.sum(axis=0)
    >>> drawn = np.where(mask, rng.random((4, 120)), 0).argmax(axis=0)
    >>> below_floor(features, np.eye(4)[y].T, P, mask)
    False
    >>> below_floor(features, np.eye(4)[drawn].T, P, mask)
    True
    """
    found = np.where(mask, labels, -1.0).argmax(axis=0)
    rows = np.flatnonzero(np.count_nonzero(mask, axis=0) > 1)
    rows = rows[:: -(-len(rows) // MOST) or 1]
    if len(rows) < ENOUGH or mask[:, rows].all():
        return False
    basis = Basis.of(np.asarray(features, dtype=np.float64), weight)
    if not len(basis.s):
        return False
    fold = np.arange(len(rows)) % FOLDS
    one_hot = np.zeros(mask.shape)
    one_hot[found, np.arange(len(found))] = 1
    everything = np.ones_like(mask)

    def best(Y: Floats) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        left_out = [RowSpaceCompletion(ridge).smoother(basis, everything)(Y) for ridge in RIDGES]
        guesses = [each.argmax(axis=0)[rows] for each in left_out]
        told = [told_by_labels(guess, mask[:, rows], fold) for guess in guesses]
        return max(zip(told, guesses, strict=True), key=lambda pair: float(pair[0].mean()))

    told, again = best(one_hot)
    if (again == found[rows]).mean() >= FOUND_AGAIN:
        return False
    floor, _ = best(np.asarray(P, dtype=np.float64))
    more, at_all = errors_below(told, floor), errors_below(told, np.zeros(len(told)))
    return more < CLEAR or at_all < LEAST
