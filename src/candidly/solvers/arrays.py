"""Arrays of NumPy or PyTorch: solvers compute in the library and on the device of their input."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]


def namespace(A):
    """Return the library of an array; solvers use functions that both have by the same name."""
    return np if isinstance(A, np.ndarray) else sys.modules[type(A).__module__]


def like(values, A):
    """Return the values as an array of the library, dtype and device of A."""
    if isinstance(A, np.ndarray):
        return np.asarray(values, dtype=A.dtype)
    values = np.array(values, order="C")  # PyTorch needs writable arrays, positive strides
    return namespace(A).asarray(values, dtype=A.dtype, device=A.device)


def double(A):
    """Return an array in float64."""
    return np.asarray(A, dtype=np.float64) if isinstance(A, np.ndarray) else A.double()


def here(A):
    """Return an array as a NumPy array."""
    return A if isinstance(A, np.ndarray) else A.cpu().numpy()
