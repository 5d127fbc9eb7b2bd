"""Sums over all features from which scales, covariances and regressions follow: one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import SourceError
from candidly.distributed.shard_making import State
from candidly.distributed.sources import Columns
from candidly.estimators.scaling import FeatureScaler, units_differ
from candidly.solvers.arrays import rows_at_once
from candidly.solvers.shards import Part, Shards

GLANCED = 1000
"""Instances of each shard whose mean is close enough to that of all to subtract first."""
LARGEST = np.finfo(np.float64).max ** 0.4
"""Largest absolute value of a feature: squares of larger ones, and their sums, could overflow."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """Mean and centred Gram matrix of features, with weights that sum to ``count``.

    Parameters
    ----------
    count : float
        Number of instances.
    mean : (m,) array
    gram : (m, m) array
        Sum of (x - mean)(x - mean)^T.
    peak : (m,) array
        Largest absolute value of each feature.
    dtype : dtype
        Precision of the features.
    """

    count: float
    mean: Floats
    gram: Floats
    peak: Floats
    dtype: Any

    @property
    def std(self) -> Floats:
        """Standard deviation of each feature."""
        return np.sqrt(np.maximum(self.gram.diagonal(), 0) / self.count)

    def units_differ(self) -> bool:
        """Return whether features have different units; see ``differ_in_unit``."""
        eps = float(np.finfo(self.dtype).eps)
        varies = self.peak > 0
        std = np.where(varies, self.std / np.where(varies, self.peak, 1), 0)

        def correlations(kept: NDArray[np.bool_], shown: NDArray[np.intp]) -> Floats:
            columns = np.flatnonzero(kept)
            size = self.std[columns]
            gram = self.gram[np.ix_(columns[shown], columns)]
            return np.asarray(np.abs(gram) / np.outer(size[shown], size) / self.count)

        return units_differ(std, self.peak, correlations, int(self.count), eps)

    def scaler(
        self,
        standardize: bool,
        norm: float | None,
        center: bool = True,
        divisor: float | None = None,
    ) -> FeatureScaler:
        """Return the scaler of these features; rows do not have their norm yet."""
        scaler = FeatureScaler(center=center, standardize=standardize, norm=norm, divisor=divisor)
        scaler.learn(self.peak, self.mean, self.std, self.dtype)
        return scaler


class ColumnShard:
    """What all kinds of shards have: columns, a state, and sums of features.

    Parameters
    ----------
    columns : Columns
    state : State
    """

    def __init__(self, columns: Columns, state: State) -> None:
        self.columns, self.state = columns, state

    @property
    def X(self) -> NDArray[np.floating]:
        """Features of these instances, or what they were lifted to."""
        return self.state.get("lifted", lambda: self.columns.X)

    def glance(self) -> Part:
        """Return sums over a few instances, and of the weights of all."""
        some = self.state.get("lifted", lambda: self.columns.some(GLANCED))
        some = some.astype(np.float64)
        np.clip(some, -LARGEST, LARGEST, out=some)  # values beyond are refused by ``moments``
        weight = self.columns.weight
        total = float(len(self.columns) if weight is None else weight.sum())
        return Part({"some": some.sum(axis=0), "count": len(some), "weight": total})

    def moments(self, shift: Floats, mean_weight: float) -> Part:
        """Return sums of features less the shift and of their products, weighted and not.

        Raise where a feature is not finite, or too large to square.
        """
        X, weight = self.X, self.columns.weight
        m = X.shape[1]
        sums = {"total": np.zeros(m), "gram": np.zeros((m, m))}
        if weight is not None:
            sums |= {"plain_total": np.zeros(m), "plain_gram": np.zeros((m, m))}
        peak = np.zeros(m)
        step = rows_at_once(X)
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            peak = np.maximum(peak, np.abs(rows).max(axis=0))
            if not (peak <= LARGEST).all():
                self._refuse(rows, start)
            rows = rows - shift
            if weight is not None:
                sums["plain_total"] += rows.sum(axis=0)
                sums["plain_gram"] += rows.T @ rows
                root = np.sqrt(weight[start : start + step] / mean_weight)[:, None]
                sums["total"] += (rows * root**2).sum(axis=0)
                rows = rows * root
            else:
                sums["total"] += rows.sum(axis=0)
            sums["gram"] += rows.T @ rows
        return Part(sums, {"peak": peak})

    def norms(self, scaler: FeatureScaler, mean_weight: float) -> Part:
        """Return the sum of the norms of scaled rows, weighted."""
        total, X = 0.0, self.columns.X
        step = rows_at_once(X)
        for start in range(0, len(X), step):
            size = np.linalg.norm(scaler.transform(X[start : start + step]), axis=1)
            if self.columns.weight is not None:
                size = size * (self.columns.weight[start : start + step] / mean_weight)
            total += float(size.sum())
        return Part({"norm": total})

    def _refuse(self, X: NDArray[Any], start: int) -> None:
        """Raise with the first value of some rows that is not finite, or too large to square."""
        row, column = np.argwhere(~(np.abs(X) <= LARGEST))[0].tolist()
        advice = "fill such values in, or leave the rows out"
        if np.isfinite(X[row, column]):
            advice = f"values beyond {LARGEST:.0e} are too large to square: scale that column"
        number = int(self.columns.numbers()[start + row])
        raise SourceError(
            f"features have {X[row, column]} in row {number}, column {column}"
            f"{self.columns.features.place_of(number)}; {advice}"
        )


@dataclass(frozen=True)
class Measured:
    """Moments of all features: as they are weighted, and with every instance alike."""

    weighted: Moments
    plain: Moments
    mean_weight: float


def measure(driver: Shards, N: int, dtype: Any) -> Measured:
    """Return the moments of all features, by two calls of the shards."""
    glanced = driver.each("glance").sums
    shift = np.asarray(glanced["some"]) / max(int(glanced["count"]), 1)
    mean_weight = float(glanced["weight"]) / N
    found = driver.each("moments", shift, mean_weight)
    largest = float(found.most["peak"].max())
    if 0 < largest < 1 / LARGEST:
        raise SourceError(f"features are at most {largest:.3g}, too small to square: scale them")

    def moments(total: Floats, gram: Floats) -> Moments:
        centred = gram - np.outer(total, total) / N
        return Moments(float(N), shift + total / N, centred, found.most["peak"], dtype)

    weighted = moments(found.sums["total"], found.sums["gram"])
    plain = weighted
    if "plain_gram" in found.sums:
        plain = moments(found.sums["plain_total"], found.sums["plain_gram"])
    return Measured(weighted, plain, mean_weight)
