"""Scores of labels: against the truth, or against the candidates if there is no truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from candidly.candidates import Candidates


def labelling_error(y_true: ArrayLike, y_label: ArrayLike) -> float:
    """Return the fraction of the instances whose label is wrong.

    Examples
    --------
    >>> from candidly import labelling_error
    >>> labelling_error(["ann", "bob"], ["ann", "eve"])
    0.5
    """
    y_true, y_label = column_or_1d(y_true), column_or_1d(y_label)
    check_consistent_length(y_true, y_label)
    return float(np.mean(y_true != y_label))


def covering_rate(
    candidates: Any, y_label: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the fraction of the labels that are candidates, a score that needs no truth.

    Examples
    --------
    >>> from candidly import covering_rate
    >>> covering_rate([{"ann", "bob"}, {"bob"}], ["ann", "eve"])
    0.5
    """
    inside = Candidates(candidates).contain(y_label).astype(float)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return float(np.average(inside, weights=weights))


def imbalance_factor(candidates: Any) -> float:
    """Return the largest over the smallest number of candidate sets that list a class.

    Examples
    --------
    >>> from candidly import imbalance_factor
    >>> imbalance_factor([{"ann", "bob"}, {"ann"}])
    2.0
    """
    return Candidates(candidates).imbalance_factor


def expected_calibration_error(right: ArrayLike, confidence: ArrayLike, bins: int = 15) -> float:
    """Return the difference between confidence and accuracy, averaged over bins of equal width.

    Examples
    --------
    >>> from candidly import expected_calibration_error
    >>> expected_calibration_error([True, True, False, False], [0.9, 0.9, 0.4, 0.4])
    0.25
    """
    if not bins >= 1:
        raise ValueError(f"bins is at least 1, got {bins!r}")
    right, confidence = _checked(right, confidence)
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    claimed = np.bincount(place, weights=confidence, minlength=bins)
    found = np.bincount(place, weights=right, minlength=bins)
    return float(np.abs(claimed - found).sum() / len(right))


def risk_coverage_area(right: ArrayLike, confidence: ArrayLike) -> float:
    """Return the area under the risk-coverage curve: the error of the most confident labels.

    Lower is better. Labels of equal confidence have no order: each counts as their mean.

    Examples
    --------
    >>> from candidly import risk_coverage_area
    >>> risk_coverage_area([True, True, False, True], [0.9, 0.8, 0.7, 0.6])  # 0, 0, 1/3, 1/4
    0.14583333333333331
    """
    right, confidence = _checked(right, confidence)
    level, count = np.unique(-confidence, return_inverse=True, return_counts=True)[1:]
    shared = np.bincount(level, weights=1 - right) / count
    wrong = np.repeat(shared, count)
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


def _checked(
    right: ArrayLike, confidence: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    right = np.asarray(column_or_1d(right), dtype=float)
    confidence = np.asarray(column_or_1d(confidence), dtype=float)
    check_consistent_length(right, confidence)
    if not np.isin(right, (0, 1)).all():
        raise ValueError("right has True or False for each instance: whether its label is right")
    if not len(right) or not ((confidence >= 0) & (confidence <= 1 + 1e-9)).all():
        raise ValueError("confidence is one number from 0 to 1 for each of at least one instance")
    return right, np.minimum(confidence, 1)
