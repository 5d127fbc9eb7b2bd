"""Curves, and a brush that fills them softly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.album.looks import Colour
from candidly.extras import require
from candidly.photos.parts import Pixels

Points = NDArray[np.float64]
SHIFT = 4  # bits of a pixel's parts


def ring(x: float, y: float, a: float, b: float, *arc: float, steps: int = 28) -> Points:
    """Return points of an ellipse, or of its arc from one angle to another, in degrees.

    Examples
    --------
    >>> ring(0, 0, 2, 1, 0, 90, steps=2).round(1).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    start, end = arc or (0.0, 360.0)
    angles = np.deg2rad(np.linspace(start, end, steps))
    return np.column_stack([x + a * np.cos(angles), y + b * np.sin(angles)])


def smooth(points: ArrayLike, *, closed: bool = False, steps: int = 8) -> Points:
    """Return a curve through points (Catmull and Rom's).

    Examples
    --------
    >>> smooth([(0, 0), (1, 0), (2, 0)], steps=2)[:, 0].tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    p = np.asarray(points, dtype=np.float64)
    whole = np.vstack([p[-1:], p, p[:2]]) if closed else np.vstack([p[:1], p, p[-1:]])
    if not closed:
        whole[0] = 2 * p[0] - p[1]
        whole[-1] = 2 * p[-1] - p[-2]
    t = (np.arange(steps) / steps)[:, None, None]
    a, b, c, d = whole[:-3], whole[1:-2], whole[2:-1], whole[3:]
    curve = b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
    curve = curve.transpose(1, 0, 2).reshape(-1, 2)
    return curve if closed else np.vstack([curve, p[-1:]])


def shaded(colour: Colour, factor: float) -> Colour:
    """Return a colour made darker or lighter."""
    r, g, b = (min(255.0, value * factor) for value in colour)
    return r, g, b


class Brush:
    """A brush that paints on a part of a picture, and remembers where it has painted.

    Parameters
    ----------
    pixels : array of uint8, height x width x 3
        Changed in place.
    """

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        self.cover: Pixels = np.zeros(pixels.shape[:2], dtype=np.uint8)
        self._cv2: Any = require("cv2", "photos")

    def fill(
        self,
        outline: Points,
        colour: Colour,
        opacity: float = 1.0,
        *,
        soft: float = 0.0,
        within: Pixels | None = None,
    ) -> None:
        """Fill an outline; ``soft`` blurs its edge by pixels, ``within`` is a mask."""
        frame = self._frame(outline, 3 * soft + 1)
        if frame is None:
            return
        x0, y0, x1, y1 = frame
        mask = np.zeros((y1 - y0, x1 - x0), dtype=np.uint8)
        points = np.round((outline - (x0, y0)) * 2**SHIFT).astype(np.int32)
        self._cv2.fillPoly(mask, [points], 255, self._cv2.LINE_AA, SHIFT)
        self._blend(frame, mask, colour, opacity, soft, within)

    def line(
        self,
        points: Points,
        colour: Colour,
        width: float,
        opacity: float = 1.0,
        *,
        soft: float = 0.0,
        within: Pixels | None = None,
        closed: bool = False,
    ) -> None:
        """Draw a line, ``width`` pixels wide; one thinner than a pixel is fainter."""
        frame = self._frame(points, 3 * soft + width + 2)
        if frame is None:
            return
        x0, y0, x1, y1 = frame
        mask = np.zeros((y1 - y0, x1 - x0), dtype=np.uint8)
        moved = np.round((points - (x0, y0)) * 2**SHIFT).astype(np.int32)
        thick = max(1, round(width))
        self._cv2.polylines(mask, [moved], closed, 255, thick, self._cv2.LINE_AA, SHIFT)
        self._blend(frame, mask, colour, opacity * min(1.0, width), soft, within)

    def outline_mask(self, outline: Points) -> Pixels:
        """Return a mask of the inside of an outline, for ``within``."""
        mask = np.zeros(self.pixels.shape[:2], dtype=np.uint8)
        points = np.round(outline * 2**SHIFT).astype(np.int32)
        self._cv2.fillPoly(mask, [points], 255, self._cv2.LINE_AA, SHIFT)
        return mask

    def _frame(self, points: Points, margin: float) -> tuple[int, int, int, int] | None:
        height, width = self.pixels.shape[:2]
        x0, y0 = np.floor(points.min(axis=0) - margin).astype(int)
        x1, y1 = np.ceil(points.max(axis=0) + margin).astype(int) + 1
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)
        return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None

    def _blend(
        self,
        frame: tuple[int, int, int, int],
        mask: Pixels,
        colour: Colour,
        opacity: float,
        soft: float,
        within: Pixels | None,
    ) -> None:
        x0, y0, x1, y1 = frame
        if soft > 0.3:
            # A stack blur takes the same time however wide it is.
            side = 2 * max(1, round(2.45 * soft)) + 1
            mask = self._cv2.stackBlur(mask, (side, side))
        if within is not None:
            mask = self._cv2.multiply(mask, within[y0:y1, x0:x1], scale=1 / 255)
        else:
            cover = self.cover[y0:y1, x0:x1]
            np.maximum(cover, mask, out=cover)
        part = self.pixels[y0:y1, x0:x1]
        weight = (mask * np.float32(opacity / 255))[:, :, None]
        part += (
            ((np.array(colour, dtype=np.float32) - part) * weight).astype(np.int16).astype(np.uint8)
        )
