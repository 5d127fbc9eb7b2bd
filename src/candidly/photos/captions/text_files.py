"""Text files beside photos: bytes decoded, and rows of ``captions.csv`` and ``captions.json``."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from typing import Any, NamedTuple

# A book has a million characters: a larger file is no caption.
SIZE_LIMIT = 64 * 2**20
KNOWN = ("file", "caption", "names", "")  # columns of a list that are read

_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# Signs of a binary or damaged file; line breaks and tabs are not.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BROKEN_LIMIT = 20

Report = Callable[[str], None]


class CaptionRow(NamedTuple):
    """What a list of captions says about one file, and where in the list.

    ``others`` are its further columns, such as the number that an archive gives it.
    """

    file: str
    text: str
    names: tuple[str, ...] = ()
    where: str = ""
    others: tuple[tuple[str, str], ...] = ()


def read_csv(data: bytes, report: Report) -> list[CaptionRow]:
    r"""Return the rows of ``file,caption[,names]``; broken ones are reported and left out.

    Commas, semicolons or tabs separate, whichever makes the first line name the columns.

    Examples
    --------
    >>> rows = read_csv(b"file,caption,names\na.jpg,Ann at home,Ann Lee|Bob", print)
    >>> rows[0].text, rows[0].names
    ('Ann at home', ('Ann Lee', 'Bob'))
    """
    lines = list(StringIO(decoded(data).replace("\0", ""), newline=""))
    start = next((number for number, line in enumerate(lines) if line.strip()), None)
    if start is None:
        report("it is empty: its first line should be file,caption")
        return []
    separator, columns = _header(lines[start])
    if "file" not in columns or not {"caption", "names"} & set(columns):
        report(f"its first line is {lines[start].strip()[:80]!r}, but should be file,caption")
        return []
    rows = []
    for number, cells in _rows(lines, start + 1, separator, report):
        if not any(cell.strip() for cell in cells):
            continue
        if columns[-1] == "caption" and len(cells) > len(columns):
            # Commas in an unquoted text belong to the text.
            cells[len(columns) - 1 :] = [separator.join(cells[len(columns) - 1 :])]
        cell = dict(zip(columns, cells, strict=False))
        file, text, names = (cell.get(key, "") for key in ("file", "caption", "names"))
        if len(cells) < 2 or not file.strip():
            report(f"line {number}: {cells[0][:60]!r} should be a file and its caption")
            continue
        if len(cells) > len(columns):
            report(f"line {number}: {len(cells)} cells for {len(columns)} columns: quote the text")
        others = tuple((key, tidy(value)) for key, value in cell.items() if key not in KNOWN)
        rows.append(CaptionRow(file.strip(), tidy(text), names_of(names), f"line {number}", others))
    return rows


def _header(line: str) -> tuple[str, list[str]]:
    for separator in ",;\t":
        columns = [cell.strip().strip('"').lower() for cell in line.split(separator)]
        if "file" in columns:
            return separator, columns
    return ",", []


def _rows(
    lines: list[str], start: int, separator: str, report: Report
) -> list[tuple[int, list[str]]]:
    """Return rows with their line numbers; after a broken row, reading goes on at the next line."""
    rows: list[tuple[int, list[str]]] = []
    with _long_cells():
        for _ in range(_BROKEN_LIMIT):
            reader = csv.reader(islice(lines, start, None), delimiter=separator, strict=True)
            at = start
            try:
                for cells in reader:
                    rows.append((at + 1, cells))
                    at = start + reader.line_num
            except csv.Error:
                wrong = "a quote is opened or closed in the wrong place: write two inside a text"
                report(f"line {at + 1}: {wrong}")
                start = at + 1
            else:
                return rows
    report(f"line {start}: {_BROKEN_LIMIT} rows are broken, the rest is not read")
    return rows


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow cells of more than the default 131,072 characters: captions may be longer."""
    before = csv.field_size_limit(SIZE_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def read_json(data: bytes, report: Report) -> list[CaptionRow]:
    """Return the rows of ``{file: caption}``, ``{file: {caption, names}}`` or a list of objects.

    Each object of a list has ``file``, ``caption`` and perhaps ``names``.

    Examples
    --------
    >>> read_json(b'{"a.jpg": "Ann at home"}', print)[0].text
    'Ann at home'
    """
    try:
        content = json.loads(decoded(data))
    except (ValueError, RecursionError) as error:
        report(f"it is broken JSON: {error}")
        return []
    if isinstance(content, dict):
        entries = [
            {**value, "file": file} if isinstance(value, dict) else {"file": file, "caption": value}
            for file, value in content.items()
        ]
    elif isinstance(content, list):
        entries = content
    else:
        report('it should be {"a.jpg": "its caption"}, or a list of {"file", "caption"}')
        return []
    rows = []
    for number, entry in enumerate(entries, start=1):
        row = _entry(entry, f"entry {number}")
        if row is None:
            report(f"entry {number}: {str(entry)[:60]} should have a file and a caption as texts")
        else:
            rows.append(row)
    return rows


def _entry(entry: Any, where: str) -> CaptionRow | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        return None
    text, names = entry.get("caption") or "", entry.get("names") or []
    listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(text, str) or not (listed or isinstance(names, str)):
        return None
    kept = names_of(names) if isinstance(names, str) else distinct(names)
    others = tuple(
        (str(key), tidy(str(value)))
        for key, value in entry.items()
        if key not in KNOWN and isinstance(value, str | int | float)
    )
    return CaptionRow(entry["file"].strip(), tidy(text), kept, where, others)


def decoded(data: bytes) -> str:
    """Return the text of a file: by its byte order mark, else UTF-8, else as Windows writes it.

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
    r"""Return the text without control characters and outer blanks, composed (NFC).

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
    """Return a name with single blanks between its words."""
    return " ".join(tidy(name).split())


def names_of(listed: str) -> tuple[str, ...]:
    """Return the names separated by | or ; in the order given, each once.

    Examples
    --------
    >>> names_of("Ann Lee | Bob; Ann Lee")
    ('Ann Lee', 'Bob')
    """
    return distinct(re.split(r"[|;]", listed))


def distinct(names: list[str]) -> tuple[str, ...]:
    """Return the names without empty and repeated ones."""
    return tuple(dict.fromkeys(name for name in map(one_line, names) if name))
