"""Claims of the paper, and how they are judged: from stored results alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from benchmarks.paper.method_entries import LETTER
from benchmarks.paper.stored_runs import Difference, FailedError, NotRunError, PaperResults

CLOSE = 1.0
"""Percent points within which two errors are "comparable", where the paper says no number."""
PRIOR = ("naive", "CLPL", "DLHD", "DLSD", "KDLSD", "IPAL")
SETTINGS = {LETTER: "to the letter", "": "our settings"}


START = (
    "The paper does not say where the penalty μ starts nor how fast it grows, and labels freeze "
    "as it does. The usual start of robust PCA on features that are not centred begins at rank 1, "
    "the mean face; started at about one direction per class on centred features, as our settings "
    "do, the same algorithm resolves far more."
)
"""Why results to the letter and at our settings differ on pixels."""
COMPONENTS = (
    "Here the faces of Lost are 108 principal components instead of pixels. l1 noise is not sparse "
    "there, so at λ0 too much is taken off as noise: to the letter the MCar methods are at 20% and "
    "more, at 3 λ0, centred and scaled, at 7 to 9% (see sensitivity)."
)
"""Why results to the letter on Lost are far from the paper's."""


class ClaimVerdict(Enum):
    """The verdict on a claim."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    NOT_TESTABLE = "not testable here"
    NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds, and the numbers that show it."""

    holds: bool
    numbers: str


Judge = Callable[[PaperResults, str], Finding]
"""(results, ending of the methods' names) -> finding; the ending says which settings."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper about its results.

    Parameters
    ----------
    name : str
    experiment : str
        The experiment whose results it is about; empty for several.
    place : str
        Where it is in the paper.
    says : str
        The sentence in our words.
    rule : str
        The condition under which it counts as supported.
    judge : callable or None
        None if nothing that can be run here could decide it.
    reason : str
        Why it is not testable, or why it does not hold.
    settled : bool
        Whether the settings of the paper's methods do not matter to it.
    """

    name: str
    experiment: str
    place: str
    says: str
    rule: str
    judge: Judge | None
    reason: str = ""
    settled: bool = False


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict under one setting of the paper's methods."""

    verdict: ClaimVerdict
    numbers: str = ""


def judged(claim: Claim, results: PaperResults, ending: str = LETTER) -> Judgement:
    """Judge a claim by stored results; where some are missing, it is "not run yet".

    Examples
    --------
    >>> claim = Claim("c", "", "1", "2 > 1", "always", lambda results, ending: Finding(True, "2"))
    >>> judged(claim, PaperResults([])).verdict.value
    'supported'
    """
    if claim.judge is None:
        return Judgement(ClaimVerdict.NOT_TESTABLE)
    try:
        found = claim.judge(results, ending)
    except NotRunError as missing:
        return Judgement(ClaimVerdict.NOT_RUN, str(missing))
    return Judgement(
        ClaimVerdict.SUPPORTED if found.holds else ClaimVerdict.NOT_SUPPORTED, found.numbers
    )


def family(ending: str) -> tuple[str, ...]:
    """Return the names of the MCar-based methods in the FIW and PIE figures."""
    return tuple(f"{name}{ending}" for name in ("MCar", "WMCar", "WMCar-ICE"))


@dataclass(frozen=True)
class Meeting:
    """Comparison of two methods, one of each side, at a point of a grid."""

    point: Any
    first: str
    second: str
    errors: tuple[float, float]
    gap: Difference

    def __str__(self) -> str:
        one, two = self.errors
        return f"{self.point}: {self.first} {one:.1f}, {self.second} {two:.1f} ({self.gap})"


def meetings(
    results: PaperResults,
    experiment: str,
    axis: str,
    points: Iterable[Any],
    first: Iterable[str],
    second: Iterable[str],
) -> list[Meeting]:
    """Compare the worst of the first methods with the best of the second at every point.

    "All of these beat all of those" holds where it holds for these two.
    """
    found = []
    first, second = tuple(first), tuple(second)
    for point in points:
        at = {axis: point}
        mine = {name: results.mean(experiment, name, **at) for name in first}
        theirs = errors_of(results, experiment, second, at)
        worst = max(mine, key=lambda name: mine[name])
        best = min(theirs, key=lambda name: theirs[name])
        gap = results.difference(experiment, worst, best, **at)
        gap.known(f"{experiment}: {worst} at {axis} {point}")
        found.append(Meeting(point, worst, best, (mine[worst], theirs[best]), gap))
    if not found:
        raise NotRunError(f"{experiment}: no point of the grid that the claim is about")
    return found


def errors_of(
    results: PaperResults, experiment: str, names: Iterable[str], at: dict[str, Any]
) -> dict[str, float]:
    """Return mean errors at a point, without methods that failed there."""
    found = {}
    for name in names:
        with suppress(FailedError):
            found[name] = results.mean(experiment, name, **at)
    if not found:
        raise NotRunError(f"{experiment}: all methods to compare with failed at {at}")
    return found


def beats(met: list[Meeting]) -> bool:
    """Return whether the first is better beyond two standard errors everywhere."""
    return all(one.gap.below() for one in met)


def comparable(met: list[Meeting]) -> bool:
    """Return whether they differ by at most a point, or two standard errors, everywhere."""
    return all(
        abs(one.gap.mean) <= CLOSE or not (one.gap.below() or one.gap.above()) for one in met
    )


def told(met: Iterable[Any]) -> str:
    """Return meetings as one line of text."""
    return "; ".join(map(str, met))


def finding(rule: Callable[[list[Meeting]], bool], met: list[Meeting]) -> Finding:
    """Return the finding of one of the rules above."""
    return Finding(rule(met), told(met))


def spread(values: Iterable[float]) -> float:
    """Return the largest value minus the smallest."""
    found = np.array(list(values))
    return float(found.max() - found.min())
