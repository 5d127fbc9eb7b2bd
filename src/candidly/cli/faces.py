"""candidly faces: the faces of a project, one face per row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, write_list
from candidly.photos import Project
from candidly.photos.project.queries import faces as all_faces

COLUMNS = ("file", "box", "name", "confidence", "certainty", "candidates", "face", "root")


def faces(
    project: ProjectOption = None, as_csv: CsvOption = False, as_json: JsonOption = False
) -> None:
    """List the faces found: where they are, who they are, and who they may be.

    A box is x, y, width and height in pixels of the upright picture; a file is named from its
    photo root. Candidates are the names that captions and metadata give; in JSON, mentions
    are all that may be names, also doubtful ones, with how likely they are. A name is what
    somebody decided, what the metadata says of this face, or what a method found. It is sure from
    a confidence of 0.95, and likely from 0.5; below, and where a face is nobody, who it is is
    unknown, unless somebody decided it.
    """
    plain = COLUMNS[:6]
    rows = partial(_rows, in_words=not (as_csv or as_json))
    write_list(project, rows, COLUMNS, "face", plain=plain, as_csv=as_csv, as_json=as_json)


def _rows(project: Project, in_words: bool) -> Iterator[dict[str, Any]]:
    for face in all_faces(project):
        nobody = in_words and face.name is None and face.confidence is not None
        yield {
            "file": face.file,
            "box": [round(value, 1) for value in face.box],
            "name": "nobody" if nobody else face.name,
            "confidence": face.confidence,
            "certainty": face.certainty,
            "candidates": list(face.candidates),
            "face": face.id,
            "root": str(face.root),
            "mentions": [asdict(mention) for mention in face.mentions],
        }
