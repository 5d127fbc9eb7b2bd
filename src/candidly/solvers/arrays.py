"""Where arrays live: NumPy's, or PyTorch's, which may be on a GPU; the work is done there."""

from __future__ import annotations

import sys

import numpy as np


def namespace(A):
    """The library of an array; the solvers use what goes by the same name in both."""
    return np if isinstance(A, np.ndarray) else sys.modules[type(A).__module__]


def like(values, A):
    """Values as an array of the kind of A, where A is."""
    if isinstance(A, np.ndarray):
        return np.asarray(values, dtype=A.dtype)
    values = np.array(values, order="C")  # PyTorch takes none that are read-only or run backwards
    return namespace(A).asarray(values, dtype=A.dtype, device=A.device)


def double(A):
    """In float64."""
    return np.asarray(A, dtype=np.float64) if isinstance(A, np.ndarray) else A.double()


def here(A):
    """As an array of NumPy."""
    return A if isinstance(A, np.ndarray) else A.cpu().numpy()
