"""The population of an embedder, estimated from labelled features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_array, check_consistent_length

from candidly.solvers.population import Population
from candidly.solvers.two_covariances import Covariances

PAIRS = 20_000
"""Largest number of pairs of one person, and of different people, that are compared."""
ENOUGH = 3
"""Instances per dimension from which a covariance is taken as it is found."""


def estimate_population(X: ArrayLike, y: ArrayLike) -> Population:
    """Return how features vary within and between people, from labelled features.

    Parameters
    ----------
    X : (N, k) array
        Features, one row per instance.
    y : (N,) array
        Who each instance is. A few hundred people with two instances or more are enough; people
        with one instance count for the variation between people. Where a covariance has fewer
        than three instances per dimension, those that are missing are taken to vary equally in
        all directions.

    Returns
    -------
    Population
        For the argument ``population`` of :class:`candidly.OpenSet` and
        :class:`candidly.CandidateClassifier`.

    Raises
    ------
    ValueError
        If nobody has two instances, or people vary as much by themselves as everybody does.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=0, random_state=0)
    >>> candidly.estimate_population(digits.X, digits.y).mean.shape
    (64,)
    """
    rows: NDArray[np.float64] = check_array(X, dtype=np.float64)
    check_consistent_length(rows, y)
    who, row, size = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    if size.max() < 2:
        raise ValueError(
            f"of {len(who)} people none has two instances; how much one person varies cannot be "
            "told without some who have"
        )
    means = np.zeros((len(who), rows.shape[1]))
    np.add.at(means, row, rows)
    means /= size[:, None]
    several = size[row] > 1
    off = (rows - means[row])[several]
    within = _covariance(off, int(several.sum() - (size > 1).sum()))
    mean = rows.mean(axis=0)
    total = _covariance(rows - mean, len(rows))
    if not np.trace(within) < np.trace(total):
        raise ValueError(
            "instances of one person vary as much as those of different people; check who they are"
        )
    even = _even(rows - mean, row, Covariances.of_two(within, total))
    return Population(mean, within, total, even, len(who), len(rows))


def _covariance(off: NDArray[np.float64], freedom: int) -> NDArray[np.float64]:
    """Return a covariance of deviations; where they are few, others vary in all directions."""
    k = off.shape[1]
    found = off.T @ off / freedom
    missing = max(ENOUGH * k - freedom, 0)
    alike = np.trace(found) / k * np.eye(k)
    return np.asarray((freedom * found + missing * alike) / (freedom + missing))


def _even(X: NDArray[np.float64], row: NDArray[Any], covariances: Covariances) -> float:
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
