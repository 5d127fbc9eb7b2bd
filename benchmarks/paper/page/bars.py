"""Bars of errors, one per method, with the paper's value on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.paper.page.inline_svg import as_svg, new_figure, styled
from benchmarks.paper.page.method_looks import light, look


@dataclass(frozen=True)
class Bar:
    """The error of a method, its deviation, and the paper's value if there is one."""

    label: str
    error: float
    deviation: float = 0.0
    published: float | None = None


def published_value(values: Mapping[str, Any], method: str) -> float | None:
    """Return the paper's error of a method, without its deviation.

    Examples
    --------
    >>> published_value({"MMS": (14.3, 0.5)}, "MMS"), published_value({}, "MMS")
    (14.3, None)
    """
    value = values.get(method)
    return value[0] if isinstance(value, tuple) else value


def bars(items: Sequence[Bar], name: str, says: str, *, xlabel: str, published: str) -> str:
    """Return bars as a drawing, the first on top.

    Parameters
    ----------
    items : sequence of Bar
    name : str
        Identifies the drawing on the page.
    says : str
        What it shows, for those who cannot see it.
    xlabel : str
    published : str
        What the paper's values are called.
    """
    drawing = new_figure(0.3 * len(items) + 1.3)
    with styled():
        ax = drawing.subplots()
        place = range(len(items))[::-1]
        ax.barh(
            place,
            [one.error for one in items],
            0.62,
            xerr=[one.deviation for one in items],
            color=[light(look(one.label).colour) for one in items],
            ecolor=light("grey"),
        )
        ax.set_yticks(place, [one.label for one in items])
        known = [(one.published, y) for one, y in zip(items, place, strict=True)]
        shown = [(value, y) for value, y in known if value is not None]
        if shown:
            ax.plot(
                *zip(*shown, strict=True),
                linestyle="none",
                marker="D",
                markersize=8,
                markerfacecolor="none",
                markeredgecolor=light("ink"),
                markeredgewidth=1.6,
                label=published,
                gid="published-0",
                clip_on=False,
            )
            drawing.legend(loc="outside lower center")
        ax.set_xlabel(xlabel)
    return as_svg(drawing, name, says)
