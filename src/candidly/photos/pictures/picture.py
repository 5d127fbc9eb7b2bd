"""A picture file read to upright RGB pixels, with an identity that metadata does not change."""

from __future__ import annotations

import hashlib
import stat
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.geometry import Box
from candidly.photos.pictures.formats import (
    FormatError,
    heic,
    image_data,
    kind_of,
    metadata_of,
    tiff,
)

# A small file can ask for all memory: other formats than JPEG need up to 5 bytes per pixel while
# they are decoded, 1.5 GB for the largest.
PIXEL_LIMIT = 300_000_000
# Larger pictures are reduced by 2, 4 or 8 as they are opened: faces in them are large enough.
HUGE = 100_000_000
FILE_LIMIT = 2 * 2**30
# Large pictures are converted in bands of this many pixels, to need little memory beside them.
BAND = 2**22

_TOO_LARGE = "memory is too small for it: save it smaller"
_PLUGINS = {
    # Opened by class: no search through every format, and only our own limit.
    "JPEG": ("PIL.JpegImagePlugin", "JpegImageFile"),
    "PNG": ("PIL.PngImagePlugin", "PngImageFile"),
    "WebP": ("PIL.WebPImagePlugin", "WebPImageFile"),
    "TIFF": ("PIL.TiffImagePlugin", "TiffImageFile"),
}
_OTHERS = {
    b"GIF8": "a GIF",
    b"BM": "a BMP",
    b"%PDF": "a PDF",
    b"8BPS": "a Photoshop file",
    b"\0\0\1\0": "an icon",
    b"<": "a web page or a drawing in XML",
    b"PK\3\4": "an archive",
}
_BLOCK = 256
_DEEP = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")
_WITH_ALPHA = ("RGBA", "RGBa", "LA", "La", "PA")
# Modes in which Pillow has no mean of pixels, or not the right one, and others in which it has.
_PLAIN = {"P": "RGB", "PA": "RGBA", "1": "L", "RGBA": "RGBa", "LA": "La"}
_PLAIN |= {"I;16": "I", "I;16L": "I", "I;16B": "I", "I;16N": "I"}
Decoded = TypeVar("Decoded")


