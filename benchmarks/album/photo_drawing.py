"""Draws one photo: the places of people, their poses, and the light."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.album.caption_writing import PlannedPhoto, Rng
from benchmarks.album.face_drawing import Light, draw_person
from benchmarks.album.heads import Pose
from benchmarks.album.invented_people import dressed
from benchmarks.album.scenes import scene
from candidly.extras import require
from candidly.photos.geometry import Box
from candidly.photos.parts import Pixels

FINE = 64.0  # pixels of half a head, below which a photo is drawn larger first
SPACE = 2.75  # between heads, in halves of a head
ROWS_APART = 2.75
FAR = 0.1  # of photos, with small faces
LANDSCAPE, PORTRAIT, SQUARE = (960, 640), (640, 800), (720, 720)


class HeadPlace(NamedTuple):
    """Place of a head, and half its height."""

    x: float
    y: float
    unit: float


def picture(shot: PlannedPhoto, rng: Rng, scale: float = 1.0) -> tuple[Pixels, list[Box]]:
    """Draw a photo; return it with the boxes of faces, in the order of ``shot.shown``.

    Parameters
    ----------
    shot : PlannedPhoto
        The people in it.
    rng : Generator
        For pose, light, background and noise.
    scale : float
        Factor by which it is larger than usual.
    """
    cv2 = require("cv2", "photos")
    width, height = _format(shot, rng)
    stands = _stands(shot, width, height, rng)
    width, height = round(scale * width), round(scale * height)
    fine = float(np.clip(FINE / (scale * min(stand.unit for stand in stands)), 1, 2))
    drawn = scene(round(fine * width), round(fine * height), rng)
    light = _light(rng)
    boxes = []
    for shown, stand in zip(shot.shown, stands, strict=True):
        x, y, unit = (scale * fine * value for value in stand)
        box = draw_person(drawn, dressed(shown.person.looks, rng), _pose(rng), light, x, y, unit)
        boxes.append(Box(*(value / fine for value in box)))
    if fine > 1:
        drawn = cv2.resize(drawn, (width, height), interpolation=cv2.INTER_AREA)
    return _taken(drawn, scale, rng), boxes


def _format(shot: PlannedPhoto, rng: Rng) -> tuple[int, int]:
    if len(shot.shown) == 1:
        return (LANDSCAPE, PORTRAIT, SQUARE)[int(rng.integers(3))]
    return SQUARE if len(shot.shown) == 2 and rng.random() < 0.3 else LANDSCAPE


def _stands(shot: PlannedPhoto, width: int, height: int, rng: Rng) -> list[HeadPlace]:
    """Return the places of heads, from back to front; they never hide each other's faces."""
    widest = max(len(row) for row in shot.rows)
    rows = len(shot.rows)
    room = min(width / (SPACE * (widest - 1) + 3.4), height / (2.2 + ROWS_APART * (rows - 1) + 1.9))
    unit = min(room, 0.24 * height) * rng.uniform(0.78, 1.0)
    if rng.random() < FAR and rows == 1:
        unit = max(26.0, 0.45 * unit)
    stands = []
    slack_y = height - unit * (2.0 + ROWS_APART * (rows - 1) + 1.9)
    top = 2.0 * unit + slack_y * rng.uniform(0.3, 0.9)
    top = max(top, height - unit * (5 + ROWS_APART * (rows - 1)))  # keeps bodies short
    for number, row in enumerate(shot.rows):
        slack = width - unit * (SPACE * (len(row) - 1) + 3.4)
        left = 1.7 * unit + slack * (rng.uniform(0.2, 0.8) if rows == 1 else 0.5)
        for place in range(len(row)):
            x = left + SPACE * unit * place + rng.uniform(-0.14, 0.14) * unit
            y = top + ROWS_APART * number * unit + rng.uniform(-0.22, 0.22) * unit
            stands.append(HeadPlace(x, y, unit * rng.uniform(0.93, 1.05)))
    return stands


def _pose(rng: Rng) -> Pose:
    turn, nod, tilt = rng.normal(0, (11, 5, 5))
    smile = float(np.clip(rng.normal(0.5, 0.45), -0.3, 1.1))
    opened = float(rng.uniform(0.3, 1.0)) if rng.random() < 0.35 else 0.0
    turn, nod, tilt = np.clip((turn, nod, tilt), (-26, -9, -12), (26, 9, 12))
    return Pose(float(turn), float(nod), float(tilt), smile, opened)


def _light(rng: Rng) -> Light:
    side = float(rng.uniform(-0.9, 0.9))
    above = float(rng.uniform(-0.5, 0.1))
    strength = float(rng.uniform(0.08, 0.38))
    return Light(side, above, strength, float(rng.uniform(0.86, 1.06)), float(rng.normal(0, 0.04)))


def _taken(drawn: Pixels, scale: float, rng: Rng) -> Pixels:
    """Add what a camera adds: a little blur, grain, a darker rim, more or less contrast."""
    cv2 = require("cv2", "photos")
    soft = cv2.GaussianBlur(drawn, (0, 0), scale * rng.uniform(0.45, 0.95))
    height, width = soft.shape[:2]
    grain = rng.standard_normal((height, width), dtype=np.float32) * np.float32(rng.uniform(1.5, 4))
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    rim = 1 - np.float32(rng.uniform(0.02, 0.14)) * (x[None] ** 2 + y[:, None] ** 2)
    contrast, level = np.float32(rng.uniform(0.85, 1.08)), np.float32(rng.uniform(-8, 10))
    taken = soft * (rim * contrast)[:, :, None] + (grain + level + (1 - contrast) * 128)[:, :, None]
    return np.clip(taken, 0, 255).astype(np.uint8)
