"""candidly review: a page in the browser on which a person decides."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from candidly.cli.listing import ProjectOption
from candidly.cli.refusal import failure, tell
from candidly.extras import require
from candidly.photos import Project, ProjectProblem
from candidly.photos.explaining.face_choice import find_photo

EXAMPLES = "Examples: candidly review; candidly review --photo party.jpg; candidly review --no-open"


def review(
    project: ProjectOption = None,
    photo: Annotated[
        str | None, typer.Option("--photo", help="Begin with this photo: a file, as in why.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; by default a free one.")] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Open a page on which you confirm and correct names, photo by photo.

    The questions come first whose answers settle most. The page is served to this machine only, at
    an address with a secret part; nothing leaves the machine, and photos are only read. Each
    decision is stored at once, and can be undone. Ctrl-C ends it.
    """
    console = Console(stderr=True)
    try:
        for module in ("fastapi", "uvicorn"):
            require(module, "review")
        require("cv2", "photos")
        start = "" if photo is None else f"#photo/{_photo(project, photo)}"
        from candidly.photos.review.server import ReviewServer

        server = ReviewServer(project, port)
    except (ImportError, ProjectProblem) as problem:
        raise failure(console, problem) from problem
    address = server.address + start

    def started() -> None:
        typer.echo(address)
        tell(console, f"reviewing {server.review.path}; Ctrl-C ends it, and keeps every decision")
        if open_browser:
            webbrowser.open(address)

    server.run(started)


def _photo(project: Path | None, photo: str) -> int:
    with Project.open(project) as opened:
        return find_photo(opened, photo)
