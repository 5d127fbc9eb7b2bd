"""Bytes to text, texts to what is kept of them, and what goes wrong with a file."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

# A book has a million characters: more is another file by mistake.
SIZE_LIMIT = 64 * 2**20

_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# Not even a line break: sign of a binary file, or of one that a disk lost.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class CaptionProblem(NamedTuple):
    """A file whose caption could not be read, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def decoded(data: bytes) -> str:
    """Text of a file: by its byte order mark, else UTF-8, else as Windows wrote it.

    Examples
    --------
    >>> decoded("Ana Muñoz".encode()), decoded("Ana Muñoz".encode("latin-1"))
    ('Ana Muñoz', 'Ana Muñoz')
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def tidy(text: str) -> str:
    r"""The same text without control characters and outer blanks, composed (NFC).

    Examples
    --------
    >>> tidy(" Rene\u0301e\r\nand Ann\0 ")
    'Renée\nand Ann'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # JSON can hold half a character, which no file could keep.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFC", _CONTROLS.sub("", text)).strip()


def one_line(name: str) -> str:
    """A name with single blanks between its words."""
    return " ".join(tidy(name).split())


def names_of(listed: str) -> tuple[str, ...]:
    """Names separated by | or ; in the order given, each once.

    Examples
    --------
    >>> names_of("Ann Lee | Bob; Ann Lee")
    ('Ann Lee', 'Bob')
    """
    return distinct(re.split(r"[|;]", listed))


def distinct(names: list[str]) -> tuple[str, ...]:
    """Names without what is empty or repeated."""
    return tuple(dict.fromkeys(name for name in map(one_line, names) if name))
