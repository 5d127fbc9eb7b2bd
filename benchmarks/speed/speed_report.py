"""The table of speed: one row per measurement, from the stored figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.documents import put_into
from benchmarks.speed.growth_plot import draw
from benchmarks.speed.measuring import Measurement
from benchmarks.speed.speed_parts import measurements

DOCUMENT = Path("docs/speed.md")
"""The document with the table."""

PICTURE = "CPU seconds against the number of instances and of classes"

DOUBLED = (125_000, 250_000, 500_000)
"""Instances that are doubled."""

HEAD = (
    "| measured | threads | CPU s | wall s | peak MB | others, CPU s | times as fast "
    "| over the floor | answers differ by | asked: must; aim |\n|---|" + "---:|" * 9 + "\n"
)


def row(measured: Measurement, record: Mapping[str, Any]) -> str:
    """Return the line of one measurement."""
    others = record["others"]
    ratio = f"{next(iter(others.values())) / record['cpu']:.1f}" if others else ""
    seconds = record["wall" if measured.unit == "wall" else "cpu"]
    floor = f"{seconds / record['floor']:.1f} x" if record["floor"] else ""
    cells = (
        measured.what,
        record["threads"],
        f"{record['cpu']:.3g}",
        f"{record['wall']:.3g}",
        f"{record['peak memory MB']:.0f}",
        ", ".join(f"{name} {seconds:.3g}" for name, seconds in others.items()),
        ratio,
        floor,
        ", ".join(f"{what} {value:.1e}" for what, value in record["agreement"].items()),
        _asked(measured),
    )
    return f"| {' | '.join(map(str, cells))} |"


def table(stored: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table in Markdown, in the order of the parts."""
    rows = [
        row(measured, stored[name]) if name in stored else f"| {measured.what} |" + " not run |" * 9
        for name, measured in measurements().items()
    ]
    return HEAD + "\n".join(rows) + "\n"


def conditions(stored: Mapping[str, Mapping[str, Any]]) -> str:
    """Return on what it was measured: one line per machine and set of versions."""
    found: dict[str, list[str]] = {}
    for name, record in stored.items():
        where = record["machine"]
        versions = ", ".join(
            f"{part} {where[part]}"
            for part in ("numpy", "scipy", "numba", "torch", "GPU")
            if part in where and (part != "torch" or "GPU" in where)
        )
        text = (
            f"{where['processor']}, {where['cores']} cores, {where['memory GB']:g} GB, "
            f"Python {where['python']}, {versions}"
        )
        found.setdefault(text, []).append(name)
    return (
        "\n".join(f"- {text}: {', '.join(sorted(names))}" for text, names in found.items()) + "\n"
    )


def growth(stored: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many times as long labellers take as instances double, in Markdown."""
    lines = ["| labeller | " + " | ".join(f"{N:,} to {2 * N:,}" for N in DOUBLED) + " |"]
    lines.append("|---|" + "---:|" * len(DOUBLED))
    ratios = stored.get("row-space-million", {}).get("details", {}).get("growth as N doubles", [])
    lines.append(_ratios("row-space, wall s", ratios))
    cpu = [stored.get(f"open-set-{N}", {}).get("cpu") for N in (*DOUBLED, 2 * DOUBLED[-1])]
    lines.append(_ratios("open-set, CPU s", [b / a if a and b else None for a, b in pairwise(cpu)]))
    return "\n".join(lines) + "\n"


def _ratios(what: str, ratios: Sequence[float | None]) -> str:
    cells = [f"{ratio:.2f}" if ratio else "not run" for ratio in ratios] or ["not run"] * 3
    return f"| {what} | {' | '.join(cells)} |"


def renew(stored: Mapping[str, Mapping[str, Any]], document: Path) -> None:
    """Put the table and the machines into the document."""
    put_into(document, table(stored), "speed")
    put_into(document, conditions(stored), "speed-machines")
    put_into(document, growth(stored), "speed-growth")
    picture = draw(stored, document.parent)
    put_into(document, f"![{PICTURE}]({picture.name})\n" if picture else "", "speed-plot")


def _asked(measured: Measurement) -> str:
    if measured.must is None:
        return ""
    word = "x" if measured.unit == "times" else f"s {measured.unit}"
    aim = "" if measured.aim is None else f"; {measured.aim:g} {word}"
    return f"{measured.must:g} {word}{aim}"
