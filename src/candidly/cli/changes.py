"""candidly changes: which names became others in a run, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import typer

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, write_list
from candidly.photos import Project
from candidly.photos.solving import changes as name_changes

COLUMNS = ("run", "face", "file", "before", "after", "why")


def changes(
    run: Annotated[
        int | None, typer.Option(help="The number of a run; by default the last.", min=1)
    ] = None,
    project: ProjectOption = None,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List which names became others when photos were solved, and why.

    In CSV and JSON nobody is an empty name.
    """
    rows = partial(_rows, run=run, nobody=None if as_csv or as_json else "nobody")
    write_list(
        project,
        rows,
        COLUMNS,
        "name changed",
        plural="names changed",
        as_csv=as_csv,
        as_json=as_json,
    )


def _rows(project: Project, run: int | None, nobody: str | None) -> Iterator[dict[str, Any]]:
    for change in name_changes(project, run):
        yield {
            "run": change.run,
            "face": change.face,
            "file": change.file,
            "before": change.before or nobody,
            "after": change.after or nobody,
            "why": change.why,
        }
