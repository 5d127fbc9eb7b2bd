"""Names of the faces of a photo in XMP: regions, people shown, keywords; merged with what is there.

What Candidly writes is listed in a property of its own, ``candidly:Written``. So a later export
takes exactly that away again, and reading photos never takes such a name for one that somebody
gave.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from candidly.photos.captions.metadata import WRITTEN, WRITTEN_REGION, XmlProblem
from candidly.photos.exporting.xmp_document import EMPTY, Element, XmpDocument, storable
from candidly.photos.geometry import Box, overlap

DC = "http://purl.org/dc/elements/1.1/"
EXT = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
LIGHTROOM = "http://ns.adobe.com/lightroom/1.0/"
DIGIKAM = "http://www.digikam.org/ns/1.0/"
REGIONS = "http://www.metadataworkinggroup.com/schemas/regions/"
AREA = "http://ns.adobe.com/xmp/sType/Area#"
SIZE = "http://ns.adobe.com/xap/1.0/sType/Dimensions#"
CANDIDLY = WRITTEN[1:].partition("}")[0]

LISTS = (
    (DC, "dc:subject"),
    (LIGHTROOM, "lr:hierarchicalSubject"),
    (DIGIKAM, "digiKam:TagsList"),
    (EXT, "Iptc4xmpExt:PersonInImage"),
)
"""Properties that list names, in the order in which they are written."""
SAME_REGION = 0.5
"""Overlap from which a region of another program with the same name is taken for the face."""
SAME_SHAPE = 0.03
"""Largest difference of the logarithms of two ratios of width to height that are one picture's."""
PEOPLE = "People"  # the keyword above the names


@dataclass(frozen=True)
class NamedRegion:
    """A name and its place: left, top, width and height in parts of the picture as stored."""

    name: str
    box: Box


