"""Draws hair: behind the head, and on it."""

from __future__ import annotations

import numpy as np

from benchmarks.album.heads import Head
from benchmarks.album.looks import Looks
from benchmarks.album.strokes import Brush, Points, ring, shaded, smooth
from candidly.photos.parts import Pixels

COVERS_EARS = {"long", "bob", "wavy", "fringe", "scarf", "mop", "afro"}
# How far hair stands off the skull, and how far down it goes at the sides.
VOLUME = {
    "buzz": (0.02, -0.12), "short": (0.09, -0.02), "part": (0.13, 0.0), "quiff": (0.14, -0.08),
    "receding": (0.05, 0.05), "curly": (0.16, 0.05), "mop": (0.2, 0.22), "afro": (0.2, 0.1),
    "long": (0.12, 0.45), "bob": (0.15, 0.5), "wavy": (0.16, 0.45), "fringe": (0.13, 0.5),
    "pixie": (0.12, 0.08), "bun": (0.06, -0.02), "ponytail": (0.07, 0.0),
}  # fmt: skip


def behind(brush: Brush, head: Head) -> None:
    """Draw the hair beside and below the head."""
    look, a = head.looks, head.looks.width
    style, dark = look.hair_style, shaded(look.hair, 0.72)
    if style in {"long", "fringe"}:
        brush.fill(head.rim(_fall(a + 0.17, 1.75, 0.02)), dark)
    elif style == "wavy":
        brush.fill(head.rim(_fall(a + 0.27, 1.6, 0.09)), dark)
    elif style == "bob":
        brush.fill(head.rim(_fall(a + 0.22, 0.86, 0.0)), dark)
    elif style == "afro":
        brush.fill(head.rim(_lumpy(0, -0.38, a + 0.46, 1.02, 0.03, 26)), look.hair)
    elif style == "bun":
        brush.fill(head.rim(ring(0.05, -1.13, 0.3, 0.26)), dark)
    elif style == "ponytail":
        side = 1 if head.pose.turn < 0 else -1
        tail = [(0.3, -0.8), (a + 0.22, -0.5), (a + 0.3, 0.4), (a + 0.12, 1.2), (a, 0.3)]
        brush.fill(head.rim(smooth([(side * x, y) for x, y in tail], closed=True)), dark)
    elif style == "scarf":
        shape = [(0, -1.16), (a + 0.1, -0.75), (a + 0.17, 0.1), (a + 0.1, 0.8), (a + 0.3, 1.5)]
        brush.fill(head.rim(_both(shape)), shaded(look.clothes, 0.75))


