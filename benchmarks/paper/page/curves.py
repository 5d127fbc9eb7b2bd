"""Curves over an axis: at most seven in a figure, with what the paper's text says drawn in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.paper.page.inline_svg import as_svg, new_figure, styled
from benchmarks.paper.page.method_looks import Look, light
from benchmarks.paper.published import PublishedRange
from benchmarks.paper.stored_runs import PaperResults

MOST_CURVES = 7
"""Largest number of curves in a figure; more cannot be told apart."""


@dataclass(frozen=True)
class Curve:
    """A method along an axis: means and standard deviations over so many repeats at most."""

    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    look: Look
    repeats: int = 1


@dataclass(frozen=True)
class PublishedPoints:
    """Values that the paper's text or tables give, drawn as hollow diamonds."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: str = "ink"


def curve(
    results: PaperResults,
    experiment: str,
    method: str,
    axis: str,
    look: Look,
    *,
    figure: str = "error",
    part: str = "",
    label: str = "",
    **at: Any,
) -> Curve | None:
    """Return the curve of a method, from stored runs that did not fail; None if there is none."""
    values: dict[float, list[float]] = {}
    for line in results.select(experiment, method, part, **at):
        value = line["figures"].get(figure)
        if value is not None and not line["figures"].get("reason"):
            values.setdefault(line["settings"]["at"][axis], []).append(value)
    if not values:
        return None
    x = tuple(sorted(values))
    return Curve(
        label or method,
        x,
        tuple(float(np.mean(values[point])) for point in x),
        tuple(deviation(values[point]) for point in x),
        look,
        max(map(len, values.values())),
    )


def repeats_in_words(curves: Iterable[Curve]) -> str:
    """Return how many repeats the curves of a figure have.

    Examples
    --------
    >>> from benchmarks.paper.page.method_looks import numbered
    >>> few, many = (Curve("", (0,), (1,), (0,), numbered(0), repeats) for repeats in (3, 20))
    >>> repeats_in_words([few, many]), repeats_in_words([few])
    ('3 to 20 repeats', '3 repeats')
    """
    counts = {one.repeats for one in curves}
    if counts == {1}:
        return "one run each"
    low, high = min(counts), max(counts)
    return f"{high} repeats" if low == high else f"{low} to {high} repeats"


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation over repeats, or 0 for a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def draw(
    curves: Sequence[Curve],
    name: str,
    says: str,
    *,
    xlabel: str,
    ylabel: str,
    ranges: Sequence[PublishedRange] = (),
    points: Sequence[PublishedPoints] = (),
    scale: str = "linear",
    height: float = 4.1,
) -> str:
    """Return curves as a drawing.

    Parameters
    ----------
    curves : sequence of Curve
        At most seven.
    name : str
        Identifies the drawing on the page.
    says : str
        What it shows, for those who cannot see it.
    xlabel, ylabel : str
    ranges : sequence of PublishedRange
        Parts of the axis that the paper's text speaks of.
    points : sequence of PublishedPoints
        Values of the paper.
    scale : str
        Of the axis: "linear" or "log".
    height : float
        In inches.
    """
    if len(curves) > MOST_CURVES:
        raise ValueError(f"{name}: {len(curves)} curves, more than {MOST_CURVES}; split them")
    figure = new_figure(height)
    with styled():
        ax = figure.subplots()
        for place, one in enumerate(curves):
            ax.plot(
                one.x,
                one.mean,
                label=one.label,
                markersize=4.5,
                gid=f"curve-{place}",
                **one.look.drawn,
            )
            if any(one.deviation):
                ax.errorbar(
                    one.x,
                    one.mean,
                    one.deviation,
                    fmt="none",
                    ecolor=light(one.look.colour),
                    elinewidth=0.7,
                )
        for place, published in enumerate(points):
            ax.plot(
                published.x,
                published.y,
                label=published.label,
                linestyle="none",
                marker="D",
                markersize=8,
                markerfacecolor="none",
                markeredgecolor=light(published.colour),
                markeredgewidth=1.6,
                gid=f"published-{place}",
                clip_on=False,
                zorder=5,
            )
        ax.set(xlabel=xlabel, ylabel=ylabel, xscale=scale)
        ax.set_ylim(bottom=0)
        if scale == "log":
            _plain_ticks(ax, sorted({x for one in curves for x in one.x}))
        _mark(ax, ranges)
        figure.legend(loc="outside lower center", ncols=2, handlelength=2.6, columnspacing=1.2)
    return as_svg(figure, name, says)


def _plain_ticks(ax: Any, values: list[float]) -> None:
    """Write the points themselves along a logarithmic axis, without those too close to be read."""
    kept: list[float] = []
    for value in values:
        if not kept or math.log(value / kept[-1]) > 0.28:
            kept.append(value)
    ax.set_xticks(kept, [f"{value:g}" for value in kept])
    ax.minorticks_off()


def _mark(ax: Any, ranges: Sequence[PublishedRange]) -> None:
    """Draw along the top where the paper's text says that something holds."""
    low, high = ax.get_xlim()
    top = ax.get_ylim()[1]
    step = 0.13 * top
    ax.set_ylim(top=top + step * len(ranges))
    for place, one in enumerate(ranges):
        y = top + step * (len(ranges) - place - 0.75)
        left, right = max(one.low, low), min(one.high, high)
        ax.plot([left, right], [y, y], color=light("grey"), linewidth=5, solid_capstyle="butt")
        at_right = right >= high
        ax.annotate(
            f"paper: {one.label}",
            (right if at_right else left, y),
            (0, 4),
            textcoords="offset points",
            ha="right" if at_right else "left",
            fontsize=10,
        )
    ax.set_xlim(low, high)
