"""What a detector and an embedder are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from candidly.photos.records import Face

Pixels = NDArray[np.uint8]


class Detector(Protocol):
    """Finds faces. ``identity`` changes whenever its answers could."""

    @property
    def identity(self) -> str:
        """Model and settings, in one line."""

    def detect(self, pixels: Pixels) -> list[Face]:
        """Faces of an upright RGB or grey picture, from left to right."""


class Embedder(Protocol):
    """Describes faces by vectors. Those of two embedders are never compared."""

    @property
    def identity(self) -> str:
        """Model and settings, in one line."""

    def embed(self, pixels: Pixels, faces: Sequence[Face]) -> NDArray[np.float32]:
        """One row of norm 1 a face; no faces give no rows."""


def as_rgb(pixels: Pixels) -> Pixels:
    """A picture as height x width x 3, or an error that says what it is.

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
