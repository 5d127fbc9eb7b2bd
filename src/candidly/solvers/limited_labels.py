"""Soft labels in which the chosen label has the confidence that it may have, and not more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.matchings import NEVER

EQUAL = 1e-9
"""Difference of shares up to which rounding may be all of it."""

Values = NDArray[np.floating]


def limited_labels(
    entries: CandidateEntries, soft: Values, rest: Values, chosen: Indices, confidence: Values
) -> tuple[Values, Values]:
    """Return soft labels of entries and of nobody in which the chosen one has its confidence.

    The others have what is left, in their proportions, and none more than the chosen one; so
    of n candidates it has at least 1/n.

    Parameters
    ----------
    entries : CandidateEntries
    soft, rest : (E,) and (N,) arrays
        Soft labels of entries, and of nobody.
    chosen : (N,) array of int
        Name of each instance, -1 for nobody.
    confidence : (N,) array
    """
    free = entries.free > NEVER
    soft, rest = soft.copy(), np.where(free, rest, 0)
    own = chosen[entries.instance] == entries.name
    now = rest.copy()
    now[entries.instance[own]] = soft[own]
    most = rest.copy()
    np.maximum.at(most, entries.instance, soft)
    changed = (np.abs(now - confidence) > EQUAL) | (most - now > EQUAL)
    count = np.diff(entries.first)
    for many in np.unique(count[changed]).tolist():  # instances with equally many candidates
        rows = np.flatnonzero(changed & (count == many))
        at = entries.first[rows][:, None] + np.arange(many)
        shares = np.column_stack([soft[at], rest[rows]])
        may = np.column_stack([np.ones(at.shape, dtype=bool), free[rows]])
        place = np.where(chosen[rows] < 0, many, own[at].argmax(axis=1) if many else 0)
        shares = _with(shares, may, place, confidence[rows])
        soft[at], rest[rows] = shares[:, :many], shares[:, many]
    return soft, rest


def _with(shares, may, at, confidence):
    """Return rows of shares in which one has the confidence, and no other possible one more."""
    row = np.arange(len(shares))
    others = np.where(may, shares + 1e-6, 0)
    others[row, at] = 0
    alone = np.logical_not(others.any(axis=1, keepdims=True))
    # Less than its part would leave more for another one.
    confidence = np.maximum(confidence, 1 / np.maximum(may.sum(axis=1), 1))[:, None]
    others *= (1 - confidence) / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
    for _ in range(shares.shape[1]):
        over = np.maximum(others - confidence, 0).sum(axis=1, keepdims=True)
        below = may & (others < confidence)
        below[row, at] = False
        some = below.sum(axis=1, keepdims=True)
        going = (over >= 1e-12) & (some > 0)
        if not going.any():
            break
        spread = np.minimum(others, confidence) + np.where(below, over / np.maximum(some, 1), 0)
        others = np.where(going, spread, others)
    others[row, at] = np.maximum(confidence[:, 0], others.max(axis=1) * (1 + 1e-6))
    return np.where(alone, shares, others / others.sum(axis=1, keepdims=True))
