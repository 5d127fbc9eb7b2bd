"""candidly report: one page of all people, faces and doubts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from candidly.cli.listing import ProjectOption
from candidly.cli.photo_run import RunDisplay
from candidly.photos import report as write_report

OutOption = Annotated[Path, typer.Option("--out", help="The page to write.")]


def report(
    project: ProjectOption = None,
    out: OutOption = Path("report.html"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is no report.")
    ] = False,
) -> None:
    """Write one HTML page: people with their faces, conflicts, likely spellings, what failed.

    It begins with how many names are sure, likely and unknown, and with what is doubtful; the
    likeliest come first. The page holds all its pictures, fetches nothing, and can be sent as it
    is. It is never written among your photos.
    """
    with RunDisplay(project=project) as display:
        on_photo = display.counter("report")
        display.result(write_report(project, out, force=force, on_photo=on_photo))
