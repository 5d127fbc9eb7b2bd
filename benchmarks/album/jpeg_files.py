"""Write pictures as JPEG files, upright or turned, with or without a caption inside."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from candidly.extras import require
from candidly.photos.parts import Pixels

ORIENTATION = 0x0112  # the EXIF tag
XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt><rdf:li
 xml:lang="x-default">{text}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF>
</x:xmpmeta>"""


def write_jpeg(
    path: Path,
    pixels: Pixels,
    *,
    quality: int = 90,
    orientation: int = 1,
    xmp: str = "",
    iptc: str = "",
) -> None:
    """Write a picture; ``orientation`` (1, 3, 6 or 8) is that of the stored picture."""
    image = require("PIL.Image", "photos")
    picture = image.fromarray(pixels)
    way = image.Transpose
    turns = {3: way.ROTATE_180, 6: way.ROTATE_90, 8: way.ROTATE_270}
    extra = {}
    if orientation != 1:
        picture = picture.transpose(turns[orientation])
        exif = image.Exif()
        exif[ORIENTATION] = orientation
        extra["exif"] = exif
    picture.save(path, "JPEG", quality=quality, **extra)
    segments = b""
    if xmp:
        packet = XMP.format(text=escape(xmp)).encode()
        segments += _segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet)
    if iptc:
        segments += _segment(0xED, _photoshop(iptc))
    if segments:
        data = path.read_bytes()
        after = 4 + int.from_bytes(data[4:6])  # the file's own header comes first
        path.write_bytes(data[:after] + segments + data[after:])


def sidecar(text: str) -> str:
    """Return the content of an ``.xmp`` file with a caption."""
    return XMP.format(text=escape(text))


def _segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2) + content


def _photoshop(text: str) -> bytes:
    """Return an IPTC block in UTF-8 (data sets 1:90 and 2:120) as Photoshop stores it."""
    words = text.encode()
    block = b"\x1c\x01\x5a\x00\x03\x1b%G" + b"\x1c\x02\x78" + len(words).to_bytes(2) + words
    size = len(block).to_bytes(4)
    return b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + size + block + b"\0" * (len(block) % 2)
