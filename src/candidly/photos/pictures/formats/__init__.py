"""Picture formats, one file per format: ``jpeg``, ``png``, ``webp``, ``tiff`` and ``heic``.

Each has ``metadata(file)``, which reads no pixels and takes what it finds of a broken file, and
``image_data(data)``, the bytes that decide the pixels: the same before and after metadata was
rewritten (HEIC has none: its pixels are taken instead). ``base`` has what formats share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from candidly.photos.pictures.formats import heic, jpeg, png, tiff, webp
from candidly.photos.pictures.formats.base import FormatError, Metadata

__all__ = ["FormatError", "Metadata", "image_data", "kind_of", "metadata_of"]

_FORMATS = {"JPEG": jpeg, "PNG": png, "WebP": webp, "TIFF": tiff, "HEIC": heic}
_STARTS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG"}
_STARTS |= dict.fromkeys((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"), "TIFF")
_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"}


def kind_of(head: bytes) -> str | None:
    """Return the format that a file's first 12 bytes show, whatever its name says."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIC_BRANDS:
        return "HEIC"
    return next((kind for start, kind in _STARTS.items() if head.startswith(start)), None)


def metadata_of(file: BinaryIO) -> Metadata | None:
    """Return the metadata of an open picture; None where its format is not read."""
    file.seek(0)
    kind = kind_of(file.read(12))
    return _FORMATS[kind].metadata(file) if kind else None


def image_data(kind: str, data: bytes) -> Iterator[bytes]:
    """Return the bytes of a picture that decide its pixels, in parts."""
    return _FORMATS[kind].image_data(data)
