"""The project file itself: opened, locked, its roots and runs."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from candidly.locking import Lock
from candidly.photos.project.connection import (
    ProjectProblem,
    explained_errors,
    join_writer,
    network_file_system,
    open_reader,
    open_writer,
)
from candidly.photos.project.deciding import Deciding
from candidly.photos.project.places import default_project
from candidly.photos.project.schema import clean_text, stored_path, timestamp


class Root(NamedTuple):
    """A folder of photos."""

    id: int
    path: Path


class Project(Deciding):
    """Photos, faces, captions, names and decisions in one SQLite file.

    Use ``Project.open``. A writer holds the lock until the project is closed; readers can open it
    at any time, and see what was last committed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(Path(folder, "holiday.candidly"), write=True) as project:
    ...         project.count("photos")
    0
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        lock: Lock | None,
        *,
        joined: bool = False,
    ) -> None:
        self.path, self.connection, self._lock = path, connection, lock
        self._writes = joined or lock is not None
        self._inside = False  # of a transaction

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, write: bool = False) -> Self:
        """Open a project file; for writing it is created if it does not exist.

        Parameters
        ----------
        path : path or None
            None for the one in the user's data folder that was used last.
        write : bool
            Whether to lock it for writing.

        Raises
        ------
        ProjectProblem
            Where it cannot be opened: the message says why and what to do.
        """
        path = (default_project() if path is None else Path(path)).resolve()
        try:
            is_folder = path.is_dir()
        except PermissionError as error:
            raise ProjectProblem(
                f"{path} cannot be opened: its folder is closed to you; ask its owner, or choose "
                "another project with --project FILE"
            ) from error
        if is_folder:
            raise ProjectProblem(f"{path} is a folder; a project is a file in one")
        kind = network_file_system(path)
        if kind is not None:
            raise ProjectProblem(
                f"{path} is on a network file system ({kind}), where SQLite cannot keep a file "
                "safe; choose a place on this machine with --project FILE (photos may stay there)"
            )
        with explained_errors(path):
            if write:
                return cls(path, *open_writer(path))
            return cls(path, open_reader(path), None)

    @classmethod
    def join(cls, path: Path) -> Self:
        """Open a project for writing beside the writer of this process, or of its parent.

        The lock stays with that writer.
        """
        with explained_errors(path):
            return cls(path, join_writer(path), None, joined=True)

    def wait_for(self, seconds: float) -> None:
        """Wait so long for other transactions before an error says that somebody writes."""
        self.connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")

    def close(self) -> None:
        """Close the file and release the lock."""
        self.connection.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction: everything written inside is kept, or nothing.

        One inside another is part of it.
        """
        if not self._writes:
            raise ProjectProblem(f"{self.path} was opened for reading; open it with write=True")
        if self._inside:
            yield self.connection
            return
        with explained_errors(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            self._inside = True
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                _roll_back(self.connection)
                raise
            finally:
                self._inside = False

    @contextmanager
    def attempt(self) -> Iterator[sqlite3.Connection]:
        """Run a part of a transaction that can be undone without undoing the rest."""
        self.connection.execute("SAVEPOINT attempt")
        try:
            yield self.connection
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO attempt")
                self.connection.execute("RELEASE attempt")
            raise
        self.connection.execute("RELEASE attempt")

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read in one snapshot: changes by a writer are not seen inside."""
        with explained_errors(self.path):
            if self.connection.in_transaction:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                _roll_back(self.connection)

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        with explained_errors(self.path):
            (found,) = self.connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()
        return int(found)

    # Roots

    def roots(self) -> list[Root]:
        """Return the folders of photos."""
        with explained_errors(self.path):
            rows = self.connection.execute("SELECT id, path FROM roots ORDER BY id").fetchall()
        return [Root(id_, Path(os.fsdecode(path))) for id_, path in rows]

    def root_for(self, folder: Path) -> Root:
        """Return the root that contains a folder, or is it; it is added if there is none.

        Roots never overlap, so that a file has one place: a root inside the new folder becomes
        part of it.
        """
        folder = folder.resolve()
        inside = []
        for root in self.roots():
            if folder.is_relative_to(root.path):
                return root
            if root.path.is_relative_to(folder):
                inside.append(root)
        with self.transaction() as sql:
            (made,) = sql.execute(
                "INSERT INTO roots (path) VALUES (?) RETURNING id", (stored_path(folder),)
            ).fetchone()
            for root in inside:
                below = root.path.relative_to(folder).as_posix() + "/"
                rows = sql.execute("SELECT id, path FROM files WHERE root = ?", (root.id,))
                moved = [
                    (made, stored_path(below + os.fsdecode(p)), id_) for id_, p in rows.fetchall()
                ]
                sql.executemany("UPDATE files SET root = ?, path = ? WHERE id = ?", moved)
                sql.execute("DELETE FROM roots WHERE id = ?", (root.id,))
        return Root(made, folder)

    def move_root(self, old: Path, new: Path) -> None:
        """Record that a folder of photos was moved, with everything in it.

        Parameters
        ----------
        old, new : Path
            A root of the project, and where it is now.
        """
        old, new = Path(os.path.abspath(old)), new.resolve()  # noqa: PTH100
        known = {root.path: root.id for root in self.roots()}
        if old not in known:
            there = ", ".join(map(str, known)) or "none"
            raise ProjectProblem(f"{old} is no photo root of {self.path}; there are: {there}")
        if not new.is_dir():
            raise ProjectProblem(f"there is no folder {new} to move the root {old} to")
        for other in known:
            if other != old and (new.is_relative_to(other) or other.is_relative_to(new)):
                raise ProjectProblem(
                    f"{new} overlaps the root {other}; ingest it, and its photos are recognised"
                )
        with self.transaction() as sql:
            sql.execute("UPDATE roots SET path = ? WHERE id = ?", (stored_path(new), known[old]))

    # Runs

    def begin_run(self, version: str, settings: Mapping[str, Any]) -> int:
        """Record that a run begins, and return its number."""
        with self.transaction() as sql:
            (run,) = sql.execute(
                "INSERT INTO runs (version, settings, started) VALUES (?, ?, ?) RETURNING id",
                (version, json.dumps(settings), timestamp()),
            ).fetchone()
        return int(run)

    def end_run(
        self,
        run: int,
        counts: Mapping[str, int],
        problems: Sequence[str] = (),
        doubts: Sequence[str] = (),
    ) -> None:
        """Record how a run ended, with doubts about its result; one without an end was killed."""
        with self.transaction() as sql:
            sql.execute(
                "UPDATE runs SET finished = ?, counts = ? WHERE id = ?",
                (timestamp(), json.dumps(counts), run),
            )
            rows = [(run, clean_text(text), False) for text in problems]
            rows += [(run, clean_text(text), True) for text in doubts]
            sql.executemany("INSERT INTO problems (run, text, doubt) VALUES (?, ?, ?)", rows)


@contextmanager
def open_project(
    project: Project | str | os.PathLike[str] | None, *, write: bool = False, create: bool = False
) -> Iterator[Project]:
    """Yield an open project as it is, or open and close the file at a path.

    Unlike ``Project.open`` it refuses to write to a file that does not exist, unless ``create``
    is set.
    """
    if isinstance(project, Project):
        yield project
        return
    if write and not create:
        Project.open(project).close()
    with Project.open(project, write=write) as opened:
        yield opened


def _roll_back(connection: sqlite3.Connection) -> None:
    """Roll back an open transaction; on a full disk SQLite has done it already, or cannot."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
