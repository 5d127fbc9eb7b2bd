"""Places of eyes, nose and outline on a head that turns, nods and tilts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.album.looks import Looks
from benchmarks.album.strokes import Points, smooth
from candidly.photos.geometry import Box

DEPTH = 0.72  # of a head from its rim to the face, in half heights
FOREHEAD, CHIN = -0.68, 1.02  # where detectors have a face begin and end


class Pose(NamedTuple):
    """Angles in degrees (turned to the right, nodding, tilted), and what the face does."""

    turn: float = 0.0
    nod: float = 0.0
    tilt: float = 0.0
    smile: float = 0.3
    open: float = 0.0


@dataclass(frozen=True)
class Head:
    """A head in a picture: ``unit`` pixels are half its height; its middle is between the eyes."""

    looks: Looks
    pose: Pose
    x: float
    y: float
    unit: float
    turning: tuple[float, float, float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        turn, nod = np.deg2rad([self.pose.turn, self.pose.nod])
        angles = (np.sin(turn), np.cos(turn), np.sin(nod), np.cos(nod))
        object.__setattr__(self, "turning", tuple(float(value) for value in angles))

    def at(self, points: ArrayLike, lift: float = 0.0) -> Points:
        """Return pixels of points on the face as seen from the front; ``lift`` is to the viewer."""
        x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
        inside = 1 - (x / (1.08 * self.looks.width)) ** 2 - (y / 1.25) ** 2
        z = DEPTH * np.sqrt(np.clip(inside, 0, None)) + lift
        sin_t, cos_t, sin_n, cos_n = self.turning
        return self._placed(x * cos_t + z * sin_t, y * cos_n + z * sin_n * 0.8)

    def rim(self, points: ArrayLike, sway: float = 0.16) -> Points:
        """Return pixels of points on the head's outline, of which the chin follows a turn."""
        x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
        sin_t, _, sin_n, _ = self.turning
        moved = x * (1 - 0.05 * abs(sin_t)) + sway * sin_t * np.clip(y + 0.2, -0.5, 1.2)
        return self._placed(moved, y + 0.12 * sin_n * np.clip(y + 0.3, 0, 1.3))

    def body(self, points: ArrayLike) -> Points:
        """Return pixels of points below the head, which stay upright."""
        x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T
        return np.column_stack([self.x + x * self.unit, self.y + y * self.unit])

    def _placed(self, x: Points, y: Points) -> Points:
        tilt = np.deg2rad(self.pose.tilt)
        y = y - 1  # tilted about the chin, near to the neck
        turned_x = x * np.cos(tilt) - y * np.sin(tilt)
        turned_y = x * np.sin(tilt) + y * np.cos(tilt) + 1
        return np.column_stack([self.x + turned_x * self.unit, self.y + turned_y * self.unit])

    def outline(self) -> Points:
        """Return the face's outline, from the skull down to the chin."""
        look = self.looks
        a = look.width
        cheek = a * (0.93 + 0.06 * look.cheeks)
        jaw = a * look.jaw
        half = [
            (0, -1.0), (0.5 * a, -0.92), (0.87 * a, -0.62), (a, -0.15), (cheek, 0.28),
            (jaw, 0.62), (0.5 * (jaw + look.chin * a), 0.87), (0.62 * look.chin * a, 0.98),
        ]  # fmt: skip
        other = [(-x, y) for x, y in half[:0:-1]]
        return self.rim(smooth([*half, (0, 1.0), *other], closed=True))

    def box(self) -> Box:
        """Return the face's box, as a detector would have it."""
        a = 0.92 * self.looks.width
        corners = self.rim([(-a, -0.1), (a, -0.1), (-a, 0.4), (a, 0.4), (0, FOREHEAD), (0, CHIN)])
        front = self.at([(0, FOREHEAD), (0, 0.9)])
        x0, x1 = corners[:4, 0].min(), corners[:4, 0].max()
        y0, y1 = corners[4, 1], corners[5, 1]
        shift = 0.12 * (front[:, 0].mean() - corners[4:, 0].mean())
        return Box(float(x0 + shift), float(y0), float(x1 - x0), float(y1 - y0))
