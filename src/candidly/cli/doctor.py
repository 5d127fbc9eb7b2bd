"""The verb ``candidly doctor``: what is installed and works, and what is wrong with a project."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from candidly import __version__, datasets, methods
from candidly.cli.refusal import failure, readable, tell
from candidly.datasets.store import SOURCES, available, data_folder
from candidly.extras import EXTRAS, installed
from candidly.metrics import labelling_error
from candidly.photos import ProjectProblem
from candidly.photos.keeping import faults, salvage
from candidly.wording import count

CORE = ("numpy", "scipy", "scikit-learn", "typer", "rich")


def doctor(
    project: Annotated[
        Path | None,
        typer.Option(
            "--project", metavar="FILE", dir_okay=False, help="Check this project file instead."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="NEW", help="Save what can be read of a damaged --project into a new file."
        ),
    ] = None,
    all_methods: Annotated[
        bool, typer.Option("--methods", help="Try every method on digits, which takes minutes.")
    ] = False,
) -> None:
    """Check what is installed and works; missing extras are not an error.

    Faces are found, embedded and named in two drawn photos, and one method is tried on digits, in
    a few seconds. With --project a project file is checked instead: its pages, references, tables
    and what has to hold between them. It is only read.

    Exit codes: 0 all is well; 1 something does not work, or is wrong with the project; 2 wrong
    usage.
    """
    console = Console()
    if project is not None:
        _examine(console, project, save)
        return
    if save is not None:
        raise typer.BadParameter("--save is for a damaged project: give it with --project FILE")
    console.print(
        f"candidly {__version__} on Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )
    parts = Table("part", Column("state", no_wrap=True), "what for")
    for name in CORE:
        parts.add_row(name, version(name), "core")
    # Packages are not always called as their modules: cv2, pi_heif.
    packages = packages_distributions()
    for extra, (module, purpose) in EXTRAS.items():
        package = packages.get(module, [module])[0]
        state = version(package) if installed(extra) else f"pip install 'candidly\\[{extra}]'"
        parts.add_row(f"{extra} ({module})", state, purpose)
    console.print(parts)

    data = Table("data set", "state", title=f"Data in {data_folder()}")
    for name in SOURCES:
        data.add_row(name, "found" if available(name) else "not there")
    console.print(data)

    works = [_tried(console, "RowSpace on 300 digits", _digits)]
    if installed("photos"):
        works += [_tried(console, what, check) for what, check in PHOTO_PARTS.items()]
    else:
        tell(console, "photos: not tried, since the extra is not installed")
    if all_methods:
        works.append(_try_methods(console))
    if not all(works):
        raise typer.Exit(1)


# What is installed


def _tried(console: Console, what: str, check: Callable[[], str]) -> bool:
    """Print whether a part works, how well and how fast; return whether it does."""
    start = time.monotonic()
    try:
        with console.status(f"trying {what}"):
            found = check()
    except Exception as error:  # any failure is reported
        tell(console, f"{what}: does not work: {readable(str(error) or type(error).__name__)}")
        return False
    tell(console, f"{what}: works, {found} ({time.monotonic() - start:.1f} s)")
    return True


def _digits() -> str:
    digits = datasets.load("digits", each=30, n_extra=2, random_state=0)
    model = methods.get("RowSpace").fit(digits.X, digits.candidates)
    return f"{labelling_error(digits.y, model.transduction_):.1%} labelling error"


def _detector() -> str:
    from candidly.demo.album import read_picture, two_photos
    from candidly.photos.faces import YuNet

    (photo, _) = two_photos()
    found, shown = len(YuNet().detect(read_picture(photo["file"]))), len(photo["faces"])
    if found != shown:
        raise RuntimeError(f"{count(found, 'face')} found in a drawing of {shown}")
    return f"{count(found, 'face')} found"


def _embedder() -> str:
    from candidly.demo.album import read_picture, two_photos
    from candidly.photos.faces import SFace, YuNet

    pixels = read_picture(two_photos()[0]["file"])
    vectors = SFace().embed(pixels, YuNet().detect(pixels))
    return f"{count(len(vectors), 'embedding')} of {vectors.shape[1]} numbers"


def _album() -> str:
    from candidly.demo.album import compare, copy_photos, two_photos
    from candidly.photos import Project
    from candidly.photos import name as name_photos

    truth = list(two_photos())
    with tempfile.TemporaryDirectory() as place:
        copy_photos(Path(place, "photos"), truth)
        name_photos(Path(place, "photos"), Path(place, "a.candidly"), n_jobs=1)
        with Project.open(Path(place, "a.candidly")) as project:
            compared = list(compare(project, truth))
    right = sum(one.right for one in compared)
    if right < len(compared):
        raise RuntimeError(f"{right} of {count(len(compared), 'face')} named right")
    return f"{count(right, 'face')} named right"


PHOTO_PARTS: dict[str, Callable[[], str]] = {
    "the detector on a drawn photo": _detector,
    "the embedder on its faces": _embedder,
    "candidly name on two drawn photos": _album,
}


def _try_methods(console: Console) -> bool:
    """Fit every method on digits, and print which works; what it does is said while it lasts."""
    names = list(methods.names())
    tell(console, f"{len(names)} methods are tried on 300 digits with 3 candidates each:")
    digits = datasets.load("digits", each=30, n_extra=2, random_state=0)
    works = True
    for number, name in enumerate(names, 1):
        try:
            with console.status(f"trying {name} ({number} of {len(names)})"):
                model = methods.get(name).fit(digits.X, digits.candidates)
        except Exception as error:  # any failure is reported
            tell(console, f"{name}: does not work: {error}")
            works = False
            continue
        wrong = labelling_error(digits.y, model.transduction_)
        tell(console, f"{name}: works, {wrong:.1%} labelling error")
    return works


# A project


def _examine(console: Console, project: Path, save: Path | None) -> None:
    """Print what is wrong with a project, save what can be read, and exit with 1 if it is."""
    try:
        with console.status("reading all of it"):
            found = faults(project)
    except ProjectProblem as problem:
        found = [str(problem)]
    for fault in found:
        tell(console, f"fault: {readable(fault)}")
    if not found:
        tell(console, f"{readable(str(project))}: pages, references, tables and contents are well")
    if save is not None:
        try:
            with console.status("saving what can be read"):
                saved = salvage(project, save)
        except (ProjectProblem, OSError) as problem:
            raise failure(Console(stderr=True), problem) from problem
        rows = ", ".join(f"{table} {number}" for table, number in saved.items())
        tell(console, f"saved into {readable(str(save))}, rows of each table: {rows}")
    elif found and project.exists():
        tell(console, "--save NEW saves what can be read; candidly project restore takes a backup")
    if found:
        raise typer.Exit(1)
