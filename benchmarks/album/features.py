"""Eyes, brows, nose, mouth, beard, glasses and the marks of age, on a head."""

from __future__ import annotations

import numpy as np

from benchmarks.album.heads import Head
from benchmarks.album.looks import Colour
from benchmarks.album.strokes import Brush, Points, ring, shaded, smooth
from candidly.photos.parts import Pixels

WHITE: Colour = (242, 238, 234)
BLACK: Colour = (22, 18, 18)


def eyes(brush: Brush, head: Head, face: Pixels) -> None:
    """Draw sockets, eyes and brows."""
    look, unit, skin = head.looks, head.unit, head.looks.skin
    squint = 1 - 0.22 * max(0.0, head.pose.smile) + 0.1 * head.pose.open
    wide, high = 0.135 * look.eye_size, 0.064 * look.eye_size * look.eye_open * squint
    for side in (-1, 1):
        x = side * look.eye_apart
        socket = head.at(ring(x, -0.03, wide * 1.35, 0.12))
        brush.fill(socket, shaded(skin, 0.7), 0.42, soft=0.045 * unit, within=face)
        almond = np.vstack(
            [
                smooth([(-wide, 0.25 * high), (-0.45 * wide, -0.8 * high), (0.2 * wide, -high),
                        (0.75 * wide, -0.5 * high), (wide, 0)]),
                smooth([(wide, 0), (0.5 * wide, 0.75 * high), (-0.2 * wide, 0.9 * high),
                        (-wide, 0.25 * high)]),
            ]
        )  # fmt: skip
        almond = _slanted(almond, look.eye_slant) * (side, 1) + (x, 0)
        inside = brush.outline_mask(head.at(almond))
        brush.fill(head.at(almond), WHITE)
        seen = x + 0.12 * wide * np.sin(np.deg2rad(head.pose.turn)) * 3
        iris = 0.078 * (0.7 + 0.3 * look.eye_size)
        brush.fill(
            head.at(ring(seen, -0.1 * high, iris, iris)), shaded(look.iris, 0.6), within=inside
        )
        brush.fill(
            head.at(ring(seen, -0.06 * high, iris * 0.8, iris * 0.8)), look.iris, within=inside
        )
        pupil = head.at(ring(seen, -0.1 * high, iris * 0.45, iris * 0.45))
        brush.fill(pupil, BLACK, within=inside)
        brush.fill(head.at(ring(seen - 0.025, -0.025, 0.016, 0.016)), (255, 255, 255), 0.9)
        upper = head.at(almond[: len(almond) // 2 + 1])
        brush.line(upper, shaded(skin, 0.28), 0.032 * unit, 0.9, within=face)
        lower = head.at(almond[len(almond) // 2 :])
        brush.line(lower, shaded(skin, 0.55), 0.014 * unit, 0.6, within=face)
        fold = head.at(almond[4:28] - (0, 0.05 + 0.02 * look.eye_size))
        brush.line(fold, shaded(skin, 0.62), 0.016 * unit, 0.55, soft=0.008 * unit, within=face)
        _brow(brush, head, side, face)


def _slanted(points: Points, slant: float) -> Points:
    return points + np.column_stack([0 * points[:, 0], -slant * points[:, 0]])


def _brow(brush: Brush, head: Head, side: int, face: Pixels) -> None:
    look = head.looks
    thick = 0.036 * look.brow_thick
    inner, outer = look.eye_apart - 0.15, look.eye_apart + 0.17
    y = -look.brow_height - 0.02 * head.pose.open
    rise = 0.055 * look.brow_arch
    tail = y - look.brow_slant * 0.3
    shape = [
        (inner, y + thick), (inner + 0.01, y - thick), (0.5 * (inner + outer), y - thick - rise),
        (outer, tail - 0.2 * thick + 0.03), (0.5 * (inner + outer), y + 0.75 * thick - rise),
    ]  # fmt: skip
    colour = shaded(look.hair, 0.72 if sum(look.hair) > 150 else 1.0)
    brow = head.at([(side * u, v) for u, v in smooth(shape, closed=True)], 0.03)
    brush.fill(brow, colour, 0.9, soft=0.012 * head.unit, within=face)


def nose(brush: Brush, head: Head, face: Pixels) -> None:
    """Draw bridge, tip and nostrils."""
    look, unit, skin = head.looks, head.unit, head.looks.skin
    tip, w = look.nose_length, look.nose_width
    for side in (-1, 1):
        edge = smooth([(side * 0.075, -0.05), (side * 0.06, 0.15), (side * w * 0.8, tip - 0.06)])
        strong = 0.25 + 0.4 * look.nose_bridge
        brush.line(head.at(edge, 0.06), shaded(skin, 0.68), 0.05 * unit, strong, soft=0.035 * unit,
                   within=face)  # fmt: skip
        wing = head.at(smooth([(side * w * 0.75, tip - 0.08), (side * w, tip - 0.02),
                               (side * w * 0.8, tip + 0.035)]), 0.06)  # fmt: skip
        brush.line(wing, shaded(skin, 0.56), 0.024 * unit, 0.8, soft=0.01 * unit, within=face)
    under = head.at(ring(0, tip + 0.05, w * 0.95, 0.05), 0.06)
    brush.fill(under, shaded(skin, 0.62), 0.5, soft=0.03 * unit, within=face)
    bridge = head.at(smooth([(-0.03, 0.0), (0.03, 0.0), (0.045, tip - 0.1), (-0.045, tip - 0.1)],
                            closed=True), 0.1)  # fmt: skip
    brush.fill(bridge, shaded(skin, 1.14), 0.55, soft=0.03 * unit, within=face)
    ball = head.at(ring(-0.01, tip - 0.06, w * 0.5, 0.06), 0.14)
    brush.fill(ball, shaded(skin, 1.16), 0.6, soft=0.03 * unit, within=face)
    for side in (-1, 1):
        hole = head.at(ring(side * w * 0.48, tip + 0.02, w * 0.24, 0.02), 0.1)
        brush.fill(hole, shaded(skin, 0.3), 0.85, soft=0.008 * unit, within=face)


def mouth(brush: Brush, head: Head, face: Pixels) -> None:
    """Draw the lips, and teeth where the mouth is open."""
    look, unit = head.looks, head.unit
    smile, gap = head.pose.smile, 0.1 * head.pose.open
    y, w = look.mouth_height, look.mouth_width * (1 + 0.16 * max(0.0, smile))
    corner = y - 0.045 * smile
    upper, lower = 0.045 * look.lips, 0.062 * look.lips
    low = y + gap
    line = [(-w, corner), (-0.4 * w, y + 0.004), (0, y + 0.012), (0.4 * w, y + 0.004), (w, corner)]
    top = [(w, corner), (0.5 * w, y - 0.6 * upper), (0.14 * w, y - upper), (0, y - 0.75 * upper),
           (-0.14 * w, y - upper), (-0.5 * w, y - 0.6 * upper), (-w, corner)]  # fmt: skip
    under = [(w, corner), (0.55 * w, low + 0.6 * lower), (0, low + lower),
             (-0.55 * w, low + 0.6 * lower), (-w, corner)]  # fmt: skip
    seam = [(-w, corner), (-0.45 * w, low), (0, low + 0.01), (0.45 * w, low), (w, corner)]
    shadow = head.at(ring(0, low + lower + 0.06, 0.6 * w, 0.03), 0.02)
    brush.fill(shadow, shaded(look.skin, 0.7), 0.5, soft=0.03 * unit, within=face)
    brush.fill(head.at(np.vstack([smooth(line), smooth(top)]), 0.03), shaded(look.lip, 0.86),
               soft=0.006 * unit, within=face)  # fmt: skip
    brush.fill(head.at(np.vstack([smooth(seam), smooth(under)]), 0.03), look.lip,
               soft=0.006 * unit, within=face)  # fmt: skip
    if gap > 0.02:
        inside = np.vstack([smooth(line), smooth(seam)[::-1]])
        brush.fill(head.at(inside, 0.03), (70, 24, 28), within=face)
        teeth = np.vstack([smooth(line), smooth(seam)[::-1] * (1, 0.45) + (0, 0.55 * (y - 0.02))])
        brush.fill(head.at(teeth * (0.86, 1), 0.03), (240, 234, 226), within=face)
    brush.line(head.at(smooth(line), 0.03), shaded(look.lip, 0.42), 0.02 * unit, 0.85, within=face)
    shine = head.at(ring(0, low + 0.5 * lower, 0.4 * w, 0.25 * lower), 0.04)
    brush.fill(shine, shaded(look.lip, 1.3), 0.4, soft=0.015 * unit, within=face)


def marks(brush: Brush, head: Head, face: Pixels) -> None:
    """Draw cheeks, folds and wrinkles by age, freckles, a mole."""
    look, unit, skin = head.looks, head.unit, head.looks.skin
    fold = 0.12 + 0.5 * look.age + 0.25 * max(0.0, head.pose.smile)
    for side in (-1, 1):
        blush = head.at(ring(side * 0.42, 0.33, 0.16, 0.12))
        brush.fill(blush, (214, 104, 92), 0.2 * look.cheeks, soft=0.07 * unit, within=face)
        x, y = look.mouth_width + 0.07, look.mouth_height
        start = (side * (look.nose_width + 0.04), look.nose_length - 0.02)
        line = smooth([start, (side * x, y - 0.13), (side * (x + 0.03), y + 0.03)])
        brush.line(head.at(line), shaded(skin, 0.6), 0.022 * unit, fold, soft=0.014 * unit,
                   within=face)  # fmt: skip
        bag = head.at(ring(side * look.eye_apart, 0.06, 0.12, 0.06, 20, 160))
        brush.line(bag, shaded(skin, 0.62), 0.02 * unit, 0.15 + 0.5 * look.age, soft=0.01 * unit,
                   within=face)  # fmt: skip
        if look.age > 0.65:
            for k in (-1, 0, 1):
                x = side * (look.eye_apart + 0.17)
                foot = [(x, 0.01 + 0.02 * k), (x + side * 0.09, 0.0 + 0.055 * k)]
                brush.line(head.at(foot), shaded(skin, 0.6), 0.014 * unit, 0.6, within=face)
    if look.age > 0.6:
        for k in range(3):
            y = -0.36 - 0.085 * k
            furrow = smooth([(-0.3, y + 0.02), (-0.1, y), (0.12, y + 0.01), (0.3, y + 0.025)])
            brush.line(head.at(furrow), shaded(skin, 0.66), 0.016 * unit, look.age * 0.75,
                       soft=0.008 * unit, within=face)  # fmt: skip
    if look.freckles:
        rng = np.random.default_rng(look.freckles)
        for x, y in rng.normal((0, 0.22), (0.28, 0.1), (42, 2)):
            dot = head.at(ring(x, y, 0.014, 0.013, steps=8))
            brush.fill(dot, shaded(skin, 0.62), 0.7, within=face)
    if look.mole:
        brush.fill(
            head.at(ring(*look.mole, 0.026, 0.025, steps=12)), (60, 36, 30), 0.9, within=face
        )


def beard(brush: Brush, head: Head, face: Pixels) -> None:
    """Draw a beard, a moustache or stubble."""
    look, unit = head.looks, head.unit
    a, y, w = look.width, look.mouth_height, look.mouth_width
    if not look.beard:
        return
    colour, soft = shaded(look.hair, 0.95), 0.02 * unit
    if look.beard in {"full", "stubble"}:
        half = [(1.02 * a, 0.12), (0.84 * a, 0.3), (0.62 * a, y - 0.1), (w * 0.9, y - 0.14),
                (0.06, y - 0.1)]  # fmt: skip
        top = [*half, *[(-u, v) for u, v in half[::-1]]]
        jaw = [(-1.05 * a, 0.5), (-0.9 * a, 1.0), (-0.3, 1.12), (0.3, 1.12), (0.9 * a, 1.0),
               (1.05 * a, 0.5)]  # fmt: skip
        shape = head.rim(np.vstack([smooth(top), smooth(jaw)]), 0.3)
        brush.fill(
            shape, colour, 0.92 if look.beard == "full" else 0.3, soft=0.03 * unit, within=face
        )
    if look.beard == "goatee":
        chin = smooth([(-0.8 * w, y + 0.1), (0, y + 0.13), (0.8 * w, y + 0.1), (0.7 * w, 0.96),
                       (0, 1.06), (-0.7 * w, 0.96)], closed=True)  # fmt: skip
        brush.fill(head.at(chin, 0.02), colour, 0.9, soft=soft, within=face)
    if look.beard in {"goatee", "moustache", "full"}:
        lip = 0.045 * look.lips
        hair = smooth([(0, y - lip - 0.1), (0.6 * w, y - lip - 0.07), (1.15 * w, y + 0.01),
                       (0.6 * w, y - lip + 0.01), (0, y - lip - 0.01), (-0.6 * w, y - lip + 0.01),
                       (-1.15 * w, y + 0.01), (-0.6 * w, y - lip - 0.07)], closed=True)  # fmt: skip
        brush.fill(head.at(hair, 0.04), colour, 0.92, soft=soft, within=face)


def glasses(brush: Brush, head: Head) -> None:
    """Draw frames, and a reflection on the glass."""
    look, unit = head.looks, head.unit
    if not look.glasses:
        return
    heavy = look.glasses == "heavy"
    frame: Colour = (
        (28, 26, 30) if heavy else (92, 64, 44) if look.glasses == "square" else (70, 74, 82)
    )
    width = (0.05 if heavy else 0.026) * unit
    for side in (-1, 1):
        x = side * (look.eye_apart + 0.005)
        if look.glasses == "round":
            glass = ring(x, 0.01, 0.2, 0.19)
        else:
            size = 1.1 if heavy else 1.0
            glass = ring(0, 0, 0.225 * size, 0.165 * size)
            glass = np.clip(glass, (-0.205 * size, -0.14), (0.205 * size, 0.14))
            glass += (x, 0.015)
        brush.fill(head.at(glass, 0.1), (236, 242, 248), 0.07)
        brush.line(head.at(glass, 0.1), frame, width, closed=True)
        arm = np.vstack(
            [head.at([(x + side * 0.2, -0.03)], 0.1), head.rim([(side * look.width, -0.06)])]
        )
        brush.line(arm, frame, width)
    bridge = smooth([(-look.eye_apart + 0.19, -0.01), (0, -0.045), (look.eye_apart - 0.19, -0.01)])
    brush.line(head.at(bridge, 0.12), frame, width)
