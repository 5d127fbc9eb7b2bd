"""JSON lines: one object per line, so that an interrupted run can continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def parse(text: str) -> list[dict[str, Any]]:
    r"""Return the objects in a text of JSON lines; a line that is not a whole object is left out.

    Examples
    --------
    >>> parse('{"fold": 0}\n{"fold": 1')
    [{'fold': 0}]
    """
    records = []
    for line in text.split("\n"):  # splitlines also splits at marks inside a string
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; none if it does not exist.

    A line that was being written when a run was stopped is left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     append(path, {"seed": 0, "error": 8.5})
    ...     _ = path.write_text(path.read_text() + '{"seed": 1, "err')
    ...     append(path, {"seed": 2, "error": 8.2})
    ...     [record["seed"] for record in read(path)]
    [0, 2]
    """
    return parse(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else []


def append(path: Path, record: dict[str, Any]) -> None:
    """Add a record to a file, on a new line even where the last line is torn."""
    with path.open("ab+") as file:
        torn = file.seek(0, 2) > 0 and file.seek(-1, 2) >= 0 and file.read(1) != b"\n"
        file.write(("\n" * torn + json.dumps(record) + "\n").encode())
