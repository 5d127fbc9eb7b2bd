"""Measurements beside the experiments that have commands of their own, as tables of the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paper import dictionary_changes, ice_ties
from benchmarks.paper.page.html import escape, table


@dataclass(frozen=True)
class SideMeasurement:
    """A file of figures beside the runs, what it is about, its table in Markdown, what it shows."""

    file: str
    title: str
    says: str
    table: Callable[[list[dict[str, Any]]], str]
    shows: Callable[[list[dict[str, Any]]], str] | None = None


SIDE_MEASUREMENTS = {
    "ties": SideMeasurement(
        "ice_ties.json",
        "Ties of ICE, on Lost",
        "Many least soft labels are exactly 0, and the paper does not say which of them goes "
        "first. Labelling errors in percent under the orders of ICE(ties=...), the mean over "
        "draws and their range; rounding: with features that differ in the twelfth digit.",
        ice_ties.table,
    ),
    "dictionaries": SideMeasurement(
        "dictionary_changes.json",
        "Why the dictionaries are behind, one change at a time",
        "Errors in percent of the dictionary methods, on FIW-like unless said otherwise.",
        dictionary_changes.table,
        dictionary_changes.shows,
    ),
}


def side_measurement(name: str, folder: Path | None) -> str:
    """Return a measurement as a part of the page; nothing where its file is not there."""
    one = SIDE_MEASUREMENTS[name]
    if folder is None or not (folder / one.file).is_file():
        return ""
    stored = json.loads((folder / one.file).read_text(encoding="utf-8"))
    return (
        f'<h3 id="{name}">{escape(one.title)}</h3><p class=note><code>'
        f"{escape(stored['command'])}</code>. {escape(one.says)}</p>"
        + (f"<p>{escape(one.shows(stored['rows']))}</p>" if one.shows else "")
        + from_markdown(one.table(stored["rows"]), one.title)
    )


def from_markdown(text: str, caption: str = "") -> str:
    r"""Return a table in Markdown as one of the page.

    Examples
    --------
    >>> from_markdown("| a | b |\n|---|---:|\n| x | 1 |\n").count("class=number")
    2
    """
    head, rule, *rows = (
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.strip().splitlines()
    )
    numbers = [k for k, cell in enumerate(rule) if cell.endswith(":")]
    return table(head, rows, numbers=numbers, caption=caption)
