"""Tables of the report: errors of every method at every point, the paper's beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.paper.declaration import Cell, Experiment
from benchmarks.paper.page.html import table
from benchmarks.paper.page.method_looks import base_name
from benchmarks.paper.published import LOST, YAHOO
from benchmarks.paper.stored_runs import PaperResults

PUBLISHED: dict[str, dict[str, Any]] = {
    "lost": {**LOST},
    "yahoo": {**YAHOO},
    "yahoo-news": {**YAHOO},
}
A_SURFACE = 30
"""Largest number of points for which there is a table; beyond, only a figure."""
NOT_SHOWN = {"error", "common_error", "labelling_error", "seconds", "common_C", "imbalance"}
"""Figures that have tables or columns of their own."""
OTHER_CAPTIONS = {
    "removal": "Errors in percent, before and after: of faces of the same person among the five "
    "nearest of one that lost its label, and of all others that kept theirs; means over repeats",
    "propositions": "Ranks of [P; X] with true and with ambiguous labels, beside the number of "
    "vertices that Proposition 1 bounds them by, and by how much the projections of soft labels "
    "can part two points (1: not at all)",
}
OTHER_NAMES = {
    "near": "number near",
    "rank": "rank, true labels",
    "rank_of_features": "rank of X",
    "rank_ambiguous": "rank, ambiguous labels",
    "simple": "growth of a distance, simple",
    "euclidean": "growth, Euclidean",
}
"""Captions and column names where those that runs store say little."""
MEASURES = {
    "common_error": "Test errors with the common machine, in percent",
    "error": "Errors in percent",
    "labelling_error": "Errors of the labels found in the training half, in percent",
}


def errors(experiment: Experiment, results: PaperResults) -> list[str]:
    """Return the tables of an experiment, one per part and measure that was stored."""
    parts = []
    for part in dict.fromkeys(cell.part for cell in experiment.cells):
        cells = [cell for cell in experiment.cells if cell.part == part]
        if len(cells) <= A_SURFACE:
            parts += [_part(experiment, cells, results, measure) for measure in MEASURES]
    return list(filter(None, parts))


def other_figures(experiment: Experiment, results: PaperResults) -> str:
    """Return a table of the other numbers that runs stored: means over repeats."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in experiment.cells:
        for entry in experiment.entries(cell):
            for line in results.select(experiment.name, entry.name, cell.part, **cell.at):
                of = found.setdefault((_point(cell), entry.name), {})
                for name, value in line["figures"].items():
                    if isinstance(value, int | float) and name not in NOT_SHOWN:
                        of.setdefault(name, []).append(value)
    names = list(dict.fromkeys(name for of in found.values() for name in of))
    if not names:
        return ""
    rows = [
        [where, method, *(f"{np.mean(of[name]):.4g}" if name in of else "" for name in names)]
        for (where, method), of in found.items()
    ]
    head = ["", "method", *(OTHER_NAMES.get(name, name.replace("_", " ")) for name in names)]
    caption = OTHER_CAPTIONS.get(experiment.protocol, "Means over repeats")
    return table(head, rows, numbers=range(2, len(head)), caption=caption)


def by_setting(
    experiment: Experiment,
    cell: Cell,
    results: PaperResults,
    endings: Mapping[str, str],
    measure: str = "error",
) -> str:
    """Return the errors at a point: one row per method, the paper's and each setting's beside.

    Parameters
    ----------
    experiment : Experiment
    cell : Cell
    results : PaperResults
    endings : mapping of str to str
        Name of each setting of the paper's methods, and how it ends their names; methods that do
        not depend on it stand under the first.
    measure : str
        The figure that is shown.
    """
    names = [entry.name for entry in experiment.entries(cell)]
    found = {name: _found(results, experiment, cell, name, measure) for name in names}
    if not any(np.isfinite(values).any() for values in found.values()):
        return ""  # nothing run, or nothing that has this figure
    usual = max(map(len, found.values()))
    family = {base_name(name) for name in names if name != base_name(name)}
    published = {} if measure == "labelling_error" else PUBLISHED.get(experiment.name, {})
    rows = []
    for name in dict.fromkeys(base_name(one) if base_name(one) in family else one for one in names):
        own = endings.values() if name in family else ("", *[None] * (len(endings) - 1))
        cells = [
            "" if ending is None else _cell(found.get(f"{name}{ending}", []), usual)
            for ending in own
        ]
        if any(cells):
            rows.append([name, *([_number(published.get(name, ""))] if published else []), *cells])
    head = ["method", *(["the paper"] if published else []), *endings]
    said = MEASURES[measure]
    caption = f"{', '.join(map(str, cell.at.values()))}: {said[0].lower()}{said[1:]}"
    caption += f", {usual} repeats or (so many)" if usual > 1 else ""
    return table(head, rows, numbers=range(1, len(head)), caption=caption)


def _part(experiment: Experiment, cells: list[Cell], results: PaperResults, measure: str) -> str:
    found = {
        (entry.name, k): _found(results, experiment, cell, entry.name, measure)
        for k, cell in enumerate(cells)
        for entry in experiment.entries(cell)
    }
    failed = measure == "error" and any(found.values())
    if not failed and not any(np.isfinite(values).any() for values in found.values()):
        return ""  # nothing run, or nothing that has this figure
    columns = sorted({k for (_, k), values in found.items() if values})
    names = [e.name for e in experiment.methods if any(found.get((e.name, k)) for k in columns)]
    usual = max(map(len, found.values()))
    head = [_axis(cells), *(_point(cells[k]) for k in columns)]
    rows = [[name, *(_cell(found.get((name, k), []), usual) for k in columns)] for name in names]
    if experiment.name in PUBLISHED and measure == "error":
        head.append("the paper")
        for row in rows:
            row.append(_number(PUBLISHED[experiment.name].get(base_name(row[0]), "")))
    said = f"{MEASURES[measure]}, one run each."
    if usual > 1:
        said = f"{MEASURES[measure]}: mean ± standard deviation of {usual} repeats, or (so many)."
    return table(head, rows, numbers=range(1, len(head)), caption=said)


def _axis(cells: list[Cell]) -> str:
    """Return the heading that says what varies along the columns."""
    names = ", ".join(cells[0].at)
    return "method" if isinstance(next(iter(cells[0].at.values())), str) else f"method, by {names}"


def _point(cell: Cell) -> str:
    return ", ".join(v if isinstance(v, str) else f"{v:g}" for v in cell.at.values())


def _found(
    results: PaperResults, experiment: Experiment, cell: Cell, method: str, measure: str
) -> list[float]:
    """Return the figure over the repeats, NaN where a run failed or does not have it."""
    lines = results.select(experiment.name, method, cell.part, **cell.at)
    values = [line["figures"].get(measure) for line in lines]
    return [np.nan if value is None else value for value in values]


def _cell(values: list[float], usual: int) -> str:
    worked = np.array([value for value in values if np.isfinite(value)])
    if not len(worked):
        return "failed" if values else ""
    spread = f" ± {worked.std(ddof=1):.1f}" if len(worked) > 1 else ""
    count = f" ({len(worked)})" if len(worked) != usual else ""
    return f"{worked.mean():.1f}{spread}{count}"


def _number(value: Any) -> str:
    return f"{value[0]} ± {value[1]}" if isinstance(value, tuple) else str(value)
