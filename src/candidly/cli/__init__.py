"""The command line: one verb a file."""

from __future__ import annotations

from typing import Annotated

import typer

from candidly import __version__
from candidly.cli.compare import EXAMPLES as COMPARE_EXAMPLES
from candidly.cli.compare import compare
from candidly.cli.datasets import datasets
from candidly.cli.demo import demo
from candidly.cli.doctor import doctor
from candidly.cli.faces import faces
from candidly.cli.ingest import EXAMPLES as INGEST_EXAMPLES
from candidly.cli.ingest import ingest
from candidly.cli.methods import methods
from candidly.cli.paper import EXAMPLES as PAPER_EXAMPLES
from candidly.cli.paper import paper
from candidly.cli.photos import photos
from candidly.cli.resolve import resolve

EXAMPLES = """
[bold]Examples[/bold]

  candidly demo                 resolve ambiguous digits, table and picture out

  candidly demo --extra 5       with five wrong candidates each

  candidly resolve faces.csv    label every row of a file

  candidly methods              which methods there are, and when to use each

  candidly compare faces.csv    several methods on one file

  candidly ingest PHOTOS        find faces and read names in captioned photos

  candidly photos               the photos of a project; candidly faces its faces

  candidly paper                the paper's experiments, and a verdict on each claim

  candidly datasets             data sets, sizes and terms

  candidly doctor               what is installed, and what works
"""

app = typer.Typer(
    name="candidly",
    help="Learn from candidate labels: each instance has a few, at most one is right.",
    epilog=EXAMPLES,
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"candidly {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn from candidate labels: each instance has a few, at most one is right."""


app.command(epilog="Example: candidly demo --extra 5 --picture digits.png")(demo)
app.command(epilog="Example: candidly resolve faces.csv --null nobody --plot faces.png")(resolve)
app.command(epilog="Example: candidly methods --json")(methods)
app.command(epilog=COMPARE_EXAMPLES)(compare)
app.command(epilog=PAPER_EXAMPLES)(paper)
app.command(epilog="Example: CANDIDLY_DATA=~/data candidly datasets")(datasets)
app.command(epilog="Example: candidly doctor")(doctor)
app.command(epilog=INGEST_EXAMPLES)(ingest)
app.command(epilog="Example: candidly photos --csv > photos.csv")(photos)
app.command(epilog="Example: candidly faces --project archive.candidly --json")(faces)
