"""Threads of linear algebra: one where more of them only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 2_500_000
"""Numbers in a matrix below which one thread is used (``python -m benchmarks.blas_threads``)."""

_lock = Lock()
_limits: list[Any] = []  # one per block that is running: the first limits, the last restores


@contextmanager
def suited_threads(*shape: int) -> Iterator[None]:
    """Use one thread of linear algebra inside, if a matrix of this shape is small."""
    if prod(shape) >= SMALL:
        yield
        return
    with _lock:  # fits may run at the same time
        _limits.append(_limits[0] if _limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    """Return what knows the libraries; looking for them takes milliseconds."""
    return ThreadpoolController()