def on_top(brush: Brush, head: Head) -> None:
    """Draw hairline, fringe and strands; or a scarf."""
    look = head.looks
    style = look.hair_style
    if style == "bald":
        shine = head.at(ring(-0.18, -0.78, 0.2, 0.1))
        brush.fill(shine, (255, 250, 244), 0.3, soft=0.06 * head.unit)
        return
    if style == "scarf":
        _scarf(brush, head)
        return
    if style in {"curly", "afro"}:
        _curls(brush, head)
        return
    cap = _cap(head)
    inner = brush.outline_mask(cap)
    brush.fill(cap, look.hair, 0.72 if style == "buzz" else 1.0, soft=0.012 * head.unit)
    _strands(brush, head, inner)
    brush.line(cap[len(cap) // 2 :], shaded(look.hair, 0.6), 0.02 * head.unit, 0.35,
               soft=0.02 * head.unit, within=inner)  # fmt: skip


def _hairline(look: Looks) -> list[tuple[float, float]]:
    """Return the hairline, from the right temple to the left one."""
    a, y = look.width, look.hairline
    right, left = (0.9 * a, -0.34), (-0.9 * a, -0.34)
    middle: dict[str, list[tuple[float, float]]] = {
        "part": [(0.6 * a, -0.6), (0.42 * a, y - 0.14), (0.1 * a, y + 0.06), (-0.55 * a, y + 0.16)],
        "quiff": [(0.72 * a, y + 0.06), (0.3 * a, y - 0.02), (-0.3 * a, y), (-0.72 * a, y + 0.08)],
        "receding": [(0.62 * a, -0.86), (0.28 * a, -0.8), (0, -0.7), (-0.28 * a, -0.8),
                     (-0.62 * a, -0.86)],
        "long": [(0.66 * a, -0.5), (0.26 * a, y - 0.08), (0, y - 0.2), (-0.26 * a, y - 0.08),
                 (-0.66 * a, -0.5)],
        "wavy": [(0.7 * a, -0.48), (0.46 * a, y - 0.12), (0.3 * a, y - 0.16), (-0.2 * a, y + 0.08),
                 (-0.7 * a, -0.36)],
        "bob": [(0.78 * a, -0.42), (0.4 * a, y - 0.12), (0.2 * a, y - 0.14), (-0.3 * a, y + 0.12),
                (-0.75 * a, -0.3)],
        "fringe": [(0.84 * a, -0.3), (0.45 * a, -0.3), (0, -0.28), (-0.45 * a, -0.3),
                   (-0.84 * a, -0.3)],
        "mop": [(0.8 * a, -0.3), (0.45 * a, -0.4), (0.12 * a, -0.33), (-0.3 * a, -0.42),
                (-0.8 * a, -0.28)],
        "pixie": [(0.8 * a, -0.36), (0.3 * a, -0.36), (-0.2 * a, -0.5), (-0.6 * a, y),
                  (-0.8 * a, -0.44)],
    }  # fmt: skip
    usual = [(0.7 * a, y + 0.1), (0.35 * a, y), (0, y - 0.03), (-0.35 * a, y), (-0.7 * a, y + 0.1)]
    return [right, *middle.get(look.hair_style, usual), left]


def _cap(head: Head) -> Points:
    """Return the outline of the hair: over the skull, and back along the hairline."""
    look = head.looks
    volume, side = VOLUME[look.hair_style]
    a = look.width
    angles = np.deg2rad(np.linspace(-96, 96, 15))
    lift = 0.12 * np.cos(angles - 0.5) if look.hair_style == "quiff" else 0.0
    outer = np.column_stack(
        [(a + volume * 0.8) * np.sin(angles), -0.12 - (0.88 + volume + lift) * np.cos(angles)]
    )
    down_left = [(-a - volume * 0.7, 0.6 * side), (-a * 0.98, side)]
    down_right = [(a * 0.98, side), (a + volume * 0.7, 0.6 * side)]
    hang = [(0.88 * a, side)] if side > 0.3 else []
    back = [(-x, y) for x, y in hang]
    over = head.rim(smooth([*down_left[::-1], *outer, *down_right[::-1]]), sway=0.0)
    line = head.at(smooth([*hang, *_hairline(look), *back]))
    return np.vstack([over, line])


def _strands(brush: Brush, head: Head, inner: Pixels) -> None:
    """Draw lighter and darker lines from the crown to the hairline."""
    look, unit = head.looks, head.unit
    rng = np.random.default_rng(int(1e6 * look.width))
    a = look.width
    for _ in range(16):
        end = rng.uniform(-1.05, 1.05) * a
        start = 0.35 * end + 0.1
        points = [
            (start, -1.05),
            (0.8 * end, -0.85),
            (end, -0.4 + 0.3 * abs(end)),
            (1.1 * end, 0.7),
        ]
        tone = float(rng.choice([0.74, 1.28]))
        brush.line(head.rim(smooth(points), 0.05), shaded(look.hair, tone), 0.022 * unit, 0.4,
                   soft=0.008 * unit, within=inner)  # fmt: skip
    shine = head.rim(ring(-0.2, -0.86, 0.42, 0.1))
    brush.fill(shine, (255, 244, 230), 0.16, soft=0.07 * unit, within=inner)


def _curls(brush: Brush, head: Head) -> None:
    look = head.looks
    rng = np.random.default_rng(int(1e6 * look.width))
    volume, side = VOLUME[look.hair_style]
    a = look.width
    cap = _cap(head)
    brush.fill(cap, look.hair)
    angles = np.deg2rad(np.linspace(-118, 118, 19))
    for layer, size in ((1.0, 0.15), (0.86, 0.15), (0.7, 0.12)):
        for angle in angles:
            x = layer * (a + 0.7 * volume) * np.sin(angle) + rng.normal(0, 0.02)
            y = -0.12 - layer * (0.88 + volume) * np.cos(angle) + rng.normal(0, 0.02)
            if y > side or (abs(x) < 0.99 * a and y > look.hairline - 0.02):
                continue
            tone = shaded(look.hair, float(rng.uniform(0.8, 1.3)))
            curl = head.rim(ring(x, y, size, size * 0.95, steps=14), 0.05)
            brush.fill(curl, tone, 0.85, soft=0.015 * head.unit)


def _scarf(brush: Brush, head: Head) -> None:
    look, unit = head.looks, head.unit
    a = look.width
    outside = [(0, -1.14), (a + 0.06, -0.8), (a + 0.13, 0.0), (a + 0.02, 0.75), (0.4, 1.25)]
    opening = smooth([(0, -0.6), (0.62 * a, -0.5), (0.9 * a, -0.05), (0.8 * a, 0.5),
                      (0.45 * a, 0.9), (0, 1.0), (-0.45 * a, 0.9), (-0.8 * a, 0.5),
                      (-0.9 * a, -0.05), (-0.62 * a, -0.5)], closed=True)  # fmt: skip
    shape, hole = brush.outline_mask(head.rim(_both(outside))), brush.outline_mask(head.at(opening))
    left = shape.copy()
    left[hole > 127] = 0
    np.maximum(brush.cover, left, out=brush.cover)
    brush.fill(head.rim(_both(outside)), look.clothes, within=left)
    for k in (-1, 1):
        for width in (1.02, 1.12):
            fold = [(k * 0.1, -1.0), (k * a * width, -0.3), (k * a * width * 0.95, 0.4), (0, 1.15)]
            brush.line(head.rim(smooth(fold)), shaded(look.clothes, 0.7), 0.025 * unit, 0.6,
                       soft=0.015 * unit, within=left)  # fmt: skip


def _fall(half: float, end: float, wave: float) -> Points:
    """Draw hair that falls beside the face, as far as ``end``."""
    y = np.linspace(-0.3, end, 11)
    x = half * (1 - 0.18 * np.clip((y - 0.8) / 1.2, 0, 1)) + wave * np.sin(5.5 * y)
    side = list(zip(x.tolist(), y.tolist(), strict=True))
    top = [(0, -1.09), (0.5 * half, -1.0), (0.84 * half, -0.72)]
    return _both([*top, *side, (0.55 * half, end + 0.05)])


def _lumpy(x: float, y: float, a: float, b: float, lump: float, lumps: int) -> Points:
    around = ring(x, y, a, b, steps=160)
    waves = 1 + lump * np.sin(np.linspace(0, 2 * np.pi * lumps, 160))
    return (around - (x, y)) * waves[:, None] + (x, y)


def _both(half: list[tuple[float, float]]) -> Points:
    """Return a closed curve, given its right half from top to bottom."""
    return smooth([*half, *[(-x, y) for x, y in half[::-1] if x]], closed=True)
