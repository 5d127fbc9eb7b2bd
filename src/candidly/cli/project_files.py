"""The verbs ``candidly project backup`` and ``candidly project restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli.listing import ProjectOption
from candidly.cli.photo_run import RunDisplay
from candidly.cli.refusal import readable, tell
from candidly.photos.keeping import backup as back_up
from candidly.photos.keeping import restore as take_back
from candidly.wording import count

app = typer.Typer(help="Copy a project file safely, and take a copy back.", no_args_is_help=True)


@app.command(epilog="Example: candidly project backup /media/disk/archive.candidly")
def backup(
    file: Annotated[
        Path | None,
        typer.Argument(help="The copy; by default beside the project, with the time in its name."),
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Copy a project to a new file, and check the copy.

    Others may work on the project meanwhile. A file that is there is never replaced. The copy
    holds what the project holds, faces included: only you may read it.
    """
    with RunDisplay("there is no copy") as display:
        made = back_up(project, file, on_page=display.counter("copy"))
    tell(Console(stderr=True), f"backup: {readable(str(made))}, checked")


@app.command(epilog="Example: candidly project restore archive-backup-20260501-120000.candidly")
def restore(
    backup: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The copy to take.")],
    project: ProjectOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the project, which is kept beside it.")
    ] = False,
) -> None:
    """Put a copy of a project in its place; a project that is there is kept beside it.

    People whom the project forgot since then are forgotten again.
    """
    console = Console(stderr=True)
    with RunDisplay("nothing was changed") as display:
        done = take_back(backup, project, force=force, on_page=display.counter("copy"))
    tell(console, f"project: {readable(str(done.path))}, checked")
    if done.before is not None:
        tell(console, f"what was there: {readable(str(done.before))}")
    if done.forgotten:
        tell(console, f"{count(done.forgotten, 'name')} forgotten again")
