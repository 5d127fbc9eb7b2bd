"""XML read safely: no document types, hence no entities; no more depth than anyone needs."""

from __future__ import annotations

from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

_DEPTH = 200


class XmlProblem(ValueError):  # noqa: N818  reads as what it is
    """The XML is broken, or asks for what is not done here."""


def parse(data: bytes) -> Element:
    """Read XML to a tree whose names are ``{namespace}name``.

    Examples
    --------
    >>> parse(b'<a xmlns="urn:x"><b/></a>')[0].tag
    '{urn:x}b'
    >>> parse(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    Traceback (most recent call last):
    candidly.photos.captions.xml_tree.XmlProblem: it declares a document type, which is not read
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
