"""Where a name, or faces, are outside of a project: exports, reports, copies, paths of photos."""

from __future__ import annotations

import html
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from candidly.photos.keeping.person_traces import (
    among,
)
from candidly.photos.project.forgotten import ForgottenNames
from candidly.photos.project.schema import APPLICATION
from candidly.photos.reporting.report_file import OURS


def exported_files(sql: sqlite3.Connection, people: list[int]) -> list[str]:
    """Return the files that were exported with the names of people."""
    rows = sql.execute(
        "SELECT DISTINCT path FROM export_files JOIN export_names ON export_names.file ="
        f" export_files.id WHERE {among('person', people)} ORDER BY path"
    )
    return [os.fsdecode(path) for (path,) in rows]


def paths_with(sql: sqlite3.Connection, forgotten: ForgottenNames) -> list[str]:
    """Return the files and folders of photos that have a name in their path."""
    rows = sql.execute("SELECT path FROM files WHERE gone = 0 UNION SELECT path FROM roots")
    return [text for (path,) in rows if forgotten.spans(text := os.fsdecode(path))]


def reports_with(folder: Path, forgotten: ForgottenNames | None) -> list[Path]:
    """Return the reports in a folder: those with a name, or all."""
    found = []
    for path in sorted(folder.glob("*.html")):
        data = path.read_bytes()
        if OURS not in data[:2048]:
            continue
        text = re.sub(rb"base64,[A-Za-z0-9+/=]+", b"", data).decode("utf-8", "replace")
        words = html.unescape(re.sub("<[^>]*>", " ", text)) + " " + html.unescape(text)
        if forgotten is None or forgotten.spans(words):
            found.append(path)
    return found


def copies_of(sql: sqlite3.Connection, project: Path) -> list[Path]:
    """Return the copies of a project in its folder."""
    own = sql.execute("SELECT value FROM own WHERE name = 'project'").fetchone()
    found = []
    for path in sorted(project.parent.iterdir()):
        if path == project or not path.is_file() or project_mark(path) != own[0]:
            continue
        found.append(path)
    return found


def project_mark(path: Path) -> bytes | None:
    """Return what all copies of a project share, or None where a file is no project."""
    with path.open("rb") as file:
        head = file.read(100)
    if int.from_bytes(head[68:72], "big") != APPLICATION:
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as other:
            row: Any = other.execute("SELECT value FROM own WHERE name = 'project'").fetchone()
            return None if row is None else bytes(row[0])
    except sqlite3.DatabaseError:
        return None
