"""candidly demo: the whole way on data that ships with the package."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from candidly import datasets
from candidly.cli.name import name
from candidly.cli.refusal import Refused, failure, tell
from candidly.demo.digits import run_digits
from candidly.extras import installed


def demo(
    extra: Annotated[
        int, typer.Option(min=1, max=9, help="Wrong candidates added to each digit.")
    ] = 3,
    random_state: Annotated[
        int | None, typer.Option(min=0, help="Seed of the wrong candidates. [0]")
    ] = None,
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

    With --album: the faces of 40 drawn photos of invented people are named by their captions, and
    the names compared with the truth.
    """
    if album:
        if random_state is not None:
            raise typer.BadParameter("--random-state is for the digits; the album is drawn already")
        _show_album(folder)
    else:
        _show_digits(extra, random_state or 0, picture)


def _show_digits(extra: int, random_state: int, picture: Path) -> None:
    """Resolve digits, print the errors of each method, and draw a picture."""
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
        for result in run_digits(digits, random_state=random_state):
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


def _show_album(folder: Path) -> None:
    """Name the faces of the album by ``candidly name``, and print how many names are right."""
    console = Console()
    if not installed("photos"):
        problem = Refused("candidly demo --album needs OpenCV: pip install 'candidly[photos]'")
        raise failure(console, problem)
    from candidly.demo.album import compare, copy_album, count_right, read_truth
    from candidly.photos.project import Project

    truth = read_truth()
    try:
        new = copy_album(folder)
    except OSError as problem:
        raise failure(console, problem) from problem
    shown = sum(len(photo["faces"]) for photo in truth)
    if new:
        tell(
            console, f"{len(truth)} drawn photos of invented people, {shown} faces, with captions:"
        )
        for photo in truth[:3]:
            tell(console, f"  {photo['file']}: {photo['caption']}")
    else:
        tell(console, f"The album in {folder} is there from an earlier demo.")
    photos, project, page = folder / "photos", folder / "album.candidly", folder / "report.html"
    words = ["candidly", "name", photos, "--project", project, "--report", page]
    tell(console, f"$ {shlex.join(map(str, words))}")
    name(photos, project, report=page)
    with Project.open(project) as opened:
        counts = count_right(compare(opened, truth))
    table = Table(title="Names found, against the truth that only this demo knows")
    for column in ("faces", "right", "of", ""):
        table.add_column(column, justify="left" if column == "faces" else "right")
    for kind, (right, faces) in counts.items():
        table.add_row(kind, str(right), str(faces), f"{right / max(faces, 1):.1%}")
    console.print(table)
    tell(console, f"Open {page.absolute()} to look at it; the photos are in {photos}")
