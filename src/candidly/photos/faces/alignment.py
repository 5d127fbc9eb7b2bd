"""Eyes, nose and mouth brought to where an embedder expects them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.faces.protocols import Pixels

SIDE = 112
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
    r"""The turn, scale and shift that bring landmarks nearest to PLACES, as a 2 x 3 matrix.

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
    """The face in 112 x 112 pixels, black where it reaches out of the picture.

    A large face is first shrunk by averaging to at most twice the size: to sample one pixel in
    many would show patterns that are not there.
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
    """What the crop shows, cut out and shrunk by a whole number, and the landmarks in it."""
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
