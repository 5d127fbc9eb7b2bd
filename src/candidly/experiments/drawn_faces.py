"""Faces drawn by ellipses, for measuring and testing where there are no photos."""

from __future__ import annotations

from typing import Any

import numpy as np

from candidly.extras import require
from candidly.photos.faces.protocols import Pixels
from candidly.photos.records import Box

GRID = 200
FACE = Box(56, 49, 88, 116)  # of the face in a portrait of GRID x GRID
FINER = 4


def portrait(side: int, seed: int = 0) -> Pixels:
    """A drawn head and shoulders in ``side`` x ``side`` RGB pixels; seeds give other people.

    The face's box is ``FACE`` times ``side / 200``.

    Examples
    --------
    >>> portrait(100).shape
    (100, 100, 3)
    """
    cv2 = require("cv2", "photos")
    rng = np.random.default_rng(seed)
    skin = np.array([224, 172, 140]) * rng.uniform(0.6, 1.05)
    hair = np.array([100, 80, 60]) * rng.uniform(0.2, 1.1)
    drawn = np.full((GRID * FINER, GRID * FINER, 3), (120, 135, 150), dtype=np.uint8)
    _draw(cv2, drawn, skin, hair, half=rng.uniform(42, 48))
    y, x = np.mgrid[: GRID * FINER, : GRID * FINER] / FINER
    light = 1.08 - 0.0028 * np.abs(x - 92) - 0.0012 * np.abs(y - 90)
    lit = np.clip(drawn * light[:, :, None], 0, 255).astype(np.uint8)
    soft = cv2.GaussianBlur(lit, (0, 0), FINER)
    how = cv2.INTER_AREA if side < GRID * FINER else cv2.INTER_CUBIC
    return cv2.resize(soft, (side, side), interpolation=how)


def _draw(cv2: Any, picture: Pixels, skin: Any, hair: Any, half: float) -> None:
    def oval(x: float, y: float, a: float, b: float, colour: Any, *arc: float) -> None:
        angle, start, end, line = arc or (0, 0, 360, -1)
        thick = -1 if line < 0 else round(line * FINER)
        middle, axes = ((round(u * FINER), round(v * FINER)) for u, v in ((x, y), (a, b)))
        shade = tuple(int(c) for c in np.clip(colour, 0, 255))
        cv2.ellipse(picture, middle, axes, angle, start, end, shade, thick, cv2.LINE_AA)

    dark = skin * 0.72
    oval(100, 205, 75, 50, (50, 60, 110))  # shoulders
    oval(100, 155, 20, 32, dark)  # neck
    oval(100, 88, 54, 62, hair)
    oval(100, 104, half, 57, skin)
    oval(100, 52, half - 2, 22, hair, 0, 180, 360, -1)
    for side in (-1, 1):
        eye = 100 + 19 * side
        oval(100 + side * half, 104, 6, 12, dark)  # ear
        oval(eye, 94, 11, 8, dark)
        oval(eye, 95, 9, 4.6, (240, 238, 235))
        oval(eye, 95, 4.2, 4.4, (70, 50, 35))
        oval(eye, 95, 2, 2, (10, 10, 10))
        oval(eye, 84, 12, 4, hair, 6 * side, 190, 350, 2.6)
    oval(100, 108, 5, 16, skin * 1.08)  # nose
    oval(100, 121, 10, 5, dark, 0, 10, 170, 2.2)
    for side in (-1, 1):
        oval(100 + 6 * side, 121, 2.4, 1.6, (60, 35, 30))
    oval(100, 138, 16, 5.5, (150, 70, 70))  # mouth
    oval(100, 137, 15, 1.2, (80, 30, 30))
    oval(100, 150, 14, 5, dark, 0, 20, 160, 1.5)
