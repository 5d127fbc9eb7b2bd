"""Pictures of resolutions and comparisons. Needs the extra ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.candidates import Candidates
from candidly.comparison import Comparison
from candidly.comparison.comparison import DONE
from candidly.extras import require
from candidly.selection.report import in_words
from candidly.solvers import Solution

RIGHT, WRONG, GREY = "#1b7f4d", "#c8322b", "#8a8f98"
SHOWN = 30  # largest number of classes that can still be read


def picture_of_resolution(
    images: NDArray[Any],
    candidates: Candidates,
    labels: NDArray[Any],
    y: NDArray[Any],
    solution: Solution,
    path: Path,
    *,
    shown: int = 18,
) -> None:
    """Draw images with their candidates and labels, class counts and the convergence."""
    figure = require("matplotlib.figure", "plot").Figure(figsize=(11, 5.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.55, 1])
    wrong = np.flatnonzero(labels != y)[: shown // 6]
    rows = np.concatenate([np.linspace(0, len(y) - 1, shown - len(wrong)).astype(int), wrong])
    sets = candidates.sets()
    for axis, row in zip(left.subplots(3, shown // 3).flat, rows, strict=True):
        axis.imshow(images[row], cmap="gray_r")
        axis.set_axis_off()
        axis.set_title(" ".join(map(str, sorted(sets[row]))), fontsize=9, color=GREY)
        axis.text(
            0.5,
            -0.14,
            str(labels[row]),
            transform=axis.transAxes,
            ha="center",
            va="top",
            fontsize=15,
            weight="bold",
            color=RIGHT if labels[row] == y[row] else WRONG,
        )
    left.suptitle("candidates above, the label found below", fontsize=11)
    above, below = right.subplots(2, 1)
    _draw_counts(above, candidates, labels)
    _draw_trace(below, solution)
    figure.savefig(path, dpi=130)


def picture_of_labels(
    candidates: Candidates, model: Any, y: NDArray[Any] | None, path: Path
) -> None:
    """Draw class counts, the candidate confusion matrix, and settings tried or convergence.

    Settings are drawn if the model chose between several, and its convergence otherwise.
    """
    figure = require("matplotlib.figure", "plot").Figure(figsize=(14, 4.6), layout="constrained")
    counts, confusion, how = figure.subplots(1, 3, width_ratios=[1.2, 1.2, 1])
    labels = model.transduction_
    _draw_counts(counts, candidates, labels)
    _draw_confusion(confusion, candidates, labels if y is None else y, y is not None)
    if "covering_rate" in getattr(model, "cv_results_", {}):
        _draw_choice(how, model.cv_results_)
    else:
        _draw_trace(how, model.solution_)
    figure.savefig(path, dpi=130)


def picture_of_comparison(comparison: Comparison, path: Path) -> None:
    """Draw mean and standard deviation over folds, one line per method, the best on top."""
    summaries = comparison.summary()
    figure = require("matplotlib.figure", "plot").Figure(
        figsize=(8, 1.4 + 0.32 * len(summaries)), layout="constrained"
    )
    axis = figure.subplots()
    measures = {
        "labelling_error": ("labelling error, training part", GREY, "o"),
        "test_error": ("test error, held-out fold", RIGHT, "D"),
        "covering_rate": ("covering rate, held-out fold", RIGHT, "D"),
    }
    for measure in ("labelling_error", comparison.measure):
        found = [getattr(summary, measure) for summary in summaries]
        rows = [k for k, figure in enumerate(found) if figure is not None]
        mean, spread = (100 * np.array([found[k][i] for k in rows]) for i in (0, 1))
        name, colour, marker = measures[measure]
        if rows:
            axis.errorbar(mean, rows, xerr=spread, fmt=marker, color=colour, capsize=3, label=name)
    for k, summary in enumerate(summaries):
        if summary.status != DONE:
            axis.annotate(
                summary.status,
                (0.01, k),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=9,
                color=WRONG,
            )
    axis.set_yticks(range(len(summaries)), [summary.method for summary in summaries], fontsize=9)
    axis.set_ylim(len(summaries) - 0.5, -0.5)
    axis.set_xlabel("%, mean and standard deviation over folds")
    axis.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.8)
    axis.set_axisbelow(True)
    if axis.get_legend_handles_labels()[0]:
        figure.legend(loc="outside upper right", ncols=2, fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)


def _most_listed(candidates: Candidates) -> NDArray[np.intp]:
    """Return the columns to show: those listed most often, in their order."""
    return np.sort(np.argsort(-candidates.counts, kind="stable")[:SHOWN])


def _draw_counts(axis: Any, candidates: Candidates, labels: NDArray[Any]) -> None:
    shown = _most_listed(candidates)
    names = candidates.classes[shown].tolist()
    place = np.arange(len(shown))
    found = [np.count_nonzero(labels == name) for name in names]
    axis.bar(place - 0.2, candidates.counts[shown], 0.4, color=GREY, label="listed as candidate")
    axis.bar(place + 0.2, found, 0.4, color=RIGHT, label="label found")
    _name_ticks(axis.set_xticks, place, names)
    axis.set_title("labels before and after", fontsize=11)
    axis.margins(y=0.3)
    axis.legend(fontsize=8, frameon=False)


def _draw_confusion(axis: Any, candidates: Candidates, labels: NDArray[Any], known: bool) -> None:
    """Draw how often each class is a candidate of instances of each label."""
    shown = _most_listed(candidates)
    names = candidates.classes[shown].tolist()
    listed = candidates.sparse_priors[:, shown] > 0
    table = np.array([listed[labels == name].sum(axis=0) for name in names])
    image = axis.imshow(table, cmap="Greens", norm="symlog")
    axis.figure.colorbar(image, ax=axis, shrink=0.8)
    _name_ticks(axis.set_xticks, np.arange(len(names)), names)
    axis.set_yticks(np.arange(len(names)), [str(name)[:16] for name in names], fontsize=7)
    axis.set_xlabel("candidate")
    axis.set_ylabel("true label" if known else "label found")
    axis.set_title("candidate confusion matrix", fontsize=11)


def _name_ticks(set_ticks: Any, place: NDArray[Any], names: list[Any]) -> None:
    long = max((len(str(name)) for name in names), default=0) > 2
    set_ticks(
        place,
        [str(name)[:16] for name in names],
        fontsize=7 if long else 9,
        rotation=90 if long else 0,
    )


def _draw_choice(axis: Any, tried: dict[str, list[Any]]) -> None:
    """Draw the covering rate of every setting; the area of a dot is its weight."""
    names = [in_words(params) for params in tried["params"]]
    rows = np.arange(len(names))
    weight = np.array(tried["weight"])
    rate = 100 * np.array(tried["covering_rate"])
    axis.scatter(rate, rows, s=10 + 300 * weight, color=RIGHT, alpha=0.8)
    axis.set_yticks(rows, names, fontsize=7)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.set_xlabel("hidden sets that hold the label found, %")
    axis.set_title("settings tried; size is weight", fontsize=11)


def _draw_trace(axis: Any, solution: Solution) -> None:
    for name, colour in (("residual", "#2b5fc8"), ("gap", "#c8762b")):
        values = solution.trace.column(name)
        axis.semilogy(
            np.arange(1, len(values) + 1),
            np.maximum(values, 1e-16),
            color=colour,
            label={"residual": "residual", "gap": "label gap"}[name],
        )
    axis.set_xlabel("iteration")
    axis.set_title("convergence", fontsize=11)
    axis.legend(fontsize=8, frameon=False)
