"""The first directory of a TIFF file, which is also the form of EXIF."""

from __future__ import annotations

import struct
from typing import BinaryIO, Literal, NamedTuple

ORIENTATION = 274
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_SIZES |= {16: 8, 17: 8, 18: 8}
_WHOLE = {1: "B", 3: "H", 4: "I", 6: "b", 7: "B", 8: "h", 9: "i", 13: "I", 16: "Q", 17: "q"}
_WHOLE[18] = "Q"
_VALUE_LIMIT = 2**28


class Entry(NamedTuple):
    """A tag: what its values are, where they and the entry itself start."""

    type: int
    many: int
    values: int
    start: int


class Directory:
    """Tags of the first directory of an open file; what cannot be read counts as absent."""

    def __init__(self, file: BinaryIO, order: str, entries: dict[int, Entry]) -> None:
        self.file, self.order, self.entries = file, order, entries

    @classmethod
    def read(cls, file: BinaryIO) -> Directory | None:
        """Read the directory, of classic or big TIFF; None where there is none."""
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
        """Bytes of a tag's values."""
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
        """Whole numbers of a tag."""
        data = self.raw(tag)
        if not data or self.entries[tag].type not in _WHOLE:
            return ()
        code = _WHOLE[self.entries[tag].type]
        return struct.unpack(f"{self.order}{self.entries[tag].many}{code}", data)

    @property
    def orientation(self) -> int:
        """Orientation from 1 to 8; 1 where it is absent or nonsense."""
        value = self.whole(ORIENTATION)
        return value[0] if value and 1 <= value[0] <= 8 else 1


def _entries(file: BinaryIO, order: str, start: int, counting: str, row: str) -> dict[int, Entry]:
    file.seek(start)
    size = struct.calcsize(order + counting)
    (count,) = struct.unpack(order + counting, file.read(size))
    width = struct.calcsize(order + row)
    entries: dict[int, Entry] = {}
    table = file.read(min(count, 4096) * width)
    inside = width - (4 if width == 12 else 8)
    for number in range(len(table) // width):
        at = start + size + number * width
        tag, kind, many, value = struct.unpack_from(order + row, table, number * width)
        # Values that do not fit into the entry stand where it points to.
        fits = many * _SIZES.get(kind, 1) <= len(value)
        where = at + inside if fits else int.from_bytes(value, byte_order(order))
        entries.setdefault(tag, Entry(kind, many, where, at))
    return entries


def byte_order(order: str) -> Literal["little", "big"]:
    """Python's name of an order that `struct` writes as a sign."""
    return "little" if order == "<" else "big"