@dataclass(frozen=True)
class PhotoNames:
    """The names to write for a photo; the size is that of the picture as stored, in pixels."""

    width: int
    height: int
    regions: tuple[NamedRegion, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names, each once, in the order of the regions."""
        return list(dict.fromkeys(region.name for region in self.regions))


def merge_names(packet: bytes | None, names: PhotoNames) -> tuple[bytes, str | None]:
    """Return an XMP packet with names, and a remark where they have no places in it.

    Whatever other programs wrote stays; names of an earlier export that are not among these go.

    Parameters
    ----------
    packet : bytes or None
        The packet or sidecar there is.
    names : PhotoNames

    Examples
    --------
    >>> names = PhotoNames(400, 300, (NamedRegion("Ann Lee", Box(0.25, 0.5, 0.1, 0.2)),))
    >>> packet, remark = merge_names(None, names)
    >>> b"<stArea:x>0.3</stArea:x>" in packet, remark, merge_names(packet, names)[0] == packet
    (True, None, True)
    """
    document = XmpDocument(EMPTY if packet is None else packet)
    _take_own(document)
    people = [storable(name) for name in names.names]
    written: list[str] = []
    for uri, name in LISTS:
        texts = people
        if uri in (LIGHTROOM, DIGIKAM):
            texts = _below_people(people, "|" if uri == LIGHTROOM else "/")
        there = document.texts(uri, name)
        new = [text for text in texts if text not in there]
        document.add(uri, name, new, "Seq" if uri == DIGIKAM else "Bag")
        written += [f"{name} {text}" for text in new]
    remark = None
    if names.regions:
        remark = _add_regions(document, names, written)
    document.add(CANDIDLY, "candidly:Written", written)
    return document.to_bytes(), remark


def _below_people(names: Iterable[str], separator: str) -> list[str]:
    """Return keywords below that of all people; names with the separator have no place there."""
    return [f"{PEOPLE}{separator}{name}" for name in names if separator not in name]


def number(value: float) -> str:
    """Return a number as it is written, exact to a millionth.

    Examples
    --------
    >>> number(0.5), number(1 / 3), number(1.0)
    ('0.5', '0.333333', '1')
    """
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _take_own(document: XmpDocument) -> None:
    """Take away what an earlier export added, and lists without items."""
    written = document.texts(CANDIDLY, "candidly:Written")
    for uri, name in LISTS:
        own = [text.removeprefix(name + " ") for text in written if text.startswith(name + " ")]
        document.take(uri, name, own)
    own = [text for text in written if text.startswith(WRITTEN_REGION)]
    regions = document.property(REGIONS, "mwg-rs:Regions")
    listed = None if regions is None else document.part(regions, REGIONS, "mwg-rs:RegionList")
    if regions is not None and listed is not None:
        for item in list(document.items(listed)):
            if _entry(document, item) in own:
                own.remove(_entry(document, item))
                document.remove(item)
        if not any(True for _ in document.items(listed)):
            document.remove(regions)
    document.take(CANDIDLY, "candidly:Written", written)


def _entry(document: XmpDocument, item: Element) -> str:
    """Return a region of a list as it is noted when Candidly writes it."""
    found = _region(document, item)
    if found is None:
        return ""
    x, y, w, h = found.box
    places = " ".join(number(value) for value in (x + w / 2, y + h / 2, w, h))
    return f"{WRITTEN_REGION}{places} {found.name}"


def _region(document: XmpDocument, item: Element) -> NamedRegion | None:
    name = document.value(item, REGIONS, "mwg-rs:Name")
    area = document.part(item, REGIONS, "mwg-rs:Area")
    if name is None or area is None:
        return None
    try:
        x, y, w, h = (float(document.value(area, AREA, f"stArea:{key}") or "") for key in "xywh")
    except ValueError:
        return None
    return NamedRegion(name, Box(x - w / 2, y - h / 2, w, h))


def _add_regions(document: XmpDocument, names: PhotoNames, written: list[str]) -> str | None:
    """Add regions and note them; return why none could be added."""
    regions = document.structure(REGIONS, "mwg-rs:Regions")
    applied = document.part(regions, REGIONS, "mwg-rs:AppliedToDimensions")
    if applied is None:
        fields = {
            f"{SIZE} stDim:w": str(names.width),
            f"{SIZE} stDim:h": str(names.height),
            f"{SIZE} stDim:unit": "pixel",
        }
        document.add_part(regions, REGIONS, "mwg-rs:AppliedToDimensions", fields)
    elif not _same_shape(document, applied, names):
        return (
            "regions of another program are for a picture of another shape; names are written "
            "without their places"
        )
    listed = document.part(regions, REGIONS, "mwg-rs:RegionList")
    there = [] if listed is None else [_region(document, item) for item in document.items(listed)]
    for region in names.regions:
        if any(other is not None and _same(region, other) for other in there):
            continue
        name, box = storable(region.name), region.box
        item = document.add_item(regions, REGIONS, "mwg-rs:RegionList")
        document.add_texts(item, {f"{REGIONS} mwg-rs:Name": name, f"{REGIONS} mwg-rs:Type": "Face"})
        places = dict(zip("xywh", (box.x + box.w / 2, box.y + box.h / 2, *box[2:]), strict=True))
        fields = {f"{AREA} stArea:{key}": number(value) for key, value in places.items()}
        fields[f"{AREA} stArea:unit"] = "normalized"
        document.add_part(item, REGIONS, "mwg-rs:Area", fields)
        written.append(WRITTEN_REGION + " ".join(map(number, places.values())) + f" {name}")
    return None


def _same(region: NamedRegion, other: NamedRegion) -> bool:
    return storable(region.name) == other.name and overlap(region.box, other.box) >= SAME_REGION


def _same_shape(document: XmpDocument, applied: Element, names: PhotoNames) -> bool:
    try:
        w, h = (float(document.value(applied, SIZE, f"stDim:{key}") or "") for key in "wh")
        return abs(math.log(w / h * names.height / names.width)) < SAME_SHAPE
    except (ValueError, ZeroDivisionError) as error:
        raise XmlProblem("the size that its regions apply to is no size") from error
