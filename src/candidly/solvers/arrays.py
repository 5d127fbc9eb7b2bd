"""Arrays of NumPy or PyTorch: solvers compute in the library and on the device of their input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]


def namespace(A):
    """Return the library of an array; solvers use functions that both have by the same name."""
    return np if isinstance(A, np.ndarray) else sys.modules[type(A).__module__]


def like(values, A, dtype=None):
    """Return the values as an array of the library and device of A, and of its dtype or another."""
    if isinstance(A, np.ndarray):
        return np.asarray(values, dtype=dtype or A.dtype)
    values = np.array(values, order="C")  # PyTorch needs writable arrays, positive strides
    return namespace(A).asarray(values, dtype=dtype or A.dtype, device=A.device)


def row_by_row(A):
    """Return an array whose rows are in one piece each, as compiled loops need them."""
    return np.ascontiguousarray(A) if isinstance(A, np.ndarray) else A.contiguous()


def double(A):
    """Return an array in float64."""
    return np.asarray(A, dtype=np.float64) if isinstance(A, np.ndarray) else A.double()


def here(A):
    """Return an array as a NumPy array."""
    return A if isinstance(A, np.ndarray) else A.cpu().numpy()


def numbers(*values):
    """Return scalars, perhaps on a device, as a list of floats; one copy brings all of them."""
    there = [value for value in values if hasattr(value, "device") and hasattr(value, "cpu")]
    if not there:
        return [float(value) for value in values]
    xp = namespace(there[0])
    place = {"dtype": xp.float64, "device": there[0].device}
    return xp.stack([xp.asarray(value, **place) for value in values]).tolist()


@contextmanager
def full_precision(A) -> Iterator[None]:
    """Multiply matrices like A in their own precision inside: TF32, if chosen, loses the rank."""
    if isinstance(A, np.ndarray):
        yield
        return
    xp = namespace(A)
    before = xp.get_float32_matmul_precision()
    xp.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        xp.set_float32_matmul_precision(before)
