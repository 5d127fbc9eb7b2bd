"""Memory that is free: given back to the system, which the C library does not do by itself."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress


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
