"""candidly ingest: photos in, faces found, names read, into a project file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import rich.progress as bars
import typer
from rich.console import Console

from candidly.cli.listing import ProjectOption, readable
from candidly.cli.refusal import Refused, failure, tell
from candidly.extras import installed
from candidly.photos.choices import Choices
from candidly.photos.names.lists import ListError, Text
from candidly.photos.summary import Progress, Summary

if TYPE_CHECKING:
    from candidly.photos.project import Project

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


ALIASES = "Other names of people: a file with lines such as 'Tony Blair = A. Blair, Toni'."
ALLOW = "The only people to name: a file, one a line."
NEVER = "People never to name: a file, one a line; a folder ends with /, as school/."

PhotosArgument = Annotated[
    Path, typer.Argument(exists=True, file_okay=False, help="The folder of your photos.")
]
SinceOption = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only photos changed then or later."
    ),
]
OnlyOption = Annotated[Path | None, typer.Option(help="Only this folder inside PHOTOS.")]
RecallOption = Annotated[
    Recall, typer.Option(help="Names in captions: precise, or high to miss none and err more.")
]
SpacyOption = Annotated[
    str | None,
    typer.Option(
        metavar="PIPELINE",
        help="Ask this spaCy pipeline for names, too, or 'any' that is installed;"
        " --recall high asks one by itself.",
    ),
]
AliasesOption = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help=ALIASES)]
AllowOption = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help=ALLOW)]
NeverOption = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help=NEVER),
]
DetectorOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A YuNet ONNX file of your own; FILE#sha256=... checks it."),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Another ONNX model of aligned 112 x 112 faces; FILE#sha256=... checks it.",
    ),
]


@dataclass(frozen=True)
class Asked:
    """What was asked of a command that takes photos in."""

    photos: Path
    project: Path | None
    since: datetime | None
    only: Path | None
    choices: Choices


def choices_of(
    recall: Recall,
    spacy: str | None,
    aliases: Path | None,
    allow: Path | None,
    never: Path | None,
    detector: str | None,
    embedder: str | None,
) -> Choices:
    """Choices, with their lists read."""
    try:
        lists = {
            kind: Text.of(path)
            for kind, path in (("aliases", aliases), ("allow", allow), ("never", never))
            if path is not None
        }
    except (ListError, OSError) as problem:
        raise failure(Console(stderr=True), problem) from problem
    return Choices(recall.value, spacy, **lists, detector=detector, embedder=embedder)


def ingest(
    photos: PhotosArgument,
    project: ProjectOption = None,
    since: SinceOption = None,
    only: OnlyOption = None,
    recall: RecallOption = Recall.PRECISE,
    spacy: SpacyOption = None,
    aliases: AliasesOption = None,
    allow: AllowOption = None,
    never: NeverOption = None,
    detector: DetectorOption = None,
    embedder: EmbedderOption = None,
) -> None:
    """Find the faces in a folder of photos, read the names in their captions, keep both.

    Photos are only read. What has not changed since the last time is skipped, so the same
    command again continues where it was stopped, reads corrected captions and recognises what
    was moved.

    Exit codes: 0 all is well; 1 the run could not be done; 2 wrong usage; 3 done, but some
    photos or captions could not be read (they are listed); 130 interrupted.
    """
    choices = choices_of(recall, spacy, aliases, allow, never, detector, embedder)
    take_in(Asked(photos, project, since, only, choices), "ingest")


def take_in(
    asked: Asked, command: str, then: Callable[[Console, Project], None] | None = None
) -> None:
    """Take photos into a project, do what comes then with it, and say how it went."""
    console = Console(stderr=True)
    if asked.only is not None and not (asked.photos / asked.only).is_dir():
        raise typer.BadParameter(f"--only {asked.only} is no folder in {asked.photos}")
    if not installed("photos"):
        problem = Refused(f"candidly {command} needs OpenCV: pip install 'candidly[photos]'")
        raise failure(console, problem)
    from candidly.photos.faces import WeightsProblem
    from candidly.photos.project import Project, ProjectProblem
    from candidly.photos.project.problems import KEPT
    from candidly.photos.remembering import remember

    try:
        asked.choices.lists()  # a wrong one is refused before a project is made
        with Project.open(asked.project, write=True) as opened:
            place = opened.path
            choices = remember(opened, asked.choices)
            _tell_kept(console, asked.choices, choices)
            done = _ingest(console, opened, asked, choices)
            if then is not None:
                then(console, opened)
    except KeyboardInterrupt:
        tell(console, f"interrupted; {KEPT}")
        raise typer.Exit(130) from None
    except (ProjectProblem, WeightsProblem, ImportError, OSError, ValueError) as problem:
        raise failure(console, problem) from problem
    tell(console, f"project: {readable(str(place))}")
    if done.failed or done.problems:
        raise typer.Exit(SOME_FAILED)


def _tell_kept(console: Console, given: Choices, used: Choices) -> None:
    """Say which lists of an earlier run are used."""
    for kind, text in used.texts().items():
        if text is not None and text.text.strip() and given.texts()[kind] is None:
            tell(console, f"the --{kind} list given before is used; an empty file ends it")


def _ingest(console: Console, project: Project, asked: Asked, choices: Choices) -> Summary:
    from candidly.photos.defaults import default_parts
    from candidly.photos.ingest import ingest as ingest_photos

    started = time.monotonic()
    with _watching(console) as watch:
        done = ingest_photos(
            project,
            asked.photos,
            default_parts(choices),
            since=asked.since,
            only=asked.only,
            settings=choices.settings(),
            on_progress=watch,
        )
    _show(console, done, time.monotonic() - started)
    return done


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
