"""What is known beforehand of how features vary: within one person, and over all people.

A collection of some hundred faces says too little about that, and through labels that are
themselves uncertain. An embedder is fixed, so its population is estimated once, from people who
need not be in the collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_array, check_consistent_length

from candidly.solvers.two_covariances import Covariances

FAR = 3.0
"""Multiple of the expected squared distance of a collection's mean from which it does not fit."""
SCALE = 1.5
"""Factor between the variance of a collection and the population's from which it does not fit."""
PAIRS = 20_000
"""Largest number of pairs of one person, and of different people, that are compared."""


@dataclass(frozen=True)
class Population:
    """How features vary within and between people, known beforehand.

    Parameters
    ----------
    mean : (k,) array
        Mean over people.
    within : (k, k) array
        Covariance of the features of one person.
    total : (k, k) array
        Covariance over everybody.
    even : float
        Log likelihood ratio at which two instances are as likely of one person as of two: below
        0 where people vary more, now and then, than the covariances say.
    people, instances : int
        Number of people and instances it was estimated from.

    Examples
    --------
    >>> import candidly
    >>> rng = np.random.default_rng(0)
    >>> who = np.arange(300) % 100
    >>> X = 3 * rng.normal(size=(100, 4))[who] + rng.normal(size=(300, 4))
    >>> population = candidly.estimate_population(X, who)
    >>> population.within.diagonal().round(0), population.people
    (array([1., 1., 1., 1.]), 100)
    """

    mean: NDArray[np.float64]
    within: NDArray[np.float64]
    total: NDArray[np.float64]
    even: float = 0.0
    people: int = 0
    instances: int = 0

    def misfit(self, X: NDArray[Any], share: NDArray[Any]) -> str | None:
        """Return why instances cannot be of this population, or None.

        Parameters
        ----------
        X : (N, k) array
            Features of a collection.
        share : (c,) array
            Number of instances that each person has in it, as far as is known: the mean of an
            album of four people is far from everybody's.
        """
        off = X.mean(axis=0) - self.mean
        spread = np.trace(self.total) - np.trace(self.within)
        few = float((share**2).sum()) + max(len(X) - float(share.sum()), 0)
        expected = max(spread, 0) * few / len(X) ** 2 + np.trace(self.within) / len(X)
        if off @ off > FAR * expected:
            return f"their mean is {np.sqrt(off @ off / expected):.1f} times as far off as expected"
        size = float(((X - self.mean) ** 2).sum(axis=1).mean() / np.trace(self.total))
        if not 1 / SCALE < size < SCALE:
            return f"they vary {size:.2g} times as much"
        return None


def estimate_population(X: ArrayLike, y: ArrayLike) -> Population:
    """Return how features vary within and between people, from labelled features.

    Parameters
    ----------
    X : (N, k) array
        Features, one row per instance.
    y : (N,) array
        Who each instance is. A few hundred people with two instances or more are enough; people
        with one instance count for the variation between people.

    Returns
    -------
    Population
        For the argument ``population`` of :class:`candidly.OpenSet` and
        :class:`candidly.CandidateClassifier`.

    Raises
    ------
    ValueError
        If nobody has two instances.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=0, random_state=0)
    >>> candidly.estimate_population(digits.X, digits.y).mean.shape
    (64,)
    """
    X = check_array(X, dtype=np.float64)
    check_consistent_length(X, y)
    who, row, size = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    if size.max() < 2:
        raise ValueError(
            f"of {len(who)} people none has two instances; how much one person varies cannot be "
            "told without some who have"
        )
    means = np.zeros((len(who), X.shape[1]))
    np.add.at(means, row, X)
    means /= size[:, None]
    several = size[row] > 1
    off = (X - means[row])[several]
    within = off.T @ off / max(several.sum() - (size > 1).sum(), 1)
    mean = X.mean(axis=0)
    total = (X - mean).T @ (X - mean) / len(X)
    even = _even(X - mean, row, Covariances.of_two(within, total))
    return Population(mean, within, total, even, len(who), len(X))


def _even(X, row, covariances):
    """Return half the ratio at which pairs are as likely of one person as of two.

    Half, because a name's faces are known through uncertain labels only, so that a lenient
    comparison would gather strangers.
    """
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(len(row)), row))
    same = np.flatnonzero(np.diff(row[order]) == 0)[:PAIRS]
    one, other = rng.integers(len(row), size=(2, PAIRS))
    differ = row[one] != row[other]
    if len(same) < 20 or differ.sum() < 20:
        return 0.0
    Z = covariances.coordinates(X)
    yes = covariances.pairs(Z[order[same]], Z[order[same + 1]])
    no = covariances.pairs(Z[one[differ]], Z[other[differ]])

    fitted = LogisticRegression(C=1e6, class_weight="balanced").fit(
        np.concatenate([yes, no])[:, None], np.repeat([1, 0], [len(yes), len(no)])
    )
    return float(min(-fitted.intercept_[0] / fitted.coef_[0, 0] / 2, 0.0))
