"""HEIC, with the extra ``heic``; it is decoded upright, so that no orientation is left."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

from candidly.extras import require
from candidly.photos.pictures.formats.base import FormatError, Metadata, orientation_of


def metadata(file: BinaryIO) -> Metadata:
    """Return the EXIF orientation and XMP, without decoding the picture."""
    file.seek(0)
    image = decoder(file.read())
    width, height = image.size
    # The decoder turns it; EXIF says how it is stored, which is what regions refer to.
    orientation = orientation_of(image.info.get("exif") or b"")
    if orientation >= 5:
        width, height = height, width
    xmp = image.info.get("xmp") or b""
    xmp = xmp.encode() if isinstance(xmp, str) else bytes(xmp)
    return Metadata(width, height, orientation, (xmp,) if xmp else ())


def image_data(data: bytes) -> Iterator[bytes]:
    """Raise an error: a HEIC picture is identified by its pixels."""
    raise FormatError("HEIC is known by its pixels")


def decoder(data: bytes) -> Any:
    """Return the first picture, which is decoded when its pixels are asked for."""
    pi_heif = require("pi_heif", "heic")
    try:
        return pi_heif.open_heif(BytesIO(data), convert_hdr_to_8bit=True)
    except (ValueError, EOFError, RuntimeError, SyntaxError, OSError) as error:
        raise FormatError(str(error)) from error
