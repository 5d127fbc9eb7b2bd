"""candidly photos: the photos of a project, one a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, check_form, write
from candidly.cli.refusal import failure, tell

COLUMNS = ("file", "width", "height", "faces", "candidates", "caption", "failure", "root")
READ = ("file", "faces", "candidates", "failure")


def photos(
    project: ProjectOption = None, as_csv: CsvOption = False, as_json: JsonOption = False
) -> None:
    """List the photos of a project, with the people named and how many faces were found.

    A file is named from its photo root. Those that could not be read come last, with the
    reason.
    """
    from candidly.photos.project import Project, ProjectProblem

    console = Console(stderr=True)
    check_form(as_csv, as_json)
    try:
        with Project.open(project) as opened:
            columns = COLUMNS if as_csv else READ
            count = write(_rows(opened), columns, as_csv=as_csv, as_json=as_json)
    except ProjectProblem as problem:
        raise failure(console, problem) from problem
    if not (as_csv or as_json):
        tell(console, f"{count} photos")


def _rows(project: Any) -> Iterator[dict[str, Any]]:
    from candidly.photos.project.queries import photos

    for photo in photos(project):
        yield {
            "file": photo.file,
            "width": photo.width,
            "height": photo.height,
            "faces": photo.faces,
            "candidates": list(photo.candidates),
            "caption": photo.caption,
            "failure": photo.failure,
            "root": str(photo.root),
        }
