"""Rules that claims share: differences over points, over experiments, on Lost by face."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.paper.claims.base import Evidence, Finding, Rule, Strength, strength, within
from benchmarks.paper.claims.view import SettingView
from benchmarks.paper.stored_runs import Difference, NotRunError, difference_of

CLOSE = 1.0
"""Percent points within which two errors are comparable."""
FAMILY = ("MCar", "WMCar", "WMCar-ICE")
PRIOR = ("naive", "CLPL", "DLHD", "DLSD", "KDLSD", "IPAL")


@dataclass(frozen=True)
class Meeting:
    """Two methods at a point: errors by seed, of the seeds with which both were run."""

    point: Any
    first: str
    second: str
    one: dict[int, float]
    two: dict[int, float]

    @property
    def means(self) -> tuple[float, float]:
        """Mean errors of both."""
        return float(np.mean(list(self.one.values()))), float(np.mean(list(self.two.values())))

    @property
    def gaps(self) -> dict[int, float]:
        """First minus second by seed."""
        return {seed: self.one[seed] - self.two[seed] for seed in self.one}

    @property
    def row(self) -> tuple[str, ...]:
        """A row of the evidence."""
        (a, b), gap = self.means, difference_of(list(self.gaps.values()))
        return str(self.point), f"{self.first} {a:.1f}", f"{self.second} {b:.1f}", str(gap)


def meeting(
    view: SettingView,
    experiment: str,
    firsts: Sequence[str],
    seconds: Sequence[str],
    point: Any = "",
    part: Any = "",
    **at: Any,
) -> Meeting:
    """Return the worst of the first methods against the best of the second, at a point.

    Methods to compare with that were not run there are left out, unless all were.
    """
    mine = {name: view.by_seed(experiment, name, part, **at) for name in firsts}
    theirs = {}
    for name in seconds:
        try:
            theirs[name] = view.by_seed(experiment, name, part, **at)
        except NotRunError as problem:
            missing = problem
    if not theirs:
        raise missing
    seeds = set.intersection(*map(set, (*mine.values(), *theirs.values())))
    if not seeds:
        raise NotRunError(f"{experiment}: {', '.join((*mine, *theirs))} with the same seeds")

    def mean(errors: dict[int, float]) -> float:
        return float(np.mean([errors[seed] for seed in seeds]))

    first = max(mine, key=lambda name: mean(mine[name]))
    second = min(theirs, key=lambda name: mean(theirs[name]))
    one, two = ({seed: of[seed] for seed in sorted(seeds)} for of in (mine[first], theirs[second]))
    return Meeting(point, first, second, one, two)


def over(
    view: SettingView,
    experiment: str,
    axis: str,
    low: float,
    high: float,
    firsts: Any,
    seconds: Any,
) -> list[Meeting]:
    """Return meetings at all points of a range."""
    return [
        meeting(view, experiment, firsts, seconds, x, **{axis: x})
        for x in view.points(experiment, axis, low, high)
    ]


def total(met: Iterable[Meeting]) -> Difference:
    """Return the difference over several points: mean by seed, of seeds run at all of them."""
    gaps = [one.gaps for one in met]
    seeds = set.intersection(*map(set, gaps))
    if seeds:
        return difference_of([float(np.mean([of[seed] for of in gaps])) for seed in sorted(seeds)])
    return pooled([difference_of(list(of.values())) for of in gaps])


def pooled(gaps: Sequence[Difference]) -> Difference:
    """Return the mean of independent differences.

    Examples
    --------
    >>> str(pooled([Difference(-1.0, 3.0), Difference(-3.0, 4.0)]))
    '-2.0 ± 2.5'
    """
    error = np.sqrt(np.sum([gap.error**2 for gap in gaps])) / len(gaps)
    least = min(gap.count for gap in gaps)
    return Difference(float(np.mean([gap.mean for gap in gaps])), float(error), least)


def seen(met: list[Meeting]) -> list[Meeting]:
    """Return the points at which there is something to compare: an error of either."""
    return [one for one in met if max(one.means) > 0]


def evidence(axis: str, met: Iterable[Meeting]) -> Evidence:
    """Return meetings as a table."""
    return Evidence((axis or "point", "this", "against", "difference"), tuple(m.row for m in met))


def below(met: list[Meeting], axis: str = "") -> Finding:
    """Find whether the first have less error: over the points, and at more than half of them."""
    left, table = seen(met), evidence(axis, met)
    if not left:
        return Finding(None, Strength.NONE, table)
    gap = total(left)
    most = 2 * sum(a < b for a, b in (one.means for one in left)) > len(left)
    sure = strength(gap)
    if gap.mean < 0 and not most:
        sure = Strength.OPPOSITE
    return Finding(gap.mean < 0 and most, sure, table, str(gap))


def alike(met: list[Meeting], axis: str = "", limit: float = CLOSE) -> Finding:
    """Find whether two methods differ by at most a point, over the points."""
    left, table = seen(met), evidence(axis, met)
    if not left:
        return Finding(None, Strength.NONE, table)
    gap = total(left)
    holds, sure = within(gap, limit)
    return Finding(holds, sure, table, str(gap))


def beat(
    experiment: str,
    axis: str,
    low: float,
    high: float,
    firsts: Sequence[str],
    seconds: Sequence[str],
) -> Rule:
    """Return the rule that these methods have less error than those."""
    return lambda view: below(over(view, experiment, axis, low, high, firsts, seconds), axis)


def comparable(
    experiment: str, axis: str, low: float, high: float, first: str, second: str
) -> Rule:
    """Return the rule that two methods are comparable."""
    return lambda view: alike(over(view, experiment, axis, low, high, [first], [second]), axis)


def by_face(view: SettingView, experiment: str, first: str, second: str, **at: Any) -> Difference:
    """Return the difference of two labellings of Lost, with its standard error.

    Labels are compared face by face, test errors by split.
    """
    if view.measure == "test":
        return total([meeting(view, experiment, [first], [second], "Lost", **at)])
    one, two = (view.faces(experiment, name, **at) for name in (first, second))
    count = 1122  # faces of Lost; the packed bits end in padding
    gaps = one[:count].astype(float) - two[:count].astype(float)
    return Difference(100 * float(gaps.mean()), 100 * float(gaps.std() / np.sqrt(count)))


def on_lost(firsts: Sequence[str], seconds: Sequence[str]) -> Rule:
    """Return the rule that each of the first is better than each of the second, face by face."""

    def judge(view: SettingView) -> Finding:
        view.figure_name("lost")
        rows, gaps = [], []
        for a in firsts:
            for b in seconds:
                gap = by_face(view, "lost", a, b)
                one, two = view.mean("lost", a), view.mean("lost", b)
                rows.append((f"{a} {one:.1f}", f"{b} {two:.1f}", str(gap)))
                gaps.append(gap)
        weakest = max(gaps, key=lambda gap: gap.mean)
        table = Evidence(("this", "against", "difference"), tuple(rows))
        return Finding(weakest.mean < 0, strength(weakest), table, str(weakest))

    return judge


def tells(holds: bool, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Finding:
    """Return a finding without a difference: of figures, definitions and explanations."""
    table = Evidence(tuple(columns), tuple(tuple(map(str, row)) for row in rows))
    return Finding(holds, Strength.NONE, table)


def sided(gap: Difference, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Finding:
    """Return a finding of a difference that has to be below 0."""
    table = Evidence(tuple(columns), tuple(tuple(map(str, row)) for row in rows))
    return Finding(gap.mean < 0, strength(gap), table, str(gap))
