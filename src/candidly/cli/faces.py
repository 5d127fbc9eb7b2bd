"""candidly faces: the faces of a project, one a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, check_form, write
from candidly.cli.refusal import failure, tell

COLUMNS = ("file", "box", "name", "confidence", "candidates", "face", "root")


def faces(
    project: ProjectOption = None, as_csv: CsvOption = False, as_json: JsonOption = False
) -> None:
    """List the faces found: where they are, who they are, and who they may be.

    A box is x, y, width and height in pixels of the upright picture; a file is named from its
    photo root. Candidates are the names that captions and metadata give; a name is what
    somebody decided, what the metadata says of this face, or what a method found.
    """
    from candidly.photos.project import Project, ProjectProblem

    console = Console(stderr=True)
    check_form(as_csv, as_json)
    try:
        with Project.open(project) as opened:
            columns = COLUMNS if as_csv else COLUMNS[:5]
            count = write(_rows(opened), columns, as_csv=as_csv, as_json=as_json)
    except ProjectProblem as problem:
        raise failure(console, problem) from problem
    if not (as_csv or as_json):
        tell(console, f"{count} faces")


def _rows(project: Any) -> Iterator[dict[str, Any]]:
    from candidly.photos.project.queries import faces

    for face in faces(project):
        yield {
            "file": face.file,
            "box": [round(value, 1) for value in face.box],
            "name": face.name,
            "confidence": face.confidence,
            "candidates": list(face.candidates),
            "face": face.id,
            "root": str(face.root),
        }
