"""What every format tells of a picture without decoding it, and EXIF and Photoshop blocks."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from hashlib import md5
from io import BytesIO
from typing import BinaryIO

from candidly.photos.pictures.formats.directory import Directory

# Metadata may be packed; nobody writes a caption of more than this.
UNPACKED_LIMIT = 64 * 2**20

_IPTC, _IPTC_DIGEST = 0x0404, 0x0425


class FormatError(ValueError):
    """The bytes are not what the format asks for."""


@dataclass(frozen=True)
class Metadata:
    """What stands beside the pixels; the size is that of the picture as stored.

    ``xmp`` are whole packets. ``iptc_is_newer`` tells that the IPTC block was changed after
    it was last copied to XMP: its digest does not fit.
    """

    width: int = 0
    height: int = 0
    orientation: int = 1
    xmp: tuple[bytes, ...] = ()
    iptc: bytes = b""
    iptc_is_newer: bool = False


def orientation_of(exif: bytes) -> int:
    """EXIF orientation, 1 to 8; 1 where it is absent or nonsense."""
    if exif.startswith(b"Exif\0\0"):
        exif = exif[6:]
    directory = Directory.read(BytesIO(exif))
    return directory.orientation if directory else 1


def iptc_of(resources: bytes) -> tuple[bytes, bool]:
    """IPTC block of Photoshop's resources, and whether it was changed since its digest."""
    found: dict[int, bytes] = {}
    at = 0
    while resources[at : at + 4] == b"8BIM":
        number = int.from_bytes(resources[at + 4 : at + 6])
        # The name has a length byte and is padded to even, as is the data.
        at += 6 + (resources[at + 6 : at + 7] or b"\0")[0] // 2 * 2 + 2
        size = int.from_bytes(resources[at : at + 4])
        found.setdefault(number, resources[at + 4 : at + 4 + size])
        at += 4 + size + size % 2
    iptc, digest = found.get(_IPTC, b""), found.get(_IPTC_DIGEST, b"")
    newer = len(digest) == 16 and any(digest) and bool(iptc) and digest != _md5(iptc)
    return iptc, newer


def _md5(data: bytes) -> bytes:
    return md5(data, usedforsecurity=False).digest()


def inflate(data: bytes) -> bytes:
    """Unpack deflated data up to a limit; nothing where it is broken."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, UNPACKED_LIMIT)
    except zlib.error:
        return b""
    return b"" if unpacker.unconsumed_tail else text


def chunk(file: BinaryIO, size: int) -> bytes:
    """Read a part of a file whole, or nothing where the file ends before."""
    if size > UNPACKED_LIMIT:
        return b""
    data = file.read(size)
    return data if len(data) == size else b""
