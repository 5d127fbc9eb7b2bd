"""A lock of the operating system: one writer at a time.

It ends with the process, however that ends, so there is no stale lock to remove; the text in the
lock file only shows others who holds it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path


class LockHeldError(Exception):
    """Raised if another process holds the lock; the message says which."""


class Lock:
    """Lock for writing, from ``Lock(path)`` to ``release``; raises ``LockHeldError`` at once.

    Parameters
    ----------
    path : Path
        The lock file, which is made if it is not there, and which only its owner may read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = Lock(Path(folder, "lock"))
    ...     try:
    ...         Lock(Path(folder, "lock"))
    ...     except LockHeldError:
    ...         print("held")
    ...     lock.release()
    held
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _take(self._file)
        except OSError as error:
            holder = os.pread(self._file, 200, 0) if hasattr(os, "pread") else b""
            os.close(self._file)
            text = holder.decode("utf-8", "replace").strip()
            raise LockHeldError(text or "another process") from error
        since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        with suppress(OSError):  # a full disk: the lock is held all the same
            os.ftruncate(self._file, 0)
            os.write(self._file, f"process {os.getpid()}, since {since}\n".encode())

    def release(self) -> None:
        """Release the lock. The file stays: another process may just have opened it."""
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
