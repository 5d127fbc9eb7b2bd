"""Any mode that Pillow decodes to red, green and blue in 8 bits, and turned upright."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require

_DEEP = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")
_WITH_ALPHA = ("RGBA", "RGBa", "LA", "La", "PA")


def rgb(image: Any) -> NDArray[np.uint8]:
    """Pixels of a decoded image; what is transparent shows white."""
    if image.mode in _DEEP:
        grey = _eight_bits(np.asarray(image), image.mode)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        image = image.convert("RGBA")
        pil = require("PIL.Image", "photos")
        image = pil.alpha_composite(pil.new("RGBA", image.size, "white"), image)
    return np.array(image if image.mode == "RGB" else image.convert("RGB"), dtype=np.uint8)


def _eight_bits(values: NDArray[Any], mode: str) -> NDArray[np.uint8]:
    """Shades of 16 bits and more; Pillow would cut them off at 255."""
    if mode.startswith("I;16"):
        top = 65535.0
    else:
        values = np.nan_to_num(values.astype(np.float32), posinf=0.0, neginf=0.0)
        largest = float(values.max(initial=0.0))
        # Neither mode says what its white is: the next usual one above what there is.
        usual = (1.0, 255.0, 65535.0) if mode == "F" else (65535.0,)
        top = next((white for white in usual if largest <= white), largest)
    scaled = values.astype(np.float32) * np.float32(255.0 / top)
    return np.clip(np.rint(scaled), 0, 255).astype(np.uint8)


def upright(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Undo an EXIF orientation.

    Examples
    --------
    >>> stored = np.uint8([[[1], [2]], [[3], [4]]])
    >>> upright(stored, 6)[:, :, 0].tolist()
    [[3, 1], [4, 2]]
    """
    if orientation >= 5:
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)
