"""candidly changes: which names became others in a run, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, check_form, write
from candidly.cli.refusal import failure, tell

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
    from candidly.photos.project import Project, ProjectProblem

    console = Console(stderr=True)
    check_form(as_csv, as_json)
    try:
        with Project.open(project) as opened:
            rows = _rows(opened, run, nobody=None if as_csv or as_json else "nobody")
            count = write(rows, COLUMNS, as_csv=as_csv, as_json=as_json)
    except ProjectProblem as problem:
        raise failure(console, problem) from problem
    if not (as_csv or as_json):
        tell(console, f"{count} names changed")


def _rows(project: Any, run: int | None, nobody: str | None) -> Iterator[dict[str, Any]]:
    from candidly.photos.project.queries import file_of
    from candidly.photos.solving import changes

    with project.snapshot() as sql:
        for change in changes(project, run):
            yield {
                "run": change.run,
                "face": change.face,
                "file": file_of(sql, change.face),
                "before": change.before or nobody,
                "after": change.after or nobody,
                "why": change.why,
            }
