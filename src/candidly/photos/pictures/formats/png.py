"""PNG: a sequence of named chunks."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from candidly.photos.pictures.formats.base import (
    PHOTOSHOP_HEADER,
    XMP_HEADER,
    FormatError,
    Metadata,
    chunk,
    inflate,
    iptc_of,
    orientation_of,
)

_PIXELS = {b"IHDR", b"PLTE", b"tRNS"}
_RAW = b"Raw profile type "


def metadata(file: BinaryIO) -> Metadata:
    """Return the metadata in text and EXIF chunks, before or after the pixels."""
    width = height = 0
    blocks: dict[str, bytes] = {}
    for name, size in _chunks(file):
        if name == b"IHDR" and size == 13:
            width, height = int.from_bytes(file.read(4)), int.from_bytes(file.read(4))
        elif name == b"eXIf":
            blocks["exif"] = chunk(file, size)
        elif name in (b"iTXt", b"tEXt", b"zTXt"):
            kind, text = _text(name, chunk(file, size))
            if kind:
                blocks.setdefault(kind, text)
    block = (blocks.get("iptc") or blocks.get("8bim") or b"").removeprefix(PHOTOSHOP_HEADER)
    iptc, newer = iptc_of(block) if block.startswith(b"8BIM") else (block, False)
    exif, xmp = blocks.get("exif", b""), blocks.get("xmp", b"")
    app1 = blocks.get("app1", b"")
    if app1.startswith(XMP_HEADER):
        xmp = xmp or app1[len(XMP_HEADER) :]
    elif not exif:
        exif = app1
    packets = (xmp,) if xmp else ()
    return Metadata(width, height, orientation_of(exif), packets, iptc, newer)


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    at = 8
    while True:
        file.seek(at)
        head = file.read(8)
        if len(head) < 8 or head[4:] == b"IEND":
            return
        size = int.from_bytes(head[:4])
        yield head[4:], size
        at += 12 + size


def _text(name: bytes, data: bytes) -> tuple[str, bytes]:
    """Return the name and content of the metadata in a text chunk; empty where it has none."""
    key, _, rest = data.partition(b"\0")
    if name == b"iTXt" and key == b"XML:com.adobe.xmp":
        packed, rest = rest[:1] == b"\1", rest[2:]
        text = rest.partition(b"\0")[2].partition(b"\0")[2]
        return "xmp", inflate(text) if packed else text
    if name in (b"tEXt", b"zTXt") and key.startswith(_RAW):
        text = inflate(rest[1:]) if name == b"zTXt" else rest
        # A line with the name, one with the length, and then hexadecimal digits.
        lines = text.lstrip(b"\n").split(b"\n", 2)
        if len(lines) == 3:
            try:
                kind = key[len(_RAW) :].decode("ascii").lower()
                return kind, bytes.fromhex("".join(lines[2].decode("ascii").split()))
            except ValueError:
                pass
    return "", b""


def image_data(data: bytes) -> Iterator[bytes]:
    """Yield header, palette, transparency and packed pixels, however these are split."""
    file = BytesIO(data)
    seen = False
    for name, size in _chunks(file):
        if name in _PIXELS:
            yield name + file.read(size)
        elif name == b"IDAT":
            if not seen:
                yield b"IDAT"
            seen = True
            yield file.read(size)
    if not seen:
        raise FormatError("it has no pixels")
