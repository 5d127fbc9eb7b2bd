"""A picture as overlapping tiles at several scales.

A detector is good for faces between two sizes in pixels. Shrunk by FACTOR again and again, every
face of a picture has such a size at one scale or more. Tiles keep time in proportion to the
picture and memory constant. A face at the edge of a tile lies whole in the next tile when it is
smaller than their overlap, and is seen at the next scale when it is larger: FACTOR times the
smallest size that is found has to be less than OVERLAP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FACTOR = 3.0
TILE = 1536
OVERLAP = 128
LARGEST = 400  # pixels that YuNet finds safely at one scale


@dataclass(frozen=True)
class Tile:
    """A part of a scaled picture; ``inner`` says which of its edges cut the picture.

    Edges are left, top, right and bottom.
    """

    x: int
    y: int
    w: int
    h: int
    inner: tuple[bool, bool, bool, bool]


def scales(width: int, height: int, finest: float = 1.0) -> list[float]:
    """Scales at which a picture is looked at, the finest first.

    The last has no tiles and no face above LARGEST, or is less high or wide than OVERLAP, so
    that no face is too large for its tiles.

    Examples
    --------
    >>> [round(s, 3) for s in scales(6000, 4000)], scales(200, 200)
    ([1.0, 0.333, 0.111, 0.037], [1.0])
    """
    chosen = [finest]
    while True:
        w, h = width * chosen[-1], height * chosen[-1]
        if min(w, h) <= OVERLAP or (max(w, h) <= TILE and min(w, h) <= LARGEST):
            return chosen
        chosen.append(chosen[-1] / FACTOR)


def tiles(width: int, height: int) -> Iterator[Tile]:
    """Tiles of one size, of TILE pixels a side at most, that cover a picture and overlap.

    Examples
    --------
    >>> [(t.x, t.w) for t in tiles(2000, 1000)]
    [(0, 1064), (936, 1064)]
    """
    columns, w = _cut(width)
    rows, h = _cut(height)
    for y in rows:
        for x in columns:
            yield Tile(x, y, w, h, (x > 0, y > 0, x + w < width, y + h < height))


def _cut(length: int) -> tuple[list[int], int]:
    """Where tiles start, and how long each is."""
    if length <= TILE:
        return [0], length
    count = -(-(length - OVERLAP) // (TILE - OVERLAP))
    size = -(-(length + (count - 1) * OVERLAP) // count)
    step = (length - size) / (count - 1)
    return [round(k * step) for k in range(count)], size
