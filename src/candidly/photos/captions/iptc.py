"""The caption in an IPTC block (IIM 4.2): data set 2:120, in the character set of 1:90."""

from __future__ import annotations

from collections.abc import Iterator

from candidly.photos.captions.text import decoded, tidy

_CHARSET, _CAPTION = (1, 90), (2, 120)
# Escape sequences of ISO 2022 end in a letter that names the set.
_SETS = {
    "A": "iso8859-1",
    "B": "iso8859-2",
    "C": "iso8859-3",
    "D": "iso8859-4",
    "F": "iso8859-7",
    "G": "iso8859-6",
    "H": "iso8859-8",
    "L": "iso8859-5",
    "M": "iso8859-9",
    "T": "iso8859-11",
    "V": "iso8859-10",
    "b": "iso8859-15",
}


def caption(block: bytes) -> str:
    """Caption of an IPTC block; without a character set, UTF-8 if it can be, else Latin-1.

    Examples
    --------
    >>> caption(bytes([0x1C, 2, 120, 0, 3]) + b"Ann")
    'Ann'
    """
    texts: list[bytes] = []
    encoding = None
    for number, data in _sets(block):
        if number == _CHARSET:
            encoding = _encoding(data)
        elif number == _CAPTION:
            texts.append(data)
    return tidy("\n".join(_decode(text, encoding) for text in texts))


def _sets(block: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
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
        return _SETS.get(chr(escape[2]))
    return None


def _decode(text: bytes, encoding: str | None) -> str:
    if encoding:
        try:
            return text.decode(encoding)
        except UnicodeDecodeError:
            pass  # what says UTF-8 and is not: Latin-1, mostly
    return decoded(text)
