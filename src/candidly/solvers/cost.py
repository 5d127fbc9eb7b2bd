"""How long a solve will take here, and how much memory: work by its shape, speed by a short test.

Work is counted in multiplications of matrix products, bytes that are moved, and calls on small
arrays. What the machine does of these in a second is measured once, in a few hundredths of one.
Counts are of what usually happens: iterations that stop early make a solve faster than predicted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

LONG = 2.0
"""Seconds from which on it is said beforehand how long a fit will take."""
FORECAST = "will take about"
"""What a sentence says in which that is said."""
EIGEN = 7.0
"""Multiplications of products in the time of an eigenproblem of n, in n^3."""
ALM_ITERATIONS = 100
"""Iterations that the augmented Lagrangian method usually takes."""


@dataclass(frozen=True)
class Cost:
    """Work of a solve; costs add, and multiply by how often.

    Parameters
    ----------
    products : float
        Multiplications in products of matrices and factorisations.
    moved : float
        Bytes that are read and written outside of these.
    calls : float
        Steps on small arrays.
    memory : float
        Bytes that are held at a time.

    Examples
    --------
    >>> from candidly.solvers.cost import Cost
    >>> 3 * Cost(products=10) + Cost(moved=5, memory=2)
    Cost(products=30.0, moved=5.0, calls=0.0, memory=2.0)
    """

    products: float = 0.0
    moved: float = 0.0
    calls: float = 0.0
    memory: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the work of one after the other, with the memory of both."""
        return Cost(
            self.products + other.products,
            self.moved + other.moved,
            self.calls + other.calls,
            self.memory + other.memory,
        )

    def __rmul__(self, times: float) -> Cost:
        """Return the work of so many, one after the other: memory is given back."""
        return Cost(
            float(times * self.products),
            float(times * self.moved),
            float(times * self.calls),
            self.memory,
        )

    def seconds(self, speed: MachineSpeed | None = None) -> float:
        """Return how long it takes, on this machine by default."""
        speed = speed or machine_speed()
        return self.products / speed.products + self.moved / speed.moved + self.calls / speed.calls

    def forecast(self, name: str) -> str:
        """Return a sentence about time and memory, as far as these can be known."""
        return f"{name} {FORECAST} {_time(self.seconds())} and {_size(self.memory)} of memory"


@dataclass(frozen=True)
class MachineSpeed:
    """Multiplications of products, bytes copied, and calls on small arrays, per second."""

    products: float
    moved: float
    calls: float


@cache
def machine_speed() -> MachineSpeed:
    """Return the speed of this machine, measured the first time that it is asked for."""
    n, many = 384, 6_000_000
    A, B, out = np.ones((n, n)), np.ones(many), np.empty(many)
    few = np.ones(2000)
    start = np.arange(0, 2000, 2)
    return MachineSpeed(
        n**3 / _fastest(lambda: A @ A),
        16 * many / _fastest(lambda: np.copyto(out, B)),
        1 / _fastest(lambda: np.maximum(np.add.reduceat(few, start), 0)),
    )


def _fastest(call: Callable[[], object]) -> float:
    call()
    found = []
    for _ in range(5):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return max(min(found), 1e-9)


def alm_cost(rows: int, N: int, itemsize: int, arrays: float) -> Cost:
    """Return the cost of the augmented Lagrangian method on an array of rows x N."""
    short, size = min(rows, N), rows * N
    one = Cost(1.5 * size * short + EIGEN * short**3, 6.0 * size * itemsize, 40)
    return ALM_ITERATIONS * one + Cost(memory=arrays * size * itemsize)


def basis_cost(N: int, m: int, itemsize: int) -> Cost:
    """Return the cost of the row space of features."""
    short = min(N, m)
    products = 2.0 * N * m * short + EIGEN * short**3
    return Cost(products, 4.0 * N * m * itemsize, 40, 3.0 * N * m * itemsize)


def completion_cost(
    N: int, k: int, entries: int, n_classes: int, iterations: int, itemsize: int
) -> Cost:
    """Return the cost of row-space completion with k directions: dense products, or of entries."""
    if n_classes * N <= 10 * entries:
        one = Cost(2.0 * n_classes * N * k, 60.0 * entries, 60)
    else:
        one = Cost(moved=(2.0 * N + 2.0 * entries) * k * itemsize + 100.0 * entries, calls=60)
    return iterations * one + Cost(memory=float(N * k * itemsize + 100 * entries))


def open_set_cost(N: int, k: int, entries: int, names: int, iterations: int, itemsize: int) -> Cost:
    """Return the cost of open-set labelling, all starts and priors together."""
    moved = 10.0 * (N + entries) * k * itemsize + 200.0 * entries
    one = Cost(2.0 * N * k * k, moved, 1500)
    pairs = float(N) * names
    search = Cost(40.0 * pairs, 4.0 * pairs, 100) if pairs > 1e6 else Cost(2.0 * pairs * k)
    runs = 2 if 500 * k <= N else 4
    memory = Cost(memory=5.0 * N * k * itemsize + 250.0 * entries)
    return runs * (iterations * one + 4 * search) + memory


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _size(memory: float) -> str:
    return f"{memory / 1e6:.0f} MB" if memory < 1e9 else f"{memory / 1e9:.1f} GB"
