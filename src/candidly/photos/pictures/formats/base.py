"""Shared by the formats: `Metadata`, the tags of EXIF and TIFF, and Photoshop's blocks."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from hashlib import md5
from io import BytesIO
from typing import BinaryIO, Literal, NamedTuple

# Limit for compressed metadata; no caption is longer.
UNPACKED_LIMIT = 64 * 2**20
XMP_HEADER, PHOTOSHOP_HEADER = b"http://ns.adobe.com/xap/1.0/\0", b"Photoshop 3.0\0"
ORIENTATION = 274  # the number of its tag

_IPTC, _IPTC_DIGEST = 0x0404, 0x0425
# By the type of a tag: bytes per value, and the code of `struct` for whole numbers.
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_SIZES |= {16: 8, 17: 8, 18: 8}
_WHOLE = {1: "B", 3: "H", 4: "I", 6: "b", 7: "B", 8: "h", 9: "i", 13: "I", 16: "Q", 17: "q"}
_WHOLE[18] = "Q"
_VALUE_LIMIT = 2**28


class FormatError(ValueError):
    """Bytes that violate the format."""


@dataclass(frozen=True)
class Metadata:
    """Metadata of a picture file; the size is that of the picture as stored.

    ``xmp`` are whole packets. ``iptc_is_newer`` says that the IPTC block was changed after
    it was last copied to XMP: its digest does not fit.
    """

    width: int = 0
    height: int = 0
    orientation: int = 1
    xmp: tuple[bytes, ...] = ()
    iptc: bytes = b""
    iptc_is_newer: bool = False


def orientation_of(exif: bytes) -> int:
    """Return the orientation in an EXIF block, 1 to 8; 1 where it is absent or invalid."""
    directory = TagDirectory.read(BytesIO(exif.removeprefix(b"Exif\0\0")))
    return directory.orientation if directory else 1


def iptc_of(resources: bytes) -> tuple[bytes, bool]:
    """Return the IPTC block of Photoshop's resources, and whether it is newer than its digest."""
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
    known = len(digest) == 16 and any(digest) and bool(iptc)
    return iptc, known and digest != md5(iptc, usedforsecurity=False).digest()


def inflate(data: bytes) -> bytes:
    """Return deflated data unpacked; nothing where it is broken or too large."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, UNPACKED_LIMIT)
    except zlib.error:
        return b""
    return b"" if unpacker.unconsumed_tail else text


def chunk(file: BinaryIO, size: int) -> bytes:
    """Return the next ``size`` bytes of a file; nothing where it ends before."""
    if size > UNPACKED_LIMIT:
        return b""
    data = file.read(size)
    return data if len(data) == size else b""


class Tag(NamedTuple):
    """An entry of a directory: type and number of its values, where they and itself start."""

    type: int
    many: int
    values: int
    start: int


class TagDirectory:
    """The first directory of a TIFF file or an EXIF block; an unreadable tag counts as absent."""

    def __init__(self, file: BinaryIO, order: str, entries: dict[int, Tag]) -> None:
        self.file, self.order, self.entries = file, order, entries

    @classmethod
    def read(cls, file: BinaryIO) -> TagDirectory | None:
        """Return the directory of a classic or big TIFF; None where there is none."""
        head = file.read(16)
        order = {b"II": "<", b"MM": ">"}.get(head[:2])
        if order is None or len(head) < 8:
            return None
        version = struct.unpack(order + "H", head[2:4])[0]
        if version == 42:
            start, counting, row = struct.unpack(order + "I", head[4:8])[0], "H", "HHI4s"
        elif version == 43 and len(head) == 16:
            start, counting, row = struct.unpack(order + "Q", head[8:16])[0], "Q", "HHQ8s"
        else:
            return None
        try:
            return cls(file, order, _entries(file, order, start, counting, row))
        except (OSError, OverflowError, ValueError, struct.error):
            return None

    def raw(self, tag: int) -> bytes:
        """Return the bytes of a tag's values."""
        entry = self.entries.get(tag)
        if entry is None or entry.type not in _SIZES:
            return b""
        size = entry.many * _SIZES[entry.type]
        if size > _VALUE_LIMIT:
            return b""
        try:
            self.file.seek(entry.values)
            data = self.file.read(size)
        except (OSError, OverflowError, ValueError):
            return b""
        return data if len(data) == size else b""

    def whole(self, tag: int) -> tuple[int, ...]:
        """Return the whole numbers of a tag; none where it has others."""
        data = self.raw(tag)
        if not data or self.entries[tag].type not in _WHOLE:
            return ()
        code = _WHOLE[self.entries[tag].type]
        return struct.unpack(f"{self.order}{self.entries[tag].many}{code}", data)

    @property
    def orientation(self) -> int:
        """Orientation from 1 to 8; 1 where it is absent or invalid."""
        value = self.whole(ORIENTATION)
        return value[0] if value and 1 <= value[0] <= 8 else 1


def _entries(file: BinaryIO, order: str, start: int, counting: str, row: str) -> dict[int, Tag]:
    file.seek(start)
    size = struct.calcsize(order + counting)
    (count,) = struct.unpack(order + counting, file.read(size))
    width = struct.calcsize(order + row)
    entries: dict[int, Tag] = {}
    table = file.read(min(count, 4096) * width)
    inside = width - (4 if width == 12 else 8)
    for number in range(len(table) // width):
        at = start + size + number * width
        tag, kind, many, value = struct.unpack_from(order + row, table, number * width)
        # Values that do not fit into the entry stand where it points to.
        fits = many * _SIZES.get(kind, 1) <= len(value)
        where = at + inside if fits else int.from_bytes(value, byte_order(order))
        entries.setdefault(tag, Tag(kind, many, where, at))
    return entries


def byte_order(order: str) -> Literal["little", "big"]:
    """Return Python's name of a byte order that `struct` writes as a sign."""
    return "little" if order == "<" else "big"
