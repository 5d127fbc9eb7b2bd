"""The command line: one file per verb, which parses, calls the library and prints.

The verbs are ``audit``, ``changes``, ``compare``, ``datasets``, ``demo``, ``doctor``, ``export``,
``faces``, ``forget``, ``history``, ``ingest``, ``methods``, ``name``, ``people``, ``photos``,
``population``, ``report``, ``resolve``, ``review``, ``train``, ``undo`` and ``why``;
``project_files`` has ``project backup`` and ``project restore``, ``face_decisions`` has ``is``,
``not``, ``nobody`` and ``ignore``, ``name_decisions`` has ``merge``, ``rename`` and ``split``.
``decision_output`` has what those and ``undo`` share, ``asking`` what ``audit`` and ``export``
share, ``photo_run`` has the options, progress and output that the photo verbs share, ``listing``
prints lists, ``refusal`` reports errors.
"""

from __future__ import annotations

import sqlite3
from typing import Annotated, Any

import typer
import typer.core
from rich.console import Console

from candidly import __version__
from candidly.cli.audit import EXAMPLES as AUDIT_EXAMPLES
from candidly.cli.audit import audit
from candidly.cli.changes import changes
from candidly.cli.compare import EXAMPLES as COMPARE_EXAMPLES
from candidly.cli.compare import compare
from candidly.cli.datasets import datasets
from candidly.cli.demo import demo
from candidly.cli.doctor import doctor
from candidly.cli.export import EXAMPLES as EXPORT_EXAMPLES
from candidly.cli.export import export
from candidly.cli.face_decisions import confirm, ignore, nobody, reject
from candidly.cli.faces import faces
from candidly.cli.forget import EXAMPLES as FORGET_EXAMPLES
from candidly.cli.forget import forget
from candidly.cli.history import history
from candidly.cli.ingest import EXAMPLES as INGEST_EXAMPLES
from candidly.cli.ingest import ingest
from candidly.cli.methods import methods
from candidly.cli.name import EXAMPLES as NAME_EXAMPLES
from candidly.cli.name import name
from candidly.cli.name_decisions import merge, rename, split
from candidly.cli.people import people
from candidly.cli.photos import photos
from candidly.cli.population import EXAMPLES as POPULATION_EXAMPLES
from candidly.cli.population import population
from candidly.cli.project_files import app as project_files
from candidly.cli.refusal import failure
from candidly.cli.report import report
from candidly.cli.resolve import resolve
from candidly.cli.review import EXAMPLES as REVIEW_EXAMPLES
from candidly.cli.review import review
from candidly.cli.train import train
from candidly.cli.undo import undo
from candidly.cli.why import why
from candidly.photos import ProjectProblem

SUMMARY = "Learn from candidate labels: each instance has several, at most one is right."
EXAMPLES = """
[bold]Examples[/bold]

  candidly demo                 resolve ambiguous digits, print a table, draw a picture

  candidly demo --album         name the faces of a drawn album, write a report

  candidly resolve faces.csv    label every row of a file

  candidly methods              list all methods, and when to use each

  candidly compare faces.csv    compare several methods on one file

  candidly ingest PHOTOS        find faces and read names in captioned photos

  candidly name PHOTOS          the same, and name every face

  candidly changes              list the names that the last run changed, and why

  candidly why FACE             explain why a face has its name, or none

  candidly is FACE NAME         decide who it is; not, nobody, ignore, merge, rename, split

  candidly undo                 take the last decision back; candidly history lists all

  candidly review               decide in the browser, photo by photo

  candidly audit                say how wrong the names are, by a few questions

  candidly export FOLDER        write names into copies of photos, sidecars or tables

  candidly forget               delete everything about a person, to the last byte

  candidly project backup       copy a project; candidly project restore takes the copy

  candidly report               write one page of all people, the least certain first

  candidly people               list the people of a project, with counts

  candidly train                learn people; candidly name PHOTOS --no-captions uses it

  candidly population FOLDER    learn how faces of your own embedder vary

  candidly photos               list the photos of a project; candidly faces its faces

  candidly datasets             list the data sets, with sizes and terms

  candidly doctor               check what is installed and works
"""


class Verbs(typer.core.TyperGroup):
    """The verbs; an error of SQLite that none of them explains is one of a damaged project."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except sqlite3.DatabaseError as error:
            problem = ProjectProblem(
                f"the project cannot be read or written ({error}); candidly doctor --project FILE "
                "says whether it is damaged, and saves what can be read"
            )
            raise failure(Console(stderr=True), problem) from error


app = typer.Typer(
    name="candidly",
    cls=Verbs,
    epilog=EXAMPLES,
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"candidly {__version__}")
        raise typer.Exit


@app.callback(help=SUMMARY)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Handle the options of the command itself."""


app.command(epilog="Examples: candidly demo --extra 5; candidly demo --album")(demo)
app.command(epilog="Example: candidly resolve faces.csv --null nobody --plot faces.png")(resolve)
app.command(epilog="Example: candidly methods --json")(methods)
app.command(epilog=COMPARE_EXAMPLES)(compare)
app.command(epilog="Example: CANDIDLY_DATA=~/data candidly datasets")(datasets)
app.command(epilog="Examples: candidly doctor; candidly doctor --project archive.candidly")(doctor)
app.command(epilog=INGEST_EXAMPLES)(ingest)
app.command(epilog=NAME_EXAMPLES)(name)
app.command(epilog="Example: candidly changes --json")(changes)
app.command(epilog="Example: candidly why 2024/wedding.jpg#2")(why)
app.command(epilog=REVIEW_EXAMPLES)(review)
app.command(epilog=AUDIT_EXAMPLES)(audit)
app.command(epilog=EXPORT_EXAMPLES)(export)
app.command(epilog="Example: candidly report --out archive.html")(report)
app.command(epilog="Example: candidly people --csv > people.csv")(people)
app.command(epilog="Example: candidly train --project archive.candidly")(train)
app.command(epilog=POPULATION_EXAMPLES)(population)
app.command(epilog="Example: candidly photos --person 'Ann Lee' --person 'Bob Ray'")(photos)
app.command(epilog="Example: candidly faces --project archive.candidly --json")(faces)
app.command("is", epilog="Example: candidly is 2024/wedding.jpg#2 'Ann Lee'")(confirm)
app.command("not", epilog="Example: candidly not 2024/wedding.jpg#2 'Bob Ray'")(reject)
app.command(epilog="Example: candidly nobody 2024/wedding.jpg#3")(nobody)
app.command(epilog="Example: candidly ignore 2024/wedding.jpg#4")(ignore)
app.command(epilog="Example: candidly merge Johnny 'Johnny Galecki'")(merge)
app.command(epilog="Example: candidly rename 'Ann Lee' 'Ann Ray'")(rename)
app.command(epilog="Example: candidly split Johnny 'Johnny Depp' party.jpg#2 beach.jpg")(split)
app.command(epilog="Examples: candidly undo; candidly undo 3 5; candidly undo --since 2026-05-01")(
    undo
)
app.command(epilog="Example: candidly history --json")(history)
app.command(epilog=FORGET_EXAMPLES)(forget)
app.add_typer(project_files, name="project")
