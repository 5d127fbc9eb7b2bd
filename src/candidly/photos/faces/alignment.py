"""Alignment of faces for an embedder, and the quality of a face."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.geometry import Box
from candidly.photos.parts import Pixels

SIDE = 112
SMALLEST = 16  # side in pixels of a face of quality 0
BLURRED, IN_FOCUS = 0.04, 0.16
# Where five landmarks lie in the 112 x 112 crop that face embedders are trained on: the eye on
# the left, the one on the right, the nose, the mouth's left corner and its right one.
PLACES = np.array(
    [
        [38.2946, 51.6963],
        [73.5318, 51.5014],
        [56.0252, 71.7366],
        [41.5493, 92.3655],
        [70.7299, 92.2041],
    ]
)


def similarity(landmarks: NDArray[Any]) -> NDArray[np.float64]:
    r"""Return the 2 x 3 matrix that turns, scales and shifts landmarks nearest to PLACES.

    With centred points as complex numbers p and q, min_a \|a p - q\|^2 has a = <p, q> / <p, p>;
    there are no mirror images among the solutions.

    Examples
    --------
    >>> import numpy as np
    >>> np.abs(similarity(PLACES * 3 + 7) @ [7, 7, 1]).round(6)
    array([0., 0.])
    """
    points = np.asarray(landmarks, dtype=np.float64)
    middle, target = points.mean(axis=0), PLACES.mean(axis=0)
    p = (points - middle) @ [1, 1j]
    q = (PLACES - target) @ [1, 1j]
    spread = np.vdot(p, p).real
    a = np.vdot(p, q) / spread if spread > 1e-9 else complex(1)
    turn = np.array([[a.real, -a.imag], [a.imag, a.real]])
    return np.column_stack([turn, target - turn @ middle])


def aligned(pixels: Pixels, landmarks: NDArray[Any]) -> Pixels:
    """Return the face in 112 x 112 pixels, black where it reaches out of the picture.

    A large face is first shrunk by averaging to at most twice the size: to sample one pixel in
    many would cause aliasing.
    """
    cv2 = require("cv2", "photos")
    matrix = similarity(landmarks)
    scale = float(np.hypot(matrix[0, 0], matrix[1, 0]))
    if scale < 0.5:
        pixels, landmarks = _shrunk(cv2, pixels, np.asarray(landmarks, np.float64), matrix, scale)
        matrix = similarity(landmarks)
    return cv2.warpAffine(pixels, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR)


def _shrunk(
    cv2: Any, pixels: Pixels, landmarks: NDArray[Any], matrix: NDArray[Any], scale: float
) -> tuple[Pixels, NDArray[Any]]:
    """Return what the crop shows, shrunk by a whole number, and the landmarks in it."""
    height, width = pixels.shape[:2]
    corners = np.array([[0, 0], [SIDE, 0], [0, SIDE], [SIDE, SIDE]]) - matrix[:, 2]
    corners = corners @ np.linalg.inv(matrix[:, :2]).T
    times = int(1 / (2 * scale)) + 1
    x0, y0 = np.clip(corners.min(axis=0) - 2 * times, 0, [width - 1, height - 1]).astype(int)
    x1, y1 = np.clip(corners.max(axis=0) + 2 * times, [x0 + 1, y0 + 1], [width, height]).astype(int)
    part = pixels[y0:y1, x0:x1]
    w, h = max(1, (x1 - x0) // times), max(1, (y1 - y0) // times)
    small = cv2.resize(part, (w, h), interpolation=cv2.INTER_AREA)
    # Centres of pixels, not their corners, are the whole numbers.
    factor = np.array([w / (x1 - x0), h / (y1 - y0)])
    return small, (landmarks - [x0, y0] + 0.5) * factor - 0.5


def quality(pixels: Pixels, box: Box, landmarks: NDArray[Any], score: float) -> float:
    """Return the quality of a face for an embedder, from 0 to 1.

    The geometric mean of four parts, each from 0 to 1, so that one bad part spoils the whole:

    - size: log2(side / 16) / log2(112 / 16), where side is the box's shorter side; an embedder sees
      112 pixels, so that a larger face gains nothing, and 16 pixels have quality 0
    - sharpness: (s - 0.04) / (0.16 - 0.04), where s is the standard deviation of the Laplacian over
      that of the grey values, in the face aligned to 112 pixels, so that light counts for nothing.
      Faces in focus have 0.16 and more, those blurred by 4 of the 112 pixels 0.05
    - pose: yaw times pitch, from the landmarks, along the line of the eyes so that roll counts for
      nothing. yaw is 1 - 2 |t|, t how far the nose is from the middle of the eyes in eye
      distances (0 from the front); pitch is 1 - 2 |p - 0.5|, p how far it is down the way from
      eyes to mouth
    - score: the detector's own
    """
    parts = (size(box), sharpness(aligned(pixels, landmarks)), pose(landmarks), score)
    return float(np.prod(np.clip(parts, 0, 1)) ** 0.25)


def size(box: Box) -> float:
    """Return the quality of a face's size, from 0 at 16 pixels to 1 at 112.

    Examples
    --------
    >>> [round(size(Box(0, 0, side, side)), 2) for side in (16, 42, 112, 500)]
    [0.0, 0.5, 1.0, 1.0]
    """
    side = max(min(box.w, box.h), 1)
    return float(np.clip(np.log(side / SMALLEST) / np.log(SIDE / SMALLEST), 0, 1))


def sharpness(face: Pixels) -> float:
    """Return how strong edges are against the contrast of an aligned face, from 0 to 1."""
    cv2 = require("cv2", "photos")
    grey = cv2.cvtColor(face, cv2.COLOR_RGB2GRAY).astype(np.float32)
    contrast = float(grey.std())
    if contrast < 1:  # a plain area has no edges
        return 0.0
    edges = float(cv2.Laplacian(grey, cv2.CV_32F).std()) / contrast
    return float(np.clip((edges - BLURRED) / (IN_FOCUS - BLURRED), 0, 1))


def pose(landmarks: NDArray[Any]) -> float:
    """Return 1 for a face from the front, 0 in profile or looking straight up or down.

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


def as_rgb(pixels: Pixels) -> Pixels:
    """Return a picture as height x width x 3, or raise an error that says what it is.

    Examples
    --------
    >>> import numpy as np
    >>> as_rgb(np.zeros((4, 5), dtype=np.uint8)).shape
    (4, 5, 3)
    """
    pixels = np.asarray(pixels)
    if pixels.dtype != np.uint8:
        raise TypeError(f"a picture holds bytes (uint8), not {pixels.dtype}; convert it to 0-255")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3):
        raise ValueError(
            f"a picture is height x width (grey) or height x width x 3 (RGB), not of shape "
            f"{pixels.shape}; leave out its alpha channel"
        )
    return np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
