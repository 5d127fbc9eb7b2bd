"""Section 7.5: what iterations do, under the paper's projection and under the Euclidean one."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.declaration import Cell, Experiment
from benchmarks.paper.page.curves import MOST_CURVES, Curve
from benchmarks.paper.page.html import details, figure, grid
from benchmarks.paper.page.inline_svg import as_svg, new_figure, styled
from benchmarks.paper.page.method_looks import base_name, look
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.stored_runs import PaperResults

TRACED = {"gap": "gap |Y − H_Y| / |Y|", "changed": "labels that changed"}


def traces(experiment: Experiment, results: PaperResults, chain: SettingChain) -> str:
    """Return gaps and changed labels over the iterations of the first repeat, per data set."""
    shown: list[str] = []
    rest: list[str] = []
    for place, cell in enumerate(experiment.cells):
        methods = [entry.name.partition(": ")[2] for entry in experiment.entries(cell)]
        first, _ = chain.there(methods)
        for setting, ending in chain.endings.items():
            for name in TRACED if setting == first else ("gap",):
                key = f"{place}{len(shown)}{len(rest)}-{name}"
                drawn = _drawn(experiment, results, cell, ending, name, key)
                (shown if setting == first else rest).append(drawn)
    return grid(shown) + details("Other settings", grid(rest))


def _drawn(
    experiment: Experiment,
    results: PaperResults,
    cell: Cell,
    ending: str,
    traced: str,
    name: str,
) -> str:
    curves = _curves(experiment, results, cell, ending, traced)
    if not curves:
        return ""
    figure_ = new_figure(3.4)
    with styled():
        ax = figure_.subplots()
        for place, one in enumerate(curves):
            drawn = {**one.look.drawn, "marker": ""}
            ax.plot(one.x, one.mean, label=one.label, gid=f"curve-{place}", **drawn)
        ax.set(xlabel="iteration", ylabel=TRACED[traced])
        ax.set_yscale("log" if traced == "gap" else "symlog")
        figure_.legend(loc="outside lower center", ncols=2)
    where = ", ".join(map(str, cell.at.values()))
    caption = f"{where}, first repeat: {TRACED[traced]}, over the iterations{ending}."
    return figure(as_svg(figure_, f"iterations-{name}", caption), caption)


def _curves(
    experiment: Experiment, results: PaperResults, cell: Cell, ending: str, traced: str
) -> list[Curve]:
    found = []
    for entry in experiment.entries(cell):
        kind, _, method = entry.name.partition(": ")
        if method != f"{base_name(method)}{ending}":
            continue
        lines = results.select(experiment.name, entry.name, cell.part, **cell.at)
        trace = next((one["figures"]["trace"] for one in lines if "trace" in one["figures"]), None)
        if trace is not None:
            values = tuple(map(float, trace[traced]))
            line = replace(look(method), line="-" if kind == "simple" else ":")
            label = f"{base_name(method)}, {kind}"
            found.append(
                Curve(label, tuple(range(1, len(values) + 1)), values, (0.0,) * len(values), line)
            )
    return found[:MOST_CURVES]
