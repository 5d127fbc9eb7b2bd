"""Boxes in pictures: how much they overlap, and how EXIF orientations turn them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in pixels of the upright picture: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float


def overlap(a: Box, b: Box) -> float:
    """Return the intersection over union of two boxes.

    Examples
    --------
    >>> overlap(Box(0, 0, 2, 2), Box(1, 0, 2, 2))
    0.3333333333333333
    """
    width = min(a.x + a.w, b.x + b.w) - max(a.x, b.x)
    height = min(a.y + a.h, b.y + b.h) - max(a.y, b.y)
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return float(both / (a.w * a.h + b.w * b.h - both))


SAME_FACE = 0.4
"""Overlap from which two boxes are of one face."""


def best_match(box: Box, boxes: Sequence[Box]) -> int | None:
    """Return the place of the box that overlaps most, if it is of the same face.

    Examples
    --------
    >>> best_match(Box(0, 0, 9, 9), [Box(5, 5, 9, 9), Box(0, 1, 9, 9)])
    1
    """
    best = max(range(len(boxes)), key=lambda k: overlap(box, boxes[k]), default=None)
    return None if best is None or overlap(box, boxes[best]) < SAME_FACE else best


def upright(box: Box, orientation: int) -> Box:
    """Return a box of the stored picture in the upright picture; both in parts of its size.

    Examples
    --------
    >>> upright(Box(0.0, 0.5, 0.25, 0.5), 6)
    Box(x=0.0, y=0.0, w=0.5, h=0.25)
    """
    if orientation >= 5:
        box = Box(box.y, box.x, box.h, box.w)
    return _mirrored(box, orientation)


def as_stored(box: Box, orientation: int) -> Box:
    """Return a box of the upright picture in the stored picture; both in parts of its size.

    Examples
    --------
    >>> as_stored(Box(0.0, 0.0, 0.5, 0.25), 6)
    Box(x=0.0, y=0.5, w=0.25, h=0.5)
    """
    box = _mirrored(box, orientation)
    return Box(box.y, box.x, box.h, box.w) if orientation >= 5 else box


def _mirrored(box: Box, orientation: int) -> Box:
    x, y, w, h = box
    if orientation in (2, 3, 6, 7):
        x = 1 - x - w
    if orientation in (3, 4, 7, 8):
        y = 1 - y - h
    return Box(x, y, w, h)
