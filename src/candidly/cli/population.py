"""candidly population: how faces of an embedder vary, from faces of people who are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli import photo_run
from candidly.cli.listing import ProjectOption
from candidly.cli.refusal import Refused, check_target, failure, readable, tell
from candidly.photos import Choices, LearntPopulation, learn_population

EXAMPLES = """
[bold]Examples[/bold]

  candidly population people --embedder other.onnx

  candidly population --project archive.candidly --out archive.npz

  candidly name ~/Pictures --embedder other.onnx --population population.npz
"""
MOST_LEFT_OUT = 10  # files printed that were not used


def population(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(
            exists=True, file_okay=False, help="A folder with one folder of photos per person."
        ),
    ] = None,
    project: ProjectOption = None,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("population.npz"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    detector: photo_run.DetectorOption = None,
    embedder: photo_run.EmbedderOption = None,
) -> None:
    """Learn how faces vary within one person and between people, for an embedder of your own.

    candidly name uses it with --population FILE, to say how sure a name is in a collection that is
    too small to show it. For Candidly's own detector and embedder it is known already.

    FOLDER has one folder per person, with photos of them; of each photo the largest face counts.
    They need not be people of your collection. Without FOLDER the faces of a project are used that
    somebody, or the metadata of a photo, named. At least 20 people need two faces or more, and 200
    are better. The file has neither names nor faces: a mean and two covariances over all of them.
    """
    source = context.get_parameter_source("project")
    if folder is not None and source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter("FOLDER and --project are two sources; give one")
    if folder is None and (detector or embedder):
        raise typer.BadParameter("--detector and --embedder are for FOLDER; a project has its own")
    with photo_run.RunDisplay("nothing was written") as display:
        try:
            check_target(out, (".npz",), set(), force)
        except Refused as problem:
            raise failure(display.console, problem) from problem
        choices = Choices(detector=detector, embedder=embedder)
        learnt = learn_population(
            folder, project, out=out, choices=choices, on_progress=display.progress
        )
    _show(display.console, learnt, out)
    models = {"detector": detector, "embedder": embedder}
    same = "".join(f" --{name} {file}" for name, file in models.items() if file)
    tell(
        display.console,
        f"to use it: candidly name PHOTOS{readable(same)} --population {readable(str(out))}",
    )


def _show(console: Console, learnt: LearntPopulation, out: Path) -> None:
    for text in learnt.left_out[:MOST_LEFT_OUT]:
        tell(console, f"left out: {readable(text)}")
    if len(learnt.left_out) > MOST_LEFT_OUT:
        tell(console, f"left out: {len(learnt.left_out) - MOST_LEFT_OUT} more")
    for text in learnt.sentences:
        tell(console, text)
    tell(console, f"written to {readable(str(out))}, for {readable(learnt.made.model)}")
