"""How good labels are: against the truth, and against candidates where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from candidly.candidates import Candidates


def labelling_error(y_true: ArrayLike, y_label: ArrayLike) -> float:
    """Part of the instances whose label is wrong.

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
    """Part of the labels that are among the candidates: what can be scored without truth.

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
    """Most over least often listed class: the paper's measure of imbalance.

    Examples
    --------
    >>> from candidly import imbalance_factor
    >>> imbalance_factor([{"ann", "bob"}, {"ann"}])
    2.0
    """
    return Candidates(candidates).imbalance_factor
