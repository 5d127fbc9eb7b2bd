"""What can be wrong with a project file, in a sentence that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT = "what is done is kept, and the same command again continues"


class ProjectProblem(Exception):  # noqa: N818  reads as what it is
    """A project file that cannot be used as asked; the message says why and what to do."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says into what a user can act on; our own mistakes pass as they are."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = _sentence(path, error)
        if text is None:
            raise
        raise ProjectProblem(text) from error


def _sentence(path: Path, error: sqlite3.DatabaseError) -> str | None:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return f"the disk of {path} is full; make room: {KEPT}"
        case sqlite3.SQLITE_IOERR:
            return (
                f"{path} cannot be read or written ({error}): the disk may be full, broken or "
                f"taken away; {KEPT}"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return (
                f"{path} cannot be opened or written to ({error}); a project needs a folder that "
                "may be written to: choose another with --project FILE"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"another program is writing to {path}; wait until it is done, and try again"
        case sqlite3.SQLITE_NOTADB:
            return f"{path} is no project file; choose another with --project FILE"
        case sqlite3.SQLITE_CORRUPT:
            return f"{path} is damaged ({error}); take a copy of it from before, or a new file"
    return None
