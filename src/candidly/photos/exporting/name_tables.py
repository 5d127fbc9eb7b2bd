"""Names as tables that ExifTool imports: CSV and JSON, one row per file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from candidly.photos.exporting.photo_names import PhotoNames, number

SEPARATOR = "||"
"""Between the names in a cell; ``exiftool -sep '||'`` takes them apart."""
PEOPLE, KEYWORDS = "XMP-iptcExt:PersonInImage", "XMP-dc:Subject"
REGIONS = "XMP-mwg-rs:RegionInfo"
# Spreadsheets take these for the beginning of a formula, also in full width.
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


@dataclass(frozen=True)
class TableRow:
    """A file with its names; ``columns`` are those that a list of captions has of it."""

    file: str
    names: PhotoNames
    columns: Mapping[str, str]


def to_csv(rows: Sequence[TableRow]) -> bytes:
    r"""Return a table for ``exiftool -sep '||' -csv=FILE``, which spreadsheets can open safely.

    Examples
    --------
    >>> rows = [TableRow("/a.jpg", PhotoNames(4, 3), {"archive no": "=1+1"})]
    >>> print(to_csv(rows).decode().replace("\r", ""), end="")
    SourceFile,archive_no,XMP-iptcExt:PersonInImage,XMP-dc:Subject,XMP-mwg-rs:RegionInfo
    /a.jpg,'=1+1,,,"{AppliedToDimensions={W=4,H=3,Unit=pixel},RegionList=[]}"
    """
    own = _own_columns(rows)
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["SourceFile", *own.values(), PEOPLE, KEYWORDS, REGIONS])
    for row in rows:
        names = SEPARATOR.join(name.replace(SEPARATOR, "|") for name in row.names.names)
        cells = [row.file, *(row.columns.get(column, "") for column in own), names, names]
        writer.writerow([_harmless(_text(cell)) for cell in [*cells, _struct(_regions(row.names))]])
    return text.getvalue().encode()


def to_json(rows: Sequence[TableRow]) -> bytes:
    """Return a table for ``exiftool -json=FILE``; names are exactly as they are."""
    own = _own_columns(rows)
    found = [
        {
            "SourceFile": row.file,
            **{name: row.columns[column] for column, name in own.items() if column in row.columns},
            PEOPLE: row.names.names,
            KEYWORDS: row.names.names,
            REGIONS: _regions(row.names),
        }
        for row in rows
    ]
    return (_text(json.dumps(found, ensure_ascii=False, indent=1)) + "\n").encode()


def _own_columns(rows: Sequence[TableRow]) -> dict[str, str]:
    """Return the columns of lists, with names that ExifTool accepts, none of them twice."""
    found: dict[str, str] = {}
    for column in dict.fromkeys(column for row in rows for column in row.columns):
        name = re.sub(r"[^A-Za-z0-9_]", "_", column) or "_"
        while name in ("SourceFile", *found.values()):
            name += "_"
        found[column] = name
    return found


def _regions(names: PhotoNames) -> dict[str, Any]:
    regions = []
    for region in names.regions:
        x, y, w, h = region.box
        places = dict(zip("XYWH", (x + w / 2, y + h / 2, w, h), strict=True))
        area: dict[str, Any] = {key: float(number(value)) for key, value in places.items()}
        regions.append({"Area": area | {"Unit": "normalized"}, "Name": region.name, "Type": "Face"})
    size = {"W": names.width, "H": names.height, "Unit": "pixel"}
    return {"AppliedToDimensions": size, "RegionList": regions}


def _struct(value: Any) -> str:
    """Return a structure as ExifTool writes one in a text."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}={_struct(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_struct, value)) + "]"
    text = number(value) if isinstance(value, float) else str(value)
    return re.sub(r"^[\s{\[]|[|,}\]]", lambda found: "|" + found[0], text)


def _harmless(cell: str) -> str:
    return "'" + cell if cell.startswith(_FORMULA) else cell


def _text(text: str) -> str:
    """Return a text that can be stored: names of files may hold bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
