"""Whether labels tell more about candidate sets than the candidates alone do: a test without truth.

A solve may end at labels that are sure and wrong. Then regression on the features, each instance
left out, does not find them again, and what it finds tells less about the instance's candidate set
than the same regression of the candidates, before anything was resolved. It costs one factorisation
of the features; a second solve with hidden sets costs more and tells less on few instances.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.row_space import Basis
from candidly.solvers.row_space_shard import LEAST_REST
from candidly.solvers.set_information import errors_below, told_by_labels

RIDGES = (1e-3, 1e-2, 1e-1)
"""Ridges of the regressions, of which the one that tells most counts, for each side its own."""
FOUND_AGAIN = 0.9
"""Share of labels that left-out regression finds again from which on labels are not doubted."""
CLEAR, LEAST = 1.0, 3.0
"""Standard errors by which labels have to tell more than the candidates, and more than nothing."""
ENOUGH, MOST = 50, 3000
"""Ambiguous instances from which on there is a test, and how many it scores at most."""
AT_ONCE = 1_000_000
"""Predictions that are made at a time."""
FOLDS = 5
"""Parts of the instances, each scored by what was counted on the others."""


def below_floor(
    features: Floats,
    labels: Floats,
    P: Floats,
    sets: CandidateSets,
    weight: Floats | None = None,
) -> bool:
    """Return whether labels tell no more about candidate sets than the candidates alone do.

    Parameters
    ----------
    features : (N, m) array
    labels : (E,) array
        Soft labels found.
    P : (E,) array
        Soft labels before: uniform, or priors.
    sets : CandidateSets
        Candidates.
    weight : (N,) array, optional
        Positive weights of the instances.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers import CandidateSets
    >>> from candidly.solvers.candidate_floor import below_floor
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(120) % 4
    >>> features = np.eye(4)[y] + 0.1 * rng.normal(size=(120, 4))
    >>> mask = (np.arange(4)[:, None] == y) | (rng.random((4, 120)) < 0.3)
    >>> sets = CandidateSets.of_mask(mask)
    >>> drawn = rng.random(len(sets))
    >>> right = (sets.classes == y[sets.instance]).astype(float)
    >>> below_floor(features, right, sets.uniform(), sets)
    False
    >>> below_floor(features, drawn, sets.uniform(), sets)
    True
    """
    rows = scored_rows(sets)
    if not len(rows):
        return False
    basis = Basis.of(np.asarray(features, dtype=np.float64), weight)
    if not len(basis.s):
        return False
    best = sets.best(labels)
    one_hot = np.zeros(len(sets))
    one_hot[best] = 1
    V, w = basis.V[:, rows].T, basis.w[rows, None]
    own, at = sets.of_instances(rows)

    def guesses(y: Floats) -> list[NDArray[np.intp]]:
        sums = sets.rows(y * basis.w[sets.instance]).T @ basis.V.T  # c x k
        return [
            left_out_guess(sums * f, V / w, (V * f * V).sum(axis=1), own, y[at])
            for f in map(basis.shrunk, RIDGES)
        ]

    def by_candidates() -> list[NDArray[np.intp]]:
        return guesses(np.asarray(P, dtype=np.float64))

    found = sets.classes[best][rows]
    return tells_less(found, own, guesses(one_hot), by_candidates)


def scored_rows(sets: CandidateSets) -> NDArray[np.intp]:
    """Return the instances that a test scores, none if there is no test."""
    rows = np.flatnonzero(sets.sizes > 1)
    rows = rows[:: -(-len(rows) // MOST) or 1]
    if len(rows) < ENOUGH or (sets.sizes[rows] == sets.n_classes).all():
        return rows[:0]
    return rows


def tells_less(
    found: NDArray[np.intp],
    scored: CandidateSets,
    by_labels: list[NDArray[np.intp]],
    by_candidates: Callable[[], list[NDArray[np.intp]]],
) -> bool:
    """Return whether labels tell no more about candidate sets than the candidates alone do.

    Parameters
    ----------
    found : (n,) array of int
        Labels of the instances that are scored.
    scored : CandidateSets
        Their candidates.
    by_labels : list of (n,) array of int
        What left-out regression of the labels finds for them, by each ridge.
    by_candidates : callable
        Returns the same by the candidates as they were given.
    """
    fold = np.arange(len(found)) % FOLDS

    def told_most(
        guesses: list[NDArray[np.intp]],
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        told = [told_by_labels(guess, scored, fold) for guess in guesses]
        return max(zip(told, guesses, strict=True), key=lambda pair: float(pair[0].mean()))

    told, again = told_most(by_labels)
    if (again == found).mean() >= FOUND_AGAIN:
        return False
    floor, _ = told_most(by_candidates())
    more, at_all = errors_below(told, floor), errors_below(told, np.zeros(len(told)))
    return more < CLEAR or at_all < LEAST


def left_out_guess(
    B: Floats, rows: Floats, leverage: Floats, sets: CandidateSets, y: Floats
) -> NDArray[np.intp]:
    """Return the class that regression finds for each instance, left out of its own prediction.

    Parameters
    ----------
    B : (c, k) array
        Regression of the labels of all instances.
    rows : (n, k) array
        Rows of the instances, of which the products with B are predictions.
    leverage : (n,) array
        Part of each instance in its own prediction.
    sets : CandidateSets
        Their candidates.
    y : (E,) array
        Their labels, which the regression learnt from.
    """
    found = np.empty(len(rows), dtype=np.intp)
    step = max(1, AT_ONCE // len(B))
    for start in range(0, len(rows), step):
        some = np.arange(start, min(start + step, len(rows)))
        own, at = sets.of_instances(some)
        H = rows[some] @ B.T
        H[own.instance, own.classes] -= leverage[some][own.instance] * y[at]
        H /= np.maximum(1 - leverage[some], LEAST_REST)[:, None]
        found[some] = H.argmax(axis=1)
    return found
