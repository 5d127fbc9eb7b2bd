"""Face regions in metadata refer to the picture as stored; ours to the upright one."""

from __future__ import annotations

import math
from typing import NamedTuple

from candidly.photos.pictures.formats import Metadata
from candidly.photos.records import Box, Region
from candidly.photos.turning import upright


class Marked(NamedTuple):
    """A region as the metadata has it: corner and size in parts of the picture as stored.

    ``applied`` is the size of the picture that it was drawn on, where that is known.
    """

    name: str | None
    x: float
    y: float
    w: float
    h: float
    applied: tuple[float, ...] | None = None


def upright_region(marked: Marked, picture: Metadata) -> Region | None:
    """A region in the upright picture, or None where it cannot belong to this picture.

    Examples
    --------
    >>> upright_region(Marked("Ann", 0.0, 0.5, 0.25, 0.5), Metadata(40, 30, orientation=6))
    Region(name='Ann', x=0.0, y=0.0, w=0.5, h=0.25)
    """
    x0, y0, x1, y1 = marked.x, marked.y, marked.x + marked.w, marked.y + marked.h
    if not all(map(math.isfinite, (x0, y0, x1, y1))):
        return None
    x0, y0, x1, y1 = (min(max(value, 0.0), 1.0) for value in (x0, y0, x1, y1))
    if x1 <= x0 or y1 <= y0:
        return None
    orientation = _orientation(marked, picture)
    if orientation is None:
        return None
    return Region(marked.name, *upright(Box(x0, y0, x1 - x0, y1 - y0), orientation))


def _orientation(marked: Marked, picture: Metadata) -> int | None:
    """The turn to undo; None where the picture was cropped after the region was drawn."""
    if marked.applied is None or not picture.width or not picture.height:
        return picture.orientation
    width, height = marked.applied
    if _alike(width / height, picture.width / picture.height):
        return picture.orientation
    # Some programs turn the picture first, against the standard: the sizes tell.
    if picture.orientation >= 5 and _alike(width / height, picture.height / picture.width):
        return 1
    return None


def _alike(one: float, other: float) -> bool:
    return abs(math.log(one / other)) < 0.03
