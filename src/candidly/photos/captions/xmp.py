"""Captions, names and face regions in an XMP packet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from candidly.photos.captions.regions import Marked
from candidly.photos.captions.text import decoded, distinct, one_line, tidy
from candidly.photos.captions.xml_tree import XmlProblem, parse

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
_DEFAULT = "x-default"


@dataclass(frozen=True)
class Packet:
    """What an XMP packet says: texts with their languages, names, and faces as stored."""

    texts: tuple[tuple[str | None, str], ...] = ()
    people: tuple[str, ...] = ()
    faces: tuple[Marked, ...] = field(default=())

    @property
    def text(self) -> str:
        """Every language's text, the default first, each once."""
        return "\n".join(dict.fromkeys(text for _, text in self.texts))

    @property
    def language(self) -> str | None:
        """The language, where it is one for all of the text."""
        known = {language for language, _ in self.texts if language}
        unnamed = {text for language, text in self.texts if not language}
        named = {text for language, text in self.texts if language}
        return known.pop() if len(known) == 1 and unnamed <= named else None


def read(data: bytes) -> Packet:
    """Read a packet.

    Examples
    --------
    >>> packet = read(b'''<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    ...     xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description><dc:description><rdf:Alt>
    ...     <rdf:li xml:lang="de">Ann in Rom</rdf:li></rdf:Alt></dc:description>
    ...     </rdf:Description></rdf:RDF>''')
    >>> packet.text, packet.language
    ('Ann in Rom', 'de')
    """
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    data = data if wide else data.strip(b"\0 \t\r\n")
    try:
        root = parse(data)
    except XmlProblem:
        # What is not UTF-8 although it says nothing else was written by an old program.
        if wide or b"encoding=" in data[:200]:
            raise
        text = decoded(data).encode()
        if text == data:
            raise
        root = parse(text)
    texts: list[tuple[str | None, str]] = []
    people: list[str] = []
    faces: list[Marked] = []
    others: list[Marked] = []
    for thing in root.iter(_RDF + "Description"):
        texts += _texts(thing, _DC + "description")
        people += [name for _, name in _texts(thing, _EXT + "PersonInImage")]
        people += _detailed(thing)
        faces += _mwg(thing)
        others += _microsoft(thing)
    texts.sort(key=lambda pair: pair[0] != _DEFAULT)
    kept = tuple((None if code == _DEFAULT else code, text) for code, text in texts)
    return Packet(kept, distinct(people), tuple(faces or others))


def _texts(thing: Element, name: str) -> list[tuple[str | None, str]]:
    """Texts of a property with their languages, in whichever way it is written."""
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


def _items(node: Element) -> Iterator[Element]:
    """Structures of a list: a structure may stand in its item or in a description in it."""
    for bag in node:
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
    """A simple value, written as an attribute or as an element."""
    if node is None:
        return None
    values = (node.get(name, node.findtext(name)) for name in names)
    return next((value for value in values if value is not None), None)


def _number(node: Element | None, *names: str) -> float | None:
    try:
        return float(_value(node, *names) or "")
    except ValueError:
        return None


def _numbers(node: Element | None, *names: tuple[str, ...]) -> tuple[float, ...] | None:
    values = [_number(node, *name) for name in names]
    return tuple(value for value in values if value is not None) if None not in values else None


def _mwg(thing: Element) -> list[Marked]:
    """Regions of the Metadata Working Group: centre and size, in parts or in pixels."""
    regions = _part(thing, _MWG + "Regions")
    if regions is None:
        return []
    applied = _part(regions, _MWG + "AppliedToDimensions")
    size = _numbers(applied, (_SIZE + "w",), (_SIZE + "h",))
    if size is not None and min(size) <= 0:
        size = None
    marked = []
    listed = regions.find(_MWG + "RegionList")
    for item in _items(listed) if listed is not None else ():
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
        marked.append(Marked(name, x - w / 2, y - h / 2, w, h, size))
    return marked


def _microsoft(thing: Element) -> list[Marked]:
    """Regions of Microsoft's programs: corner and size, in parts."""
    holder = _part(thing, _MP + "RegionInfo")
    listed = None if holder is None else holder.find(_MPRI + "Regions")
    marked = []
    for item in _items(listed) if listed is not None else ():
        try:
            x, y, w, h = map(float, (_value(item, _MPREG + "Rectangle") or "").split(","))
        except ValueError:
            continue  # somebody who is named without a place
        name = one_line(_value(item, _MPREG + "PersonDisplayName") or "") or None
        marked.append(Marked(name, x, y, w, h))
    return marked
