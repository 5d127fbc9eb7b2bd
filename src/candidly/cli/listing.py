"""Lists on standard output, a row at a time: as CSV, as JSON, or to be read."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        envvar="CANDIDLY_PROJECT",
        help="The project file; by default one in your data folder.",
        show_default=False,
    ),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="As CSV, with lists as a|b.")]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON, for programs to read.")]


def check_form(as_csv: bool, as_json: bool) -> None:
    """Refuse two forms at once."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json are two forms; choose one")


def write(
    rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...], *, as_csv: bool, as_json: bool
) -> int:
    """Write rows as they come; returns how many there were."""
    if as_json:
        return _write_json(rows)
    if as_csv:
        return _write_csv(rows, columns)
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007  the last one counts
        cells = (readable(_cell(row[name])) for name in columns)
        sys.stdout.write("  ".join(cell for cell in cells if cell) + "\n")
    return count


def _write_json(rows: Iterable[Mapping[str, Any]]) -> int:
    """One array, an object a line."""
    count = 0
    sys.stdout.write("[")
    for count, row in enumerate(rows, 1):
        line = writable(json.dumps(row, ensure_ascii=False))
        sys.stdout.write((",\n " if count > 1 else "") + line)
    sys.stdout.write("]\n")
    return count


def _write_csv(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> int:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007  the last one counts
        writer.writerow([writable(_cell(row[name])) for name in columns])
    return count


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return "|".join(item.replace("\\", "\\\\").replace("|", "\\|") for item in value)
        return ",".join(f"{item:g}" for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def writable(text: str) -> str:
    """A text that any output takes: names of files may hold bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def readable(text: str) -> str:
    """A text that does nothing to a terminal: control characters are written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in writable(text))
