"""candidly export: names into copies of photos, sidecars and tables, and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli.asking import ask, is_terminal, read_answers, write_questions
from candidly.cli.audit import AnswersOption, QuestionsOption, WriteQuestionsOption, parse_share
from candidly.cli.listing import ProjectOption
from candidly.cli.photo_run import SOME_FAILED, RunDisplay, SinceOption
from candidly.cli.refusal import readable, tell
from candidly.photos.auditing import Audit, PromisedNames
from candidly.photos.auditing.audit import QUESTIONS
from candidly.photos.exporting import (
    ExportSummary,
    ExportTargets,
    undo_export,
)
from candidly.photos.exporting import (
    export as write_names,
)
from candidly.photos.exporting.exiftool import PACKAGE, has_exiftool
from candidly.photos.exporting.targets import SIDECARS, Sidecar
from candidly.photos.project import Project, open_project
from candidly.wording import count, one_or_more

EXAMPLES = """
Examples: candidly export ~/named; candidly export --beside --sidecar adobe --dry-run; candidly
export ~/named --max-error 1%; candidly export --csv names.csv --only 'Ann Lee'; candidly export
--undo
"""
MOST_SHOWN = 10


def _kind(text: str | None) -> Sidecar | None:
    if text is not None and text not in SIDECARS:
        raise typer.BadParameter(f"{text!r} is neither adobe (a.xmp) nor digikam (a.jpg.xmp)")
    return text


def export(
    folder: Annotated[
        Path | None,
        typer.Argument(
            file_okay=False,
            show_default=False,
            help="Folder for copies of JPEG photos, and for sidecars.",
        ),
    ] = None,
    project: ProjectOption = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Write sidecars beside the photos instead.")
    ] = False,
    sidecar: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Only sidecars, as Adobe's programs (adobe) or digikam name them."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write a table that ExifTool imports.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write the same as JSON, names exactly as they are."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only people or files like this: 'Ann Lee', 'Ann*', '2024/*'; several."),
    ] = None,
    since: SinceOption = None,
    max_error: Annotated[
        float | None,
        typer.Option(
            parser=parse_share,
            metavar="SHARE",
            help="Write as many names as can be promised: with 95% confidence at most 1%, say, are "
            "wrong.",
        ),
    ] = None,
    questions: QuestionsOption = QUESTIONS,
    answers: AnswersOption = None,
    to: WriteQuestionsOption = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sample, where one is drawn.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing, and list what would be written.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last export back.")] = False,
) -> None:
    """Write names for other programs to read: regions, people shown and keywords in XMP.

    Sure names are written, and those that somebody confirmed or an export wrote before. With
    --max-error the surest names are written of which that promise holds; it takes answers, which it
    asks for. Confirmed names are always written.

    Photos are only read. JPEG photos are copied to FOLDER with the names inside, by ExifTool;
    without it, for other formats and with --sidecar, names go into sidecars. What other programs
    wrote there stays. Names that were exported stay as they are until somebody decides otherwise.
    """
    with RunDisplay() as display:
        console = display.console
        if undo:
            _undo(console, project)
            return
        targets = ExportTargets(folder, beside, _kind(sidecar), csv, json)
        if max_error is None and (answers or to):
            raise ValueError("--answers and --write-questions of an export need --max-error")
        missing = False
        with open_project(project, write=not dry_run or max_error is not None) as opened:
            faces = None
            if max_error is not None:
                promised = _promised(opened, console, max_error, questions, seed, answers, to)
                faces, missing = promised.faces, not promised.holds
                _tell_promise(console, promised)
            done = write_names(
                opened,
                targets,
                faces=faces,
                only=only or (),
                since=since,
                dry_run=dry_run,
                max_error=max_error,
                on_file=display.counter("export"),
            )
        display.stop()
        if max_error is None:
            tell(console, "written are sure and confirmed names, and those exported before")
        _tell_export(console, done, targets, dry_run=dry_run)
        if max_error is not None and not missing and (only or since):
            tell(console, "the promise is about all names that keep it, not about a part of them")
    if missing or done.skipped:
        raise typer.Exit(SOME_FAILED)


def _promised(
    opened: Project,
    console: Console,
    max_error: float,
    questions: int,
    seed: int | None,
    answers: Path | None,
    to: Path | None,
) -> PromisedNames:
    """Return what can be promised, after asking what is missing."""
    audit = Audit(opened, seed, questions)
    if answers is not None:
        tell(console, f"{count(read_answers(audit, answers), 'answer')} read")
    found = audit.promise(max_error)
    if to is not None:
        written = write_questions(to, map(audit.question, found.ask))
        tell(console, f"{count(written, 'question')} in {readable(str(to))}")
    elif answers is None and is_terminal():

        def next_face() -> int | None:
            now = audit.promise(max_error)
            within = now.asked < questions
            return now.ask[0] if now.ask and within else None

        def many() -> str:
            now = audit.promise(max_error)
            return f"{now.asked} answered, {now.more} more if all names are right"

        ask(audit, console, next_face, many)
    return audit.promise(max_error)


def _tell_promise(console: Console, found: PromisedNames) -> None:
    share = f"{100 * found.max_error:g}%"
    if found.holds:
        tell(
            console,
            f"promised by {count(found.asked, 'answer')}: with 95% confidence at most {share} of "
            f"{count(found.kept, 'name')} are wrong ({found.left} at most)",
        )
    else:
        tell(
            console,
            f"at most {share} wrong cannot be promised by {count(found.asked, 'answer')}: "
            f"{found.more} more {one_or_more(found.more, 'is', 'are')} needed if no further name "
            "is wrong; only confirmed names are written",
        )
        if found.set_size:
            bound = 100 * found.left / max(found.kept, 1)
            tell(
                console,
                f"by the answers so far at most {bound:.1f}% of {count(found.kept, 'name')} are "
                "wrong; candidly export --max-error with --write-questions FILE, and then "
                "--answers FILE, asks without a terminal",
            )
    if found.changed:
        tell(
            console,
            f"{count(found.changed, 'name')} changed since they were drawn, and are not promised; "
            "candidly audit --new draws again",
        )


def _tell_export(
    console: Console, done: ExportSummary, targets: ExportTargets, *, dry_run: bool
) -> None:
    if dry_run:
        for path, names in done.files.items():
            sys.stdout.write(readable(f"{path}: {', '.join(names) or 'no name any more'}") + "\n")
    verb = "would be written" if dry_run else "written"
    same = f", {done.unchanged} unchanged" if done.unchanged else ""
    tell(
        console,
        f"{count(done.names, 'name')} ({done.confirmed} confirmed), "
        f"{count(len(done.files), 'file')} {verb}{same}",
    )
    if targets.folder is not None and targets.sidecar is None and not has_exiftool():
        tell(console, f"names are in sidecars; to have them in copies, install ExifTool: {PACKAGE}")
    for words, found in (("note", done.remarks), ("skipped", done.skipped)):
        for file, why in found[:MOST_SHOWN]:
            tell(console, f"{words}: {readable(file)}: {readable(why)}")
        if len(found) > MOST_SHOWN:
            tell(console, f"{words}: and {len(found) - MOST_SHOWN} more")
    if done.number is not None:
        tell(console, f"export {done.number}; candidly export --undo takes it back")


def _undo(console: Console, project: Path | None) -> None:
    done = undo_export(project)
    tell(
        console,
        f"export {done.number} is taken back: {count(len(done.removed), 'file')} removed, "
        f"{len(done.restored)} as before",
    )
    for path, why in done.left[:MOST_SHOWN]:
        tell(console, f"left as it is: {readable(str(path))}: {why}")
    if len(done.left) > MOST_SHOWN:
        tell(console, f"left as they are: {len(done.left) - MOST_SHOWN} more")
