"""PNG: a row of named chunks."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from candidly.photos.pictures.formats.base import (
    FormatError,
    Metadata,
    chunk,
    inflate,
    iptc_of,
    orientation_of,
)

_PIXELS = {b"IHDR", b"PLTE", b"tRNS"}
_RAW = b"Raw profile type "
_XMP_IN_APP1 = b"http://ns.adobe.com/xap/1.0/\0"


def metadata(file: BinaryIO) -> Metadata:
    """Read text and EXIF chunks, before or after the pixels."""
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
    iptc, newer = _iptc(blocks.get("iptc") or blocks.get("8bim") or b"")
    exif, xmp = blocks.get("exif", b""), blocks.get("xmp", b"")
    app1 = blocks.get("app1", b"")
    if app1.startswith(_XMP_IN_APP1):
        xmp = xmp or app1[len(_XMP_IN_APP1) :]
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
    """Which block of metadata a text chunk carries, if it does."""
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


def _iptc(block: bytes) -> tuple[bytes, bool]:
    block = block.removeprefix(b"Photoshop 3.0\0")
    return iptc_of(block) if block.startswith(b"8BIM") else (block, False)


def image_data(data: bytes) -> Iterator[bytes]:
    """Header, palette, transparency and packed pixels; how these are split does not matter."""
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
