"""candidly demo: the whole way on data that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from candidly import datasets
from candidly.cli.album import show_album
from candidly.cli.digits import run_digits
from candidly.extras import installed


def demo(
    extra: Annotated[
        int, typer.Option(min=1, max=9, help="Wrong candidates added to each digit.")
    ] = 3,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of the wrong candidates.")] = 0,
    picture: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path(
        "candidly-demo.png"
    ),
    album: Annotated[
        bool,
        typer.Option(
            "--album", help="Name the faces of a drawn album instead, as candidly name does."
        ),
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Where the album, its project and its report go.")
    ] = Path("candidly-album"),
) -> None:
    """Resolve ambiguous handwritten digits: candidate sets in, labels out.

    With --album: photos of invented people are drawn, with captions, and their faces named.
    """
    if album:
        show_album(folder, random_state)
        return
    console = Console()
    if not picture.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {picture.absolute().parent}")
    digits = datasets.load("digits", each=60, n_extra=extra, random_state=random_state)
    console.print(
        f"{len(digits.y)} handwritten digits, each with {extra + 1} candidate labels, "
        "one of them right. Nobody tells which.\n"
    )
    table = Table(title="Labels found")
    for column in ("method", "labelling error", "error on unseen digits", "seconds"):
        table.add_column(column, justify="left" if column == "method" else "right")
    best = None
    with console.status("solving") as status:
        for result in run_digits(digits, seed=random_state):
            status.update(f"solved by {result.method}")
            unseen = "" if np.isnan(result.test_error) else f"{result.test_error:.1%}"
            table.add_row(result.method, f"{result.error:.1%}", unseen, f"{result.seconds:.1f}")
            best = result
    console.print(table)
    assert best is not None
    assert best.model is not None
    if not installed("plot"):
        console.print("\nFor a picture of it: pip install 'candidly\\[plot]'")
        return
    from candidly.plots import picture_of_resolution

    picture_of_resolution(
        digits.images,
        digits.candidates,
        best.model.transduction_,
        digits.y,
        best.model.solution_,
        picture,
    )
    console.print(f"\nPicture: {picture}")
