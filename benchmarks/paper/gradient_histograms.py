"""Histograms of gradient directions: what SIFT has at a point, here on a grid over the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL, DIRECTIONS = 8, 8
LARGEST = 0.2
"""Where a normalised histogram is cut off, as in SIFT: one strong edge does not take over."""


def gradient_histograms(images: NDArray[Any]) -> NDArray[np.float64]:
    """Return one row per picture: histograms of 2 x 2 cells of 8 x 8 pixels, normalised.

    Examples
    --------
    >>> import numpy as np
    >>> gradient_histograms(np.zeros((3, 64, 64))).shape
    (3, 1568)
    """
    pictures = images.astype(float)
    n, height, width = pictures.shape
    down, right = np.gradient(pictures, axis=(1, 2))
    strength = np.hypot(right, down)
    direction = np.arctan2(down, right) % (2 * np.pi) * DIRECTIONS / (2 * np.pi)
    low = np.floor(direction).astype(int)
    share = direction - low
    rows, columns = height // CELL, width // CELL
    cells = np.zeros((n, rows, columns, DIRECTIONS))
    for k in range(DIRECTIONS):
        part = np.where(low % DIRECTIONS == k, strength * (1 - share), 0)
        part += np.where((low + 1) % DIRECTIONS == k, strength * share, 0)
        part = part[:, : rows * CELL, : columns * CELL]
        cells[..., k] = part.reshape(n, rows, CELL, columns, CELL).sum(axis=(2, 4))
    blocks = np.concatenate(
        [cells[:, i : rows - 1 + i, j : columns - 1 + j] for i in (0, 1) for j in (0, 1)], axis=-1
    )
    blocks = np.minimum(_unit(blocks), LARGEST)
    return _unit(blocks).reshape(n, -1)


def _unit(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    return blocks / (np.linalg.norm(blocks, axis=-1, keepdims=True) + 1e-6)
