"""Reading .npy files in several threads at a time.

NumPy parses the header of a file as Python, which Python 3.11 cannot do in two threads at a time.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from candidly.solvers.kernels.compiling import one_at_a_time

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
"""What reads the header of each version; a later one is for names of fields."""
NUMBERS = "biuf"
"""Kinds of NumPy types of arrays that are written here."""


class Header(NamedTuple):
    """What a file has: its shape, whether in order of columns, its type, and where it begins."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    begin: int


def read_header(file: BinaryIO) -> Header:
    """Return the header of an open file; ``ValueError`` where that is no whole array of numbers."""
    with one_at_a_time:
        version = npy.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"its header is of version {version}; save it by numpy.save")
        try:
            found = Header(*HEADERS[version](file), file.tell())
        except Exception as error:  # whatever Python's parser raises of bytes that are no Python
            raise ValueError(f"its header is damaged: {shorten(str(error), 100)}") from error
    if found.dtype.hasobject:
        raise ValueError("it has Python objects; save an array of numbers")
    if min(found.shape, default=0) < 0:
        raise ValueError(f"its header is damaged: it says that the shape is {found.shape}")
    size = found.begin + math.prod(found.shape) * found.dtype.itemsize
    there = os.fstat(file.fileno()).st_size
    if there < size:
        raise ValueError(f"it ends after {there} of {size} bytes; was it cut off?")
    if there > size:
        raise ValueError(f"it has {there} bytes, and by its header {size}; was it damaged?")
    return found


def read_array(path: Path, mapped: bool = False) -> NDArray[Any]:
    """Return the array in a file that ``numpy.save`` wrote in order of rows, or a map of it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "a.npy"), np.eye(2))
    ...     read_array(Path(folder, "a.npy"))
    array([[1., 0.],
           [0., 1.]])
    """
    with path.open("rb") as file:
        header = read_header(file)
        if not header.dtype.isnative or header.dtype.kind not in NUMBERS:
            raise ValueError(f"its header is damaged: it says that numbers are {header.dtype}")
        count = math.prod(header.shape)
        if mapped and count:
            return np.memmap(path, header.dtype, "r", header.begin, header.shape)
        found = np.fromfile(file, header.dtype, count)
    if len(found) < count:
        raise ValueError(f"it ends after {len(found)} of {count} numbers")
    return found.reshape(header.shape)
