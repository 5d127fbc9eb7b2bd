"""Figures 4 and 5: errors of the methods over an axis, the paper's methods in one setting first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.paper.declaration import Experiment
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
from benchmarks.paper.page.method_looks import LOOKS, base_name, look
from benchmarks.paper.page.setting_chain import SettingChain
from benchmarks.paper.published import IMBALANCE, NO_ERROR, RANGES
from benchmarks.paper.stored_runs import PaperResults

HALVES = "halves"
"""The protocol with a test half: it has three errors."""
KEPT_BACK = "kept-back"
"""The one with faces kept back where the paper keeps none: its test error alone is drawn."""
FAMILY = ("MCar", "WMCar", "MCar-ICE", "WMCar-ICE")
FIRST = ("MCar", "WMCar", "WMCar-ICE", "naive", "CLPL", "KDLSD", "IPAL")
"""What the first figure has: the paper's three, and one earlier method of each kind."""
REFERENCES = ("CLPL", "IPAL")
"""Drawn into the figures on demand as well, to compare with."""
MEASURES = {
    "common_error": "test error, common machine, %",
    "error": "test error, published machine, %",
    "labelling_error": "labelling error, %",
}
"""What is drawn of experiments with a test half, in this order."""


def method_figures(experiment: Experiment, results: PaperResults, chain: SettingChain) -> str:
    """Return the figure of an experiment over an axis, and the other methods on demand."""
    axis = next(iter(experiment.cells[0].at))
    every = {
        measure: found
        for measure in _measures(experiment)
        if (found := _curves(experiment, results, axis, measure))
    }
    if not every:
        return ""
    first = next(iter(every))
    setting, ending = chain.there(every[first])
    said = f"The paper's methods as “{setting}”."
    parts = [
        _drawn(experiment, axis, _chosen(curves, ending), measure, f"{experiment.name}-{k}", said)
        for k, (measure, curves) in enumerate(every.items())
    ]
    rest: list[str] = []
    drawn = set(_chosen(every[first], ending))
    for measure, curves in every.items():  # a method is drawn by the first measure that it has
        for words, group in _groups(curves, drawn, chain):
            name = f"{experiment.name}-more-{len(rest)}"
            rest.append(_drawn(experiment, axis, group, measure, name, f"{words}."))
            drawn |= group.keys()
    if "co-occurrence" in axis:
        parts.append(_imbalance(experiment, results, axis))
    return grid(parts) + details("Other settings and other methods", grid(rest))


def _measures(experiment: Experiment) -> Sequence[str]:
    if experiment.protocol == KEPT_BACK:
        return ["common_error"]  # its labels are drawn where the paper keeps nothing back
    return list(MEASURES) if experiment.protocol == HALVES else ["error"]


def _curves(
    experiment: Experiment, results: PaperResults, axis: str, measure: str
) -> dict[str, Curve]:
    found = {}
    for entry in experiment.methods:
        one = curve(results, experiment.name, entry.name, axis, look(entry.name), figure=measure)
        if one is not None:
            found[entry.name] = one
    return found


def _chosen(curves: dict[str, Curve], ending: str) -> dict[str, Curve]:
    """Return the curves of the first figure; without any of them, those there are."""
    names = [name + ending if name in FAMILY else name for name in FIRST]
    found = {name: _plain(curves[name]) for name in names if name in curves}
    return found or {name: curves[name] for name in list(curves)[:MOST_CURVES]}


def _plain(one: Curve) -> Curve:
    """Return a curve labelled without its setting, which the caption tells."""
    label = base_name(one.label)
    return replace(one, label=label if label in FAMILY else one.label)


def _groups(
    curves: dict[str, Curve], drawn: set[str], chain: SettingChain
) -> list[tuple[str, dict[str, Curve]]]:
    """Return what is not drawn yet: the paper's methods by setting, then the others."""
    left = {name: one for name, one in curves.items() if name not in drawn}
    groups = []
    for setting, ending in chain.endings.items():
        names = [f"{name}{ending}" for name in FAMILY if f"{name}{ending}" in left]
        group = {name: _plain(left.pop(name)) for name in names}
        if group:
            group |= {name: curves[name] for name in REFERENCES if name in curves}
            groups.append((f"The paper's methods as “{setting}”", group))
    names = list(left)
    for start in range(0, len(names), MOST_CURVES):
        part = names[start : start + MOST_CURVES]
        groups.append(("Other methods", {name: left[name] for name in part}))
    return groups


def _drawn(
    experiment: Experiment,
    axis: str,
    curves: dict[str, Curve],
    measure: str,
    name: str,
    said: str,
) -> str:
    if not curves:
        return ""
    halves = experiment.protocol in (HALVES, KEPT_BACK)
    ylabel = MEASURES[measure if halves else "labelling_error"]
    points: Sequence[PublishedPoints] = ()
    if experiment.name in NO_ERROR:
        x = next(iter(curves.values())).x
        points = [PublishedPoints("paper: MCar methods, IPAL", x, (0.0,) * len(x))]
    measured = f"{ylabel[0].upper()}{ylabel[1:].removesuffix(', %')}"
    repeats = repeats_in_words(curves.values())
    caption = f"{measured}, over {axis}: means and standard deviations, {repeats}. {said}"
    drawing = draw(
        list(curves.values()),
        name,
        f"{experiment.title}: {caption}",
        xlabel=axis,
        ylabel=ylabel,
        ranges=RANGES.get(experiment.name, ()),
        points=points,
    )
    return figure(drawing, caption)


def _imbalance(experiment: Experiment, results: PaperResults, axis: str) -> str:
    """Return the imbalance of the candidates along the axis, with the paper's two numbers."""
    values: dict[float, dict[int, float]] = {}
    for line in results.select(experiment.name):
        if "imbalance" in line["figures"]:
            at = line["settings"]["at"][axis]
            values.setdefault(at, {})[line["seed"]] = line["figures"]["imbalance"]
    x = sorted(values)
    if not x:
        return ""
    factors = [list(values[point].values()) for point in x]
    mean = tuple(float(sum(one) / len(one)) for one in factors)
    ours = Curve("here", tuple(x), mean, tuple(map(deviation, factors)), LOOKS["CLPL"])
    low, high = IMBALANCE
    published = experiment.name in RANGES  # the paper's own experiment, not one of ours
    ends = PublishedPoints("the paper, at the ends", (x[0], x[-1]), IMBALANCE, "blue")
    drawing = draw(
        [ours],
        f"{experiment.name}-imbalance",
        f"Imbalance factor over {axis}; the paper has {low} and {high} at the ends.",
        xlabel=axis,
        ylabel="imbalance factor",
        points=[ends] if published else (),
    )
    return figure(drawing, "How often the most listed class is listed, over the least listed.")
