"""How much a face is worth to an embedder, from 0 to 1.

The geometric mean of four parts, each from 0 to 1, so that one bad part spoils the whole:

- size: log2(side / 16) / log2(112 / 16), where side is the box's shorter; an embedder sees 112
  pixels, so that a larger face gains nothing, and 16 pixels are worth nothing
- sharpness: (s - 0.04) / (0.16 - 0.04), where s is the standard deviation of the Laplacian over
  that of the grey values, in the face aligned to 112 pixels, so that light counts for nothing.
  Faces in focus have 0.16 and more, those blurred by 4 of the 112 pixels 0.05
- pose: yaw times pitch, from the landmarks, along the line of the eyes so that roll counts for
  nothing. yaw is 1 - 2 |t|, t how far the nose is from the middle of the eyes in eye distances (0
  from the front); pitch is 1 - 2 |p - 0.5|, p how far it is down the way from eyes to mouth
- score: the detector's own
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.faces.alignment import SIDE, aligned
from candidly.photos.faces.protocols import Pixels
from candidly.photos.records import Box

SMALLEST = 16
BLURRED, IN_FOCUS = 0.04, 0.16


def quality(pixels: Pixels, box: Box, landmarks: NDArray[Any], score: float) -> float:
    """Geometric mean of size, sharpness, pose and score."""
    parts = (size(box), sharpness(aligned(pixels, landmarks)), pose(landmarks), score)
    return float(np.prod(np.clip(parts, 0, 1)) ** 0.25)


def size(box: Box) -> float:
    """From 0 at 16 pixels to 1 at 112.

    Examples
    --------
    >>> [round(size(Box(0, 0, side, side)), 2) for side in (16, 42, 112, 500)]
    [0.0, 0.5, 1.0, 1.0]
    """
    side = max(min(box.w, box.h), 1)
    return float(np.clip(np.log(side / SMALLEST) / np.log(SIDE / SMALLEST), 0, 1))


def sharpness(face: Pixels) -> float:
    """How strong edges are against the contrast of an aligned face."""
    cv2 = require("cv2", "photos")
    grey = cv2.cvtColor(face, cv2.COLOR_RGB2GRAY).astype(np.float32)
    contrast = float(grey.std())
    if contrast < 1:  # a plain area shows nothing
        return 0.0
    edges = float(cv2.Laplacian(grey, cv2.CV_32F).std()) / contrast
    return float(np.clip((edges - BLURRED) / (IN_FOCUS - BLURRED), 0, 1))


def pose(landmarks: NDArray[Any]) -> float:
    """1 from the front, 0 in profile or looking straight up or down.

    Examples
    --------
    >>> import numpy as np
    >>> front = np.array([[0, 0], [40, 0], [20, 20], [4, 40], [36, 40]])
    >>> turned = np.array([[0, 0], [40, 0], [35, 20], [15, 40], [38, 40]])
    >>> round(pose(front), 2), round(pose(turned), 2)
    (1.0, 0.25)
    """
    points = np.asarray(landmarks, dtype=np.float64)
    eyes, mouth = points[:2].mean(axis=0), points[3:].mean(axis=0)
    across = points[1] - points[0]
    distance = float(np.hypot(*across))
    if distance < 1e-6:
        return 0.0
    across = across / distance
    down = np.array([-across[1], across[0]])
    nose, height = points[2] - eyes, float((mouth - eyes) @ down)
    if height < 1e-6:
        return 0.0
    yaw = 1 - 2 * abs(float(nose @ across)) / distance
    pitch = 1 - 2 * abs(float(nose @ down) / height - 0.5)
    return max(yaw, 0.0) * max(pitch, 0.0)
