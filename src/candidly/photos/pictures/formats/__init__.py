"""One file a format: its metadata, and the bytes that decide its pixels.

Each has ``metadata(file)``, which reads no pixels and takes what it finds of a broken file,
and ``image_data(data)``, whose parts are the same before and after metadata was rewritten
(HEIC has none: its pixels are taken instead).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from candidly.photos.pictures.formats import heic, jpeg, png, tiff, webp
from candidly.photos.pictures.formats.base import FormatError, Metadata

__all__ = ["FormatError", "Metadata", "image_data", "kind_of", "metadata_of"]

_METADATA: dict[str, Callable[[BinaryIO], Metadata]] = {
    "JPEG": jpeg.metadata,
    "PNG": png.metadata,
    "WebP": webp.metadata,
    "TIFF": tiff.metadata,
    "HEIC": heic.metadata,
}
_IMAGE_DATA: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "JPEG": jpeg.image_data,
    "PNG": png.image_data,
    "WebP": webp.image_data,
    "TIFF": tiff.image_data,
}
_STARTS = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",
    b"MM\0+": "TIFF",
}
_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"}


def kind_of(head: bytes) -> str | None:
    """Which format a file's first 12 bytes show, whatever its name says."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIC_BRANDS:
        return "HEIC"
    return next((kind for start, kind in _STARTS.items() if head.startswith(start)), None)


def metadata_of(file: BinaryIO) -> Metadata | None:
    """Metadata of an open picture; None where it is none that we read."""
    file.seek(0)
    kind = kind_of(file.read(12))
    return _METADATA[kind](file) if kind else None


def image_data(kind: str, data: bytes) -> Iterator[bytes]:
    """The bytes of a picture that decide its pixels, in parts."""
    if kind not in _IMAGE_DATA:
        raise FormatError(f"{kind} is known by its pixels")
    return _IMAGE_DATA[kind](data)
