"""Figures 7 and 8: which candidates go with which true label on Lost, and class sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.page.html import figure, heat_table
from benchmarks.paper.page.inline_svg import as_svg, new_figure, styled
from benchmarks.paper.page.method_looks import light
from benchmarks.paper.stored_runs import PaperResults


def confusion(results: PaperResults) -> str:
    """Return Figure 7: how often each candidate is listed for the faces of each person."""
    kept = _kept(results)
    if kept is None:
        return ""
    counts, soft = np.array(kept["counts"], float), np.array(kept["soft"], float)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [
        (
            name,
            [
                f"{count:.0f}<br><small>{mass:.0f}</small>" if count else ""
                for count, mass in zip(counts[i], soft[i], strict=True)
            ],
            share[i].tolist(),
        )
        for i, name in enumerate(kept["classes"])
    ]
    caption = (
        "One row per true label, one column per candidate: how often it is listed for these faces "
        "(above), and the sum of its soft labels (below). Shaded by the part of the row."
    )
    return figure(heat_table("true", kept["classes"], rows, caption=caption), caption)


def class_sizes(results: PaperResults) -> str:
    """Return Figure 8: class sizes, true and as the candidates suggest them."""
    kept = _kept(results)
    if kept is None:
        return ""
    place = np.arange(len(kept["classes"]))
    drawing = new_figure(3.2)
    with styled():
        ax = drawing.subplots()
        ax.bar(place - 0.2, kept["true"], 0.4, color=light("blue"), label="true")
        ax.bar(place + 0.2, kept["estimated"], 0.4, color=light("vermilion"), label="by candidates")
        ax.set_xticks(place, kept["classes"])
        ax.set(xlabel="class", ylabel="faces")
        drawing.legend(loc="outside lower center", ncols=2)
    people = sum(count > 0 for count in kept["true"])
    caption = (
        f"{sum(kept['true'])} faces, {len(kept['classes'])} labels, {people} of which are "
        "somebody's. Estimated: the sum of the soft labels of a class, equal among candidates."
    )
    return figure(as_svg(drawing, "class-sizes", f"Class sizes of Lost. {caption}"), caption)


def _kept(results: PaperResults) -> dict[str, Any] | None:
    lines = [line for line in results.select("distribution") if "counts" in line["figures"]]
    return lines[-1]["figures"] if lines else None
