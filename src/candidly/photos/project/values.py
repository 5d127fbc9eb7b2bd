"""How single values are kept."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path


def person_named(sql: sqlite3.Connection, name: str) -> int:
    """The number of a person, who is made where nobody has that name."""
    name = clean(name)
    row = sql.execute("SELECT id FROM people WHERE name = ?", (name,)).fetchone()
    if row is None:
        made = "INSERT INTO people (name) VALUES (?) RETURNING id"
        row = sql.execute(made, (name,)).fetchone()
    return int(row[0])


def stored(path: Path | str) -> str | bytes:
    """A path as it is kept: text, or bytes where the file system's are no UTF-8."""
    text = path.as_posix() if isinstance(path, Path) else path
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def clean(text: str) -> str:
    """A text that can be kept: half a surrogate pair becomes "?", and positions stay."""
    return text.encode("utf-8", "replace").decode()


def now() -> str:
    """The moment, in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
