"""Two covariances: pictures of one person differ by W, pictures of anybody by T.

With T - W = B, a person's mean is drawn from N(0, B) and each picture of them from N(mean, W). In
a basis where W is the identity and B diagonal (b), n pictures of a person with sum s predict the
next one as

    N(v s, 1 + v),   v = b/(n b + 1),      and anybody's as N(0, 1 + b)

so that the log likelihood ratio of a person against anybody is a difference of two squared
distances. Faces are less regular than that: now and then a picture of a person is unlike the
others, and a Gaussian takes it for a stranger with certainty. With Student's t instead (``TAIL``
degrees of freedom) the ratio grows with the logarithm of a distance, and means the same whether one
picture of a person is known or ten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from candidly.solvers.arrays import by_pieces, here, like, namespace, zeros

SEVERAL = 1.5
"""Number of instances of a person from which they show how one person varies."""
TAIL = 20.0
"""Degrees of freedom of Student's t: how often a picture is unlike the others of its person."""
EVEN = 3.0
"""Weight, in instances per dimension, of the prior that everybody varies alike everywhere."""


@dataclass(frozen=True)
class Scatters:
    """How instances vary, before anything is known beforehand.

    Parameters
    ----------
    total : (k, k) array
        Covariance of everybody.
    count : int
        Number of instances.
    within : (k, k) array
        Covariance of one person, over those who have more than ``SEVERAL`` instances.
    freedom : float
        Its degrees of freedom; 0 where nobody has several.
    """

    total: NDArray[np.float64]
    count: int
    within: NDArray[np.float64]
    freedom: float

    @classmethod
    def of(cls, X, R) -> Scatters:
        """Return the scatters of X (k x N, centred) with soft labels R (c x N, may be sparse)."""
        size = R.sum(axis=1)
        R = R[np.flatnonzero(size > SEVERAL)]
        weight = np.asarray(R.sum(axis=0)).ravel()
        T = X @ X.T / X.shape[1]
        between, freedom = between_people(size[size > SEVERAL], R @ X.T)
        return cls.of_sums(T, X.shape[1], (X * weight) @ X.T, between, freedom)

    @classmethod
    def of_sums(cls, total, count: int, gram, between, freedom: float) -> Scatters:
        """Return the scatters from sums over those who have several instances.

        Parameters
        ----------
        total, count
            As above.
        gram : (k, k) array
            Sum of x x^T over their instances.
        between, freedom
            What of it is between people, and degrees of freedom (``between_people``).
        """
        if freedom <= 0:
            return cls(total, count, np.zeros_like(total), 0.0)
        return cls(total, count, (gram - between) / freedom, freedom)


def between_people(size, sums):
    """Return the part of a Gram matrix that is between people, and the degrees of freedom left.

    ``size`` (s,) and ``sums`` (s x k) are the number and the sum of the instances of each.
    """
    freedom = float(size.sum()) - len(size)
    return here((sums / size[:, None]).T @ sums), freedom


