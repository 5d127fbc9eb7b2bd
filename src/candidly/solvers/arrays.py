"""Arrays of NumPy or PyTorch: solvers compute in the library and on the device of their input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from candidly.extras import require
from candidly.threads import in_pieces

LARGE = 10_000_000
"""Bytes from which arrays come from a device into memory that is made by several threads."""
PARTS = 32
"""Parts of such an array that are made at a time."""
ROWS, NUMBERS = 8192, 8192 * 256
"""Rows, and numbers in them, that are worked on at a time."""
MORE_THERE = 32
"""How many times as large pieces of work are on a device."""

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]


def namespace(A):
    """Return the library of an array; solvers use functions that both have by the same name."""
    return np if isinstance(A, np.ndarray) else sys.modules[type(A).__module__]


def like(values, A, dtype=None):
    """Return the values as an array of the library and device of A, and of its dtype or another."""
    if isinstance(A, np.ndarray):
        return np.asarray(values, dtype=dtype or A.dtype)
    if type(values).__module__ != type(A).__module__:
        values = np.array(values, order="C")  # PyTorch needs writable arrays, positive strides
    return namespace(A).asarray(values, dtype=dtype or A.dtype, device=A.device)


def on_device(values: Floats, device: str | None) -> Any:
    """Return the values as an array of PyTorch on a device, or as they are without one.

    Raises
    ------
    ValueError
        If PyTorch cannot use the device.
    """
    if device is None:
        return values
    torch = require("torch", "torch")
    try:
        return torch.asarray(values, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # what PyTorch raises for these
        raise ValueError(f"PyTorch cannot use device {device!r} here: {error}") from error


def zeros(shape, A, dtype=None):
    """Return zeros of the library and device of A, and of its dtype or another."""
    if isinstance(A, np.ndarray):
        return np.zeros(shape, dtype or A.dtype)
    return namespace(A).zeros(shape, dtype=dtype or A.dtype, device=A.device)


def counting(N, A):
    """Return the numbers from 0 to N - 1 in the library and on the device of A."""
    return np.arange(N) if isinstance(A, np.ndarray) else namespace(A).arange(N, device=A.device)


def cast(A, like_B):
    """Return A with the dtype of another array of its library."""
    return namespace(A).asarray(A, dtype=like_B.dtype)


def places_of(mask):
    """Return where a mask is true; on a device this waits for it."""
    return np.flatnonzero(mask) if isinstance(mask, np.ndarray) else mask.nonzero()[:, 0]


def rows_at_once(A) -> int:
    """Return how many rows of A are worked on at a time: fewer where they are long."""
    return max(1, min(ROWS, NUMBERS // max(A.shape[1], 1)))


def by_pieces(call: Callable[[slice], Any], A, step: int | None = None) -> list[Any]:
    """Return what a function says of slices of the rows of A, by threads if it is not on a device.

    On a device nothing waits: calls are only put in line, and each has more to do.
    """
    step = rows_at_once(A) if step is None else step
    if isinstance(A, np.ndarray):
        return in_pieces(call, len(A), step)
    step *= MORE_THERE
    return [call(slice(at, min(at + step, len(A)))) for at in range(0, len(A), step)]


def row_products(A, B):
    """Return the inner product of each row of A and B, in float64."""
    if isinstance(A, np.ndarray):
        return np.einsum("jk,jk->j", A, B, dtype=np.float64)
    return (A * B).sum(axis=1, dtype=namespace(A).float64)


def solve_lower(L, B):
    """Return L^-1 B, for a lower triangular L."""
    if isinstance(B, np.ndarray):
        return linalg.solve_triangular(L, B, lower=True, check_finite=False)
    return namespace(B).linalg.solve_triangular(L, B, upper=False)


def largest_size(A):
    """Return the largest absolute value of an array, which may be empty."""
    if isinstance(A, np.ndarray):
        return np.abs(A).max(initial=0)
    return namespace(A).abs(A).max() if len(A) else 0.0


def sorted_values(A, axis: int):
    """Return the values of an array in order along an axis; NaN is last."""
    return np.sort(A, axis=axis) if isinstance(A, np.ndarray) else A.sort(dim=axis).values


def row_by_row(A):
    """Return an array whose rows are in one piece each, as compiled loops need them."""
    return np.ascontiguousarray(A) if isinstance(A, np.ndarray) else A.contiguous()


def double(A):
    """Return an array in float64."""
    return np.asarray(A, dtype=np.float64) if isinstance(A, np.ndarray) else A.double()


def here(A):
    """Return an array as a NumPy array."""
    if isinstance(A, np.ndarray):
        return A
    return A.cpu().numpy() if A.device.type == "cpu" or A.nbytes < LARGE else copied(A)


def copied(A) -> NDArray[Any]:
    """Return a copy of an array of PyTorch as a NumPy array.

    New memory takes longer to be there than a copy from a device does: threads make it before.
    """
    found = np.empty(A.shape, dtype=str(A.dtype).split(".")[-1])
    in_pieces(lambda part: found[part].fill(0), len(found), -(-len(found) // PARTS))
    namespace(A).from_numpy(found).copy_(A)
    return found


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
