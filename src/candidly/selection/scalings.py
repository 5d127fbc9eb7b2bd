"""Scalings of features that are tried: as they are, standardised, to [0, 1], by rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from candidly.baselines.feature_scaling import to_unit_interval
from candidly.estimators.scaling import FeatureScaler
from candidly.solvers.arrays import Floats


class RankScaler(TransformerMixin, BaseEstimator):
    """Scaler that replaces a value by the share of instances below it, and half of those equal."""

    def fit(self, X: Floats, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the distribution of each feature."""
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        order = np.argsort(X, axis=0, kind="stable")
        self.values_ = np.take_along_axis(X, order, axis=0)
        self.below_ = np.vstack([np.zeros(X.shape[1]), np.cumsum(weight[order], axis=0)])
        self.below_ /= weight.sum()
        return self

    def transform(self, X: Floats) -> NDArray[np.float64]:
        """Return the ranks of the rows of X, from 0 to 1."""
        ranks = np.empty(X.shape)
        for k, column in enumerate(self.values_.T):
            ends = [np.searchsorted(column, X[:, k], side=side) for side in ("left", "right")]
            ranks[:, k] = self.below_[np.stack(ends), k].mean(axis=0)
        return ranks


class Scaling(TransformerMixin, BaseEstimator):
    """One of the scalings, then centred, with rows of mean norm 1.

    Parameters
    ----------
    kind : str
        One of ``SCALINGS``.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, X: Floats, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn scales, weighted by instance."""
        self.first_: Callable[[Floats], Floats] | None = None
        if self.kind == "unit interval":
            self.first_ = to_unit_interval(X.astype(np.float64))
        elif self.kind == "ranks":
            self.first_ = RankScaler().fit(X, sample_weight=sample_weight).transform
        scaled = X if self.first_ is None else self.first_(X)
        self.scaler_ = FeatureScaler(standardize=self.kind == "standard", norm=1.0)
        self.scaler_.fit(scaled, sample_weight=sample_weight)
        return self

    def transform(self, X: Floats) -> Floats:
        """Return the rows of X, scaled."""
        return self.scaler_.transform(X if self.first_ is None else self.first_(X))


SCALINGS = ("none", "standard", "unit interval", "ranks")
"""Scalings by name, in the order in which they are tried."""


def distinct_scalings(X: Floats, sample_weight: Any = None) -> dict[str, tuple[Scaling, Floats]]:
    """Return scalings and scaled features by name, without those that equal an earlier one.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.selection.scalings import distinct_scalings
    >>> binary = np.random.default_rng(0).integers(2, size=(50, 4)).astype(float)
    >>> list(distinct_scalings(binary))
    ['none', 'standard']
    """
    found: dict[str, tuple[Scaling, Floats]] = {}
    for kind in SCALINGS:
        scaling = Scaling(kind).fit(X, sample_weight=sample_weight)
        scaled = scaling.transform(X)
        if not any(np.allclose(scaled, other, rtol=1e-6, atol=1e-9) for _, other in found.values()):
            found[kind] = scaling, scaled
    return found
