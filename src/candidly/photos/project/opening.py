"""Opening a project file, to write or to read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from candidly.photos.project import schema
from candidly.photos.project.lock import Held, Lock
from candidly.photos.project.problems import ProjectProblem

BUSY_MS = 2000  # for programs that are not ours; our own writers hold the lock


def open_writer(path: Path) -> tuple[sqlite3.Connection, Lock]:
    """Take the lock and the file, made or brought up to date where needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = Lock(path.with_name(path.name + ".lock"))
    except Held as held:
        raise ProjectProblem(
            f"{path} is being written to ({held}); wait until that is done, or use another "
            "file with --project FILE"
        ) from held
    except OSError as error:
        raise ProjectProblem(
            f"{path.parent} cannot be written to ({error.strerror}); choose another place "
            "with --project FILE"
        ) from error
    try:
        connection = _connect(path, "rwc")
        try:
            with _refusals(path):
                schema.version_of(connection)  # before anything of somebody else's changes
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                schema.migrate(connection)
        except BaseException:
            connection.close()
            raise
    except BaseException:
        lock.release()
        raise
    return connection, lock


def open_reader(path: Path) -> sqlite3.Connection:
    """Open a file that is there, also where nobody may write."""
    if not path.exists():
        raise ProjectProblem(f"there is no project file {path}; candidly ingest PHOTOS makes it")
    connection = _connect(path, "ro")
    try:
        with _refusals(path):
            try:
                version = schema.version_of(connection)
            except sqlite3.OperationalError:
                # WAL wants to write beside the file even to read it, unless nobody can.
                wal = path.with_name(path.name + "-wal")
                if wal.exists() and wal.stat().st_size:
                    raise
                connection.close()
                connection = _connect(path, "ro&immutable=1")
                version = schema.version_of(connection)
        if version < len(schema.MIGRATIONS):
            connection.close()
            newer, lock = open_writer(path)  # brings it up to date
            newer.close()
            lock.release()
            connection = _connect(path, "ro")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,  # transactions begin where we say so
        timeout=BUSY_MS / 1000,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except schema.NewerVersion as newer:
        found, known = newer.args
        raise ProjectProblem(
            f"{path} was written by a newer version of Candidly (format {found}, this one knows "
            f"up to {known}): pip install --upgrade candidly"
        ) from newer
    except schema.NotOurs as other:
        raise ProjectProblem(
            f"{path} is a database of another program; choose another file with --project FILE"
        ) from other
