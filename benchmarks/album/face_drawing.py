"""Draws a person's head and shoulders into a picture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.album import features, hair
from benchmarks.album.heads import Head, Pose
from benchmarks.album.invented_people import stranger
from benchmarks.album.looks import Looks
from benchmarks.album.strokes import Brush, ring, shaded, smooth
from candidly.extras import require
from candidly.photos.geometry import Box
from candidly.photos.parts import Pixels

GRID = 200
FACE = Box(57, 52, 86, 107)  # of the face in a portrait of GRID x GRID
FINEST = 800  # pixels of a portrait that is drawn; larger ones are enlarged


class Light(NamedTuple):
    """Direction of light (-1 left to 1 right, -1 above to 1 below), its strength and warmth."""

    x: float = -0.4
    y: float = -0.4
    strength: float = 0.25
    level: float = 1.0
    warmth: float = 0.0


def draw_person(
    picture: Pixels, looks: Looks, pose: Pose, light: Light, x: float, y: float, unit: float
) -> Box:
    """Draw a person with eyes around (x, y); half the head's height is ``unit`` pixels.

    Returns
    -------
    Box
        Box of the face, in pixels of the picture.
    """
    width = picture.shape[1]
    x0, x1 = max(0, int(x - 2.2 * unit)), min(width, int(x + 2.2 * unit) + 1)
    y0 = max(0, int(y - 1.8 * unit))
    brush = Brush(picture[y0:, x0:x1])
    head = Head(looks, pose, x - x0, y - y0, unit)
    hair.behind(brush, head)
    _shoulders(brush, head)
    outline = head.outline()
    if looks.hair_style not in hair.COVERS_EARS:
        _ears(brush, head)
    brush.fill(outline, looks.skin)
    face = brush.outline_mask(outline)
    _modelled(brush, head, face)
    features.marks(brush, head, face)
    features.beard(brush, head, face)
    features.nose(brush, head, face)
    features.mouth(brush, head, face)
    features.eyes(brush, head, face)
    hair.on_top(brush, head)
    features.glasses(brush, head)
    _lit(brush, head, light)
    box = head.box()
    return Box(box.x + x0, box.y + y0, box.w, box.h)


def portrait(side: int, seed: int = 0) -> Pixels:
    """Return a drawn head and shoulders in ``side`` x ``side`` RGB pixels; each seed is one person.

    The face's box is ``FACE`` times ``side / 200``.

    Examples
    --------
    >>> portrait(100).shape
    (100, 100, 3)
    """
    cv2 = require("cv2", "photos")
    drawn = np.full((FINEST, FINEST, 3), (120, 135, 150), dtype=np.uint8)
    looks = stranger(np.random.default_rng([seed, 2])).looks
    scale = FINEST / GRID
    draw_person(drawn, looks, Pose(), Light(), 100 * scale, 95 * scale, 63 * scale)
    soft = cv2.GaussianBlur(drawn, (0, 0), scale)
    how = cv2.INTER_AREA if side < FINEST else cv2.INTER_CUBIC
    return cv2.resize(soft, (side, side), interpolation=how)


def _shoulders(brush: Brush, head: Head) -> None:
    look, unit = head.looks, head.unit
    half = [(0.34, 1.16), (0.62, 1.3), (1.25, 1.46), (1.55, 1.8), (1.68, 2.6), (1.74, 5.0)]
    side = np.vstack([smooth(half), [(1.74, 30.0)]])  # to the edge of any picture
    outline = head.body(np.vstack([side, side[::-1] * (-1, 1)]))
    brush.fill(outline, look.clothes)
    inside = brush.outline_mask(outline)
    for sign in (-1, 1):
        arm = head.body(np.array([(1.2, 1.9), (1.16, 2.6), (1.2, 5.0), (1.2, 30.0)]) * (sign, 1))
        brush.line(
            arm, shaded(look.clothes, 0.7), 0.05 * unit, 0.7, soft=0.05 * unit, within=inside
        )
    if look.collar in {"suit", "shirt"}:
        front = [(-0.34, 1.2), (0.34, 1.2), (0.2, 1.9), (0.02, 2.6), (-0.2, 1.9)]
        suit = look.collar == "suit"
        brush.fill(head.body(front), (232, 232, 230) if suit else shaded(look.clothes, 1.25))
        if suit:
            tie = [(-0.09, 1.42), (0.09, 1.42), (0.12, 2.5), (-0.12, 2.5)]
            brush.fill(head.body(tie), shaded((look.clothes[2], *look.clothes[:2]), 0.9))
    neck = [
        (-0.36, 0.5),
        (0.36, 0.5),
        (0.37, 1.1),
        (0.5, 1.3),
        (0.0, 1.62),
        (-0.5, 1.3),
        (-0.37, 1.1),
    ]
    if look.collar != "v":
        neck[4] = (0.0, 1.44)
    outline = head.body(smooth(neck, closed=True))
    brush.fill(outline, shaded(look.skin, 0.84))
    inside = brush.outline_mask(outline)
    brush.fill(head.body(ring(0, 0.92, 0.6, 0.32)), shaded(look.skin, 0.5), 0.6, soft=0.08 * unit,
               within=inside)  # fmt: skip


def _ears(brush: Brush, head: Head) -> None:
    look = head.looks
    for side in (-1, 1):
        x = side * (look.width + 0.02)
        brush.fill(head.rim(ring(x, 0.1, 0.11, 0.21)), shaded(look.skin, 0.86))
        brush.fill(head.rim(ring(x, 0.1, 0.055, 0.13)), shaded(look.skin, 0.66), 0.7)
        if look.earrings:
            brush.fill(head.rim(ring(x, 0.36, 0.05, 0.06)), (232, 200, 110))


def _modelled(brush: Brush, head: Head, face: Pixels) -> None:
    """Make a head round: darker at its rim and below the hair, lighter in the middle."""
    look, unit = head.looks, head.unit
    brush.line(head.outline(), shaded(look.skin, 0.66), 0.22 * unit, 0.42, soft=0.1 * unit,
               within=face, closed=True)  # fmt: skip
    brush.fill(head.at(ring(0, -0.5, 0.36, 0.16)), shaded(look.skin, 1.1), 0.6, soft=0.1 * unit,
               within=face)  # fmt: skip
    for side in (-1, 1):
        brush.fill(head.at(ring(side * 0.4, 0.24, 0.16, 0.1)), shaded(look.skin, 1.09), 0.6,
                   soft=0.06 * unit, within=face)  # fmt: skip
        hollow = head.at(ring(side * 0.56, 0.56, 0.1, 0.16))
        brush.fill(hollow, shaded(look.skin, 0.72), 0.5 * (1 - look.cheeks), soft=0.07 * unit,
                   within=face)  # fmt: skip
    brush.fill(head.at(ring(0, 0.9, 0.16, 0.07)), shaded(look.skin, 1.08), 0.5, soft=0.05 * unit,
               within=face)  # fmt: skip


def _lit(brush: Brush, head: Head, light: Light) -> None:
    """Add light from one side to what was painted."""
    height, width = brush.pixels.shape[:2]
    x = (np.arange(width, dtype=np.float32) - head.x) / head.unit
    y = (np.arange(height, dtype=np.float32) - head.y) / head.unit
    slope = np.clip(light.x * x, -1, 1)[None] + np.clip(light.y * (y - 0.2), -1, 1)[:, None]
    tint = light.level * np.array([1 + light.warmth, 1, 1 - light.warmth], dtype=np.float32)
    field = (1 + light.strength * slope)[:, :, None] * tint - 1
    weight = (brush.cover * np.float32(1 / 255))[:, :, None]
    lit = brush.pixels * (1 + field * weight)
    brush.pixels[:] = np.clip(lit, 0, 255).astype(np.uint8)
