"""Tables of the report: errors of every method at every point, the paper's beside them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from benchmarks.paper.declaration import Cell, Experiment
from benchmarks.paper.method_entries import LETTER
from benchmarks.paper.published import LOST, NO_NUMBERS, NUMBERS, YAHOO
from benchmarks.paper.stored_runs import PaperResults

PUBLISHED: dict[str, dict[str, Any]] = {"lost": {**LOST}, "yahoo": {**YAHOO}}
A_SURFACE = 30
"""Largest number of points for which there is a table; beyond, only a figure."""


def table(
    head: Iterable[str],
    rows: Iterable[list[str]],
    *,
    numbers: Iterable[int] = (),
    raw: bool = False,
) -> str:
    """Return an HTML table; ``numbers`` are columns set to the right."""
    right = set(numbers)

    def row(cells: Iterable[str], tag: str, as_is: bool) -> str:
        return "".join(
            f"<{tag}{' class=number' if k in right else ''}>{c if as_is else escape(c)}</{tag}>"
            for k, c in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td', raw)}</tr>\n" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th', False)}</tr></thead>\n<tbody>{body}</tbody></table>"


def errors(experiment: Experiment, results: PaperResults) -> str:
    """Return the tables of an experiment, and what the paper's text says of it in numbers."""
    parts = []
    for part in dict.fromkeys(cell.part for cell in experiment.cells):
        cells = [cell for cell in experiment.cells if cell.part == part]
        if len(cells) <= A_SURFACE:
            parts.append(_part(experiment, cells, results))
    said = NUMBERS.get(experiment.name, "" if experiment.name in PUBLISHED else NO_NUMBERS)
    return "\n".join([*parts, f'<p class="note">{said}</p>' if said else ""])


def _part(experiment: Experiment, cells: list[Cell], results: PaperResults) -> str:
    found = {
        (entry.name, k): _found(results, experiment, cell, entry.name)
        for k, cell in enumerate(cells)
        for entry in experiment.entries(cell)
    }
    if not any(np.isfinite(values).any() for values in found.values()):
        return ""  # nothing run, or nothing that has an error
    columns = sorted({k for (_, k), values in found.items() if values})
    names = [e.name for e in experiment.methods if any((e.name, k) in found for k in columns)]
    usual = max(map(len, found.values()))
    head = [_axis(cells), *(_point(cells[k]) for k in columns)]
    rows = [[name, *(_cell(found.get((name, k), []), usual) for k in columns)] for name in names]
    if experiment.name in PUBLISHED:
        head.append("the paper")
        for row in rows:
            row.append(_number(PUBLISHED[experiment.name].get(row[0].removesuffix(LETTER), "")))
    note = "Errors in percent, one run each."
    if usual > 1:
        note = f"Errors in percent: mean ± standard deviation of {usual} repeats, or (so many)."
    return f'{table(head, rows, numbers=range(1, len(head)))}\n<p class="note">{note}</p>'


def _axis(cells: list[Cell]) -> str:
    """Return the heading that says what varies along the columns."""
    names = ", ".join(cells[0].at)
    return "method" if isinstance(next(iter(cells[0].at.values())), str) else f"method, by {names}"


def _point(cell: Cell) -> str:
    return ", ".join(v if isinstance(v, str) else f"{v:g}" for v in cell.at.values())


def _found(results: PaperResults, experiment: Experiment, cell: Cell, method: str) -> list[float]:
    """Return the errors over the repeats, NaN where a run failed."""
    lines = results.select(experiment.name, method, cell.part, **cell.at)
    values = [line["figures"].get("error") for line in lines]
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
