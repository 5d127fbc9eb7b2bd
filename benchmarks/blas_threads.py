"""python -m benchmarks.blas_threads: seconds of a fit by threads of linear algebra.

Each problem is fitted with one thread and with as many as there are cores, alone and beside as
many busy processes. The rule of ``candidly.threads`` is off meanwhile.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

import candidly
from candidly import threads


def problems() -> Iterator[tuple[Any, Any, candidly.Candidates]]:
    """Yield estimators with features and candidates, from small to large."""
    digits = candidly.datasets.load("digits", each=60, n_extra=3, random_state=0)
    yield candidly.CandidateClassifier(random_state=0), digits.X, digits.candidates
    rng = np.random.default_rng(0)
    for instances, features in ((2_000, 256), (4_000, 512), (20_000, 512)):
        y = rng.integers(10, size=instances)
        X = 3 * rng.normal(size=(10, features))[y] + rng.normal(size=(instances, features))
        yield candidly.RowSpace(), X, candidly.make_ambiguous(y, n_extra=2, random_state=0)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep processes busy meanwhile."""
    with ExitStack() as stack:
        for _ in range(processes):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while 1: 0"]))
            stack.callback(process.kill)
        yield


def seconds(model: Any, X: Any, y: candidly.Candidates, limit: int) -> float:
    """Return how long a fit takes with so many threads."""
    with threadpool_limits(limit, user_api="blas"):
        start = time.perf_counter()
        model.fit(X, y)
        return time.perf_counter() - start


def main() -> None:
    """Print the seconds of one thread, and how many times as long all of them take."""
    threads.SMALL = 0
    cores = os.cpu_count() or 1
    for model, X, y in problems():
        for others in (0, cores):
            with busy(others):
                one, every = (seconds(model, X, y, limit) for limit in (1, cores))
            Console().print(
                f"{type(model).__name__}, {len(X)} x {X.shape[1]}, {others} busy: "
                f"{one:.2f} s with 1 thread, {every / one:.1f} times as long with {cores}"
            )


if __name__ == "__main__":
    main()
