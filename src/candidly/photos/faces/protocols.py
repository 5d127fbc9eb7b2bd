"""A picture as the models take it; the protocols are in ``candidly.photos.parts``."""

from __future__ import annotations

import numpy as np

from candidly.photos.parts import Detector as Detector
from candidly.photos.parts import Embedder as Embedder
from candidly.photos.parts import Pixels as Pixels


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
