"""Results of experiments: one JSON object a line, so that an interrupted run continues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, Any]]:
    """Every finished line; one that was being written when the run stopped is left out."""
    lines = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return lines


def append(path: Path, record: dict[str, Any]) -> None:
    """Add a line, on a line of its own."""
    text = path.read_text() if path.exists() else ""
    with path.open("a") as file:
        torn = bool(text) and not text.endswith("\n")
        file.write("\n" * torn + json.dumps(record) + "\n")


def put_into(document: Path, text: str, name: str) -> None:
    """Replace what stands between the markers of that name in a document."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = document.read_text().split(begin)
    _, after = rest.split(end)
    document.write_text(f"{before}{begin}\n{text}{end}{after}")
