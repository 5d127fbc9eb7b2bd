"""Threads of linear algebra: one where more of them only wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod

from threadpoolctl import ThreadpoolController

SMALL = 2_500_000
"""Numbers in a matrix below which one thread is used (``python -m benchmarks.blas_threads``)."""


@contextmanager
def suited_threads(*shape: int) -> Iterator[None]:
    """Use one thread of linear algebra inside, if a matrix of this shape is small."""
    if prod(shape) >= SMALL:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    """Return what knows the libraries; looking for them takes milliseconds."""
    return ThreadpoolController()
