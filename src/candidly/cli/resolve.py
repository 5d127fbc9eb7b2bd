"""The verb ``candidly resolve``: labels for a file with candidates."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status
from sklearn.exceptions import ConvergenceWarning

from candidly import datasets, methods
from candidly.candidates import UnlistedClassWarning
from candidly.cli.refusal import Refused, check_picture, check_target, failure, tell
from candidly.resolution import Resolution
from candidly.resolution import resolve as resolve_data
from candidly.solvers.cost import FORECAST
from candidly.telling import listening


def resolve(
    file: Annotated[Path, typer.Argument(help="A .csv, .mat or .npz file with candidates.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the labels: .csv or .json, - for standard output. [FILE.labels.csv]"
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="Name of the method (candidly methods lists them).")
    ] = "CandidateClassifier",
    null: Annotated[
        str | None, typer.Option(help="The label that means 'none of these', for every row.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the result.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of a CSV file.")] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Find the right one of each row's candidate labels.

    A CSV file has feature columns and a column [bold]candidates[/bold] with labels as a|b|c
    (* for any); columns group (rows of a group get different labels), label (the truth, to
    compare with) and id are optional.
    """
    console = Console(stderr=True)
    try:
        target = Path(f"{file.parent / file.stem}.labels.csv") if out is None else out
        check_target(target, (".csv", ".json"), {file}, force)
        if plot is not None:
            check_picture(plot, {file, target}, force)
        methods.describe(method)  # refuses a name that is not one of methods.names()
        with console.status("reading") as status, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = datasets.read(file, null=null, encoding=encoding)
            status.update(f"{method}: solving")
            with listening(_Heard(console, status)):
                resolution = resolve_data(data, method)
        _write(resolution, target)
    except (Refused, OSError, ValueError) as problem:
        raise failure(console, problem) from problem
    for warning in caught:
        if issubclass(warning.category, (ConvergenceWarning, UnlistedClassWarning)):
            console.print(f"note: {warning.message}", highlight=False, markup=False)
    for line in resolution.summary:
        tell(console, line)
    if str(target) != "-":
        tell(console, f"labels: {target}")
    if plot is not None:
        from candidly.plots import picture_of_labels

        picture_of_labels(data.candidates, resolution.model, data.y, plot)
        tell(console, f"picture: {plot}")


class _Heard:
    """What a fit tells: the status, and first how long it will take, which stays."""

    def __init__(self, console: Console, status: Status) -> None:
        self.console, self.status = console, status

    def __call__(self, text: str) -> None:
        """Show a line."""
        if FORECAST in text:
            tell(self.console, text)
        self.status.update(text)


def _write(resolution: Resolution, target: Path) -> None:
    if str(target) == "-":
        resolution.write(sys.stdout, "csv")
        return
    with target.open("w", encoding="utf-8", newline="") as file:
        resolution.write(file, "json" if target.suffix.lower() == ".json" else "csv")
