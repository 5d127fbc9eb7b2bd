"""What tells a source from others: checksums of its arrays and files, or of a sample of them."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import listed_checksums
from candidly.heap import release

WHOLE = 64_000_000
"""Bytes up to which a file is known again by all that it has, rather than by pieces of it."""
PIECES = 1024
"""Pieces of a larger file, evenly spaced, by which it is known again with when it was changed."""
AT_A_TIME = 1 << 22
"""Bytes of an array that are looked at together."""


def fingerprint_of(values: Any, crc: int) -> int:
    """Return the checksum of an array or file: of all its bytes, or of a sample of a large file."""
    if values is None:
        return zlib.crc32(b"-", crc)
    if isinstance(values, np.memmap) and _is_whole_file(values):
        about = (values.shape, values.dtype.str, values.strides)
        crc = zlib.crc32(repr(about).encode(), crc)
        values = Path(str(values.filename))
    if not isinstance(values, Path):
        return _checksum_of_bytes(values, crc)
    listed = listed_checksums(values.parent).get(values.name)
    if listed is not None:  # it is compared where the file is read
        return zlib.crc32(str(listed).encode(), crc)
    found = values.stat()
    pieces, length = (PIECES, WHOLE // PIECES) if found.st_size > WHOLE else (1, WHOLE)
    when = found.st_mtime_ns if pieces > 1 else None
    crc = zlib.crc32(repr((found.st_size, when)).encode(), crc)
    with values.open("rb") as file:
        for at in np.linspace(0, max(found.st_size - length, 0), pieces).astype(int).tolist():
            file.seek(at)
            crc = zlib.crc32(file.read(length), crc)
    return crc


def _is_whole_file(values: np.memmap[Any, Any]) -> bool:
    """Return whether a map has all that its file has, as NumPy loads it, rather than a part."""
    if isinstance(values.base, np.ndarray) or values.mode == "c":  # changes stay out of the file
        return False
    try:
        size = Path(str(values.filename)).stat().st_size
    except OSError:  # it has none, or that was removed
        return False
    return int(values.offset) + values.nbytes == size


def _checksum_of_bytes(values: NDArray[Any], crc: int) -> int:
    """Return the checksum of an array: its shape, type and bytes, some rows at a time."""
    crc = zlib.crc32(repr((values.shape, values.dtype.str)).encode(), crc)
    if not values.size:
        return crc
    rows = max(1, AT_A_TIME // (values.nbytes // len(values)))
    for at in range(0, len(values), rows):
        piece = np.ascontiguousarray(values[at : at + rows])
        crc = zlib.crc32(piece.reshape(-1).view(np.uint8).data, crc)
        release(values)
    return crc
