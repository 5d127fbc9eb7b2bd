"""Memory that is not needed: given back to the system, which does not take it by itself."""

from __future__ import annotations

import ctypes
import mmap
import sys
from contextlib import suppress
from typing import Any


def give_back() -> None:
    """Let the system take back memory that was freed, where the C library keeps it.

    It keeps what arrays of up to 32 MB took, for arrays to come. After much work on these that is
    hundreds of megabytes.

    Examples
    --------
    >>> give_back()
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # of another C library
            ctypes.CDLL(None).malloc_trim(0)


def release(*arrays: Any) -> None:
    """Let the system take back the pages of arrays that are maps of files; they stay readable.

    Pages that were written go to the file; where they do not, since the map is copied on write,
    it is left alone. So are arrays in memory, and None.

    Examples
    --------
    >>> release(None)
    """
    for values in arrays:
        file = None if getattr(values, "mode", "c") == "c" else getattr(values, "_mmap", None)
        if file is not None and hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED)
