"""candidly undo: takes decisions back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from candidly.cli.decision_output import decide
from candidly.cli.listing import JsonOption, ProjectOption
from candidly.photos import Project


def undo(
    decisions: Annotated[
        list[int] | None,
        typer.Argument(
            help="Numbers of candidly history; by default what was decided last.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
            help="Everything decided then or later, undos included; local time.",
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take decisions back: the last, some by their numbers, or all since a time.

    Decisions made later stay. An undo has a number as well: undone itself, it brings back what it
    took.
    """

    def make(opened: Project) -> tuple[list[int], list[str]]:
        return opened.undo(*(decisions or ()), since=since), []

    decide(project, make, as_json=as_json)
