"""One writer at a time, by a lock of the operating system's.

It ends with the process, however that ends, so there is no stale lock to clear away. What is
written in the file only tells others who holds it.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path


class Held(Exception):  # noqa: N818  reads as what it is
    """Somebody else holds the lock; the message says who."""


class Lock:
    """The right to write, held from ``Lock(path)`` to ``release``; raises ``Held`` at once."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _take(self._file)
        except OSError as error:
            holder = os.pread(self._file, 200, 0) if hasattr(os, "pread") else b""
            os.close(self._file)
            raise Held(holder.decode("utf-8", "replace").strip() or "another process") from error
        os.ftruncate(self._file, 0)
        since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        os.write(self._file, f"process {os.getpid()}, since {since}\n".encode())

    def release(self) -> None:
        """Let others write. The file stays: removing it would race with who just opened it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


if sys.platform == "win32":
    import msvcrt

    def _take(file: int) -> None:
        os.lseek(file, 1 << 30, os.SEEK_SET)  # beyond the text, which others may read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)

else:
    import fcntl

    def _take(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
