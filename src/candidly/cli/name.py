"""candidly name: photos in, and every face a name or rightly none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import rich.progress as bars
import typer
from rich.console import Console

from candidly.cli.ingest import (
    AliasesOption,
    AllowOption,
    Asked,
    DetectorOption,
    EmbedderOption,
    NeverOption,
    OnlyOption,
    PhotosArgument,
    Recall,
    RecallOption,
    SinceOption,
    SpacyOption,
    choices_of,
    take_in,
)
from candidly.cli.listing import ProjectOption, readable
from candidly.cli.refusal import tell
from candidly.cli.report import write_and_tell

if TYPE_CHECKING:
    from candidly.photos.learning import Recognised
    from candidly.photos.project import Project
    from candidly.photos.solving import Solved

EXAMPLES = """
[bold]Examples[/bold]

  candidly name ~/Pictures

  candidly name ~/Pictures --full

  candidly name ~/Pictures --no-captions --report pictures.html

  candidly name archive --project archive.candidly --never never.txt
"""
SHOWN = 20  # changes that are printed; candidly changes has them all
NOBODY = "nobody"
DOING = "saying who is who"
PAGE = "report.html"


def name(
    photos: PhotosArgument,
    project: ProjectOption = None,
    full: Annotated[
        bool, typer.Option("--full", help="Solve all photos together again, not only new ones.")
    ] = False,
    no_cues: Annotated[
        bool,
        typer.Option("--no-cues", help="Take no notice of places in captions: (L), from left."),
    ] = False,
    no_captions: Annotated[
        bool,
        typer.Option(
            "--no-captions",
            help="Recognise people in photos without captions, too; candidly train learns them.",
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(help=f"Where the page of candidly report goes; {PAGE} if not said."),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page.")] = False,
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
    """Say who is who in a folder of captioned photos: a name for every face, or nobody.

    Photos are taken in first, as by candidly ingest. A name comes from the caption, at most once
    in a photo, by likeness to the same person elsewhere, by what the caption says of places, and
    by elimination. New photos are compared with the people known so far; what somebody decided
    is never changed. Which names became others is listed, with why. A page to look at is left.

    Photos about which nothing is written get no names, but with --no-captions: then people whom
    candidly train learnt are recognised in them, and others are nobody.

    Exit codes: 0 all is well; 1 the run could not be done; 2 wrong usage; 3 done, but some
    photos or captions could not be read (they are listed); 130 interrupted.
    """

    def then(console: Console, opened: Project) -> None:
        solve_and_tell(console, opened, full=full, cues=not no_cues)
        if no_captions:
            recognise_and_tell(console, opened)
        if not no_report:
            _report(console, opened, report)

    if report is not None and report.resolve().is_relative_to(photos.resolve()):
        raise typer.BadParameter(f"--report {report} lies among the photos; choose another place")
    choices = choices_of(recall, spacy, aliases, allow, never, detector, embedder)
    take_in(Asked(photos, project, since, only, choices), "name", then)


def _report(console: Console, project: Project, asked: Path | None) -> None:
    """Write the page; where nobody asked for it, that it cannot be written is no failure."""
    from candidly.photos.project import ProjectProblem

    try:
        write_and_tell(console, project, asked or Path(PAGE))
    except ProjectProblem as problem:
        if asked is not None:
            raise
        tell(console, f"no report: {readable(str(problem))}")


def solve_and_tell(console: Console, project: Project, *, full: bool, cues: bool) -> None:
    """Solve a project, with a sign of life, and say what came out."""
    from candidly.photos.solving import solve

    started = time.monotonic()
    if not console.is_terminal:
        tell(console, DOING)
    columns = (bars.TextColumn(DOING), bars.BarColumn(), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)

        def watch(step: int, of: int) -> None:
            progress.update(task, completed=step, total=of)

        done = solve(project, full=full, cues=cues, on_step=watch)
    _show(console, done, time.monotonic() - started)
    _show_changes(console, project, done)


def recognise_and_tell(console: Console, project: Project) -> None:
    """Name photos without captions by the people learnt, and say what came out."""
    from candidly.photos.learning import name_uncaptioned
    from candidly.photos.remembering import remembered

    with console.status("recognising people in photos without captions"):
        done = name_uncaptioned(project, remembered(project).lists())
    tell(
        console,
        f"{done.photos} photos without captions: {done.named} of {done.faces} faces are people "
        f"learnt in run {done.trained}, the others nobody known",
    )
    _show_changes(console, project, done)


def _show(console: Console, done: Solved, seconds: float) -> None:
    if not done.photos:
        tell(console, "nothing is new: names are as they were")
        return
    how = "all together" if done.full else "new, or of people in new ones"
    tell(
        console,
        f"{done.photos} photos solved in {seconds:.0f} s ({how}): "
        f"{done.named} of {done.faces} faces named, the others nobody",
    )
    for text in done.kept:
        tell(console, readable(text))


def _show_changes(console: Console, project: Project, done: Solved | Recognised) -> None:
    from candidly.photos.project.queries import file_of

    if not done.changes:
        return
    tell(console, f"{len(done.changes)} names changed since the last run:")
    for change in done.changes[:SHOWN]:
        file = file_of(project.connection, change.face)
        tell(
            console,
            f"  {readable(file)}, face {change.face}: {readable(change.before or NOBODY)} is now "
            f"{readable(change.after or NOBODY)}: {readable(change.why)}",
        )
    if len(done.changes) > SHOWN:
        tell(console, f"  and {len(done.changes) - SHOWN} more: candidly changes")
