"""The file of the report: faces cut out of the photos as they are now, and the page written."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos import private
from candidly.photos.geometry import Box
from candidly.photos.pictures import Picture, PictureProblem, open_picture
from candidly.photos.project import Project, ProjectProblem, open_project
from candidly.photos.project.queries import in_batches
from candidly.photos.reporting.contents import read_contents
from candidly.photos.reporting.page import FACE_PIXELS, SIZE, faces_on_page, render_page

QUALITY = 70
PHOTO_SIDE = 480
"""Longer side of a whole photo on the page, in pixels."""
MARGIN = 0.25
"""Part of a face's size that is left around it."""
OURS = b'name="generator" content="candidly'


@dataclass(frozen=True)
class ReportFile:
    """A page that was written: its size, its number of faces, and how many have no picture.

    ``doubtful`` is the file of the photo with the least sure face, if any.
    """

    path: Path
    size: int
    faces: int
    missing: int
    doubtful: str | None = None


def report(
    project: Project | str | os.PathLike[str] | None = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    force: bool = False,
    on_photo: Callable[[int, int], None] | None = None,
) -> ReportFile:
    """Write the report of a project: one HTML file that fetches nothing.

    Needs the extra ``photos``.

    Parameters
    ----------
    project : Project or path, optional
        A project or its file; None for the one in the user's data folder.
    path : path
        The file to write; never in a folder of photos.
    force : bool
        Replace a file that is not a report of Candidly.
    on_photo : callable, optional
        Called with the number of photos opened for their faces, and their total number.

    Returns
    -------
    ReportFile

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/empty.candidly", write=True) as project:
    ...         report(project, f"{folder}/report.html").faces
    0
    """
    require("PIL.Image", "photos")
    path = Path(path)
    with open_project(project) as opened:
        check_place(opened, path, force)
        contents = read_contents(opened)
        wanted = faces_on_page(contents)
        with opened.snapshot() as sql:
            crops = face_crops(sql, wanted, on_photo)
            pictures = {}
            for one in contents.photos:
                picture = picture_of(sql, one.photo)
                if picture is not None:
                    pictures[one.photo] = smaller(picture.pixels, PHOTO_SIDE)
        page = render_page(opened.path.stem, contents, crops, pictures)
    text = page.replace(SIZE, f"{max(len(page.encode()) / 1e6, 0.1):.1f} MB")
    _write(path, text.encode())
    doubtful = contents.photos[0].file if contents.photos else None
    missing = len(wanted - crops.keys())
    return ReportFile(path, path.stat().st_size, len(wanted), missing, doubtful)


def check_place(project: Project, path: Path, force: bool = False) -> None:
    """Raise an error if a report cannot be written there."""
    whole = path.resolve()
    for root in project.roots():
        if whole.is_relative_to(root.path):
            raise ProjectProblem(
                f"{path} would lie among the photos in {root.path}, where nothing is written; "
                "choose another place"
            )
    if whole.is_dir():
        raise ProjectProblem(f"{path} is a folder; choose a file")
    if not whole.parent.is_dir():
        raise ProjectProblem(f"there is no folder {whole.parent}; make it, or choose another")
    if whole.exists() and not force:
        with whole.open("rb") as file:
            if OURS not in file.read(2048):
                raise ProjectProblem(
                    f"{path} is there already and is no report; choose another place, or replace "
                    f"it with candidly report --force --out {quote(str(path))} "
                    f"--project {quote(str(project.path))}"
                )


def _write(path: Path, data: bytes) -> None:
    """Write a page as a whole or not at all, for its owner only."""
    try:
        private.write_file(path, data)
    except OSError as error:
        raise ProjectProblem(
            f"{path} cannot be written ({error.strerror}); choose another place"
        ) from error


# Faces cut out of photos


@dataclass
class _PhotoFaces:
    """The file of a photo, and the faces to cut out of it."""

    identity: str
    faces: dict[int, Box] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)


