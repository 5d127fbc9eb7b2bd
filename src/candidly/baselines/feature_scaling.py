"""Scaling of features: learnt once, applied again to new instances."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from candidly.solvers.arrays import Floats

FARTHEST = 1e6
"""Where new instances are cut off, in units of the training data: keeps squares in range."""


@dataclass(frozen=True)
class FeatureScaling:
    """(X / unit - shift) / spread, feature by feature."""

    unit: Floats
    shift: Floats
    spread: Floats

    def __call__(self, X: Floats) -> Floats:
        """Return the rows of X, scaled."""
        with np.errstate(over="ignore"):
            scaled = (X / self.unit - self.shift) / self.spread
        return np.clip(scaled, -FARTHEST, FARTHEST)


def to_unit_interval(X: Floats) -> FeatureScaling:
    """Return the scaling that takes every feature to [0, 1], a constant one to 0."""
    unit = _unit(X)
    low, high = (X / unit).min(axis=0), (X / unit).max(axis=0)
    return FeatureScaling(unit, low, _or_infinite(high - low))


def to_unit_range(X: Floats) -> FeatureScaling:
    """Return the scaling to mean 0 and a range of 1 of every feature; a constant one is 0."""
    scaling = to_unit_interval(X)
    return replace(scaling, shift=(X / scaling.unit).mean(axis=0))


def standardise(X: Floats) -> FeatureScaling:
    """Return the scaling to mean 0 and variance 1 of every feature; a constant one is 0."""
    unit = _unit(X)
    return FeatureScaling(unit, (X / unit).mean(axis=0), _or_infinite((X / unit).std(axis=0)))


def centre(X: Floats) -> FeatureScaling:
    """Return the scaling to mean 0 in one unit for all features; a constant one is 0."""
    unit = np.full(X.shape[1], _unit(np.ravel(X)[:, None])[0])
    spread = _or_infinite((X / unit).std(axis=0))
    return FeatureScaling(unit, (X / unit).mean(axis=0), np.where(spread < np.inf, 1, np.inf))


def with_row_norm(scaling: FeatureScaling, X: Floats, norm: float) -> FeatureScaling:
    """Return the scaling with which the rows of X have this norm, as a root mean square."""
    found = np.sqrt((scaling(X) ** 2).sum(axis=1).mean())
    return replace(scaling, spread=scaling.spread * (found / norm)) if found > 0 else scaling


def _unit(X: Floats) -> Floats:
    # Dividing by the largest value first keeps squares of huge or tiny ones in range.
    peak = np.abs(X).max(axis=0)
    return np.where(peak > 0, peak, 1)


def _or_infinite(spread: Floats) -> Floats:
    # A feature that varies by rounding alone is constant; divided by infinity it is 0.
    return np.where(spread > 10 * np.finfo(np.float64).eps, spread, np.inf)
