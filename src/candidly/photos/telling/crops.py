"""Small pictures of faces, cut from the photos as they are now."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.pictures import PictureProblem, open_picture
from candidly.photos.records import Box

SIDE = 96
QUALITY = 70
MARGIN = 0.25
"""Part of a face's size that is left around it."""


@dataclass
class _Photo:
    """Where a photo lies, and which of its faces are wanted."""

    identity: str
    faces: dict[int, Box] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)


def crops(
    sql: sqlite3.Connection,
    faces: Iterable[int],
    on_photo: Callable[[int, int], None] | None = None,
) -> dict[int, bytes]:
    """JPEGs of faces; one whose photo is gone, changed or cannot be read has none.

    Parameters
    ----------
    sql : Connection
    faces : iterable of int
    on_photo : callable, optional
        Told how many photos were opened, and of how many.
    """
    require("PIL.Image", "photos")
    photos = list(_photos(sql, set(faces)))
    found: dict[int, bytes] = {}
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for done, part in enumerate(pool.map(_cut_all, photos), 1):
            found |= part
            if on_photo is not None:
                on_photo(done, len(photos))
    return found


def _photos(sql: sqlite3.Connection, wanted: set[int]) -> Iterator[_Photo]:
    found: dict[int, _Photo] = {}
    by_photo: dict[int, dict[int, Box]] = defaultdict(dict)
    for photo, face, *box in sql.execute("SELECT photo, id, x, y, w, h FROM faces"):
        if face in wanted:
            by_photo[photo][face] = Box(*box)
    for photo, identity in sql.execute("SELECT id, identity FROM photos"):
        if photo in by_photo:
            found[photo] = _Photo(identity, by_photo[photo])
    for photo, root, path in sql.execute(
        "SELECT photo, roots.path, files.path FROM files JOIN roots ON roots.id = root"
        " WHERE gone = 0 ORDER BY files.id"
    ):
        if photo in found:
            found[photo].files.append(Path(os.fsdecode(root), os.fsdecode(path)))
    yield from found.values()


def _cut_all(photo: _Photo) -> dict[int, bytes]:
    for path in photo.files:
        try:
            picture = open_picture(path)
        except (PictureProblem, OSError, MemoryError):
            continue
        if picture.identity == photo.identity:  # boxes are of that picture alone
            return {face: cut(picture.pixels, box) for face, box in photo.faces.items()}
    return {}


def cut(pixels: NDArray[np.uint8], box: Box) -> bytes:
    """A square JPEG of a face with a little around it, as far as the picture goes."""
    height, width = pixels.shape[:2]
    side = min(max(box.w, box.h) * (1 + 2 * MARGIN), width, height)
    left = float(np.clip(box.x + box.w / 2 - side / 2, 0, width - side))
    top = float(np.clip(box.y + box.h / 2 - side / 2, 0, height - side))
    x, y, right, bottom = int(left), int(top), int(np.ceil(left + side)), int(np.ceil(top + side))
    image = require("PIL.Image", "photos").fromarray(pixels[y:bottom, x:right])
    image = image.resize((SIDE, SIDE), reducing_gap=2.0)
    kept = BytesIO()
    image.save(kept, "JPEG", quality=QUALITY)
    return kept.getvalue()
