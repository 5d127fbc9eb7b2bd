"""An XMP packet as a document that keeps everything: read safely, edited in places, written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.dom import Node, minidom

from candidly.photos.captions.metadata import XmlProblem, parse_xml

Element = Any  # of minidom, whose types know little
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XMLNS = "http://www.w3.org/2000/xmlns/"
CONTAINERS = ("Bag", "Seq", "Alt")
EMPTY = f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="{RDF}">
  <rdf:Description rdf:about="">
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>
""".encode()
# What XML 1.0 cannot hold, however it is escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XmpDocument:
    """The properties of a packet, which are added to and taken from; all else stays as it is.

    Parameters
    ----------
    packet : bytes
        A whole XMP packet or sidecar file.

    Raises
    ------
    XmlProblem
        Where it is no XMP, or written in a way that cannot be edited safely.

    Examples
    --------
    >>> document = XmpDocument(EMPTY)
    >>> document.add("http://purl.org/dc/elements/1.1/", "dc:subject", ["Ann & Bob"])
    >>> print(document.to_bytes().decode().split("-->")[0].splitlines()[6].strip())
    <rdf:li>Ann &amp; Bob</rdf:li>
    """

    def __init__(self, packet: bytes) -> None:
        wide = packet[:2] in (b"\xff\xfe", b"\xfe\xff")
        packet = packet if wide else packet.strip(b"\0 \t\r\n")
        parse_xml(packet)  # refuses what would be dangerous to read
        self._declared = packet.lstrip(b"\xef\xbb\xbf").startswith(b"<?xml ")
        self._dom: Any = minidom.parseString(packet)
        found = self._dom.getElementsByTagNameNS(RDF, "RDF")
        if not found:
            raise XmlProblem("it has no rdf:RDF, so it is no XMP")
        self._rdf: Element = found[0]
        if not self._descriptions():
            about = self._new(self._rdf, RDF, "rdf:Description")
            self._name(about, RDF, "rdf:about", "")
            self._append(self._rdf, about)

    def to_bytes(self) -> bytes:
        """Return the packet in UTF-8."""
        start = ['<?xml version="1.0" encoding="UTF-8"?>\n'] if self._declared else []
        parts = [_written(node) for node in self._dom.childNodes]
        # The parser drops line breaks between the outermost parts.
        return ("".join(start) + "\n".join(parts) + "\n").encode()

    # Lists of texts

    def texts(self, uri: str, name: str) -> list[str]:
        """Return the texts of a property that is a list."""
        node = self.property(uri, name)
        return [] if node is None else [_text(item) for item in self.items(node)]

    def add(self, uri: str, name: str, texts: list[str], container: str = "Bag") -> None:
        """Append texts to a property that is a list, which is made where there is none."""
        if not texts:
            return
        node = self.property(uri, name)
        if node is None:
            node = self._append(self._descriptions()[0], self._new(self._rdf, uri, name))
        holder = self._container(node, container)
        for text in texts:
            item = self._new(holder, RDF, "rdf:li")
            item.appendChild(self._dom.createTextNode(storable(text)))
            self._append(holder, item)

    def take(self, uri: str, name: str, texts: list[str]) -> None:
        """Remove texts from a list, each once, and the list where nothing is left."""
        node = self.property(uri, name)
        if node is None:
            return
        left = list(texts)
        for item in list(self.items(node)):
            if _text(item) in left:
                left.remove(_text(item))
                self.remove(item)
        self.remove_empty(node)

    # Structures

    def property(self, uri: str, name: str) -> Element | None:
        """Return the element of a property; one that is written as an attribute becomes one."""
        local = name.partition(":")[2]
        for description in self._descriptions():
            for child in _elements(description):
                if _is(child, uri, local):
                    return child
            if description.hasAttributeNS(uri, local):
                value = description.getAttributeNS(uri, local)
                description.removeAttributeNS(uri, local)
                node = self._new(self._rdf, uri, name)
                node.appendChild(self._dom.createTextNode(value))
                return self._append(description, node)
        return None

    def part(self, node: Element, uri: str, name: str) -> Element | None:
        """Return the element of a field in a structure."""
        inner = _inner(node)
        local = name.partition(":")[2]
        return next((child for child in _elements(inner) if _is(child, uri, local)), None)

    def value(self, node: Element, uri: str, name: str) -> str | None:
        """Return a simple field of a structure, written as an attribute or as an element."""
        inner, local = _inner(node), name.partition(":")[2]
        if inner.hasAttributeNS(uri, local):
            return str(inner.getAttributeNS(uri, local))
        found = self.part(node, uri, name)
        return None if found is None else _text(found)

    def items(self, node: Element) -> Iterator[Element]:
        """Yield the items of a list."""
        for holder in _elements(node):
            if holder.namespaceURI == RDF and holder.localName in CONTAINERS:
                yield from (item for item in _elements(holder) if _is(item, RDF, "li"))

    def structure(self, uri: str, name: str) -> Element:
        """Return the element of a property that is a structure, made where there is none."""
        node = self.property(uri, name)
        if node is None:
            node = self._new(self._rdf, uri, name)
            self._name(node, RDF, "rdf:parseType", "Resource")
            return self._append(self._descriptions()[0], node)
        if node.hasAttributeNS(RDF, "resource") or _text(node).strip():
            raise XmlProblem(f"{name} is no structure in it")
        if _inner(node) is node and not node.hasAttributeNS(RDF, "parseType"):
            self._name(node, RDF, "rdf:parseType", "Resource")
        return node

    def add_part(self, node: Element, uri: str, name: str, fields: dict[str, str]) -> Element:
        """Append a field that is a structure of texts; ``fields`` are by their whole names."""
        part = self._new(_inner(node), uri, name)
        self._name(part, RDF, "rdf:parseType", "Resource")
        self._append(_inner(node), part)
        self.add_texts(part, fields)
        return part

    def add_texts(self, node: Element, fields: dict[str, str]) -> None:
        """Append simple fields to a structure, each named ``uri prefix:name``."""
        for key, text in fields.items():
            uri, name = key.split(" ")
            field = self._new(node, uri, name)
            field.appendChild(self._dom.createTextNode(storable(text)))
            self._append(node, field)

    def add_item(self, node: Element, uri: str, name: str) -> Element:
        """Append a structure to the list that is a field of a structure."""
        inner = _inner(node)
        listed = self.part(node, uri, name)
        if listed is None:
            listed = self._append(inner, self._new(inner, uri, name))
        holder = self._container(listed, "Bag")
        item = self._new(holder, RDF, "rdf:li")
        self._name(item, RDF, "rdf:parseType", "Resource")
        return self._append(holder, item)

    def remove(self, node: Element) -> None:
        """Remove an element and the blanks before it."""
        before = node.previousSibling
        parent = node.parentNode
        if before is not None and before.nodeType == Node.TEXT_NODE and not before.data.strip():
            parent.removeChild(before)
        parent.removeChild(node)

    def remove_empty(self, node: Element) -> None:
        """Remove a list without items."""
        if not any(True for _ in self.items(node)) and not _text(node).strip():
            self.remove(node)

    # Parts

    def _descriptions(self) -> list[Element]:
        return [node for node in _elements(self._rdf) if _is(node, RDF, "Description")]

    def _container(self, node: Element, kind: str) -> Element:
        """Return the list of a property; a single text becomes its first item."""
        for child in _elements(node):
            if child.namespaceURI == RDF and child.localName in CONTAINERS:
                return child
        if list(_elements(node)) or node.hasAttributeNS(RDF, "resource"):
            raise XmlProblem(f"{node.tagName} is no list in it")
        text = _text(node)
        while node.firstChild is not None:
            node.removeChild(node.firstChild)
        holder = self._append(node, self._new(node, RDF, f"rdf:{kind}"))
        if text.strip():
            item = self._new(holder, RDF, "rdf:li")
            item.appendChild(self._dom.createTextNode(text))
            self._append(holder, item)
        return holder

    def _append(self, parent: Element, child: Element) -> Element:
        """Append an element on a line of its own."""
        depth = 0
        node = parent
        while node.parentNode is not None and node.parentNode.nodeType == Node.ELEMENT_NODE:
            depth, node = depth + 1, node.parentNode
        last = parent.lastChild
        if last is not None and last.nodeType == Node.TEXT_NODE and not last.data.strip():
            parent.removeChild(last)
        parent.appendChild(self._dom.createTextNode("\n" + " " * (depth + 1)))
        parent.appendChild(child)
        parent.appendChild(self._dom.createTextNode("\n" + " " * depth))
        return child

    def _new(self, near: Element, uri: str, name: str) -> Element:
        """Return a new element, whose namespace is declared."""
        return self._dom.createElementNS(uri, self._qualified(near, uri, name))

    def _name(self, node: Element, uri: str, name: str, value: str) -> None:
        node.setAttributeNS(uri, self._qualified(self._rdf, uri, name), value)

    def _qualified(self, near: Element, uri: str, name: str) -> str:
        """Return a name with the prefix that its namespace has there, declared if it has none."""
        prefix, _, local = name.partition(":")
        known = _prefixes(near)
        own = next((p for p, value in known.items() if value == uri and p), None)
        if own is not None:
            return f"{own}:{local}"
        taken = {p for element in (self._rdf, *_below(self._rdf)) for p in _prefixes(element)}
        while prefix in taken:
            prefix += "_"
        self._rdf.setAttributeNS(XMLNS, f"xmlns:{prefix}", uri)
        return f"{prefix}:{local}"


