"""Backgrounds of photos, out of focus: drawn small, then enlarged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.album.looks import Colour
from benchmarks.album.strokes import Brush, Points, ring, shaded, smooth
from candidly.extras import require
from candidly.photos.parts import Pixels

Rng = np.random.Generator
WIDTH = 240
WALLS: tuple[Colour, ...] = (
    (206, 198, 184), (168, 184, 192), (188, 172, 158), (150, 168, 156), (206, 178, 150),
    (120, 134, 158), (176, 160, 178),
)  # fmt: skip


def scene(width: int, height: int, rng: Rng) -> Pixels:
    """Return a background of width x height pixels.

    Examples
    --------
    >>> import numpy as np
    >>> scene(90, 60, np.random.default_rng(0)).shape
    (60, 90, 3)
    """
    cv2 = require("cv2", "photos")
    small = _gradient(round(WIDTH * height / width), _wall(rng), rng)
    SCENES[int(rng.integers(len(SCENES)))](Brush(small), rng)
    soft = cv2.GaussianBlur(small, (0, 0), 1.4)
    return cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC)


def _wall(rng: Rng) -> Colour:
    return WALLS[int(rng.integers(len(WALLS)))]


def _gradient(height: int, colour: Colour, rng: Rng) -> Pixels:
    y = np.linspace(rng.uniform(0.95, 1.15), rng.uniform(0.7, 0.95), height)[:, None]
    x = np.linspace(rng.uniform(0.88, 1.08), rng.uniform(0.88, 1.08), WIDTH)[None]
    return np.clip((x * y)[:, :, None] * colour, 0, 255).astype(np.uint8)


def _box(x: float, y: float, w: float, h: float) -> Points:
    return np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], dtype=np.float64)


def _room(brush: Brush, rng: Rng) -> None:
    """Draw a wall with a picture and a window."""
    height = brush.pixels.shape[0]
    x = rng.uniform(10, 170)
    brush.fill(_box(x, 0.1 * height, 46, 0.42 * height), (236, 240, 240))
    brush.fill(_box(x + 22, 0.1 * height, 2.5, 0.42 * height), (170, 160, 148))
    at = (x + 110) % 200
    brush.fill(_box(at, 0.12 * height, 34, 26), (110, 84, 60))
    brush.fill(_box(at + 3, 0.12 * height + 3, 28, 20), (150, 178, 170))


def _hills(brush: Brush, rng: Rng) -> None:
    """Draw sky, sun and hills."""
    height = brush.pixels.shape[0]
    sky = np.linspace(0, 1, height)[:, None, None]
    top, low = np.array((120, 170, 214)), np.array((232, 226, 206))
    brush.pixels[:] = (top + (low - top) * sky * 1.2).clip(0, 255).astype(np.uint8)
    brush.fill(ring(rng.uniform(20, 220), 0.2 * height, 11, 11), (255, 244, 208), soft=2)
    for k, colour in enumerate(((140, 168, 160), (112, 148, 118), (86, 124, 86))):
        y = height * (0.5 + 0.16 * k)
        crest = [(x, y + rng.uniform(-9, 9)) for x in np.linspace(-20, 260, 8)]
        brush.fill(np.vstack([smooth(crest), [(260, height), (-20, height)]]), colour)


def _town(brush: Brush, rng: Rng) -> None:
    """Draw houses with windows, at dusk or by day."""
    height = brush.pixels.shape[0]
    day = rng.random() < 0.5
    lit: Colour = (226, 232, 236) if day else (246, 206, 128)
    x = -10.0
    while x < WIDTH:
        w, top = rng.uniform(22, 44), rng.uniform(0.08, 0.5) * height
        colour = shaded(_wall(rng), rng.uniform(0.55, 0.95) if day else rng.uniform(0.3, 0.5))
        brush.fill(_box(x, top, w, height), colour)
        for row in np.arange(top + 6, height, 11):
            for column in np.arange(x + 4, x + w - 5, 9):
                if rng.random() < 0.7:
                    brush.fill(_box(column, row, 4, 6), lit, 0.75)
        x += w + 1


def _books(brush: Brush, rng: Rng) -> None:
    """Draw shelves of books."""
    height = brush.pixels.shape[0]
    brush.pixels[:] = (92, 70, 52)
    for shelf in np.arange(4, height, 38):
        x = 2.0
        while x < WIDTH:
            w, h = rng.uniform(4, 9), rng.uniform(22, 32)
            colour = shaded(_wall(rng), rng.uniform(0.45, 1.0))
            red: Colour = (0.9 * colour[0], 0.6 * colour[1], 0.55 * colour[2])
            brush.fill(_box(x, shelf + 33 - h, w, h), red if rng.random() < 0.3 else colour)
            x += w + 0.6


def _lights(brush: Brush, rng: Rng) -> None:
    """Draw an evening with lights out of focus."""
    height = brush.pixels.shape[0]
    brush.pixels[:] = (brush.pixels * np.array((0.3, 0.3, 0.42))).astype(np.uint8)
    for _ in range(46):
        colours: tuple[Colour, ...] = ((255, 226, 120), (120, 220, 200), (140, 180, 250))
        size = rng.uniform(2, 7)
        spot = ring(rng.uniform(0, WIDTH), rng.uniform(0, height), size, size)
        brush.fill(spot, colours[int(rng.integers(3))], rng.uniform(0.12, 0.45))


def _curtain(brush: Brush, rng: Rng) -> None:
    """Draw the folds of a curtain."""
    x = np.arange(WIDTH)
    fold = 0.78 + 0.2 * np.sin(x / rng.uniform(4, 8) + 1.5 * np.sin(x / 23 + rng.uniform(0, 6)))
    tones = np.array(((150, 60, 58), (66, 90, 128), (90, 118, 96), (150, 120, 84)))
    tone = tones[int(rng.integers(len(tones)))]
    brush.pixels[:] = (fold[None, :, None] * tone).astype(np.uint8)


def _garden(brush: Brush, rng: Rng) -> None:
    """Draw leaves and flowers."""
    height = brush.pixels.shape[0]
    brush.pixels[:] = (74, 104, 66)
    for k in range(150):
        size = rng.uniform(4, 13)
        leaf = ring(rng.uniform(0, WIDTH), rng.uniform(0, height), size, size * rng.uniform(0.5, 1))
        green = np.array((98, 140, 78)) * rng.uniform(0.55, 1.45)
        flower = k > 128
        colours: tuple[Colour, ...] = ((232, 180, 190), (240, 222, 140), (214, 120, 110))
        colour: Colour = (float(green[0]), float(green[1]), float(green[2]))
        brush.fill(leaf, colours[k % 3] if flower else colour, 0.7)


def _bricks(brush: Brush, rng: Rng) -> None:
    height = brush.pixels.shape[0]
    brush.pixels[:] = (172, 160, 148)
    base = np.array((168, 104, 82)) * rng.uniform(0.75, 1.05)
    for row, y in enumerate(range(0, height, 9)):
        for x in range(-20 + 10 * (row % 2), WIDTH, 20):
            r, g, b = base * rng.uniform(0.86, 1.12)
            brush.fill(_box(x, y, 18.6, 7.8), (float(r), float(g), float(b)))


SCENES: tuple[Callable[[Brush, Rng], None], ...] = (
    _room, _hills, _town, _books, _lights, _curtain, _garden, _bricks,
)  # fmt: skip
