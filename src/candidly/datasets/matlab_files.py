"""Arrays of MATLAB files: of version 7 and before, and of version 7.3, which are HDF5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from candidly.extras import require

HDF5 = b"\x89HDF\r\n\x1a\n"
HEADER = 512
"""Bytes of MATLAB's own text that a file of version 7.3 has before HDF5 begins."""


def matlab_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name, dense or sparse, in MATLAB's shapes.

    Files of version 7.3 need h5py; without it an ImportError says so. A damaged file raises
    whatever its reader raises.
    """
    if not _is_hdf5(path):
        stored = io.loadmat(path)
        return {name: value for name, value in stored.items() if not name.startswith("__")}
    h5py = require("h5py", "matlab")
    with h5py.File(path, "r") as file:
        return {name: _array(item) for name, item in file.items() if not name.startswith("#")}


def _is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(HEADER + len(HDF5))
    return start.startswith(HDF5) or start[HEADER:] == HDF5


def _array(item: Any) -> Any:
    """Return a stored array; HDF5 has columns where MATLAB has rows, and sparse ones in parts."""
    if "MATLAB_sparse" not in item.attrs:
        return item[()].T if hasattr(item, "shape") else None
    starts = item["jc"][()].astype(np.int64)
    shape = (int(item.attrs["MATLAB_sparse"]), len(starts) - 1)
    if "data" not in item:  # without entries the parts are left out
        return sparse.csc_array(shape)
    return sparse.csc_array((item["data"][()], item["ir"][()].astype(np.int64), starts), shape)
