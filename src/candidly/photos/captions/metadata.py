"""Captions, names and face regions in the metadata of a photo: XMP packets and IPTC blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from candidly.photos.captions.text_files import decoded, distinct, one_line, tidy
from candidly.photos.geometry import Box, upright
from candidly.photos.pictures.formats import Metadata
from candidly.photos.records import Region

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_EXT = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}"
_MWG = "{http://www.metadataworkinggroup.com/schemas/regions/}"
_AREA = "{http://ns.adobe.com/xmp/sType/Area#}"
_AREA_OLD = "{http://ns.adobe.com/xap/1.0/sType/Area#}"
_SIZE = "{http://ns.adobe.com/xap/1.0/sType/Dimensions#}"
_MP = "{http://ns.microsoft.com/photo/1.2/}"
_MPRI = "{http://ns.microsoft.com/photo/1.2/t/RegionInfo#}"
_MPREG = "{http://ns.microsoft.com/photo/1.2/t/Region#}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
WRITTEN = "{urn:candidly:names}Written"
"""The property in which an export lists what it wrote, so that it is not taken for given."""
WRITTEN_PERSON, WRITTEN_REGION = "Iptc4xmpExt:PersonInImage ", "mwg-rs:Regions "
_DEFAULT = "x-default"
_DEPTH = 200
# Data sets of IPTC (IIM 4.2); escape sequences of ISO 2022 end in a letter that names the
# part of ISO 8859.
_CHARSET, _CAPTION = (1, 90), (2, 120)
_ISO_8859 = dict(zip("ABCDFGHLMTVb", (1, 2, 3, 4, 7, 6, 8, 5, 9, 11, 10, 15), strict=True))


class StoredRegion(NamedTuple):
    """A face region as the metadata has it: corner and size in parts of the picture as stored.

    ``applied`` is the size of the picture that it was drawn on, where that is known.
    """

    name: str | None
    x: float
    y: float
    w: float
    h: float
    applied: tuple[float, ...] | None = None


@dataclass(frozen=True)
class XmpPacket:
    """What an XMP packet says: texts with their languages, names, and faces as stored."""

    texts: tuple[tuple[str | None, str], ...] = ()
    people: tuple[str, ...] = ()
    faces: tuple[StoredRegion, ...] = ()

    @property
    def text(self) -> str:
        """The texts of all languages, the default first, each once."""
        return "\n".join(dict.fromkeys(text for _, text in self.texts))

    @property
    def language(self) -> str | None:
        """The language of the whole text; None where there are several."""
        known = {language for language, _ in self.texts if language}
        unnamed = {text for language, text in self.texts if not language}
        named = {text for language, text in self.texts if language}
        return known.pop() if len(known) == 1 and unnamed <= named else None


def read_xmp(data: bytes) -> XmpPacket:
    """Return what an XMP packet says.

    Examples
    --------
    >>> packet = read_xmp(b'''<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    ...     xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description><dc:description><rdf:Alt>
    ...     <rdf:li xml:lang="de">Ann in Rom</rdf:li></rdf:Alt></dc:description>
    ...     </rdf:Description></rdf:RDF>''')
    >>> packet.text, packet.language
    ('Ann in Rom', 'de')
    """
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    data = data if wide else data.strip(b"\0 \t\r\n")
    try:
        root = parse_xml(data)
    except XmlProblem:
        # Undeclared encodings other than UTF-8 come from old programs.
        if wide or b"encoding=" in data[:200]:
            raise
        text = decoded(data).encode()
        if text == data:
            raise
        root = parse_xml(text)
    texts: list[tuple[str | None, str]] = []
    people: list[str] = []
    faces: list[StoredRegion] = []
    others: list[StoredRegion] = []
    written: set[str] = set()
    for thing in root.iter(_RDF + "Description"):
        written |= {text for _, text in _texts(thing, WRITTEN)}
        texts += _texts(thing, _DC + "description")
        people += [name for _, name in _texts(thing, _EXT + "PersonInImage")]
        people += _detailed(thing)
        faces += _mwg(thing)
        others += _microsoft(thing)
    texts.sort(key=lambda pair: pair[0] != _DEFAULT)
    kept = tuple((None if code == _DEFAULT else code, text) for code, text in texts)
    own = _after(WRITTEN_PERSON, written)
    people = [name for name in people if one_line(name) not in own]
    found = [face for face in faces or others if not _by_export(face, written)]
    return XmpPacket(kept, distinct(people), tuple(found))


def _by_export(face: StoredRegion, written: set[str]) -> bool:
    """Return whether an export of Candidly wrote a region; programs round the numbers of others."""
    for entry in _after(WRITTEN_REGION, written):
        *places, name = entry.split(" ", 4)
        at = (face.x + face.w / 2, face.y + face.h / 2, face.w, face.h)
        try:
            near = all(abs(float(one) - b) < 1e-3 for one, b in zip(places, at, strict=True))
        except ValueError:
            continue
        if near and one_line(name) == face.name:
            return True
    return False


def _after(start: str, written: set[str]) -> set[str]:
    """Return what follows the name of a property in a list of what was written."""
    return {one_line(text.removeprefix(start)) for text in written if text.startswith(start)}


def _texts(thing: Element, name: str) -> list[tuple[str | None, str]]:
    """Return the texts of a property with their languages, however it is written."""
    found: list[tuple[str | None, str]] = []
    if name in thing.attrib:
        found.append((None, tidy(thing.attrib[name])))
    for node in thing.findall(name):
        items = list(node.iter(_RDF + "li"))
        for item in items or [node]:
            # Within a list of structures, the words are not those of a text.
            text = "" if len(item) else tidy(item.text or "")
            found.append((item.get(_LANG), text))
    return [(language, text) for language, text in found if text]


def _detailed(thing: Element) -> list[str]:
    return [
        texts[0][1]
        for node in thing.findall(_EXT + "PersonInImageWDetails")
        for item in _items(node)
        if (texts := _texts(item, _EXT + "PersonName"))
    ]


def _items(node: Element | None) -> Iterator[Element]:
    """Yield the structures of a list, each in its item or in a description in it."""
    for bag in () if node is None else node:
        if bag.tag in (_RDF + "Bag", _RDF + "Seq", _RDF + "Alt"):
            for item in bag.findall(_RDF + "li"):
                yield _inner(item)


def _inner(node: Element) -> Element:
    inside = node.find(_RDF + "Description")
    return node if inside is None else inside


def _part(node: Element | None, name: str) -> Element | None:
    found = None if node is None else node.find(name)
    return None if found is None else _inner(found)


def _value(node: Element | None, *names: str) -> str | None:
    """Return a simple value, written as an attribute or as an element."""
    if node is None:
        return None
    values = (node.get(name, node.findtext(name)) for name in names)
    return next((value for value in values if value is not None), None)


def _numbers(node: Element | None, *names: tuple[str, ...]) -> tuple[float, ...] | None:
    try:
        return tuple(float(_value(node, *name) or "") for name in names)
    except ValueError:
        return None


def _mwg(thing: Element) -> list[StoredRegion]:
    """Return the regions of the Metadata Working Group: centre and size, in parts or in pixels."""
    regions = _part(thing, _MWG + "Regions")
    if regions is None:
        return []
    applied = _part(regions, _MWG + "AppliedToDimensions")
    size = _numbers(applied, (_SIZE + "w",), (_SIZE + "h",))
    if size is not None and min(size) <= 0:
        size = None
    marked = []
    for item in _items(regions.find(_MWG + "RegionList")):
        if (_value(item, _MWG + "Type") or "Face").strip().lower() != "face":
            continue
        area = _part(item, _MWG + "Area")
        if area is None:
            area = item
        box = _numbers(area, *((_AREA + key, _AREA_OLD + key) for key in "xywh"))
        if box is None:
            continue
        x, y, w, h = box
        if (_value(area, _AREA + "unit") or "").strip().lower() == "pixel":
            if size is None:
                continue
            x, y, w, h = x / size[0], y / size[1], w / size[0], h / size[1]
        name = one_line(_value(item, _MWG + "Name") or "") or None
        marked.append(StoredRegion(name, x - w / 2, y - h / 2, w, h, size))
    return marked


def _microsoft(thing: Element) -> list[StoredRegion]:
    """Return the regions of Microsoft's programs: corner and size, in parts."""
    holder = _part(thing, _MP + "RegionInfo")
    marked = []
    for item in _items(None if holder is None else holder.find(_MPRI + "Regions")):
        try:
            x, y, w, h = map(float, (_value(item, _MPREG + "Rectangle") or "").split(","))
        except ValueError:
            continue  # a person named without a place
        name = one_line(_value(item, _MPREG + "PersonDisplayName") or "") or None
        marked.append(StoredRegion(name, x, y, w, h))
    return marked


