"""Scaling of features before a solve, and the rule that chooses a setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from candidly.solvers.arrays import Floats
from candidly.solvers.row_space import Basis


@dataclass(frozen=True)
class Setting:
    """Parameters of a solve that the paper leaves open or fixes once and for all."""

    noise_weight: float
    sparsity_weight: float
    rho: float
    start: str | float
    center: bool
    standardize: bool
    norm: float | None
    tol: float

    def override(self, **values: Any) -> Self:
        """Return the setting with all values replaced that are not None."""
        return replace(self, **{k: v for k, v in values.items() if v is not None})


SETTINGS = {
    # Grey values and other features that outnumber the instances: sparse noise is removed.
    "pixels": Setting(1.0, 2.0, 1.1, "rank", True, False, 5.0, 1e-5),
    # PCA, embeddings, measurements: noise is not sparse there, so it has a larger penalty.
    "features": Setting(3.0, 2.0, 1.8, "rank", True, False, 15.0, 1e-5),
    # As in the paper, and robust PCA's usual start, which the paper leaves open.
    "paper": Setting(1.0, 2.0, 1.5, "rpca", False, False, None, 1e-7),
}
SETTING_FIELDS = tuple(field.name for field in fields(Setting))

INSTANCES_PER_FEATURE = 2.5
"""Below this many instances per feature the row space of X is nearly the whole space."""
SPREAD_LIMIT = 30
"""Largest over median feature spread beyond which features cannot share a unit."""


def choose_setting(X: Floats) -> Setting:
    """Return the setting that "auto" stands for; the rule depends on X alone.

    Fewer than 2.5 instances per feature: "pixels", else "features". When features outnumber
    instances any labels lie in the row space of X, and only removing noise leaves
    structure; when they do not, removing much hurts. Features are divided by their
    standard deviation if one spreads over 30 times as far as the median one, unless they
    are uncorrelated, as principal components are.
    """
    setting = SETTINGS["pixels" if few_instances(X) else "features"]
    return replace(setting, standardize=differ_in_unit(X))


def few_instances(X: Floats) -> bool:
    """Return whether the row space of X is nearly the whole space."""
    return len(X) < INSTANCES_PER_FEATURE * X.shape[1]


class PrincipalComponents(TransformerMixin, BaseEstimator):
    """Coordinates of scaled features along the directions in which they vary most.

    Parameters
    ----------
    most : int
        Largest number of components; features that do not vary have one coordinate, 0.
    """

    def __init__(self, most: int) -> None:
        self.most = most

    def fit(self, X: Floats, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn scales and directions."""
        self.scaler_ = FeatureScaler(standardize=differ_in_unit(X), norm=1.0)
        F = self.scaler_.fit(X, sample_weight=sample_weight).transform(X).astype(np.float64)
        basis = Basis.of(F, sample_weight)
        V, s = basis.V[: self.most], basis.s[: self.most]
        # Weighted rows are w F = V' s U': so U = F' w V' / s, the directions in the features.
        self.directions_ = (F * basis.w[:, None]).T @ V.T / s
        return self

    def transform(self, X: Floats) -> NDArray[np.float64]:
        """Return the coordinates of rows of X."""
        Z = self.scaler_.transform(X).astype(np.float64) @ self.directions_
        return Z if Z.shape[1] else np.zeros((len(X), 1))


def differ_in_unit(X: Floats) -> bool:
    """Return whether features have different units, rather than different importance."""
    peak = np.abs(X).max(axis=0, initial=0)
    unit = X[:, peak > 0] / peak[peak > 0]
    std: Floats = np.zeros(X.shape[1])
    std[peak > 0] = unit.std(axis=0)

    def correlations(varies: NDArray[np.bool_], shown: NDArray[np.intp]) -> Floats:
        kept = unit[:, varies[peak > 0]]
        kept = (kept - kept.mean(axis=0)) / std[varies].astype(X.dtype)
        return np.abs(kept[:, shown].T @ kept) / len(kept)

    return units_differ(std, peak, correlations, len(X), float(np.finfo(X.dtype).eps))


