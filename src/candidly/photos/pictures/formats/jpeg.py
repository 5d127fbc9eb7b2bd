"""JPEG: segments before the picture, tables and scans in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from candidly.photos.pictures.formats.base import (
    PHOTOSHOP_HEADER,
    XMP_HEADER,
    FormatError,
    Metadata,
    iptc_of,
    orientation_of,
)

_APP1, _APP13, _APP14 = 0xE1, 0xED, 0xEE
_SOI, _EOI, _SOS, _COM = 0xD8, 0xD9, 0xDA, 0xFE
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_ALONE = {0x01, *range(0xD0, 0xD8), _SOI}
_XMP_MORE = b"http://ns.adobe.com/xmp/extension/\0"
# In a scan, 0xFF stands before 0, before a restart marker, or before the next segment.
_MARKER = re.compile(rb"\xff[^\x00\xff]", re.DOTALL)
_AFTER_SCAN = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]", re.DOTALL)


def metadata(file: BinaryIO) -> Metadata:
    """Return the metadata in the segments before the first scan."""
    width = height = 0
    exif = main = photoshop = b""
    more: dict[bytes, dict[int, bytes]] = {}
    for marker, data in _segments(file):
        if marker in _FRAMES and not width and len(data) >= 6:
            height, width = int.from_bytes(data[1:3]), int.from_bytes(data[3:5])
        elif marker == _APP1 and data.startswith(b"Exif\0\0"):
            exif = exif or data
        elif marker == _APP1 and data.startswith(XMP_HEADER):
            main = main or data[len(XMP_HEADER) :]
        elif marker == _APP1 and data.startswith(_XMP_MORE):
            part = data[len(_XMP_MORE) :]
            more.setdefault(part[:32], {})[int.from_bytes(part[36:40])] = part[40:]
        elif marker == _APP13 and data.startswith(PHOTOSHOP_HEADER):
            photoshop += data[len(PHOTOSHOP_HEADER) :]
    iptc, newer = iptc_of(photoshop)
    # A long packet goes on in parts that carry the name which the first packet gives.
    rest = [b"".join(more[name][at] for at in sorted(more[name])) for name in more if name in main]
    packets = tuple(packet for packet in (main, *rest) if packet)
    return Metadata(width, height, orientation_of(exif), packets, iptc, newer)


def _segments(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    file.seek(2)
    while True:
        lead, marker = file.read(1), b"\xff"
        while lead == b"\xff" and marker == b"\xff":
            marker = file.read(1)
        if lead != b"\xff" or not marker or marker[0] in (_EOI, _SOS):
            return
        if marker[0] in _ALONE:
            continue
        size = int.from_bytes(file.read(2)) - 2
        data = file.read(max(size, 0))
        if size < 0 or len(data) < size:
            return
        yield marker[0], data


def image_data(data: bytes) -> Iterator[bytes]:
    """Yield the tables and scans of the first picture: everything that decides its pixels."""
    at = 2
    while True:
        found = _MARKER.search(data, at)
        if found is None:
            return  # without the last marker, as some cameras write it
        marker, start = data[found.start() + 1], found.end()
        if marker == _EOI:
            return
        at = start
        if marker in _ALONE:
            continue
        size = int.from_bytes(data[start : start + 2])
        if size < 2 or start + size > len(data):
            raise FormatError("a segment goes beyond the end of the file")
        at = start + size
        if marker == _APP14 and data[start + 2 : start + 7] == b"Adobe":
            yield b"transform" + data[start + 13 : start + 14]  # how colours are stored
        elif marker != _COM and not 0xE0 <= marker <= 0xEF:
            yield bytes([marker]) + data[start:at]
        if marker == _SOS:
            end = _AFTER_SCAN.search(data, at)
            stop = end.start() if end else len(data)
            yield data[at:stop]
            at = stop
