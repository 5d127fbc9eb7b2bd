"""The connection to a project file: how it is opened, by one writer at a time, and its errors."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from candidly.locking import Lock, LockHeldError
from candidly.photos import private
from candidly.photos.project import schema

MAGIC = b"SQLite format 3\0"
LOOKED_AT = 2**20  # bytes in which a damaged file is searched for the tables of a project
TRACES = (b"CREATE TABLE embeddings", b"CREATE TABLE roots")
BUSY_MS = 2000  # for other programs; our own writers hold the lock
CONTINUE = "what is done is kept, and the same command again continues"

# File systems that reach over a network or into another machine: their locks and shared memory
# are not those of this machine.
NETWORK = {
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.ceph", "fuse.davfs2",
    "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs",
    "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3",
    "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip


class ProjectProblem(Exception):  # noqa: N818  like PictureProblem and WeightsProblem
    """A project file that cannot be used as requested; the message says why and what to do."""


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the kind of network file system that a path is on, or None.

    Parameters
    ----------
    path : Path
        A path that need not exist.
    mounts : str or None
        Content of /proc/mounts; None reads it. If there is none, only Windows' names of servers
        are recognised.

    Examples
    --------
    >>> network_file_system(Path("/media/nas/a.candidly"), "server:/x /media/nas nfs4 rw 0 0")
    'nfs4'
    """
    path = Path(os.path.realpath(path))
    if os.fspath(path).startswith("\\\\"):
        return "a Windows share"
    if mounts is None:
        try:
            mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return None
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_unescaped(fields[1]))
        # Of several mounts at one place the last hides the others.
        if path.is_relative_to(point) and len(point.parts) >= longest:
            longest, kind = len(point.parts), fields[2]
    return kind if kind in NETWORK else None


def _unescaped(text: str) -> str:
    """Return a mount point, in which the kernel writes a space as a backslash and 040."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)


# Opening


def open_writer(path: Path) -> tuple[sqlite3.Connection, Lock]:
    """Take the lock and open the file, created or migrated where needed.

    Nobody but its owner may read it, nor what SQLite writes beside it, which has the same rights.
    """
    refuse_other_files(path)  # nothing is left beside a file that is not ours
    try:
        private.make_folder(path.parent)
        lock = Lock(lock_of(path))
    except LockHeldError as held:
        raise ProjectProblem(
            f"{path} is being written to ({held}); wait until that is done, end candidly "
            "review if it is open on it, or use another file with --project FILE"
        ) from held
    except OSError as error:
        raise ProjectProblem(
            f"{path.parent} cannot be written to ({error.strerror}); choose another place "
            "with --project FILE"
        ) from error
    try:
        if path.exists():
            for end in ("", "-wal", "-shm", ".lock"):
                private.close_to_others(path.with_name(path.name + end))
        else:
            private.make_file(path)
        connection = _connect(path, "rw")
        try:
            with _refusals(path):
                schema.version_of(connection)  # before another program's file is changed
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


def lock_of(path: Path) -> Path:
    """Return the file whose lock the writer of a project holds."""
    return path.with_name(path.name + ".lock")


def refuse_other_files(path: Path) -> None:
    """Raise ``ProjectProblem`` where a file is not a project, or a damaged one."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return  # not there, or not to be read: opening it says so
    if not head:
        return
    if not head.startswith(MAGIC):
        if _has_traces(path):
            raise ProjectProblem(_damaged(path, "its beginning is overwritten"))
        raise ProjectProblem(f"{path} is no project file; choose another with --project FILE")
    application = int.from_bytes(head[68:72], "big")
    if application == schema.APPLICATION:
        return
    if application == 0 and path.with_name(path.name + "-wal").exists():
        return  # what it is may stand in the log so far, and is read on opening
    if _has_traces(path):
        raise ProjectProblem(_damaged(path, "its header is overwritten"))
    if application or _has_tables(path):
        raise ProjectProblem(_foreign(path))


def _has_tables(path: Path) -> bool:
    try:
        with closing(_connect(path, "ro&immutable=1")) as connection:
            return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    except sqlite3.DatabaseError:
        return True  # damaged, and without a trace of a project


def _has_traces(path: Path) -> bool:
    """Return whether a file holds the tables of a project, or nothing where one would be."""
    if path.suffix == ".candidly":
        with path.open("rb") as file:
            if not any(file.read(100)):
                return True
    with path.open("rb") as file:
        start = file.read(LOOKED_AT)
    return all(text in start for text in TRACES)


def join_writer(path: Path) -> sqlite3.Connection:
    """Open a file for writing beside the writer that holds its lock: this process or its parent.

    For long work beside short one. SQLite lets one transaction wait for the other.
    """
    holder = _holder(lock_of(path))
    if holder not in (os.getpid(), os.getppid()):
        raise ProjectProblem(f"{path} is written to by no process that this one belongs to")
    connection = _connect(path, "rw")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _holder(lock: Path) -> int | None:
    """Return the process that wrote itself into a lock file."""
    try:
        found = re.match(r"process (\d+),", lock.read_text())
    except OSError:
        return None
    return None if found is None else int(found[1])


def open_reader(path: Path) -> sqlite3.Connection:
    """Open an existing file for reading, also in a read-only place."""
    if not path.exists():
        raise ProjectProblem(f"there is no project file {path}; candidly ingest PHOTOS makes it")
    refuse_other_files(path)
    connection = _connect(path, "ro")
    try:
        with _refusals(path):
            try:
                version = schema.version_of(connection)
            except sqlite3.OperationalError:
                # WAL writes beside the file even to read it, unless it is opened as immutable.
                wal = path.with_name(path.name + "-wal")
                if wal.exists() and wal.stat().st_size:
                    raise
                connection.close()
                connection = _connect(path, "ro&immutable=1")
                version = schema.version_of(connection)
        if version < len(schema.MIGRATIONS):
            connection.close()
            newer, lock = open_writer(path)  # migrates it
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
        isolation_level=None,  # transactions begin explicitly
        timeout=BUSY_MS / 1000,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


# Errors


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except schema.NewerVersionError as newer:
        found, known = newer.args
        raise ProjectProblem(
            f"{path} was written by a newer version of Candidly (format {found}, this one knows "
            f"up to {known}): pip install --upgrade candidly"
        ) from newer
    except schema.ForeignDatabaseError as other:
        raise ProjectProblem(_foreign(path)) from other


def _foreign(path: Path) -> str:
    return f"{path} is a database of another program; choose another file with --project FILE"


def _damaged(path: Path, what: object) -> str:
    return (
        f"{path} is damaged ({what}); candidly doctor --project FILE says how far, and saves what "
        "can be read into a new file; candidly project restore takes a backup"
    )


@contextmanager
def explained_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into messages a user can act on; programming errors pass unchanged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = _sentence(path, error)
        if text is None:
            raise
        raise ProjectProblem(text) from error


def _sentence(path: Path, error: sqlite3.DatabaseError) -> str | None:
    if "decode" in str(error):  # Python's own message: a text that is not UTF-8 any more
        return _damaged(path, error)
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return f"the disk of {path} is full; make room: {CONTINUE}"
        case sqlite3.SQLITE_IOERR:
            return (
                f"{path} cannot be read or written ({error}): the disk may be full, broken or "
                f"taken away; {CONTINUE}"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return (
                f"{path} cannot be opened or written to ({error}); a project needs a folder that "
                "may be written to: choose another with --project FILE"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"another program is writing to {path}; wait until it is done, and try again"
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return _damaged(path, error)
    return None
