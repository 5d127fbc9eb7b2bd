"""Figures 9 and 10: errors over both weights, and over that of labels alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.paper.declaration import Cell, Experiment
from benchmarks.paper.experiments import GAMMA, LAMBDA
from benchmarks.paper.page.curves import (
    MOST_CURVES,
    Curve,
    PublishedPoints,
    curve,
    draw,
    repeats_in_words,
)
from benchmarks.paper.page.html import details, figure, grid, heat_table
from benchmarks.paper.page.method_looks import base_name, look, numbered
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.published import GAMMA as PUBLISHED_GAMMA
from benchmarks.paper.published import LOST, RANGES
from benchmarks.paper.stored_runs import PaperResults

ON_PIXELS = "the paper, on pixels of Lost"
PUBLISHED_LAMBDA = 1.0


def lambda_and_gamma(experiment: Experiment, results: PaperResults, chain: SettingChain) -> str:
    """Return Figure 9: a table of errors per setting and data set, the paper's choice framed."""
    shown: list[str] = []
    rest: list[str] = []
    for part, cells in parts_over(experiment, {LAMBDA, GAMMA}):
        methods = methods_run(experiment, cells, results, part)
        for method in methods:
            caption = f"{data_in_words(cells)}, {method}"
            drawn = _surface(experiment, results, part, cells, method, caption)
            (shown if chain.is_faithful(method, methods) else rest).append(drawn)
    for part, cells in parts_over(experiment, {LAMBDA}):
        methods = methods_run(experiment, cells, results, part)
        curves = _named(experiment, results, methods, LAMBDA, part)
        caption = f"{data_in_words(cells)}: labelling error of WMCar over λ, at γ of the setting."
        shown.append(
            figure(
                draw(
                    curves[:MOST_CURVES],
                    f"{experiment.name}-lambda-{len(shown)}",
                    caption,
                    xlabel=LAMBDA,
                    ylabel="labelling error, %",
                    scale="log",
                ),
                caption,
            )
        )
    return grid(shown) + details("Other settings", grid(rest))


def gamma_alone(experiment: Experiment, results: PaperResults, chain: SettingChain) -> str:
    """Return Figure 10: errors of the four variants, with the paper's at its own choice."""
    shown: list[str] = []
    rest: list[str] = []
    for part, cells in parts_over(experiment, {GAMMA}):
        methods = methods_run(experiment, cells, results, part)
        faithful, _ = chain.there(methods)
        for setting, ending in chain.endings.items():
            own = [m for m in methods if m == f"{base_name(m)}{ending}"]
            curves = _named(experiment, results, own, GAMMA, part, plain=True)
            if not curves:
                continue
            points = [
                PublishedPoints(
                    "the paper, on pixels" if name == "MCar" else "",
                    (PUBLISHED_GAMMA,),
                    (LOST[name],),
                    look(name).colour,
                )
                for name in (one.label for one in curves)
                if name in LOST and cells[0].data == "lost"
            ]
            where = f"{data_in_words(cells)}, “{setting}”"
            repeats = repeats_in_words(curves)
            caption = f"{where}: labelling error over γ, in multiples of λ0, {repeats}."
            drawing = draw(
                curves,
                f"{experiment.name}-gamma-{len(shown) + len(rest)}",
                caption,
                xlabel=GAMMA,
                ylabel="labelling error, %",
                ranges=RANGES["gamma"],
                points=points,
                scale="log",
            )
            (shown if setting == faithful else rest).append(figure(drawing, caption))
    return grid(shown) + details("Other settings", grid(rest))


def parts_over(experiment: Experiment, axes: set[str]) -> Iterator[tuple[str, list[Cell]]]:
    """Yield parts of an experiment that vary exactly these."""
    for part in dict.fromkeys(cell.part for cell in experiment.cells):
        cells = [cell for cell in experiment.cells if cell.part == part]
        if set(cells[0].at) == axes:
            yield part, cells


def methods_run(
    experiment: Experiment, cells: list[Cell], results: PaperResults, part: str
) -> list[str]:
    """Return the methods that were run in a part."""
    names = [entry.name for entry in experiment.entries(cells[0])]
    return [name for name in names if any(results.select(experiment.name, name, part))]


def _named(
    experiment: Experiment,
    results: PaperResults,
    methods: list[str],
    axis: str,
    part: str,
    *,
    plain: bool = False,
) -> list[Curve]:
    found = []
    for place, method in enumerate(methods):
        one = curve(
            results,
            experiment.name,
            method,
            axis,
            look(method) if plain else numbered(place),
            part=part,
            label=base_name(method) if plain else method,
        )
        if one is not None:
            found.append(one)
    return found


def data_in_words(cells: list[Cell]) -> str:
    """Return what the cells are about, in words."""
    extra = cells[0].ambiguity.get("n_extra")
    name = {"lost": "Lost", "fiw10b": "FIW-like pixels", "pie": "PIE pixels"}.get(
        cells[0].data, cells[0].data
    )
    return f"{name}, {extra} extra" if extra else name


def _surface(
    experiment: Experiment,
    results: PaperResults,
    part: str,
    cells: list[Cell],
    method: str,
    caption: str,
) -> str:
    values: dict[tuple[float, float], list[float]] = {}
    for line in results.select(experiment.name, method, part):
        at, error = line["settings"]["at"], line["figures"].get("error")
        if error is not None:
            values.setdefault((at[LAMBDA], at[GAMMA]), []).append(error)
    if not values:
        return ""
    lambdas, gammas = (sorted({pair[k] for pair in values}) for k in (0, 1))
    means = {pair: float(np.mean(found)) for pair, found in values.items()}
    low, high = min(means.values()), max(means.values())
    rows = [
        (
            f"{lam:g}",
            [f"{means[lam, g]:.1f}" if (lam, g) in means else "" for g in gammas],
            [(means.get((lam, g), low) - low) / max(high - low, 1e-9) for g in gammas],
        )
        for lam in lambdas
    ]
    chosen = PUBLISHED_LAMBDA, PUBLISHED_GAMMA
    marked = None
    counts = sorted({len(found) for found in values.values()})
    repeats = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    said = (
        f"{caption}: labelling error in percent, repeats: {repeats}; one row per λ/λ0, one column "
        "per γ/λ0."
    )
    if chosen in means:
        marked = lambdas.index(chosen[0]), gammas.index(chosen[1])
        said += f" Framed: the paper's choice, here {means[chosen]:.1f}"
        if cells[0].data == "lost":
            said += f"; {ON_PIXELS} {LOST[base_name(method)]}"
        said += "."
    heat = heat_table("λ \\ γ", [f"{g:g}" for g in gammas], rows, marked=marked, caption=said)
    return figure(heat, said)
