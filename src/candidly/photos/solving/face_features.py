"""Features of faces for the solver: embeddings, or the directions in which they vary most.

Where nothing is known beforehand of how embeddings vary, principal components are used, as
:class:`candidly.OpenSet` does. Of a file that is mapped into memory all is computed in pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from candidly.estimators import OpenSet
from candidly.estimators.scaling import SPREAD_LIMIT, PrincipalComponents
from candidly.photos.solving.known import EmbeddingMap
from candidly.photos.solving.vectors import Vectors, pieces
from candidly.solvers.open_set import CENTRE, centre
from candidly.solvers.population import Population

COMPONENTS = OpenSet().components
LEAST = 1e-12
"""Part of the largest variance below which a direction is none."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class EmbeddingMoments:
    """Number, sum, sum of squares (x x^T) and largest absolute values of embeddings."""

    count: int
    total: Array
    gram: Array
    peak: Array

    @classmethod
    def of(cls, vectors: Vectors, faces: NDArray[np.int64]) -> EmbeddingMoments:
        """Return the moments of the embeddings of faces, which are read in pieces."""
        d = vectors.X.shape[1]
        total, gram, peak = np.zeros(d), np.zeros((d, d)), np.zeros(d)
        for part in pieces(len(faces)):
            X = vectors.of_faces(faces[part].tolist())
            total += X.sum(axis=0)
            gram += X.T @ X
            peak = np.maximum(peak, np.abs(X).max(axis=0))
            vectors.release()
        return cls(len(faces), total, gram, peak)

    @property
    def mean(self) -> Array:
        """Mean of the embeddings."""
        return self.total / max(self.count, 1)

    @property
    def covariance(self) -> Array:
        """Covariance of the embeddings."""
        return self.gram / max(self.count, 1) - np.outer(self.mean, self.mean)

    def size_from(self, point: Array) -> float:
        """Return the mean squared distance from a point."""
        off = self.mean - point
        return float(np.trace(self.covariance) + off @ off)


def of_few(X: Array, population: Population | None) -> tuple[Array, EmbeddingMap]:
    """Return centred features of embeddings that are in memory, and the map to them."""
    A, b, features = np.eye(X.shape[1]), np.zeros(X.shape[1]), X
    if population is None:
        components = PrincipalComponents(COMPONENTS).fit(X)
        features = components.transform(X)
        zero = np.zeros((1, X.shape[1]))
        b = components.transform(zero)[0]
        A = components.transform(np.eye(X.shape[1])) - b
    mean = centre(features, population)
    return features - mean, EmbeddingMap(A, b - mean)


def of_many(moments: EmbeddingMoments, population: Population | None) -> EmbeddingMap:
    """Return the same map from moments alone."""
    d = len(moments.total)
    if population is not None:
        few = CENTRE
        mean = (moments.total + few * population.mean) / (moments.count + few)
        return EmbeddingMap(np.eye(d), -mean)
    covariance, mean = moments.covariance, moments.mean
    std = np.sqrt(np.maximum(covariance.diagonal(), 0))
    constant = std <= 10 * np.finfo(float).eps * moments.peak
    unit = np.ones(d)
    if _differ_in_unit(covariance, std, moments):
        unit = np.where(constant, 1, std)
    scale = np.where(constant, 0, 1 / unit)
    scaled = covariance * np.outer(scale, scale)
    scale = scale / max(np.sqrt(np.trace(scaled)), 1e-300)  # rows of norm 1 on average
    size, directions = linalg.eigh(scaled)
    kept = size > max(LEAST * size[-1], 1e-300)
    directions = directions[:, kept][:, ::-1][:, :COMPONENTS]
    if not directions.shape[1]:
        directions = np.zeros((d, 1))
    A = scale[:, None] * directions
    return EmbeddingMap(A, -mean @ A)


def _differ_in_unit(covariance: Array, std: Array, moments: EmbeddingMoments) -> bool:
    """Return what ``estimators.scaling.differ_in_unit`` says, from moments."""
    varies = std > 10 * np.finfo(float).eps * np.maximum(moments.peak, 1e-300)
    if varies.sum() < 2:
        return False
    spread = std[varies]
    if not spread.max() > SPREAD_LIMIT * np.median(spread):
        return False
    shown = np.linspace(0, len(spread) - 1, min(200, len(spread))).astype(int)
    corr = np.abs(covariance[np.ix_(varies, varies)] / np.outer(spread, spread))[shown]
    mean = (corr.sum() - len(shown)) / (corr.size - len(shown))
    return bool(mean > min(2 * np.sqrt(2 / (np.pi * moments.count)), 0.1))
