"""How much memory methods that are dense by nature take, and where they refuse.

Most methods hold an instance's few candidates. Some need matrices of all classes and instances: the
label rows of the augmented Lagrangian method, and most of the compared methods.
"""

from __future__ import annotations

import os
from pathlib import Path

SHARE = 0.5
"""Share of the machine's memory that a dense method may take; set it to allow more or less."""
CGROUP = Path("/sys/fs/cgroup/memory.max")
"""Where Linux says how much of the memory a container has."""


class TooDenseError(MemoryError):
    """Raised before a method takes more memory than it may; the message names others."""


def check_memory(
    method: str,
    rows: int,
    columns: int,
    arrays: float,
    itemsize: int = 8,
    null: bool = False,
    instead: str | None = None,
) -> None:
    """Raise an error if a method is about to take more memory than ``SHARE`` of the machine's.

    Parameters
    ----------
    method : str
        Name of the method, for the message.
    rows, columns : int
        Shape of the matrices that it needs.
    arrays : float
        How many of them it has at a time.
    itemsize : int
        Bytes of a number.
    null : bool
        Whether there is a null class, which decides what to use instead.
    instead : str, optional
        What to do instead, where it is neither.

    Examples
    --------
    >>> from candidly.solvers.dense_memory import check_memory
    >>> check_memory("WMCar", 100, 1000, 6)
    >>> check_memory("WMCar", 10_000, 1_000_000_000, 6)
    Traceback (most recent call last):
        ...
    candidly.solvers.dense_memory.TooDenseError: WMCar needs 6 matrices of 10000 x 1000000000, ...
    """
    memory = machine_memory()
    needed = rows * columns * arrays * itemsize
    if memory is None or needed <= SHARE * memory:
        return
    other = "OpenSet" if null else "RowSpace or CandidateClassifier"
    instead = instead or f"use {other}, which hold candidates alone"
    raise TooDenseError(
        f"{method} needs {arrays:g} matrices of {rows} x {columns}, about {needed / 1e9:.1f} GB, "
        f"and may take {SHARE * memory / 1e9:.1f} GB, {SHARE:.0%} of the memory here; "
        f"{instead}, or fewer instances, or set "
        "candidly.solvers.dense_memory.SHARE"
    )


def machine_memory() -> int | None:
    """Return the memory of this machine or container in bytes, or None where it is not known."""
    try:
        known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # not a system that tells
        return None
    try:
        limit = CGROUP.read_text().strip()
    except OSError:
        return known[0]
    return min([*known, *([int(limit)] if limit.isdigit() else [])])