@dataclass(frozen=True)
class Covariances:
    """Two covariances, in a basis where one is the identity and the other diagonal.

    Parameters
    ----------
    basis : (k, k) array
        Directions in which pictures of one person have unit variance.
    between : (k,) array
        Variance between people in these directions.
    """

    basis: NDArray[np.float64]
    between: NDArray[np.float64]

    @classmethod
    def of_two(cls, within, total) -> Covariances:
        """Return the basis of a covariance of one person and one of everybody."""
        ridge = max(1e-3 * np.trace(total) / len(total), 1e-300)
        W = within + ridge * np.eye(len(total))
        b, basis = linalg.eigh(total - W, W)
        return cls(basis, np.maximum(b, 1e-3))

    @classmethod
    def of(cls, X, R, prior: float = 0.0, population=None, alike: bool = True) -> Covariances:
        """Return the covariances of instances X (k x N, centred) with soft labels R (c x N).

        R may be sparse. Few instances in many dimensions leave directions in which pictures of
        one person seem not to differ at all, so that a face that does differ would certainly be
        nobody; ``prior`` further instances prevent this. They vary like ``population``; where that
        is not known, equally in all directions (``alike``), or one person by the same part of what
        everybody does in all of them.
        """
        return cls.of_scatters(Scatters.of(X, R), prior, population, alike)

    @classmethod
    def of_scatters(
        cls, scatters: Scatters, prior: float = 0.0, population=None, alike: bool = True
    ) -> Covariances:
        """Return the covariances of instances that vary so; the others are as in ``of``."""
        T, N, W, freedom = scatters.total, scatters.count, scatters.within, scatters.freedom
        if population is not None:
            T = (N * T + prior * population.total) / (N + prior)
            W = (freedom * W + prior * population.within) / max(freedom + prior, 1e-300)
            return cls.of_two(W, T)
        W = T if freedom <= 0 else W
        if prior > 0 and alike:
            T, W = _evened(T, N, prior), _evened(W, freedom, prior)
        elif prior > 0:
            T = _evened(T, N, EVEN * len(T))
            spread = T + max(1e-9 * np.trace(T) / len(T), 1e-300) * np.eye(len(T))
            part = np.trace(linalg.solve(spread, W, assume_a="pos")) / len(T)
            W = (freedom * W + prior * part * T) / (freedom + prior)
        return cls.of_two(W, T)

    def coordinates(self, X):
        """Return centred features (N x k) in the basis."""
        return X @ self.basis

    def anybody(self, Z):
        """Return the log density of rows of coordinates, as pictures of anybody."""
        b = self.between
        return student(squared_norms(Z, 1 / (1 + b)), float(np.log1p(b).sum()), Z.shape[1])

    def density(self, X):
        """Return the log density of centred features (N x k), as pictures of anybody."""
        return self.anybody(self.coordinates(X)) + np.linalg.slogdet(self.basis)[1]

    def somebody(self, Z, count, total):
        """Return the log density of rows of coordinates, each as a picture of its own person.

        ``count`` (N,) and ``total`` (N x k) are how many pictures of that person are known, and
        their sum.
        """
        v = self.between / (count[:, None] * self.between + 1)
        square = ((Z - v * total) ** 2 / (1 + v)).sum(axis=1)
        return student(square, np.log1p(v).sum(axis=1), Z.shape[1])

    def pairs(self, Z, other):
        """Return the log likelihood ratio that pairs of rows are one person, against anybody."""
        return self.somebody(Z, np.ones(len(Z)), other) - self.anybody(Z)

    def all_pairs(self, some, others):
        """Return the log likelihood ratio that each pair is one person, against anybody.

        Of rows (..., s, k) and (..., n, k), here or on a device, it is (..., s, n).
        """
        xp, b = namespace(others), like(self.between, others)
        v = b / (b + 1)
        near, far = some * (v / xp.sqrt(1 + v)), others / xp.sqrt(1 + v)
        square = -2 * (near @ xp.swapaxes(far, -1, -2))
        square += (near**2).sum(axis=-1)[..., :, None] + (far**2).sum(axis=-1)[..., None, :]
        k = len(b)
        one = student(xp.clip(square, 0, None), xp.log1p(v).sum(), k)
        return one - student((others**2 / (1 + b)).sum(axis=-1), xp.log1p(b).sum(), k)[..., None, :]

    def _squares(self, Z, count, total):
        """Return the variances v (c x k) and squared distances of all pairs (c x N)."""
        v = self.between / (count[:, None] * self.between + 1)
        mean, precision = v * total, 1 / (1 + v)
        square = (
            precision @ (Z**2).T
            - 2 * (mean * precision) @ Z.T
            + (mean**2 * precision).sum(axis=1)[:, None]
        )
        return v, np.maximum(square, 0)


@dataclass(frozen=True)
class KnownPeople:
    """Counts and sums of the pictures of each person, in the basis of two covariances.

    Parameters
    ----------
    basis, between : arrays
        As in :class:`Covariances`.
    count : (c,) array
        How many pictures of each person there are.
    total : (c, k) array
        Their sum, in these directions.
    """

    basis: NDArray[np.float64]
    between: NDArray[np.float64]
    count: NDArray[np.float64]
    total: NDArray[np.float64]

    @classmethod
    def of(cls, X, R, prior: float = 0.0) -> KnownPeople:
        """Return the people of instances X (k x N) with soft labels R (c x N, dense or sparse)."""
        covariances = Covariances.of(X, R, prior)
        none = np.zeros(0)
        return cls(covariances.basis, covariances.between, none, none).counting(X, R)

    def likelihood_ratios(self, X) -> NDArray[np.float64]:
        """Return the log likelihood ratio of each person against anybody (c x N), by Gaussians."""
        Z = X.T @ self.basis
        v, square = Covariances(self.basis, self.between)._squares(Z, self.count, self.total)
        b = self.between
        anybody = (Z**2 / (1 + b)).sum(axis=1) + np.log1p(b).sum()
        return np.asarray(anybody - square - np.log1p(v).sum(axis=1)[:, None]) / 2

    def counting(self, X, R) -> KnownPeople:
        """Return people with the same covariances and other instances."""
        return replace(self, count=R.sum(axis=1), total=R @ (X.T @ self.basis))


def _evened(C, count, prior):
    """Return a covariance of some instances, and others that differ equally in all directions."""
    even = np.trace(C) / len(C) * np.eye(len(C))
    return (count * C + prior * even) / (count + prior)


def squared_norms(Z, weight):
    """Return the sum of squares of each row of Z (N x k), each column with a weight."""
    found, weight = zeros(len(Z), Z, namespace(Z).float64), like(weight, Z)

    def of_piece(part):
        found[part] = (Z[part] * Z[part]) @ weight

    by_pieces(of_piece, Z)
    return found


def student(square, logdet, k):
    """Return the log density of Student's t, up to a constant, from a squared distance."""
    return -(TAIL + k) / 2 * namespace(square).log1p(square / TAIL) - logdet / 2
