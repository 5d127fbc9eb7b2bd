"""Claims about the weights lambda and gamma, judged on pixels: Figures 9 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.claims.base import (
    Claim,
    ClaimKind,
    Evidence,
    Finding,
    OneChange,
    good,
    strength,
)
from benchmarks.paper.claims.changes import GRID
from benchmarks.paper.claims.rules import CLOSE
from benchmarks.paper.claims.view import SettingView
from benchmarks.paper.experiments import GAMMA, LAMBDA, experiment
from benchmarks.paper.method_entries import VARIANTS
from benchmarks.paper.stored_runs import Difference, NotRunError, difference_of

S = "parameters"
TEXT = "Section 7.4"
SURFACE, CURVE = "λ and γ", "γ"
NEAR = (0.5, 2.0)
Grid = dict[Any, dict[int, float]]


def _declared(view: SettingView, part: str) -> list[dict[str, Any]]:
    return [cell.at for cell in experiment(view.run_as(S)).cells if cell.part == part]


def _surface(view: SettingView) -> Grid:
    """Return errors of WMCar by lambda, gamma and seed."""
    return {
        (at[LAMBDA], at[GAMMA]): view.by_seed(S, "WMCar", SURFACE, **at)
        for at in _declared(view, SURFACE)
    }


def _over(grid: Grid, keys: list[Any]) -> dict[int, float]:
    """Return the mean over points by seed."""
    seeds = set.intersection(*(set(grid[key]) for key in keys))
    if not seeds:
        raise NotRunError(f"{S}: the same seeds at all points")
    return {seed: float(np.mean([grid[key][seed] for key in keys])) for seed in sorted(seeds)}


def _apart(one: dict[int, float], two: dict[int, float]) -> Difference:
    return difference_of([one[seed] - two[seed] for seed in sorted(one.keys() & two.keys())])


def _mean(values: dict[int, float]) -> float:
    return float(np.mean(list(values.values())))


def _lambda_near(view: SettingView) -> Finding:
    view.figure_name(S)
    grid = _surface(view)
    lambdas = sorted({lam for lam, _ in grid})
    errors = {lam: _over(grid, [key for key in grid if key[0] == lam]) for lam in lambdas}
    inside = [lam for lam in lambdas if NEAR[0] <= lam <= NEAR[1]]
    near = min(inside, key=lambda lam: _mean(errors[lam]))
    other = min((lam for lam in lambdas if lam not in inside), key=lambda lam: _mean(errors[lam]))
    gap = _apart(errors[near], errors[other])
    rows = tuple((f"{lam:g}", f"{_mean(of):.1f}") for lam, of in errors.items())
    return Finding(
        gap.mean < 0, strength(gap), Evidence((LAMBDA, "WMCar, mean over γ"), rows), str(gap)
    )


def _chosen(view: SettingView) -> Finding:
    view.figure_name(S)
    grid = _surface(view)
    chosen = (1.0, 2.0)
    best = min((key for key in grid if key != chosen), key=lambda key: _mean(grid[key]))
    gap = _apart(grid[chosen], grid[best])
    rows = (
        ("λ0, 2 λ0", f"{_mean(grid[chosen]):.1f}"),
        (f"best other: {best[0]:g} λ0, {best[1]:g} λ0", f"{_mean(grid[best]):.1f}"),
    )
    holds, sure = good(gap, CLOSE)
    return Finding(holds, sure, Evidence(("(λ, γ)", "WMCar"), rows), str(gap))


def _curves(view: SettingView) -> dict[str, Grid]:
    view.figure_name(S)
    return {
        name: {at[GAMMA]: view.by_seed(S, name, CURVE, **at) for at in _declared(view, CURVE)}
        for name in VARIANTS
    }


def _all_variants(curves: dict[str, Grid]) -> Grid:
    """Return the mean of the four variants by gamma and seed."""
    gammas = next(iter(curves.values()))
    merged: Grid = {}
    for gamma in gammas:
        parts = [curve[gamma] for curve in curves.values()]
        seeds = set.intersection(*map(set, parts))
        merged[gamma] = {seed: float(np.mean([of[seed] for of in parts])) for seed in seeds}
    return merged


def _table(curves: dict[str, Grid]) -> Evidence:
    gammas = sorted(next(iter(curves.values())))
    rows = tuple(
        (f"{gamma:g}", *(f"{_mean(curves[name][gamma]):.1f}" for name in VARIANTS))
        for gamma in gammas
    )
    return Evidence((GAMMA, *VARIANTS), rows)


def _between(lower: tuple[float, float], upper: tuple[float, float]) -> Any:
    """Return the rule that the mean of the variants is less in one range of gamma than another."""

    def judge(view: SettingView) -> Finding:
        curves = _curves(view)
        grid = _all_variants(curves)
        one, two = (
            _over(grid, [gamma for gamma in grid if low <= gamma <= high])
            for low, high in (lower, upper)
        )
        gap = _apart(one, two)
        return Finding(gap.mean < 0, strength(gap), _table(curves), str(gap))

    return judge


def _gamma_two(view: SettingView) -> Finding:
    curves = _curves(view)
    grid = _all_variants(curves)
    best = min((gamma for gamma in grid if gamma != 2.0), key=lambda gamma: _mean(grid[gamma]))
    gap = _apart(grid[2.0], grid[best])
    holds, sure = good(gap, CLOSE)
    return Finding(holds, sure, _table(curves), str(gap))


def _less_sensitive(view: SettingView) -> Finding:
    curves = _curves(view)

    def ranges(name: str) -> dict[int, float]:
        curve = curves[name]
        seeds = set.intersection(*map(set, curve.values()))
        return {seed: float(np.ptp([of[seed] for of in curve.values()])) for seed in seeds}

    gap = _apart(ranges("WMCar-ICE"), ranges("WMCar"))
    return Finding(gap.mean < 0, strength(gap), _table(curves), str(gap))


def _claim(name: str, figure: str, says: str, rule: str, judge: Any) -> Claim:
    return Claim(name, S, f"{TEXT}, {figure}", says, rule, judge, why=GRID)


CLAIMS = (
    _claim(
        "lambda",
        "Figure 9",
        "The error of WMCar is low when λ is near λ0, whatever γ.",
        "averaged over γ, the best λ of 0.5 to 2 λ0 has less error than the best outside",
        _lambda_near,
    ),
    _claim(
        "parameters",
        "Figure 9",
        "λ0 and γ = 2 λ0 yield good results.",
        "their error is at most 1 point above that of the best other of the grid",
        _chosen,
    ),
    _claim(
        "gamma-helps",
        "Figure 10",
        "A moderate sparsity, γ of 1 to 4 λ0, helps.",
        "the mean error of the four variants there is less than at 0.1 and 0.5 λ0",
        _between((1, 4), (0, 0.5)),
    ),
    _claim(
        "gamma-hurts",
        "Figure 10",
        "As γ grows much larger, errors grow.",
        "the mean error of the four variants at 1 to 4 λ0 is less than at 10 λ0 and more",
        _between((1, 4), (10, np.inf)),
    ),
    _claim(
        "gamma-two",
        "Figure 10",
        "γ = 2 λ0 is a good choice for all four variants.",
        "the mean error of the four variants is at most 1 point above that of the best other γ",
        _gamma_two,
    ),
    _claim(
        "gamma-ice",
        "Figure 10",
        "WMCar-ICE is less sensitive to γ.",
        "its largest error minus its smallest over γ is less than that of WMCar",
        _less_sensitive,
    ),
    Claim(
        "gamma-hurts-why",
        S,
        TEXT,
        "Strong sparsity decides at once; mild sparsity lets an unsure face be like several.",
        "",
        None,
        ClaimKind.EXPLANATION,
        why=OneChange("No experiment tells it from other reasons."),
    ),
    Claim(
        "gamma-ice-why",
        S,
        TEXT,
        "since elimination makes labels sparse by itself.",
        "",
        None,
        ClaimKind.EXPLANATION,
        why=OneChange("No experiment tells it from other reasons."),
    ),
)