def face_crops(
    sql: sqlite3.Connection,
    faces: Iterable[int],
    on_photo: Callable[[int, int], None] | None = None,
) -> dict[int, bytes]:
    """Return JPEGs of faces; one whose photo is gone, changed or cannot be read has none.

    Parameters
    ----------
    sql : Connection
    faces : iterable of int
    on_photo : callable, optional
        Called with the number of photos opened, and their total number.
    """
    photos = list(_photos(sql, set(faces)))
    found: dict[int, bytes] = {}
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for done, part in enumerate(pool.map(_crop_all, photos), 1):
            found |= part
            if on_photo is not None:
                on_photo(done, len(photos))
    return found


def _photos(sql: sqlite3.Connection, wanted: set[int]) -> Iterator[_PhotoFaces]:
    found: dict[int, _PhotoFaces] = {}
    for some in in_batches(sorted(wanted), 5000):
        for photo, identity, face, *box in sql.execute(
            "SELECT photo, identity, faces.id, x, y, w, h FROM faces JOIN photos ON photos.id ="
            " photo WHERE faces.id IN (SELECT value FROM json_each(?))",
            (json.dumps(some),),
        ):
            found.setdefault(photo, _PhotoFaces(identity)).faces[face] = Box(*box)
    for some in in_batches(sorted(found), 5000):
        for photo, root, path in sql.execute(
            "SELECT photo, roots.path, files.path FROM files JOIN roots ON roots.id = root"
            " WHERE gone = 0 AND photo IN (SELECT value FROM json_each(?)) ORDER BY files.id",
            (json.dumps(some),),
        ):
            found[photo].files.append(Path(os.fsdecode(root), os.fsdecode(path)))
    yield from found.values()


def _crop_all(photo: _PhotoFaces) -> dict[int, bytes]:
    for path in photo.files:
        try:
            picture = open_picture(path)
        except (PictureProblem, OSError, MemoryError):
            continue
        if picture.identity == photo.identity:  # boxes are valid for that picture only
            return {
                face: crop(picture.pixels, picture.reduced(box))
                for face, box in photo.faces.items()
            }
    return {}


def crop(
    pixels: NDArray[np.uint8], box: Box, pixels_wide: int = FACE_PIXELS, quality: int = QUALITY
) -> bytes:
    """Return a square JPEG of a face with a margin around it, as far as the picture goes."""
    height, width = pixels.shape[:2]
    side = min(max(box.w, box.h) * (1 + 2 * MARGIN), width, height)
    left = float(np.clip(box.x + box.w / 2 - side / 2, 0, width - side))
    top = float(np.clip(box.y + box.h / 2 - side / 2, 0, height - side))
    x, y, right, bottom = int(left), int(top), int(np.ceil(left + side)), int(np.ceil(top + side))
    image = require("PIL.Image", "photos").fromarray(pixels[y:bottom, x:right])
    image = image.resize((pixels_wide, pixels_wide), reducing_gap=2.0)
    kept = BytesIO()
    image.save(kept, "JPEG", quality=quality)
    return kept.getvalue()


# Whole photos


def picture_of(sql: sqlite3.Connection, photo: int) -> Picture | None:
    """Return the upright picture of a photo; None where no file has just this one any more."""
    rows = sql.execute(
        "SELECT roots.path, files.path, identity FROM files JOIN roots ON roots.id = root"
        " JOIN photos ON photos.id = photo WHERE photo = ? AND gone = 0 ORDER BY files.id",
        (photo,),
    ).fetchall()
    for root, path, identity in rows:
        try:
            picture = open_picture(Path(os.fsdecode(root), os.fsdecode(path)))
        except (PictureProblem, OSError, MemoryError):
            continue
        if picture.identity == identity:  # boxes are valid for that picture only
            return picture
    return None


def smaller(pixels: NDArray[np.uint8], side: int, quality: int = QUALITY) -> bytes:
    """Return a picture as JPEG whose longer side is at most so many pixels."""
    image = require("PIL.Image", "photos").fromarray(pixels)
    image.thumbnail((side, side), reducing_gap=2.0)
    kept = BytesIO()
    image.save(kept, "JPEG", quality=quality)
    return kept.getvalue()