def units_differ(
    std: Floats, peak: Floats, correlations: Callable[..., Floats], N: int, eps: float
) -> bool:
    """Return whether features differ in unit, by what is known about them.

    Parameters
    ----------
    std : (m,) array
        Standard deviation of each feature over its peak; 0 where that is 0.
    peak : (m,) array
        Largest absolute value of each feature.
    correlations : callable
        Returns the absolute correlations of some features, by their place among those that vary,
        with all that vary (``correlations(varies, some)``).
    N : int
        Number of instances.
    eps : float
        Relative precision of the features.
    """
    varies = std > 10 * eps
    if varies.sum() < 2:
        return False
    spread = std[varies] * (peak[varies] / peak.max())
    if not spread.max() > SPREAD_LIMIT * np.median(spread):
        return False
    many = int(varies.sum())
    shown = np.linspace(0, many - 1, min(200, many)).astype(int)
    corr = correlations(varies, shown)
    mean = (corr.sum() - len(shown)) / (corr.size - len(shown))
    by_chance = np.sqrt(2 / (np.pi * N))  # mean |correlation| of independent columns
    return bool(mean > min(2 * by_chance, 0.1))


class FeatureScaler(TransformerMixin, BaseEstimator):
    """Scaler that centres features, gives them one unit, and rows a mean norm.

    Labels have norm at most 1, so the norm of the features is their weight against them.

    Parameters
    ----------
    center, standardize : bool
        Subtract the mean; divide by the standard deviation.
    norm : float or None
        Mean row norm afterwards; None leaves the scale as it is.
    """

    def __init__(
        self, *, center: bool = True, standardize: bool = False, norm: float | None = 15.0
    ) -> None:
        self.center = center
        self.standardize = standardize
        self.norm = norm

    def fit(self, X: Floats, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn means and scales, weighted by instance."""
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        weight = weight / weight.sum()
        peak = np.abs(X).max(axis=0, initial=0).astype(np.float64)
        self._learn_unit(peak)
        if self.center or self.standardize:
            unit = X / self.unit_
            mean = weight @ unit
            std = np.sqrt(weight @ (unit - mean) ** 2)
            self._learn_scale(mean, std, np.abs(unit).max(axis=0, initial=0), X.dtype)
        if self.norm is not None:
            size = weight @ np.linalg.norm(self.transform(X), axis=1)
            self.factor_ = self.norm / size if size > 0 else 1.0
        return self

    def learn(self, peak: Floats, mean: Floats, std: Floats, dtype: Any) -> None:
        """Learn from the largest value, mean and deviation of each feature; not yet the norm."""
        self._learn_unit(peak)
        if self.center or self.standardize:
            self._learn_scale(mean / self.unit_, std / self.unit_, peak / self.unit_, dtype)

    def _learn_unit(self, peak: Floats) -> None:
        largest = peak.max(initial=0) or 1.0
        one: Floats = np.ones(len(peak))
        nothing: Floats = np.zeros(len(peak))
        self.unit_, self.mean_, self.scale_, self.factor_ = one, nothing, one, 1.0
        if self.center or self.standardize or self.norm is not None:
            # Dividing by the largest value first keeps squares of huge or tiny ones in range.
            self.unit_ = np.where(peak > 0, peak, 1) if self.standardize else one * largest

    def _learn_scale(self, mean: Floats, std: Floats, peak: Floats, dtype: Any) -> None:
        constant = std <= 10 * np.finfo(dtype).eps * peak
        if self.standardize:
            self.scale_ = np.where(constant, 1, std)
        if self.center:
            self.mean_ = mean
            # Rounding leaves a constant feature a little off its mean: make that exactly 0.
            self.scale_ = np.where(constant, np.inf, self.scale_)

    def transform(self, X: Floats) -> Floats:
        """Return the rows of X, scaled."""
        check_is_fitted(self)
        scaled = (X / self.unit_ - self.mean_) / self.scale_
        return (scaled * self.factor_).astype(X.dtype)

    def inverse_transform(self, X: Floats) -> Floats:
        """Return rows in their original units; a constant feature is its mean."""
        check_is_fitted(self)
        scale = np.where(np.isinf(self.scale_), 1, self.scale_)
        return ((X / self.factor_ * scale + self.mean_) * self.unit_).astype(X.dtype)
