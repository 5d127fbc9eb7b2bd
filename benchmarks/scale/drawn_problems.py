"""Problems drawn from real data: a tenth, a broken row, an offset, other orders, skewed classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly import Candidates

BROKEN = 1e4
"""By how much a broken row is too large."""
OFFSET = 1000
"""Standard deviations of a feature that all its values are moved by."""
KEPT = 0.2
"""Part that is kept of instances of which the most frequent label is no candidate."""


def drawn(
    X: NDArray[np.floating], candidates: Candidates, rng: np.random.Generator
) -> Iterator[tuple[str, NDArray[np.floating], Candidates]]:
    """Yield problems on a random tenth of the instances, whole groups of them, by what they are."""
    groups = np.arange(len(X)) if candidates.groups is None else candidates.groups
    names = np.unique(groups)
    some = np.flatnonzero(np.isin(groups, rng.choice(names, len(names) // 10, replace=False)))
    X, candidates = X[some], candidates[some]
    yield "a tenth", X, candidates
    broken = X.copy()
    broken[rng.integers(len(X))] *= BROKEN
    yield "a broken row", broken, candidates
    yield "far from 0", X + OFFSET * X.std(axis=0), candidates
    order = rng.permutation(len(X))
    yield "other order", X[order], candidates[order]
    listed = candidates.mask[:, candidates.mask.sum(axis=0).argmax()]
    skewed = np.flatnonzero(listed | (rng.random(len(X)) < KEPT))
    if candidates.groups is None:
        yield "skewed classes", X[skewed], candidates[skewed]


def differences(found: Any, alone: Any, X: NDArray[np.floating]) -> dict[str, float]:
    """Return in what a fit by a driver differs from another."""
    off = np.abs(found.solution_.labels - alone.solution_.labels)
    differs = {
        "labels that differ": int((found.transduction_ != alone.transduction_).sum()),
        "largest difference of a soft label": float(off.max()),
        "doubts that differ": int(found.solution_.doubts != alone.solution_.doubts),
    }
    if alone.classifier_ is not None:
        predicted = found.predict(X) != alone.predict(X)
        differs["predictions that differ"] = int(predicted.sum())
    return differs
