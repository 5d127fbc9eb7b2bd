"""candidly report: one page of all people, faces and doubts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import rich.progress as bars
import typer
from rich.console import Console

from candidly.cli.listing import ProjectOption, readable
from candidly.cli.refusal import Refused, failure, tell
from candidly.extras import installed

if TYPE_CHECKING:
    from candidly.photos.project import Project

OutOption = Annotated[Path, typer.Option("--out", help="The page to write.")]


def report(
    project: ProjectOption = None,
    out: OutOption = Path("report.html"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is no report.")
    ] = False,
) -> None:
    """Write one HTML page: people with their faces, conflicts, likely spellings, what failed.

    The least sure come first. The page holds all its pictures, fetches nothing, and can be sent
    as it is. It is never written among your photos.
    """
    from candidly.photos.project import Project, ProjectProblem

    console = Console(stderr=True)
    if not installed("photos"):
        problem = Refused("candidly report needs Pillow: pip install 'candidly[photos]'")
        raise failure(console, problem)
    try:
        with Project.open(project) as opened:
            write_and_tell(console, opened, out, force=force)
    except (ProjectProblem, OSError) as problem:
        raise failure(console, problem) from problem


def write_and_tell(console: Console, project: Project, out: Path, *, force: bool = False) -> None:
    """Write the report of a project, with a bar, and say how large it is."""
    from candidly.photos.telling import write_report

    with bars.Progress(console=console, transient=True) as progress:
        task = progress.add_task("cutting faces out", total=None)
        done = write_report(
            project,
            out,
            force=force,
            on_photo=lambda at, of: progress.update(task, completed=at, total=of),
        )
    missing = f", {done.missing} without a picture" if done.missing else ""
    tell(
        console,
        f"report: {readable(str(done.path))}, {done.size / 1e6:.1f} MB, "
        f"{done.faces} faces{missing}",
    )