def upright_region(marked: StoredRegion, picture: Metadata) -> Region | None:
    """Return the region in the upright picture; None where it cannot belong to this picture.

    Examples
    --------
    >>> upright_region(StoredRegion("Ann", 0.0, 0.5, 0.25, 0.5), Metadata(40, 30, orientation=6))
    Region(name='Ann', x=0.0, y=0.0, w=0.5, h=0.25)
    """
    x0, y0, x1, y1 = marked.x, marked.y, marked.x + marked.w, marked.y + marked.h
    if not all(map(math.isfinite, (x0, y0, x1, y1))):
        return None
    x0, y0, x1, y1 = (min(max(value, 0.0), 1.0) for value in (x0, y0, x1, y1))
    if x1 <= x0 or y1 <= y0:
        return None
    orientation = _orientation(marked, picture)
    if orientation is None:
        return None
    return Region(marked.name, *upright(Box(x0, y0, x1 - x0, y1 - y0), orientation))


def _orientation(marked: StoredRegion, picture: Metadata) -> int | None:
    """Return the orientation to undo; None where the picture was cropped since."""
    if marked.applied is None or not picture.width or not picture.height:
        return picture.orientation
    width, height = marked.applied
    if _alike(width / height, picture.width / picture.height):
        return picture.orientation
    # Some programs turn the picture first, against the standard: the sizes show it.
    if picture.orientation >= 5 and _alike(width / height, picture.height / picture.width):
        return 1
    return None