def storable(text: str) -> str:
    r"""Return a text without the characters that XML cannot hold.

    Examples
    --------
    >>> storable("Ann\x0b Lee")
    'Ann Lee'
    """
    return _FORBIDDEN.sub("", text)


def _elements(node: Element) -> Iterator[Element]:
    return (child for child in node.childNodes if child.nodeType == Node.ELEMENT_NODE)


def _below(node: Element) -> Iterator[Element]:
    for child in _elements(node):
        yield child
        yield from _below(child)


def _is(node: Element, uri: str, local: str) -> bool:
    return bool(node.namespaceURI == uri and node.localName == local)


def _inner(node: Element) -> Element:
    """Return the element with the fields of a structure: itself, or a description in it."""
    return next((child for child in _elements(node) if _is(child, RDF, "Description")), node)


def _text(node: Element) -> str:
    kinds = (Node.TEXT_NODE, Node.CDATA_SECTION_NODE)
    return "".join(child.data for child in node.childNodes if child.nodeType in kinds)


def _prefixes(node: Element) -> dict[str, str]:
    """Return the namespaces that are declared at an element, by their prefixes."""
    found: dict[str, str] = {}
    while node is not None and node.nodeType == Node.ELEMENT_NODE:
        for name, value in node.attributes.items():
            if name.startswith("xmlns:"):
                found.setdefault(name.removeprefix("xmlns:"), value)
        node = node.parentNode
    return found


def _written(node: Any) -> str:
    """Return a node as XML; unlike minidom's own it keeps line breaks in attributes."""
    match node.nodeType:
        case Node.ELEMENT_NODE:
            marks = "".join(
                f' {name}="{_escaped(value, attribute=True)}"'
                for name, value in node.attributes.items()
            )
            inside = "".join(map(_written, node.childNodes))
            if not inside:
                return f"<{node.tagName}{marks}/>"
            return f"<{node.tagName}{marks}>{inside}</{node.tagName}>"
        case Node.TEXT_NODE:
            return _escaped(node.data)
        case _:
            return str(node.toxml())


def _escaped(text: str, *, attribute: bool = False) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace("\r", "&#13;")
    if attribute:
        text = text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return text
