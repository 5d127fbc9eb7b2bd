"""Claims of the paper, and what a verdict on one is: from stored results alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from benchmarks.paper.claims.view import NoTestError, SettingView
from benchmarks.paper.stored_runs import ENOUGH, Difference, NotRunError

LABELS, TEST = "labels", "test"
MEASURES = (LABELS, TEST)


class ClaimKind(StrEnum):
    """What a claim is; only comparisons are counted."""

    COMPARISON = "comparison"
    FIGURE = "figure"
    DEFINITION = "definition"
    EXPLANATION = "explanation"


class Verdict(StrEnum):
    """The verdict on a claim."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    NOTHING = "no difference to see"
    NOT_RUN = "not run yet"
    NOT_TESTED = "not tested"


class Strength(StrEnum):
    """How sure a difference is, the same for all claims."""

    SURE = "beyond two standard errors"
    DIRECTION = "direction"
    OPPOSITE = "opposite"
    SURELY_OPPOSITE = "opposite, beyond two standard errors"
    NONE = ""


@dataclass(frozen=True)
class Evidence:
    """A small table."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a rule found: whether a claim holds, how surely, and the numbers.

    ``holds`` is None where there is no difference to see.
    """

    holds: bool | None
    strength: Strength
    evidence: Evidence
    gap: str = ""


Rule = Callable[[SettingView], Finding]


@dataclass(frozen=True)
class OneChange:
    """Why a claim does not hold, and the experiment with one change that shows it."""

    text: str
    experiment: str = ""
    table: Callable[[SettingView], Evidence] | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

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
        None if nothing that is run here decides it.
    kind : ClaimKind
    main : "labels" or "test"
        The measure that the sentence is about.
    why : OneChange, optional
        Why it does not hold, or is not tested.
    settled : bool
        Whether the settings of the paper's methods do not matter to it.
    """

    name: str
    experiment: str
    place: str
    says: str
    rule: str
    judge: Rule | None
    kind: ClaimKind = ClaimKind.COMPARISON
    main: str = LABELS
    why: OneChange | None = None
    settled: bool = False

    @property
    def figure(self) -> str:
        """The paper's figure or table, if the place names one."""
        parts = [part.strip() for part in self.place.replace(";", ",").split(",")]
        return next((part for part in parts if part.startswith(("Figure", "Table"))), "")


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict by one measure under one setting."""

    verdict: Verdict
    strength: Strength = Strength.NONE
    gap: str = ""
    missing: str = ""
    evidence: Evidence = field(default_factory=Evidence)


def judged(claim: Claim, view: SettingView) -> Judgement | None:
    """Judge a claim by stored results; None where there is no test error to judge it by."""
    if claim.judge is None:
        return Judgement(Verdict.NOT_TESTED) if view.measure == LABELS else None
    try:
        found = claim.judge(view)
    except NoTestError:
        return None
    except NotRunError as missing:
        return Judgement(Verdict.NOT_RUN, missing=str(missing))
    if view.measure == TEST and not view.asked:
        return None  # the rule is about something else than errors
    verdict = {True: Verdict.SUPPORTED, False: Verdict.NOT_SUPPORTED, None: Verdict.NOTHING}
    return Judgement(verdict[found.holds], found.strength, found.gap, "", found.evidence)


def strength(gap: Difference) -> Strength:
    """Return how sure it is that a difference is below 0.

    Examples
    --------
    >>> [str(strength(Difference(mean, 1.0))) for mean in (-3.0, -1.0, 1.0)]
    ['beyond two standard errors', 'direction', 'opposite']
    """
    if gap.mean < 0:
        return Strength.SURE if gap.below() else Strength.DIRECTION
    return Strength.SURELY_OPPOSITE if gap.above() else Strength.OPPOSITE


def good(gap: Difference, limit: float) -> tuple[bool, Strength]:
    """Return whether a choice is at most the limit worse than the best other, and how surely.

    Examples
    --------
    >>> good(Difference(-3.0, 0.1), 1.0)[0], good(Difference(3.0, 0.1), 1.0)[0]
    (True, False)
    """
    spread = gap.error if gap.count >= ENOUGH else np.inf
    if gap.mean <= limit:
        return True, Strength.SURE if gap.mean + 2 * spread <= limit else Strength.DIRECTION
    surely = gap.mean - 2 * spread > limit
    return False, Strength.SURELY_OPPOSITE if surely else Strength.OPPOSITE


def within(gap: Difference, limit: float) -> tuple[bool, Strength]:
    """Return whether a difference is at most the limit either way, and how surely.

    Examples
    --------
    >>> within(Difference(0.5, 0.1), 1.0)[0], within(Difference(3.0, 0.1), 1.0)[0]
    (True, False)
    """
    size, spread = abs(gap.mean), gap.error if gap.count >= ENOUGH else np.inf
    if size <= limit:
        return True, Strength.SURE if size + 2 * spread <= limit else Strength.DIRECTION
    sure = size - 2 * spread > limit
    return False, Strength.SURELY_OPPOSITE if sure else Strength.OPPOSITE
