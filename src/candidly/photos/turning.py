"""Boxes turned as EXIF orientations turn pictures, in parts of the picture's size."""

from __future__ import annotations

from candidly.photos.records import Box


def upright(box: Box, orientation: int) -> Box:
    """A box of a picture as stored, in the upright one.

    Examples
    --------
    >>> upright(Box(0.0, 0.5, 0.25, 0.5), 6)
    Box(x=0.0, y=0.0, w=0.5, h=0.25)
    """
    if orientation >= 5:
        box = Box(box.y, box.x, box.h, box.w)
    return _mirrored(box, orientation)


def as_stored(box: Box, orientation: int) -> Box:
    """A box of the upright picture, in the picture as stored.

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
