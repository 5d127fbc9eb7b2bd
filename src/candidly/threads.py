"""Threads: one of linear algebra where more only wait for each other; over pieces; shared ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import prod
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

SMALL = 2_500_000
"""Numbers in a matrix below which one thread is used (``python -m benchmarks.blas_threads``)."""

VARIABLE = "CANDIDLY_THREADS"
"""Environment variable that says how many threads compiled loops use; by default all cores."""
ONE_THREAD = dict.fromkeys(
    (VARIABLE, "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
    "1",
)
"""Environment of a process that uses one thread."""

_lock = Lock()
_limits: list[Any] = []  # one per block that is running: the first limits, the last restores
_allowed = [1]  # threads outside of these blocks
_sharers: ContextVar[int] = ContextVar("sharers", default=1)

Found = TypeVar("Found")


@contextmanager
def suited_threads(*shape: int) -> Iterator[None]:
    """Use one thread of linear algebra inside, if a matrix of this shape is small."""
    if prod(shape) >= SMALL:
        yield
        return
    with one_blas_thread():
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Use one thread of linear algebra inside; ``in_pieces`` uses all that were allowed before."""
    with _lock:  # fits may run at the same time
        if not _limits:
            _allowed[0] = _blas_threads()
        _limits.append(_limits[0] if _limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


@contextmanager
def sharing_threads(count: int) -> Iterator[None]:
    """Use a part of the threads inside: so many callers are at work at the same time."""
    token = _sharers.set(count)
    try:
        yield
    finally:
        _sharers.reset(token)


def in_pieces(call: Callable[[slice], Found], N: int, step: int) -> list[Found]:
    """Return what a function says of slices of N rows, each piece by one thread.

    The order and the results are the same however many threads there are. The function has to
    leave the interpreter to others in what takes time, as NumPy does.

    Examples
    --------
    >>> in_pieces(lambda part: part.stop - part.start, 10, 4)
    [4, 4, 2]
    """
    pieces = [slice(start, min(start + step, N)) for start in range(0, N, step)]
    with one_blas_thread():
        workers = min(_allowed[0] // _sharers.get(), len(pieces))
        if workers < 2:
            return [call(piece) for piece in pieces]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(call, pieces))


def loop_threads() -> int:
    """Return how many threads loops over entries may use."""
    if VARIABLE in os.environ:
        allowed = int(os.environ[VARIABLE])
    elif hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, allowed // _sharers.get())


def _blas_threads() -> int:
    """Return how many threads linear algebra may use."""
    found = _controller().info()
    return max([one["num_threads"] for one in found if one["user_api"] == "blas"], default=1)


@cache
def _controller() -> ThreadpoolController:
    """Return what knows the libraries; looking for them takes milliseconds."""
    return ThreadpoolController()
