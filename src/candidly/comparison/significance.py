"""Significance tests for differences over folds whose training parts overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class Contrast:
    """Test of a method against the best one.

    ``difference`` is how much worse it is on average (in error, or in covering rate), ``p``
    is two-sided, ``p_holm`` is adjusted for the number of methods. ``p`` is NaN if the
    difference is the same in every fold, since its variance is then unknown.
    """

    method: str
    best: str
    difference: float
    t: float
    p: float
    p_holm: float


def corrected_t_test(differences: ArrayLike, ratio: float) -> tuple[float, float]:
    """Return t and the two-sided p of the corrected resampled t-test (Nadeau & Bengio 2003).

    Training parts overlap, so differences over J folds are not independent, and their mean
    varies more than s²/J. The correction takes (1/J + n_test/n_train) s².

    Parameters
    ----------
    differences : (J,) array
        Difference of two methods on each fold.
    ratio : float
        n_test / n_train; 0 is the ordinary paired t-test.

    Examples
    --------
    >>> from candidly.comparison import corrected_t_test
    >>> t, p = corrected_t_test([1.0, 2.0, 3.0], ratio=0.5)
    >>> round(t, 3), round(p, 3)
    (2.191, 0.16)
    """
    d = np.asarray(differences, dtype=float)
    if d.ndim != 1 or len(d) < 2:
        raise ValueError(f"a t-test needs two differences or more, got shape {d.shape}")
    mean, variance = float(d.mean()), float(d.var(ddof=1)) * (1 / len(d) + ratio)
    if variance <= (1e-12 * mean) ** 2:  # the same in every fold
        return (0.0, 1.0) if mean == 0 else (float("nan"), float("nan"))
    t = mean / variance**0.5
    return t, float(2 * stats.t.sf(abs(t), df=len(d) - 1))


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down rule.

    Examples
    --------
    >>> from candidly.comparison import holm
    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    order = known[values[known].argsort(kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    adjusted = np.full_like(values, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted.tolist()
