"""One page of a project that needs nothing but a browser."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from candidly.photos.project import Project, ProjectProblem
from candidly.photos.telling.contents import read_contents
from candidly.photos.telling.crops import crops
from candidly.photos.telling.page import SIZE, page_of, pictures_of

OURS = b'name="generator" content="candidly'


@dataclass(frozen=True)
class Written:
    """A page that was written: how large, with how many faces, and how many have no picture."""

    path: Path
    size: int
    faces: int
    missing: int


def write_report(
    project: Project,
    path: Path,
    *,
    force: bool = False,
    on_photo: Callable[[int, int], None] | None = None,
) -> Written:
    """Write the report of a project: one file that fetches nothing.

    Parameters
    ----------
    project : Project
    path : Path
        Where to; never in a folder of photos.
    force : bool
        Replace a file that is no report of ours.
    on_photo : callable, optional
        Told how many photos were opened for their faces, and of how many.
    """
    _check(project, path, force)
    contents = read_contents(project)
    wanted = pictures_of(contents)
    with project.snapshot() as sql:
        cut = crops(sql, wanted, on_photo)
    page = page_of(project.path.stem, contents, cut)
    text = page.replace(SIZE, f"{max(len(page.encode()) / 1e6, 0.1):.1f} MB")
    _write(path, text.encode())
    return Written(path, path.stat().st_size, len(wanted), len(wanted - cut.keys()))


def _check(project: Project, path: Path, force: bool) -> None:
    whole = path.resolve()
    for root in project.roots():
        if whole.is_relative_to(root.path):
            raise ProjectProblem(
                f"{path} would lie among the photos in {root.path}, where nothing is written; "
                "choose another place with --out FILE"
            )
    if whole.is_dir():
        raise ProjectProblem(f"{path} is a folder; choose a file with --out FILE")
    if not whole.parent.is_dir():
        raise ProjectProblem(f"there is no folder {whole.parent}; make it, or choose another")
    if whole.exists() and not force:
        with whole.open("rb") as file:
            if OURS not in file.read(2048):
                raise ProjectProblem(
                    f"{path} is there already and is no report; choose another with --out FILE, "
                    "or --force to replace it"
                )


def _write(path: Path, data: bytes) -> None:
    """All of it or nothing."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.resolve().parent, delete=False) as file:
            made = Path(file.name)
            try:
                file.write(data)
                file.flush()
                made.chmod(0o666 & ~_umask())
                made.replace(path)
            except BaseException:
                made.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise ProjectProblem(
            f"{path} cannot be written ({error.strerror}); choose another place with --out FILE"
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
