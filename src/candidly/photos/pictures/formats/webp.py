"""WebP: chunks in a RIFF file."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from candidly.photos.pictures.formats.base import FormatError, Metadata, chunk, orientation_of

_PIXELS = {b"VP8 ", b"VP8L", b"ALPH", b"ANMF"}


def metadata(file: BinaryIO) -> Metadata:
    """Return the metadata in the EXIF and XMP chunks, and the size."""
    size = (0, 0)
    exif = xmp = b""
    for name, length in _chunks(file):
        if name in (b"VP8X", b"VP8 ", b"VP8L") and size == (0, 0):
            size = _size(name, file.read(10))
        elif name == b"EXIF":
            exif = exif or chunk(file, length)
        elif name == b"XMP ":
            xmp = xmp or chunk(file, length)
    return Metadata(*size, orientation_of(exif), (xmp,) if xmp else ())


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    at = 12
    while True:
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            return
        size = int.from_bytes(head[4:], "little")
        yield head[:4], size
        at += 8 + size + size % 2


def _size(name: bytes, head: bytes) -> tuple[int, int]:
    if len(head) < 10:
        return 0, 0
    if name == b"VP8X":
        return int.from_bytes(head[4:7], "little") + 1, int.from_bytes(head[7:10], "little") + 1
    if name == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return width & 0x3FFF, height & 0x3FFF


def image_data(data: bytes) -> Iterator[bytes]:
    """Yield packed pixels and transparency, of every frame."""
    file = BytesIO(data)
    seen = False
    for name, size in _chunks(file):
        if name in _PIXELS:
            seen = True
            yield name + file.read(size)
    if not seen:
        raise FormatError("it has no pixels")
