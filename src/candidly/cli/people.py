"""candidly people: who is in a project, one person per row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console

from candidly.cli.listing import CsvOption, JsonOption, ProjectOption, write_list
from candidly.cli.refusal import tell
from candidly.photos import Project
from candidly.photos.reporting import people as count_people
from candidly.wording import count

MOST = 1000
"""Number of people that are listed in words, unless all are asked for."""
COLUMNS = ("name", "faces", "confirmed", "sure", "likely_faces", "photos", "likely", "doubt")


def people(
    project: ProjectOption = None,
    everybody: Annotated[
        bool, typer.Option("--all", help=f"List everybody, not only the first {MOST:,}.")
    ] = False,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the people of a project: faces, how many are sure or likely, photos that name them.

    Those with most faces come first. A name is sure from a confidence of 0.95, likely from 0.5.
    After the number of photos come names that are likely the same person's; nothing is merged
    by it. The last column has a sentence where the faces of a person do not look alike. Where very
    many people have faces, those with most are listed; CSV and JSON have everybody.
    """
    in_words = not (as_csv or as_json)
    rows = partial(_rows, in_words=in_words, most=None if everybody or not in_words else MOST)
    write_list(project, rows, COLUMNS, "person", as_csv=as_csv, as_json=as_json)


def _rows(project: Project, in_words: bool, most: int | None) -> Iterator[dict[str, Any]]:
    found = count_people(project, most)
    for one in found:
        doubt = None if one.unlike is None else one.unlike.sentence
        values = {**asdict(one), "likely": list(one.likely), "doubt": doubt}
        row = {name: values[name] for name in COLUMNS}
        yield _in_words(row) if in_words else row
    left = found.total - len(found)
    if left:
        tell(Console(stderr=True), f"{left:,} more people have faces: --all lists everybody")


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as plain text; zeros are left out."""
    counts = {name: name.removesuffix("_faces") for name in COLUMNS[2:5]}
    words = {name: f"{row[name]} {word}" if row[name] else None for name, word in counts.items()}
    words["faces"] = count(row["faces"], "face") if row["faces"] else None
    likely = "likely also " + ", ".join(row["likely"]) if row["likely"] else None
    return {
        **row,
        **words,
        "photos": f"named in {count(row['photos'], 'photo')}",
        "likely": likely,
    }
