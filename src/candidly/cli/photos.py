"""candidly photos: the photos of a project, one photo per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from candidly.cli.decision_output import PeopleOption
from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, write_list
from candidly.photos import Project
from candidly.photos.project.queries import photos as all_photos

COLUMNS = ("file", "width", "height", "faces", "candidates", "caption", "failure", "root")
PLAIN = ("file", "faces", "candidates", "failure")


def photos(
    person: PeopleOption = None,
    project: ProjectOption = None,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the photos of a project, with the people named and how many faces were found.

    A file is named from its photo root. Those that could not be read come last, with the
    reason. In JSON, mentions are all names that are written about a photo: how likely each is a
    person's, how likely that person is shown, and where it is in the caption. Candidates are those
    that are likely a person's.
    """
    rows = partial(_rows, people=person or ())
    write_list(project, rows, COLUMNS, "photo", plain=PLAIN, as_csv=as_csv, as_json=as_json)


def _rows(project: Project, people: Sequence[str]) -> Iterator[dict[str, Any]]:
    for photo in all_photos(project, people):
        row = {**asdict(photo), "candidates": list(photo.candidates), "root": str(photo.root)}
        yield {name: row[name] for name in (*COLUMNS, "mentions")}
