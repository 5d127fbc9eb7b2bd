"""A picture file becomes upright pixels and an identity that metadata does not change."""

from __future__ import annotations

import hashlib
import stat
import warnings
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require
from candidly.photos.pictures import colours
from candidly.photos.pictures.formats import FormatError, heic, image_data, kind_of, metadata_of
from candidly.photos.pictures.formats import tiff as tiff_format

# A small file can ask for all memory: 300 megapixels take about 2 GB while they are decoded.
PIXEL_LIMIT = 300_000_000
FILE_LIMIT = 2 * 2**30

_TOO_LARGE = "memory is too small for it: save it smaller"
_PLUGINS = {
    # Opened by class: no search through every format, and no limit but ours.
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


class PictureProblem(Exception):  # noqa: N818  reads as what it is
    """A file that cannot be used as a picture: ``path``, and the ``reason`` with what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class Picture:
    """An upright picture, red, green and blue in 8 bits; of an animation the first frame.

    ``identity`` is the SHA-256 of the image data, which captions and EXIF, orientation
    included, do not change; ``orientation`` is EXIF's, already undone in ``pixels``.
    """

    pixels: NDArray[np.uint8] = field(repr=False)
    identity: str
    width: int
    height: int
    orientation: int = 1


def open_picture(path: str | Path) -> Picture:
    """Open a JPEG, PNG, WebP, TIFF or HEIC file, whatever its name ends in.

    Raises
    ------
    PictureProblem
        Where it cannot be opened: absent, empty, truncated, another kind of file, or more
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
    stored, orientation = _decode(path, data, kind)
    identity, pixels = _identity(kind, data, stored), _pixels(path, stored)
    del data, stored  # a turn needs room for a copy
    pixels = colours.upright(pixels, orientation)
    height, width = pixels.shape[:2]
    return Picture(pixels, identity, width, height, orientation)


def identify(path: str | Path) -> str:
    """Identity of a picture, the one of `open_picture`, without decoding it if that can be.

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
    try:
        return _hashed(kind, data)
    except FormatError:
        return _identity(kind, data, _decode(path, data, kind)[0])


def orientation(path: str | Path) -> int:
    """Orientation of a picture, the one of `open_picture`, without decoding it."""
    with Path(path).open("rb") as file:
        if kind_of(file.read(12)) == "HEIC":
            return 1
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


def _decode(path: Path, data: bytes, kind: str) -> tuple[Any, int]:
    """Decode the picture as it is stored, by Pillow, and tell its orientation."""
    try:
        with warnings.catch_warnings():
            # Pillow warns of odd metadata, which is none of its business here.
            warnings.simplefilter("ignore")
            if kind == "HEIC":
                image, orientation = heic.decoder(data), 1
            else:
                known = metadata_of(BytesIO(data))
                orientation = known.orientation if known else 1
                module, name = _PLUGINS[kind]
                plain = tiff_format.as_stored(data) if kind == "TIFF" else data
                image = getattr(require(module, "photos"), name)(BytesIO(plain))
            _check_size(path, image.size)
            if kind == "HEIC":
                image = image.to_pillow()
            image.load()
    except ImportError as error:
        if kind != "HEIC":
            raise  # nothing can be opened, not this file alone
        raise PictureProblem(path, str(error)) from error
    except MemoryError as error:
        raise PictureProblem(path, _TOO_LARGE) from error
    except PictureProblem:
        raise
    except Exception as error:  # decoders raise what they like on broken files
        if "truncated" in str(error) or "premature" in str(error).lower():
            reason = "the file ends before the picture does: copy it again from where it came"
        else:
            reason = f"its {kind} data cannot be decoded ({_said(error)}): save or copy it anew"
        raise PictureProblem(path, reason) from error
    return image, orientation


def _pixels(path: Path, stored: Any) -> NDArray[np.uint8]:
    try:
        return colours.rgb(stored)
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
    # Pillow's "cannot identify" names an object in memory, which tells a reader nothing.
    return words.split(" <_io")[0][:200]


def _hashed(kind: str, data: bytes) -> str:
    digest = hashlib.sha256(kind.encode() + b"\0")
    for part in image_data(kind, data):
        digest.update(part)
    return digest.hexdigest()


def _identity(kind: str, data: bytes, stored: Any) -> str:
    try:
        return _hashed(kind, data)
    except FormatError:
        head = f"pixels {stored.mode} {stored.size}".encode()
        return hashlib.sha256(head + stored.tobytes()).hexdigest()
