"""Files and folders that only their owner may read, from their first byte on."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner only.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     make_folder(Path(place, "a", "b"))
    ...     oct(Path(place, "a").stat().st_mode & 0o777)
    '0o700'
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file; raise ``FileExistsError`` where there is one."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE))


def write_file(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all; one that was there is replaced.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_file(Path(place, "a.html"), b"<html>")
    ...     oct(Path(place, "a.html").stat().st_mode & 0o777), len(list(Path(place).iterdir()))
    ('0o600', 1)
    """
    target = path.resolve()  # a link stays one
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def close_to_others(path: Path) -> None:
    """Take the rights of others to a file away, if it is there and ours."""
    with suppress(OSError):  # another's file, or one of a read-only disk
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            path.chmod(mode & FOLDER)
