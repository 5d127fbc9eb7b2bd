"""Lists on standard output, one row at a time: as CSV, as JSON, or as plain text."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from candidly.cli.refusal import failure, readable, tell, writable
from candidly.photos import Project, ProjectProblem
from candidly.photos.project.places import default_projects
from candidly.wording import count as counted

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        envvar="CANDIDLY_PROJECT",
        help="The project file; by default the one used last in your data folder.",
        show_default=False,
    ),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="As CSV, with lists as a|b.")]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON, for programs to read.")]


def write_list(
    project: Path | None,
    read: Callable[[Project], Iterable[Mapping[str, Any]]],
    columns: tuple[str, ...],
    what: str,
    *,
    plain: tuple[str, ...] | None = None,
    plural: str | None = None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Write rows that are read from a project to standard output, one at a time.

    Parameters
    ----------
    project : Path or None
    read : callable
        Yields the rows, given the open project.
    columns, plain : tuple of str
        Columns of CSV, and of plain text where they are fewer.
    what : str
        What one row is.
    plural : str, optional
        What several are, where that is not the same with an s.
    as_csv, as_json : bool
        The form; plain text where neither is set.
    """
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json are two forms; choose one")
    console = Console(stderr=True)
    try:
        with Project.open(project) as opened:
            shown = columns if as_csv or plain is None else plain
            count = _write(read(opened), shown, as_csv=as_csv, as_json=as_json)
    except ProjectProblem as problem:
        raise failure(console, problem) from problem
    if not (as_csv or as_json):
        tell(console, counted(count, what, plural))
        if project is None and len(default_projects()) > 1:
            tell(console, f"project: {readable(str(opened.path))}; --project FILE is another")


def _write(
    rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...], *, as_csv: bool, as_json: bool
) -> int:
    """Write rows as they come, and return how many there were."""
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
    """Write one JSON array, one object per line."""
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
