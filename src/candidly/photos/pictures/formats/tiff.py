"""TIFF: a directory of tags that points to strips or tiles."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from candidly.photos.pictures.formats.base import (
    ORIENTATION,
    FormatError,
    Metadata,
    TagDirectory,
    byte_order,
    iptc_of,
)

_WIDTH, _HEIGHT, _XMP, _IPTC, _PHOTOSHOP = 256, 257, 700, 33723, 34377
# Sizes, bits, compression, colours, fill order, samples, rows, planes, packing, predictor,
# palette, tiles, inks, extra samples, JPEG tables and YCbCr: what decides the pixels.
_PIXELS = (*range(256, 260), 262, 266, 277, 278, 284, 292, 293, 317, 320, 322, 323, 332)
_PIXELS += (338, 339, 347, *range(529, 533))
_STRIPS, _TILES = (273, 279), (324, 325)


def metadata(file: BinaryIO) -> Metadata:
    """Return the metadata in the tags of the first picture."""
    tags = _directory(file)
    width, height = tags.whole(_WIDTH), tags.whole(_HEIGHT)
    iptc, newer = iptc_of(tags.raw(_PHOTOSHOP))
    block = tags.raw(_IPTC)
    xmp = tags.raw(_XMP)
    return Metadata(
        width[0] if width else 0,
        height[0] if height else 0,
        tags.orientation,
        (xmp,) if xmp else (),
        block or iptc,
        newer and block in (b"", iptc),
    )


def _directory(file: BinaryIO) -> TagDirectory:
    file.seek(0)
    tags = TagDirectory.read(file)
    if tags is None:
        raise FormatError("its directory cannot be read")
    return tags


def image_data(data: bytes) -> Iterator[bytes]:
    """Yield the tags that decide the pixels, and the strips or tiles wherever they are."""
    tags = _directory(BytesIO(data))
    yield data[:2]
    for tag in _PIXELS:
        # A number is the same whether it is stored short or long.
        whole = tags.whole(tag)
        yield f"{tag}={whole or tags.raw(tag).hex()}".encode()
    for where, size in (_STRIPS, _TILES):
        offsets, sizes = tags.whole(where), tags.whole(size)
        if offsets and len(offsets) == len(sizes):
            for start, length in zip(offsets, sizes, strict=True):
                yield data[start : start + length]
            return
    raise FormatError("it does not say where its pixels are")


def as_stored(data: bytes) -> bytes:
    """Return a copy that every version of Pillow decodes without turning it.

    The EXIF orientation becomes 1; without one, XMP is renamed to a private tag, where Pillow
    would look for an orientation otherwise.
    """
    tags = _directory(BytesIO(data))
    copy = bytearray(data)
    turned, xmp = tags.entries.get(ORIENTATION), tags.entries.get(_XMP)
    if turned and tags.whole(ORIENTATION):
        size = len(tags.raw(ORIENTATION)) // turned.many
        copy[turned.values : turned.values + size] = (1).to_bytes(size, byte_order(tags.order))
    elif xmp:
        copy[xmp.start : xmp.start + 2] = struct.pack(tags.order + "H", 65000)
    return bytes(copy)
