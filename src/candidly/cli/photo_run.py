"""Shared by the verbs that work on photos: options, progress, results and errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Annotated, Self

import rich.progress as bars
import typer
from rich.console import Console

from candidly.cli.refusal import failure, readable, tell
from candidly.photos import (
    Choices,
    IngestSummary,
    NameChange,
    PopulationProblem,
    ProjectProblem,
    RecognitionSummary,
    ReportFile,
    SolveSummary,
    StageProgress,
)
from candidly.photos.application import StageResult
from candidly.photos.certainty import NamedFaces
from candidly.photos.faces import WeightsProblem
from candidly.photos.names import Text
from candidly.photos.project import default_project
from candidly.photos.project.caption_counts import WRITE, CaptionCounts
from candidly.photos.project.connection import CONTINUE
from candidly.photos.solving.likeness import flags
from candidly.solvers.cost import FORECAST
from candidly.wording import count

SOME_FAILED = 3
EVERY_S = 10.0  # seconds between lines of progress without a terminal
MOST_CHANGES = 20  # number of changes printed; candidly changes lists all
NOBODY = "nobody"
REFUSALS = (ProjectProblem, WeightsProblem, PopulationProblem, ImportError, OSError, ValueError)
STAGES = {
    "ingest": "looking for photos",
    "solve": "saying who is who",
    "recognise": "recognising people in photos without captions",
    "report": "cutting faces out",
    "export": "writing names",
    "copy": "copying",
}


ALIASES = "Other names of people: a file with lines such as 'Tony Blair = A. Blair, Toni'."
ALLOW = "The only people to name: a file, one per line."
NEVER = "People never to name: a file, one per line; a folder ends with /, as school/."

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
SpacyOption = Annotated[
    str | None,
    typer.Option(
        metavar="PIPELINE",
        help="Ask this spaCy pipeline for names, too, or 'any' that is installed.",
    ),
]
AliasesOption = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help=ALIASES)]
AllowOption = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help=ALLOW)]
NeverOption = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help=NEVER)]
DetectorOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Your own YuNet ONNX file; FILE#sha256=... checks it."),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Another ONNX model of aligned 112 x 112 faces; FILE#sha256=... checks it.",
    ),
]
PopulationOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="How faces of your own models vary, by candidly population; all is solved again.",
    ),
]


def check_only(photos: Path, only: Path | None) -> None:
    """Refuse a folder that is not inside the folder of photos."""
    if only is not None and not (photos / only).is_dir():
        raise typer.BadParameter(f"--only {only} is no folder in {photos}")


def read_choices(
    spacy: str | None,
    aliases: Path | None,
    allow: Path | None,
    never: Path | None,
    detector: str | None,
    embedder: str | None,
    population: Path | None = None,
) -> Choices:
    """Return choices, with their lists read from files."""
    lists = {"aliases": aliases, "allow": allow, "never": never}
    texts = {kind: Text.of(path) for kind, path in lists.items() if path is not None}
    return Choices(spacy, **texts, detector=detector, embedder=embedder, population=population)


class RunDisplay:
    """Display of a run on standard error: its progress, and the result of each stage.

    As a context manager it also reports why a run cannot be done, and exits. ``kept`` says what
    remains of a run that is interrupted, ``project`` which file the user named.
    """

    def __init__(self, kept: str = CONTINUE, project: Path | None = None) -> None:
        self._kept, self._project = kept, project
        self.console = Console(stderr=True)
        self._given = Choices()
        self._uncaptioned = False
        self._stage = ""
        self._bar: bars.Progress | None = None
        self._started = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, problem: BaseException | None, traceback: object) -> None:
        self.stop()
        if isinstance(problem, KeyboardInterrupt):
            tell(self.console, f"interrupted; {self._kept}")
            raise typer.Exit(130) from None
        # Where nobody reads on, as in a pipe to head, there is nobody to tell.
        if isinstance(problem, REFUSALS) and not isinstance(problem, BrokenPipeError):
            raise failure(self.console, problem) from problem

    def expect(self, given: Choices, uncaptioned: bool = False) -> Choices:
        """Remember the choices of this run, to distinguish them from lists given before.

        Where people are recognised in photos without captions, those are not called a lack.
        """
        self._given, self._uncaptioned = given, uncaptioned
        return given

    def end(self, project: Path | None, done: IngestSummary) -> None:
        """Print where the project is; exit with 3 if some photos or captions failed."""
        path = (default_project() if project is None else project).resolve()
        tell(self.console, f"project: {readable(str(path))}")
        if done.failed or done.problems:
            raise typer.Exit(SOME_FAILED)

    # While it runs

    def progress(self, news: StageProgress) -> None:
        """Move the bar, or print a line now and then where there is no terminal."""
        if news.stage != self._stage:
            self._begin(news.stage)
        if self._bar is not None:
            text = readable(news.file)[-40:] or STAGES[news.stage]
            text += f", {news.seconds:.0f} s" if news.seconds else ""
            self._bar.update(
                self._bar.task_ids[0], total=news.total, completed=news.done, description=text
            )
        elif news.stage in ("ingest", "solve"):
            self._print_line(news, "photo" if news.stage == "ingest" else "step")

    def counter(self, stage: str) -> Callable[[int, int], None]:
        """Begin a stage, and return a function that moves its bar."""
        self.progress(StageProgress(stage))
        return lambda done, total: self.progress(StageProgress(stage, done, total))

    def _begin(self, stage: str) -> None:
        self.stop()
        self._stage = stage
        self._started = self._last = time.monotonic()
        if self.console.is_terminal:
            self._bar = bars.Progress(
                bars.TextColumn("{task.description}", markup=False),
                bars.BarColumn(),
                bars.MofNCompleteColumn(),
                bars.TimeRemainingColumn(),
                console=self.console,
                transient=True,
            )
            self._bar.add_task(STAGES[stage], total=None)
            self._bar.start()
        elif stage == "solve":
            tell(self.console, STAGES[stage])

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def heard(self, text: str) -> None:
        """Print how long something will take, as it is told beforehand."""
        if FORECAST in text:
            tell(self.console, text)

    def _print_line(self, news: StageProgress, what: str) -> None:
        now = time.monotonic()
        if now - self._last < EVERY_S or not news.total or news.done == news.total:
            return
        if news.seconds >= EVERY_S or not news.done:
            self._last = now
            done = f"{news.done} of {count(news.total, what)} done"
            tell(self.console, f"{readable(news.file)}: {_duration(news.seconds)} so far, {done}")
            return
        self._last = now
        left = (now - self._started) / news.done * (news.total - news.done)
        most = "at most " if what == "step" else ""
        left_now = f"{most}{_duration(left)} left"
        tell(self.console, f"{news.done} of {most}{count(news.total, what)}, {left_now}")

    # Results

    def result(self, done: StageResult) -> None:
        """Print the result of a stage."""
        self.stop()
        seconds = time.monotonic() - self._started
        match done:
            case str():
                tell(self.console, f"warning: {readable(done)}")
            case Choices():
                self._show_kept_lists(done)
            case IngestSummary():
                self._show_ingested(done, seconds)
            case SolveSummary():
                self._show_solved(done, seconds)
                self._show_changes(done.changes)
            case RecognitionSummary():
                self._show_recognised(done)
                self._show_changes(done.changes)
            case ReportFile():
                self._show_report(done)

    def _show_kept_lists(self, used: Choices) -> None:
        """Print which lists of an earlier run are used."""
        for kind, text in used.texts().items():
            if text is not None and text.text.strip() and self._given.texts()[kind] is None:
                tell(self.console, f"the --{kind} list given before is used; an empty file ends it")

    def _show_ingested(self, done: IngestSummary, seconds: float) -> None:
        """Print what was ingested, and what failed and why."""
        parts = [
            f"{count(done.found, 'photo')} in {seconds:.0f} s: {done.new} new, "
            f"{done.unchanged} unchanged"
        ]
        if done.recognised:
            parts.append(f"{done.recognised} recognised")
        if done.gone:
            parts.append(f"{done.gone} gone")
        if done.failed:
            parts.append(f"{len(done.failed)} failed")
        parts.append(f"{count(done.faces, 'face')} found, {count(done.captions, 'caption')} read")
        tell(self.console, ", ".join(parts))
        for file, why in done.failed:
            tell(self.console, f"failed: {readable(file)}: {readable(why)}")
        for problem in done.problems:
            tell(self.console, f"problem: {readable(problem)}")

    def _show_solved(self, done: SolveSummary, seconds: float) -> None:
        if done.photos:
            how = "all together" if done.full else "new, or of people in new ones"
            start = f"{count(done.photos, 'photo')} solved in {seconds:.0f} s ({how})"
            self._show_names(start, done.names)
        elif done.captions.wordless < done.captions.photos:
            tell(self.console, "nothing is new: names are as they were")
        for text in (*done.doubts, *flags(done.unlike), *done.kept):
            tell(self.console, readable(text))
        if not self._uncaptioned:
            self._show_captions(done.captions)

    def _show_names(self, start: str, names: NamedFaces) -> None:
        """Print how many faces are named and how surely, and first where no name is sure."""
        warning = names.warning()
        if warning is not None:
            tell(self.console, warning)
        tell(self.console, f"{start}: {names.in_words()}")

    def _show_captions(self, counts: CaptionCounts) -> None:
        """Print how many photos cannot be named for want of a caption, or of a name in it."""
        for text in counts.sentences():
            tell(self.console, text)
        if counts.photos and counts.wordless == counts.photos:
            tell(self.console, WRITE)

    def _show_recognised(self, done: RecognitionSummary) -> None:
        photos = count(done.photos, "photo")
        start = f"{photos} without captions, by the people learnt in run {done.trained}"
        self._show_names(start, done.names)

    def _show_changes(self, changes: list[NameChange]) -> None:
        if not changes:
            return
        tell(self.console, f"{count(len(changes), 'name')} changed since the last run:")
        for change in changes[:MOST_CHANGES]:
            tell(
                self.console,
                f"  {readable(change.file)}, face {change.face}: "
                f"{readable(change.before or NOBODY)} is now "
                f"{readable(change.after or NOBODY)}: {readable(change.why)}",
            )
        if len(changes) > MOST_CHANGES:
            tell(self.console, f"  and {len(changes) - MOST_CHANGES} more: candidly changes")

    def _show_report(self, done: ReportFile) -> None:
        missing = f", {done.missing} without a picture" if done.missing else ""
        tell(
            self.console,
            f"report: {readable(str(done.path))}, {done.size / 1e6:.1f} MB, "
            f"{count(done.faces, 'face')}{missing}",
        )
        if done.doubtful is not None:
            command = f"candidly review --photo {quote(done.doubtful)}"
            if self._project is not None:
                command += f" --project {quote(str(self._project))}"
            tell(self.console, f"least sure: {readable(command)}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
