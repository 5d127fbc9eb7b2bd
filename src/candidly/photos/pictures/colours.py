"""Any mode that Pillow decodes to red, green and blue in 8 bits, and turned upright."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require

# Large pictures are converted in bands of this many pixels, to need little memory beside them.
BAND = 2**22
_BLOCK = 256
_DEEP = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")
_WITH_ALPHA = ("RGBA", "RGBa", "LA", "La", "PA")


def rgb(image: Any) -> NDArray[np.uint8]:
    """Pixels of a decoded image; what is transparent shows white."""
    width, height = image.size
    rows = max(1, BAND // width)
    if rows >= height:
        bands: Iterable[Any] = [image]
    else:
        tops = range(0, height, rows)
        bands = _Bands(image, [(0, top, width, min(top + rows, height)) for top in tops])
    white = _white(bands, image.mode) if image.mode in _DEEP else 0.0
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    at = 0
    for band in bands:
        pixels[at : at + band.size[1]] = _band(band, white)
        at += band.size[1]
    return pixels


class _Bands:
    """Bands of an image, cut anew whenever they are gone through."""

    def __init__(self, image: Any, boxes: list[tuple[int, int, int, int]]) -> None:
        self.image, self.boxes = image, boxes

    def __iter__(self) -> Iterator[Any]:
        return (self.image.crop(box) for box in self.boxes)


def _band(image: Any, white: float) -> NDArray[np.uint8]:
    if image.mode in _DEEP:
        shades = np.nan_to_num(np.asarray(image, dtype=np.float32), posinf=white, neginf=0.0)
        grey = np.clip(np.rint(shades * np.float32(255.0 / white)), 0, 255)
        return grey.astype(np.uint8)[:, :, None]
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        image = image.convert("RGBA")
        pil = require("PIL.Image", "photos")
        image = pil.alpha_composite(pil.new("RGBA", image.size, "white"), image)
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def _white(bands: Iterable[Any], mode: str) -> float:
    """The value of white for shades of 16 bits and more; Pillow would cut them off at 255."""
    if mode.startswith("I;16"):
        return 65535.0
    largest = 0.0
    for band in bands:
        values = np.asarray(band)
        largest = float(values.max(initial=largest, where=np.isfinite(values)))
    # Neither mode says what its white is: the next usual one above what there is.
    usual = (1.0, 255.0) if mode == "F" else (65535.0,)
    return next((white for white in usual if largest <= white), largest)


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
    return _compact(pixels) if orientation >= 5 else np.ascontiguousarray(pixels)


def _compact(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Copy in blocks, a colour at a time: where rows become columns, four times as fast."""
    compact = np.empty(pixels.shape, dtype=np.uint8)
    for top in range(0, pixels.shape[0], _BLOCK):
        for left in range(0, pixels.shape[1], _BLOCK):
            block = slice(top, top + _BLOCK), slice(left, left + _BLOCK)
            for colour in range(pixels.shape[2]):
                compact[*block, colour] = pixels[*block, colour]
    return compact
