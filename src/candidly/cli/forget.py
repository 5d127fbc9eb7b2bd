"""The verb ``candidly forget``: nothing is left of a person, or of how anybody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli.decision_output import complete_name
from candidly.cli.listing import ProjectOption
from candidly.cli.refusal import Refused, failure, readable, tell
from candidly.photos import ProjectProblem
from candidly.photos.keeping import Forgotten, forget_faces, forget_person
from candidly.photos.project import Project, open_project
from candidly.wording import count

EXAMPLES = """
[bold]Examples[/bold]

  candidly forget --person 'Ann Lee' --dry-run

  candidly forget --person 'Ann Lee'

  candidly forget --all-faces --yes
"""
SHOWN = 10  # paths that are listed at most


def forget(
    person: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who is forgotten, under all their names.",
            autocompletion=complete_name,
        ),
    ] = None,
    all_faces: Annotated[
        bool, typer.Option("--all-faces", help="Forget what all faces look like; names stay.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    project: ProjectOption = None,
) -> None:
    """Delete everything about a person from the project, or what all faces look like.

    Of a person go all names, mentions, decisions, changes, and what their faces look like;
    stored captions say "unnamed person" in their place, and the people learnt by candidly train
    and reports beside the project go as well. The bytes are gone from the file, not only the
    rows. Later runs do not bring the person back: the name is known by a keyed hash alone. There
    is no undo.

    Photos, their captions and metadata, exported files, backups and reports elsewhere are not
    touched; where the name is known to be in them they are listed.
    """
    console = Console(stderr=True)
    try:
        if (person is None) == (not all_faces):
            raise Refused("say who is forgotten: --person NAME, or --all-faces")
        with open_project(project, write=True) as opened:
            with console.status("looking for it"):
                would = _forget(opened, person, dry_run=True)
            _show(console, would, "would go" if dry_run else "will go")
            if dry_run:
                return
            if not yes and not _agreed():
                raise Refused("nothing was changed")
            with console.status("forgetting, and writing the file anew"):
                done = _forget(opened, person, dry_run=False)
    except (ProjectProblem, Refused) as problem:
        raise failure(console, problem) from problem
    if done.unclean:
        raise failure(console, Refused(f"forgotten, but {done.unclean}"))
    tell(console, "forgotten")
    if done.recogniser:
        tell(console, "candidly train learns people again")


def _forget(project: Project, person: str | None, *, dry_run: bool) -> Forgotten:
    if person is None:
        return forget_faces(project, dry_run=dry_run)
    return forget_person(project, person, dry_run=dry_run)


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise Refused("there is nobody to ask: add --yes to forget, or --dry-run to look")
    return typer.confirm("Forget? This cannot be undone.", err=True)


def _show(console: Console, done: Forgotten, verb: str) -> None:
    """Print what goes, and where it stays."""
    if done.names:
        names = ", ".join(readable(repr(name)) for name in done.names)
        parts = [
            f"{count(done.mentions, 'mention')} in {count(done.captions, 'caption')}",
            f"what {count(done.faces, 'face')} look{'s' * (done.faces == 1)} like",
            count(done.decisions, "decision"),
            count(done.changes, "changed name"),
        ]
        tell(console, f"{names}: {', '.join(parts)} {verb}")
    else:
        tell(console, f"what {count(done.faces, 'face')} look like {verb}; captions and names stay")
    if done.recogniser:
        tell(console, f"the people learnt by candidly train {verb}")
    _list(console, f"reports that {verb}", map(str, done.reports))
    _list(console, "reports that are not beside the project, and stay", map(str, done.pages))
    _list(console, "other names like it, which stay", map(repr, done.alike))
    _list(console, "exported files that have the name, and keep it", done.exports)
    _list(console, "files that have the name in their path, and keep it", done.files)
    _list(console, "backups, which are not changed", map(str, done.copies))
    if done.captions:
        tell(console, "captions in files and in photos themselves are yours, and stay as they are")


def _list(console: Console, title: str, found: Iterable[str]) -> None:
    lines = list(found)
    for line in [f"{title}:", *(f"  {readable(one)}" for one in lines[:SHOWN])] if lines else []:
        tell(console, line)
    if len(lines) > SHOWN:
        tell(console, f"  and {len(lines) - SHOWN} more")
