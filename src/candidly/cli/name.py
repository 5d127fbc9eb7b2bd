"""candidly name: photos in, and every face a name or rightly none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from candidly.cli import photo_run
from candidly.cli.listing import ProjectOption
from candidly.cli.refusal import readable, tell
from candidly.photos import ProjectProblem
from candidly.photos import name as name_photos
from candidly.photos import report as write_report
from candidly.telling import listening

EXAMPLES = """
[bold]Examples[/bold]

  candidly name ~/Pictures

  candidly name ~/Pictures --full

  candidly name ~/Pictures --no-captions --report pictures.html

  candidly name ~/Pictures --embedder other.onnx --population population.npz

  candidly name archive --project archive.candidly --never never.txt
"""
PAGE = "report.html"


def name(
    photos: photo_run.PhotosArgument,
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
        typer.Option(
            help=f"Where the page of candidly report goes; if not said, {PAGE}, or beside the "
            "project where you are among the photos."
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page.")] = False,
    since: photo_run.SinceOption = None,
    only: photo_run.OnlyOption = None,
    spacy: photo_run.SpacyOption = None,
    aliases: photo_run.AliasesOption = None,
    allow: photo_run.AllowOption = None,
    never: photo_run.NeverOption = None,
    detector: photo_run.DetectorOption = None,
    embedder: photo_run.EmbedderOption = None,
    population: photo_run.PopulationOption = None,
) -> None:
    """Say who is who in a folder of captioned photos: a name for every face, or nobody.

    Photos are taken in first, as by candidly ingest. A name comes from the caption, at most once
    per photo, by likeness to the same person elsewhere, by what the caption says of places, and
    by elimination. New photos are compared with the people known so far; what somebody decided
    is never changed. Which names became others is listed, with why. A page to look at is left.

    Photos about which nothing is written get no names, except with --no-captions: then people
    whom candidly train learnt are recognised in them, and others are nobody.

    Exit codes: 0 all is well; 1 the run could not be done; 2 wrong usage; 3 done, but some
    photos or captions could not be read (they are listed); 130 interrupted.
    """
    photo_run.check_only(photos, only)
    with photo_run.RunDisplay(project=project) as display:
        choices = photo_run.read_choices(
            spacy, aliases, allow, never, detector, embedder, population
        )
        with listening(display.heard):
            named = name_photos(
                photos,
                project,
                full=full,
                cues=not no_cues,
                uncaptioned=no_captions,
                report=None if no_report else report,
                since=since,
                only=only,
                choices=display.expect(choices, uncaptioned=no_captions),
                on_progress=display.progress,
                on_result=display.result,
            )
        if report is None and not no_report:
            _write_default_report(display, named.project, photos)
    display.end(named.project, named.ingested)


def _write_default_report(display: photo_run.RunDisplay, project: Path, photos: Path) -> None:
    """Write the report that was not requested; a failure to write it is only reported.

    Inside of the photos, where nothing is written, it goes beside the project.
    """
    here = not Path.cwd().is_relative_to(photos.resolve())
    page = Path(PAGE) if here else project.with_suffix(".html")
    try:
        display.result(write_report(project, page, on_photo=display.counter("report")))
    except ProjectProblem as problem:
        tell(display.console, f"no report: {readable(str(problem))}")
