"""Files that are there as a whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, or replace it, in one step; folders above it are made.

    The content is complete and on the disk before it has a name, so a process that is killed
    leaves no part of it; where the file system has no files without a name, it may leave a hidden
    one. A file that is replaced keeps its rights, and a link stays one.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "new", "a.txt"), b"all")
    ...     Path(folder, "new", "a.txt").read_bytes()
    b'all'
    """
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    file, made = _unnamed(path)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), _rights(path))
            os.fsync(stream.fileno())
            if made is None:
                made = _linked(stream.fileno(), path)
        if made is not None:
            made.replace(path)
    except BaseException:
        if made is not None:
            made.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def remove_whole(path: Path) -> None:
    """Remove a file, if it is there, so that it stays removed."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        _sync_folder(path.parent)


def checksum(data: bytes) -> str:
    """Return the SHA-256 of some data."""
    return sha256(data).hexdigest()


def content(path: Path) -> bytes | None:
    """Return the content of a file; None where there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _unnamed(path: Path) -> tuple[int, Path | None]:
    """Return a new file beside a path, and its name where the system needs one."""
    if hasattr(os, "O_TMPFILE"):
        try:
            return os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o600), None
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                raise
    file, name = tempfile.mkstemp(prefix=".candidly-", dir=path.parent)
    return file, Path(name)


def _linked(file: int, path: Path) -> Path | None:
    """Give a file its name; return another one under which it waits where the name is taken."""
    try:
        _link(file, path)
    except FileExistsError:
        waiting = path.with_name(f".candidly-{sha256(os.fsencode(path.name)).hexdigest()[:16]}")
        waiting.unlink(missing_ok=True)
        _link(file, waiting)
        return waiting
    return None


def _link(file: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # Only with a folder does Python follow the link in /proc to the file without a name.
        os.link(f"/proc/self/fd/{file}", path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _rights(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
