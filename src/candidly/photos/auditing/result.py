"""How wrong names are, by a random sample of them, with bounds that hold whenever one stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.estimators.error_bound import ErrorBound

OFTEN = 5
"""Photos that mention somebody, from which it is often; fewer is rarely, and one is once."""
CONFIDENCE = 0.95
LEAST = 0.01  # share of wrong names that is expected at least, where nothing was asked


@dataclass(frozen=True)
class WrongShare:
    """How many of some names are wrong, as far as a sample of them tells.

    Attributes
    ----------
    names : int
        Names there are.
    asked, wrong : int
        How many were asked about, in random order, and how many of these were wrong.
    low, high : float
        Share of the names that is wrong, with 95% confidence.
    """

    names: int
    asked: int
    wrong: int
    low: float
    high: float

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low


@dataclass(frozen=True)
class AuditResult:
    """How wrong a collection is: all names, and those of people mentioned often, rarely, once.

    ``groups`` has the parts that there are, by their words; each interval holds with 95%
    confidence by itself.
    """

    overall: WrongShare
    groups: dict[str, WrongShare]


def audit_result(
    wrong: NDArray[np.int8], confidence: NDArray[np.float64], mentions: NDArray[np.int64]
) -> AuditResult:
    """Return how wrong names are that were drawn in this order.

    Parameters
    ----------
    wrong : (N,) array of int
        1 for a wrong name, 0 for a right one, -1 where that is open. Only answers before the first
        open one count: others may have been chosen.
    confidence : (N,) array
        How sure each name was; their mean says what share of errors to look for.
    mentions : (N,) array of int
        How many photos mention the person.

    Examples
    --------
    >>> wrong = np.array([0] * 60 + [1] + [-1] * 939)
    >>> found = audit_result(wrong, np.full(1000, 0.98), np.ones(1000))
    >>> found.overall.asked, found.overall.wrong, f"{found.overall.high:.0%}", list(found.groups)
    (61, 1, '10%', ['once'])
    """
    masks = {
        "often": mentions >= OFTEN,
        "rarely": (mentions > 1) & (mentions < OFTEN),
        "once": mentions <= 1,
    }
    return AuditResult(
        _estimate(wrong, confidence),
        {
            word: _estimate(wrong[mask], confidence[mask])
            for word, mask in masks.items()
            if mask.any()
        },
    )


def _estimate(wrong: NDArray[np.int8], confidence: NDArray[np.float64]) -> WrongShare:
    names = len(wrong)
    open_ = np.flatnonzero(wrong < 0)
    asked = int(open_[0]) if len(open_) else names
    found = int((wrong[:asked] == 1).sum())
    if not names:
        return WrongShare(0, 0, 0, 0.0, 0.0)
    expected = max(1 - float(confidence.mean()), LEAST)
    low, high = ErrorBound(names, 1 - CONFIDENCE, expected).interval(asked, found)
    return WrongShare(names, asked, found, low / names, high / names)
