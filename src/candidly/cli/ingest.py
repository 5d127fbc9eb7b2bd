"""candidly ingest: photos in, faces found, names read, into a project file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import rich.progress as bars
import typer
from rich.console import Console

from candidly.cli.listing import ProjectOption, readable
from candidly.cli.refusal import Refused, failure, tell
from candidly.extras import installed
from candidly.photos.summary import Progress, Summary

EXAMPLES = """
[bold]Examples[/bold]

  candidly ingest ~/Pictures

  candidly ingest ~/Pictures --since 2024-01-01 --only 2024/wedding

  candidly ingest archive --project archive.candidly --recall high --aliases aliases.txt
"""
SOME_FAILED = 3
EVERY_S = 10.0  # between lines of progress where there is no terminal


class Recall(StrEnum):
    """How many names to find."""

    PRECISE = "precise"
    HIGH = "high"


def ingest(
    photos: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="The folder of your photos.")
    ],
    project: ProjectOption = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only photos changed then or later."
        ),
    ] = None,
    only: Annotated[Path | None, typer.Option(help="Only this folder inside PHOTOS.")] = None,
    recall: Annotated[
        Recall,
        typer.Option(help="Names in captions: precise, or high to miss none and err more."),
    ] = Recall.PRECISE,
    spacy: Annotated[
        str | None,
        typer.Option(
            metavar="PIPELINE",
            help="Ask this spaCy pipeline for names, too, or 'any' that is installed;"
            " --recall high asks one by itself.",
        ),
    ] = None,
    aliases: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Other names of people: a file with lines such as 'Tony Blair = A. Blair, Toni'.",
        ),
    ] = None,
    allow: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="The only people to name: a file, one a line."
        ),
    ] = None,
    never: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="People never to name: a file, one a line; a folder ends with /, as school/.",
        ),
    ] = None,
) -> None:
    """Find the faces in a folder of photos, read the names in their captions, keep both.

    Photos are only read. What has not changed since the last time is skipped, so the same
    command again continues where it was stopped, reads corrected captions and recognises what
    was moved.

    Exit codes: 0 all is well; 1 the run could not be done; 2 wrong usage; 3 done, but some
    photos or captions could not be read (they are listed); 130 interrupted.
    """
    console = Console(stderr=True)
    if only is not None and not (photos / only).is_dir():
        raise typer.BadParameter(f"--only {only} is no folder in {photos}")
    if not installed("photos"):
        problem = Refused("candidly ingest needs OpenCV: pip install 'candidly[photos]'")
        raise failure(console, problem)
    from candidly.photos.defaults import Choices, default_parts
    from candidly.photos.faces import WeightsProblem
    from candidly.photos.ingest import ingest as ingest_photos
    from candidly.photos.project import Project, ProjectProblem
    from candidly.photos.project.problems import KEPT

    started = time.monotonic()
    try:
        parts = default_parts(Choices(recall.value, spacy, aliases, allow, never))
        with Project.open(project, write=True) as opened:
            place = opened.path
            settings = {
                "recall": recall.value,
                "spacy": spacy,
                **{
                    name: None if path is None else str(path)
                    for name, path in (("aliases", aliases), ("allow", allow), ("never", never))
                },
            }
            with _watching(console) as watch:
                done = ingest_photos(
                    opened,
                    photos,
                    parts,
                    since=since,
                    only=only,
                    settings=settings,
                    on_progress=watch,
                )
    except KeyboardInterrupt:
        tell(console, f"interrupted; {KEPT}")
        raise typer.Exit(130) from None
    except (ProjectProblem, WeightsProblem, ImportError, OSError, ValueError) as problem:
        raise failure(console, problem) from problem
    _show(console, done, time.monotonic() - started)
    tell(console, f"project: {readable(str(place))}")
    if done.failed or done.problems:
        raise typer.Exit(SOME_FAILED)


def _show(console: Console, done: Summary, seconds: float) -> None:
    """What was done, and what failed and why."""
    parts = [f"{done.found} photos in {seconds:.0f} s: {done.new} new, {done.unchanged} unchanged"]
    if done.recognised:
        parts.append(f"{done.recognised} recognised")
    if done.gone:
        parts.append(f"{done.gone} gone")
    if done.failed:
        parts.append(f"{len(done.failed)} failed")
    parts.append(f"{done.faces} faces found, {done.captions} captions read")
    tell(console, ", ".join(parts))
    for file, why in done.failed:
        tell(console, f"failed: {readable(file)}: {readable(why)}")
    for problem in done.problems:
        tell(console, f"problem: {readable(problem)}")


@contextmanager
def _watching(console: Console) -> Iterator[Callable[[Progress], None]]:
    """A bar with the time left, or a line now and then where there is no terminal."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("looking for photos", total=None)

        def watch(news: Progress) -> None:
            name = readable(news.file)[-40:]
            progress.update(task, total=news.total, completed=news.done, description=name)

        yield watch


class _Lines:
    """Progress in lines, not too many."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started = self.last = time.monotonic()

    def __call__(self, news: Progress) -> None:
        now = time.monotonic()
        if now - self.last < EVERY_S or not news.done or news.done == news.total:
            return
        self.last = now
        left = (now - self.started) / news.done * (news.total - news.done)
        tell(self.console, f"{news.done} of {news.total} photos, {_duration(left)} left")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
