"""Figure 11: errors over the rounds of elimination, one curve per part that loses a candidate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.paper.declaration import Experiment
from benchmarks.paper.experiments import ELIMINATED, ROUNDS
from benchmarks.paper.page.curves import (
    MOST_CURVES,
    Curve,
    PublishedPoints,
    curve,
    deviation,
    draw,
    repeats_in_words,
)
from benchmarks.paper.page.html import details, figure, grid
from benchmarks.paper.page.method_looks import base_name, numbered
from benchmarks.paper.page.sensitivity import data_in_words, methods_run, parts_over
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.published import ELIMINATED as PUBLISHED_FRACTION
from benchmarks.paper.published import LOST
from benchmarks.paper.published import ROUNDS as PUBLISHED_ROUNDS
from benchmarks.paper.stored_runs import PaperResults

ON, WEIGHTS = "on", "W"
"""What else varies where every round was stored."""


def rounds_of_elimination(
    experiment: Experiment, results: PaperResults, chain: SettingChain
) -> str:
    """Return Figure 11, from runs of so many rounds each or from runs that stored every round."""
    if experiment.protocol == "elimination":
        return _stored_rounds(experiment, results, chain)
    shown: list[str] = []
    rest: list[str] = []
    for part, cells in parts_over(experiment, {ROUNDS, ELIMINATED}):
        methods = methods_run(experiment, cells, results, part)
        for method in methods:
            fractions = sorted({cell.at[ELIMINATED] for cell in cells})
            found = (
                curve(
                    results,
                    experiment.name,
                    method,
                    ROUNDS,
                    numbered(place),
                    part=part,
                    label=f"f_e = {fraction:g}",
                    **{ELIMINATED: fraction},
                )
                for place, fraction in enumerate(fractions)
            )
            curves = [one for one in found if one is not None]
            name = f"{experiment.name}-rounds-{len(shown) + len(rest)}"
            drawn = _drawn(curves, name, data_in_words(cells), method, base_name(method))
            (shown if chain.is_faithful(method, methods) else rest).append(drawn)
    return grid(shown) + details("Other settings", grid(rest))


def _stored_rounds(experiment: Experiment, results: PaperResults, chain: SettingChain) -> str:
    """Return errors over the rounds, W updated in each or kept as in the first."""
    shown: list[str] = []
    rest: list[str] = []
    for where in dict.fromkeys(cell.at[ON] for cell in experiment.cells):
        cells = [cell for cell in experiment.cells if cell.at[ON] == where]
        methods = [
            entry.name
            for entry in experiment.entries(cells[0])
            if any(results.select(experiment.name, entry.name, **{ON: where}))
        ]
        for method in methods:
            curves = []
            for place, cell in enumerate(cells):
                lines = results.select(experiment.name, method, cell.part, **cell.at)
                stored = (one["figures"].get("by_round") for one in lines)
                if rounds := [one for one in stored if one]:
                    label = f"f_e = {cell.at[ELIMINATED]:g}"
                    kept = "first" in str(cell.at[WEIGHTS])
                    label += ", W kept" if kept else ""
                    curves.append(_over_rounds(label, rounds, place))
            name = f"{experiment.name}-rounds-{len(shown) + len(rest)}"
            drawn = _drawn(curves, name, where, method, f"{base_name(method)}-ICE")
            (shown if chain.is_faithful(method, methods) else rest).append(drawn)
    return grid(shown) + details("Other settings", grid(rest))


def _over_rounds(label: str, runs: Sequence[Sequence[float]], place: int) -> Curve:
    """Return means over repeats; a run that ended early keeps its last error."""
    longest = max(map(len, runs))
    filled = np.array([[*run, *[run[-1]] * (longest - len(run))] for run in runs], dtype=float)
    spread = tuple(deviation(column.tolist()) for column in filled.T)
    mean = tuple(map(float, filled.mean(axis=0)))
    x = tuple(range(1, longest + 1))
    return Curve(label, x, mean, spread, numbered(place), len(runs))


def _drawn(curves: list[Curve], name: str, where: str, method: str, published: str) -> str:
    if not curves:
        return ""
    repeats = repeats_in_words(curves)
    caption = f"{where}, {method}: labelling error over the rounds, {repeats}."
    points = []
    if where == "Lost" and published in LOST:
        label = f"the paper, f_e = {PUBLISHED_FRACTION}"
        points = [PublishedPoints(label, (PUBLISHED_ROUNDS,), (LOST[published],))]
    drawing = draw(
        curves[:MOST_CURVES],
        name,
        caption,
        xlabel=ROUNDS,
        ylabel="labelling error, %",
        points=points,
    )
    return figure(drawing, caption)
