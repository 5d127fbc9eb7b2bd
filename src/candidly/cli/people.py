"""candidly people: who is in a project, one a row."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, check_form, write
from candidly.cli.refusal import failure, tell

COLUMNS = ("name", "faces", "confirmed", "sure", "photos", "likely")


def people(
    project: ProjectOption = None, as_csv: CsvOption = False, as_json: JsonOption = False
) -> None:
    """List the people of a project: faces, how many are confirmed or sure, photos that name them.

    Those with most faces come first. The last column has names that are likely the same
    person's; nothing is merged by it.
    """
    from candidly.photos.project import Project, ProjectProblem
    from candidly.photos.telling import people as count

    console = Console(stderr=True)
    check_form(as_csv, as_json)
    try:
        with Project.open(project) as opened:
            rows = [{**asdict(one), "likely": list(one.likely)} for one in count(opened)]
    except ProjectProblem as problem:
        raise failure(console, problem) from problem
    if not (as_csv or as_json):
        rows = [_in_words(row) for row in rows]
    number = write(rows, COLUMNS, as_csv=as_csv, as_json=as_json)
    if not (as_csv or as_json):
        tell(console, f"{number} people")


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    """A row to be read: what is nothing is left out."""
    words = {name: f"{row[name]} {name}" if row[name] else None for name in COLUMNS[1:4]}
    likely = "likely also " + ", ".join(row["likely"]) if row["likely"] else None
    return {**row, **words, "photos": f"named in {row['photos']} photos", "likely": likely}