def _alike(one: float, other: float) -> bool:
    return abs(math.log(one / other)) < 0.03


def iptc_caption(block: bytes) -> str:
    """Return the caption of an IPTC block; without a character set, in UTF-8 or Latin-1.

    Examples
    --------
    >>> iptc_caption(bytes([0x1C, 2, 120, 0, 3]) + b"Ann")
    'Ann'
    """
    texts: list[bytes] = []
    encoding = None
    for number, data in _data_sets(block):
        if number == _CHARSET:
            encoding = _encoding(data)
        elif number == _CAPTION:
            texts.append(data)
    return tidy("\n".join(_decode(text, encoding) for text in texts))


def _data_sets(block: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    at = 0
    while at + 5 <= len(block) and block[at] == 0x1C:
        number = (block[at + 1], block[at + 2])
        size = int.from_bytes(block[at + 3 : at + 5])
        at += 5
        if size & 0x8000:
            # More than 32,767 bytes: the size of the size, and then the size.
            wide = size & 0x7FFF
            size = int.from_bytes(block[at : at + wide])
            at += wide
        yield number, block[at : at + size]
        at += size


def _encoding(escape: bytes) -> str | None:
    if escape.startswith(b"\x1b%"):
        return "utf-8"
    if len(escape) >= 3 and escape[0] == 0x1B and escape[1] in b"-./":
        part = _ISO_8859.get(chr(escape[2]))
        return f"iso8859-{part}" if part else None
    return None


def _decode(text: bytes, encoding: str | None) -> str:
    if encoding:
        try:
            return text.decode(encoding)
        except UnicodeDecodeError:
            pass  # declared as UTF-8 but is not: mostly Latin-1
    return decoded(text)


class XmlProblem(ValueError):  # noqa: N818  reads as what it is
    """XML that cannot be used: it is broken, or needs features that are refused here."""


def parse_xml(data: bytes) -> Element:
    """Return XML as a tree whose names are ``{namespace}name``, read safely.

    Document types, and so entities, are refused, and so is excessive depth.

    Examples
    --------
    >>> parse_xml(b'<a xmlns="urn:x"><b/></a>')[0].tag
    '{urn:x}b'
    >>> parse_xml(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    Traceback (most recent call last):
    candidly.photos.captions.metadata.XmlProblem: it declares a document type, which is not read
    """
    tree = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEPTH:
            raise XmlProblem(f"its elements are more than {_DEPTH} deep")
        tree.start(_full(name), {_full(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        tree.end(_full(name))

    def refuse(*_: object) -> NoReturn:
        raise XmlProblem("it declares a document type, which is not read")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = tree.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, XmlProblem):
            raise
        raise XmlProblem(f"it is broken XML: {error}") from error
    return tree.close()


def _full(name: str) -> str:
    return "{" + name if "}" in name else name
