"""Rules that several claims about FIW and PIE share."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.claims.base import (
    PRIOR,
    Finding,
    Judge,
    beats,
    comparable,
    family,
    finding,
    meetings,
    told,
)
from benchmarks.paper.method_entries import BOUND
from benchmarks.paper.stored_runs import NotRunError, PaperResults

BALANCED = 1.5  # imbalance factor up to which labels are not substantially imbalanced
AHEAD = "each of the three is better than the best other method beyond 2 standard errors"
ALIKE = "they differ by at most 1 point, or by at most 2 standard errors, at every point"
OVERALL = "better over these points together, beyond 2 standard errors, and worse at none of them"


def between(
    results: PaperResults, experiment: str, axis: str, low: float, high: float
) -> list[Any]:
    """Return the points of a grid that were run, of those that a claim is about."""
    return [x for x in results.points(experiment, axis) if low <= x <= high]


def lead(experiment: str, axis: str, low: float, high: float) -> Judge:
    """Return the rule that all MCar-based methods beat all earlier ones."""

    def judge(results: PaperResults, ending: str) -> Finding:
        points = between(results, experiment, axis, low, high)
        met = meetings(results, experiment, axis, points, family(ending), PRIOR)
        text = told(met)
        if any(results.select(experiment, BOUND.name)):  # there is a second stage
            text += two_stages(results, experiment, axis, points, family(ending))
        return Finding(beats(met), text)

    return judge


def two_stages(
    results: PaperResults, experiment: str, axis: str, points: list[Any], mine: tuple[str, ...]
) -> str:
    """Return text with labelling errors of the training half, and the error on true labels."""

    def mean(figure: str, name: str) -> float:
        found = [results.figures(figure, experiment, name, "", **{axis: x}) for x in points]
        return float(np.mean([one.mean() for one in found]))

    training = {name: mean("labelling_error", name) for name in (*mine, *PRIOR)}
    worst = max(mine, key=lambda name: training[name])
    best = min(PRIOR, key=lambda name: training[name])
    return (
        f"; labels of the training half, mean: {worst} {training[worst]:.1f}, {best} "
        f"{training[best]:.1f}; test error of the {BOUND.name} {mean('error', BOUND.name):.1f}"
    )


def versus(
    experiment: str, axis: str, first: str, second: tuple[str, ...], low: float, high: float
) -> Judge:
    """Return the rule that one MCar-based method is better than others, over a range."""

    def judge(results: PaperResults, ending: str) -> Finding:
        points = between(results, experiment, axis, low, high)
        mine, others = f"{first}{ending}", [f"{name}{ending}" for name in second]
        met = meetings(results, experiment, axis, points, [mine], others)
        over = {name: results.overall(experiment, mine, name, axis, points) for name in others}
        holds = all(gap.below() for gap in over.values())
        said = ", ".join(f"{gap} against {name}" for name, gap in over.items())
        worse = any(one.gap.above() for one in met)
        return Finding(holds and not worse, f"{told(met)}; over all: {said}")

    return judge


def alike(experiment: str, axis: str, first: str, second: str, low: float, high: float) -> Judge:
    """Return the rule that two MCar-based methods are comparable."""

    def judge(results: PaperResults, ending: str) -> Finding:
        points = between(results, experiment, axis, low, high)
        pair = [f"{first}{ending}"], [f"{second}{ending}"]
        return finding(comparable, meetings(results, experiment, axis, points, *pair))

    return judge


def balanced(experiment: str, axis: str, low: float, high: float) -> Judge:
    """Return the rule that no label is listed much more often than another."""

    def judge(results: PaperResults, ending: str) -> Finding:
        factors = {
            x: imbalance(results, experiment, ending, axis, x)
            for x in between(results, experiment, axis, low, high)
        }
        if not factors:
            raise NotRunError(f"{experiment}: ambiguous points")
        text = "; ".join(f"{x}: {factor:.2f}" for x, factor in factors.items())
        return Finding(max(factors.values()) <= BALANCED, f"imbalance factor {text}")

    return judge


def imbalance(results: PaperResults, experiment: str, ending: str, axis: str, point: Any) -> float:
    """Return the mean imbalance factor of the candidates at a point."""
    return float(
        results.figures("imbalance", experiment, f"MCar{ending}", "", **{axis: point}).mean()
    )
