"""``captions.csv`` and ``captions.json``: a caption, and perhaps names, for each file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from typing import Any, NamedTuple

from candidly.photos.captions.text import SIZE_LIMIT, decoded, distinct, names_of, tidy

_BROKEN_LIMIT = 20

Report = Callable[[str], None]


class Row(NamedTuple):
    """What a list says of one file, and where in the list."""

    file: str
    text: str
    names: tuple[str, ...] = ()
    where: str = ""


def read_csv(data: bytes, report: Report) -> list[Row]:
    r"""Read rows of ``file,caption[,names]``; what is broken is reported, the rest is read.

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
            # Commas of a text that is not quoted belong to it.
            cells[len(columns) - 1 :] = [separator.join(cells[len(columns) - 1 :])]
        cell = dict(zip(columns, cells, strict=False))
        file, text, names = (cell.get(key, "") for key in ("file", "caption", "names"))
        if len(cells) < 2 or not file.strip():
            report(f"line {number}: {cells[0][:60]!r} should be a file and its caption")
            continue
        if len(cells) > len(columns):
            report(f"line {number}: {len(cells)} cells for {len(columns)} columns: quote the text")
        rows.append(Row(file.strip(), tidy(text), names_of(names), f"line {number}"))
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
    """Rows with their line numbers; after a broken one it goes on at the next line."""
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
    """Captions may be longer than the 131,072 characters that a cell has by default."""
    before = csv.field_size_limit(SIZE_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def read_json(data: bytes, report: Report) -> list[Row]:
    """Read ``{file: caption}``, ``{file: {caption, names}}`` or ``[{file, caption, names}]``.

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


def _entry(entry: Any, where: str) -> Row | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        return None
    text, names = entry.get("caption") or "", entry.get("names") or []
    listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(text, str) or not (listed or isinstance(names, str)):
        return None
    kept = names_of(names) if isinstance(names, str) else distinct(names)
    return Row(entry["file"].strip(), tidy(text), kept, where)
