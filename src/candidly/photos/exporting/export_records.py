"""The record of exports in a project: what was written where, with which names."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from candidly.photos.project.forgotten import ForgottenNames
from candidly.photos.project.schema import person_id, stored_path, timestamp


@dataclass(frozen=True)
class PreparedFile:
    """A file to write: its whole content, what is there before, and the names by face.

    ``before`` is the content that is there, or of a copy of a photo its XMP packet.
    """

    path: Path
    data: bytes
    checksum: str
    names: Mapping[int, str]
    photo: int | None = None
    embedded: bool = False
    existed: bool = False
    checksum_before: str | None = None
    before: bytes | None = None


@dataclass(frozen=True)
class WrittenFile:
    """A file that an export wrote, as it is recorded."""

    id: int
    path: Path
    embedded: bool
    checksum: str
    existed: bool
    checksum_before: str | None
    before: bytes | None


def begin_export(sql: sqlite3.Connection, folder: Path | None, settings: Mapping[str, Any]) -> int:
    """Record that an export begins, and return its number."""
    place = "" if folder is None else stored_path(folder)
    (number,) = sql.execute(
        "INSERT INTO exports (folder, settings, started) VALUES (?, ?, ?) RETURNING id",
        (place, json.dumps(settings), timestamp()),
    ).fetchone()
    return int(number)


def end_export(sql: sqlite3.Connection, export: int) -> None:
    """Record that an export is complete."""
    sql.execute("UPDATE exports SET finished = ? WHERE id = ?", (timestamp(), export))


def record_files(sql: sqlite3.Connection, export: int, files: Iterable[PreparedFile]) -> None:
    """Record files that are about to be written; their names are protected from now on.

    What was there before is not kept where it has the name of somebody who was forgotten.
    """
    forgotten = ForgottenNames.read(sql)
    for file in files:
        before = file.before
        if before is not None and forgotten.in_file(before):
            before = None
        (number,) = sql.execute(
            "INSERT INTO export_files (export, path, photo, embedded, checksum, existed,"
            " checksum_before, before) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                export,
                stored_path(file.path),
                file.photo,
                file.embedded,
                file.checksum,
                file.existed,
                file.checksum_before,
                before,
            ),
        ).fetchone()
        for face, name in file.names.items():
            sql.execute(
                "INSERT INTO export_names (file, face, person) VALUES (?, ?, ?)",
                (number, face, person_id(sql, name)),
            )
            _protect(sql, face, person_id(sql, name))


def _protect(sql: sqlite3.Connection, face: int, person: int) -> None:
    sql.execute(
        "INSERT INTO exported (face, person, at) VALUES (?, ?, ?) ON CONFLICT (face) DO UPDATE"
        " SET person = excluded.person, at = excluded.at WHERE person != excluded.person",
        (face, person, timestamp()),
    )


def last_record(sql: sqlite3.Connection, path: Path) -> WrittenFile | None:
    """Return the last record of a file that was not taken back, or None."""
    row = sql.execute(
        f"SELECT {_COLUMNS} FROM export_files WHERE path = ? ORDER BY id DESC LIMIT 1",
        (stored_path(path),),
    ).fetchone()
    return None if row is None else _file(row)


def was_written(sql: sqlite3.Connection, path: Path, checksum: str) -> bool:
    """Return whether an export that was not taken back wrote just this content to a file."""
    known = "SELECT 1 FROM export_files WHERE path = ? AND checksum = ?"
    return sql.execute(known, (stored_path(path), checksum)).fetchone() is not None


def recorded_names(sql: sqlite3.Connection, file: WrittenFile) -> dict[int, str]:
    """Return the names that a file was written with, by face, as they are called now."""
    return dict(
        sql.execute(
            "SELECT face, known.name FROM export_names JOIN known ON known.id = person"
            " WHERE file = ?",
            (file.id,),
        ).fetchall()
    )


def last_export(sql: sqlite3.Connection) -> tuple[int, Path | None] | None:
    """Return the number and folder of the last export that was not taken back, or None."""
    row = sql.execute(
        "SELECT id, folder FROM exports WHERE undone IS NULL ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return None if row is None else (int(row[0]), Path(os.fsdecode(row[1])) if row[1] else None)


def files_of(sql: sqlite3.Connection, export: int) -> list[WrittenFile]:
    """Return the files of an export, the last first."""
    rows = sql.execute(
        f"SELECT {_COLUMNS} FROM export_files WHERE export = ? ORDER BY id DESC", (export,)
    )
    return [_file(row) for row in rows]


def forget_file(sql: sqlite3.Connection, file: WrittenFile) -> None:
    """Delete the record of a file; names that no other file has are protected no more."""
    faces = sql.execute("SELECT face FROM export_names WHERE file = ?", (file.id,)).fetchall()
    sql.execute("DELETE FROM export_files WHERE id = ?", (file.id,))
    for (face,) in faces:
        row = sql.execute(
            "SELECT person FROM export_names WHERE face = ? ORDER BY file DESC LIMIT 1", (face,)
        ).fetchone()
        if row is None:
            sql.execute("DELETE FROM exported WHERE face = ?", (face,))
        else:
            _protect(sql, face, row[0])


def end_undo(sql: sqlite3.Connection, export: int) -> None:
    """Record that an export was taken back, as far as its files allowed."""
    sql.execute("UPDATE exports SET undone = ? WHERE id = ?", (timestamp(), export))


_COLUMNS = "id, path, embedded, checksum, existed, checksum_before, before"


def _file(row: tuple[Any, ...]) -> WrittenFile:
    number, path, embedded, checksum, existed, *before = row
    return WrittenFile(
        number, Path(os.fsdecode(path)), bool(embedded), checksum, bool(existed), *before
    )