class PictureProblem(Exception):  # noqa: N818  reads as what it is
    """A file (``path``) that cannot be used as a picture; ``reason`` says why and what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class Picture:
    """An upright picture in 8-bit RGB; the first frame of an animation.

    ``pixels`` of more than ``HUGE`` pixels are reduced; ``width`` and ``height`` are those of the
    picture itself, and so is where faces are: ``reduced`` says where that is in the pixels.
    ``identity`` is the SHA-256 of the image data, which captions and EXIF, orientation included, do
    not change; ``orientation`` is EXIF's, already undone in ``pixels``.
    """

    pixels: NDArray[np.uint8] = field(repr=False)
    identity: str
    width: int
    height: int
    orientation: int = 1

    def reduced(self, box: Box) -> Box:
        """Return a box of the picture in its pixels, which may be fewer."""
        x, y = self.pixels.shape[1] / self.width, self.pixels.shape[0] / self.height
        return Box(box.x * x, box.y * y, box.w * x, box.h * y)


def open_picture(path: str | Path) -> Picture:
    """Return the picture in a JPEG, PNG, WebP, TIFF or HEIC file, whatever its name ends in.

    Raises
    ------
    PictureProblem
        If it cannot be opened: absent, empty, truncated, another kind of file, or more
        than `PIXEL_LIMIT` pixels.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> from candidly.photos.pictures import open_picture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("CMYK", (30, 20)).save(Path(folder) / "a.jpg")
    ...     picture = open_picture(Path(folder) / "a.jpg")
    >>> picture.pixels.shape, picture.width
    ((20, 30, 3), 30)
    """
    path = Path(path)
    data, kind = _read(path)
    with _one_huge_at_a_time(path, data, kind):
        stored, orientation, size = _decode(path, data, kind)
        identity = _data_identity(kind, data) or _pixel_identity(stored)
        pixels = _pixels(path, stored)
        del data, stored  # a turn needs room for a copy
        pixels = upright(pixels, orientation)
    width, height = size if orientation < 5 else size[::-1]
    return Picture(pixels, identity, width, height, orientation)


def identify(path: str | Path) -> str:
    """Return the identity that `open_picture` gives a picture, if possible without decoding it.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> from candidly.photos.pictures import identify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.png"
    ...     Image.new("RGB", (3, 2)).save(file)
    ...     before = identify(file)
    ...     Image.new("RGB", (3, 2)).save(file, dpi=(300, 300))
    ...     before == identify(file)
    True
    """
    path = Path(path)
    data, kind = _read(path)
    known = _data_identity(kind, data)
    if known is not None:
        return known
    with _one_huge_at_a_time(path, data, kind):
        return _pixel_identity(_decode(path, data, kind)[0])


def orientation(path: str | Path) -> int:
    """Return the orientation that `open_picture` gives a picture, without decoding it."""
    with Path(path).open("rb") as file:
        return _orientation(file)


def _orientation(file: BinaryIO) -> int:
    if kind_of(file.read(12)) == "HEIC":
        return 1  # decoded upright
    known = metadata_of(file)
    return known.orientation if known else 1


def _read(path: Path) -> tuple[bytes, str]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise PictureProblem(path, "it is not a file: give the path of a picture")
        if status.st_size > FILE_LIMIT:
            size = f"{status.st_size / 2**30:.1f} GiB"
            raise PictureProblem(path, f"{size} is more than 2 GiB: save it smaller")
        data = path.read_bytes()
    except PermissionError as error:
        reason = "no permission to read it: change its rights, or run as who may"
        raise PictureProblem(path, reason) from error
    except FileNotFoundError as error:
        raise PictureProblem(path, "it is not there: was it moved meanwhile?") from error
    except OSError as error:
        reason = f"it cannot be read ({error.strerror or error}): is the disk there and whole?"
        raise PictureProblem(path, reason) from error
    if not data:
        raise PictureProblem(path, "it is empty (0 bytes): copy it again from where it came")
    kind = kind_of(data[:12])
    if kind is None:
        raise PictureProblem(path, _unknown(data))
    return data, kind


def _unknown(data: bytes) -> str:
    advice = "save it as JPEG, PNG, WebP or TIFF"
    if data[4:8] == b"ftyp":
        return f"it is a film, or a picture of a kind that is not read: {advice}"
    for start, what in _OTHERS.items():
        if data.lstrip()[: len(start)] == start:
            return f"it is {what}, whatever its name says: {advice}"
    if not any(data[:4096]):
        return "it holds only zeros: the copy or the disk is broken, copy it again"
    return f"it is no picture that is read here, whatever its name says: {advice}"


_HUGE_ONE = threading.Lock()


@contextmanager
def _one_huge_at_a_time(path: Path, data: bytes, kind: str) -> Iterator[None]:
    """Wait for other huge pictures, so that several do not fill the memory together."""
    width, height = _explained(path, kind, lambda: _opened(path, data, kind).size)
    with _HUGE_ONE if width * height > HUGE else nullcontext():
        yield


def _opened(path: Path, data: bytes, kind: str) -> Any:
    """Return a picture that is not decoded yet."""
    if kind == "HEIC":
        image = heic.decoder(data)
    else:
        module, name = _PLUGINS[kind]
        plain = tiff.as_stored(data) if kind == "TIFF" else data
        image = getattr(require(module, "photos"), name)(BytesIO(plain))
    _check_size(path, image.size)
    return image


def _decode(path: Path, data: bytes, kind: str) -> tuple[Any, int, tuple[int, int]]:
    """Return the picture as it is stored, decoded by Pillow, its orientation and whole size."""

    def decode() -> tuple[Any, int, tuple[int, int]]:
        orientation = _orientation(BytesIO(data))
        image = _opened(path, data, kind)
        size = image.size
        if kind == "HEIC":
            image = image.to_pillow()
        factor = _reduction(size)
        if factor > 1 and kind == "JPEG":
            image.draft(image.mode, (size[0] // factor, size[1] // factor))
        image.load()
        if factor > 1 and image.size == size:
            if image.mode in _PLAIN:
                image = image.convert(_PLAIN[image.mode])
            image = image.reduce(factor)
        return image, orientation, size

    return _explained(path, kind, decode)


def _reduction(size: tuple[int, int]) -> int:
    """Return by how much each side of a picture is divided."""
    return next(one for one in (1, 2, 4, 8) if size[0] * size[1] <= HUGE * one * one or one == 8)


def _explained(path: Path, kind: str, decode: Callable[[], Decoded]) -> Decoded:
    """Return what a decoder returns; any exception becomes a ``PictureProblem``."""
    try:
        with warnings.catch_warnings():
            # Pillow warns of odd metadata, which is not used here.
            warnings.simplefilter("ignore")
            return decode()
    except ImportError as error:
        if kind != "HEIC":
            raise  # no file can be opened, not only this one
        raise PictureProblem(path, str(error)) from error
    except MemoryError as error:
        raise PictureProblem(path, _TOO_LARGE) from error
    except PictureProblem:
        raise
    except Exception as error:  # decoders raise any exception on broken files
        if "truncated" in str(error) or "premature" in str(error).lower():
            reason = "the file ends before the picture does: copy it again from where it came"
        else:
            reason = f"its {kind} data cannot be decoded ({_said(error)}): save or copy it anew"
        raise PictureProblem(path, reason) from error


def _pixels(path: Path, stored: Any) -> NDArray[np.uint8]:
    try:
        return rgb(stored)
    except ValueError as error:
        reason = f"its colours ({stored.mode}) are of a kind that is not read: save it as sRGB"
        raise PictureProblem(path, reason) from error
    except MemoryError as error:
        raise PictureProblem(path, _TOO_LARGE) from error


def _check_size(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise PictureProblem(path, f"it has {width} x {height} pixels: save or copy it anew")
    if width * height > PIXEL_LIMIT:
        raise PictureProblem(
            path,
            f"{width} x {height} pixels are more than {PIXEL_LIMIT // 10**6} million: "
            "save it smaller",
        )


def _said(error: Exception) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    # Pillow's "cannot identify" names an object in memory, which does not help a reader.
    return words.split(" <_io")[0][:200]


def _data_identity(kind: str, data: bytes) -> str | None:
    """Return the hash of the bytes that decide the pixels; None where they are not known."""
    digest = hashlib.sha256(kind.encode() + b"\0")
    try:
        for part in image_data(kind, data):
            digest.update(part)
    except FormatError:
        return None
    return digest.hexdigest()


def _pixel_identity(stored: Any) -> str:
    head = f"pixels {stored.mode} {stored.size}".encode()
    return hashlib.sha256(head + stored.tobytes()).hexdigest()


def rgb(image: Any) -> NDArray[np.uint8]:
    """Return the RGB pixels of an image in any of Pillow's modes; transparent parts are white."""
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
    """Horizontal bands of an image, cut again on every iteration."""

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
    """Return the value of white for 16-bit and deeper shades, which Pillow would cut at 255."""
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
    """Return pixels with an EXIF orientation undone.

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
    """Return a contiguous copy, made block by block and colour by colour: four times as fast."""
    compact = np.empty(pixels.shape, dtype=np.uint8)
    for top in range(0, pixels.shape[0], _BLOCK):
        for left in range(0, pixels.shape[1], _BLOCK):
            block = slice(top, top + _BLOCK), slice(left, left + _BLOCK)
            for colour in range(pixels.shape[2]):
                compact[*block, colour] = pixels[*block, colour]
    return compact
