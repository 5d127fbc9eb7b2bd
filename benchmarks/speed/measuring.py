"""What a measurement of speed is: a name, what it measures, and what was asked of it.

A part declares its measurements by a decorator. Each runs in a process of its own, so that peak
memory and threads are its own too::

    @measurement("alm-2485x500", "ALM, 2485 x 500", must=2.8, aim=3.5)
    def _(quick: bool) -> Figures: ...

Only calls of solvers are timed: making the problem, checking the answer and compiling are not.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ONE_THREAD, ALL_CORES = 1, 0


@dataclass(frozen=True)
class Figures:
    """What one measurement found.

    Parameters
    ----------
    cpu, wall : float
        Seconds of our code.
    others : mapping of str to float
        CPU seconds of others on the same problem, tolerance and threads; the first is what the
        ratio is to.
    floor : float or None
        CPU seconds that the hardware needs at least for the same work, measured in the same run.
    agreement : mapping of str to float
        How far our answer is from that of others; 0 is the same.
    details : mapping
        Iterations, ranks, shapes and whatever else explains the figures.
    """

    cpu: float
    wall: float
    others: Mapping[str, float] = field(default_factory=dict)
    floor: float | None = None
    agreement: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement:
    """A declared measurement.

    Parameters
    ----------
    name : str
        For ``--only``.
    what : str
        What is measured, for the table.
    run : callable
        Takes whether to be quick, on a smaller problem; returns figures.
    unit : {"times", "cpu", "wall"}
        What ``must`` and ``aim`` are about: at least so many times as fast as the first of the
        others, or at most so many seconds.
    must, aim : float or None
    threads : int
        Threads of linear algebra and of kernels on all sides; 0 stands for all cores.
    device : bool
        Whether it runs on a device of PyTorch, which ``run`` takes as its second argument.
    """

    name: str
    what: str
    run: Callable[..., Figures]
    unit: str = "times"
    must: float | None = None
    aim: float | None = None
    threads: int = ONE_THREAD
    device: bool = False


MEASUREMENTS: dict[str, Measurement] = {}


def measurement(
    name: str,
    what: str,
    *,
    unit: str = "times",
    must: float | None = None,
    aim: float | None = None,
    threads: int = ONE_THREAD,
    device: bool = False,
) -> Callable[[Callable[..., Figures]], Callable[..., Figures]]:
    """Declare a measurement; the names of all parts are different."""

    def declare(run: Callable[..., Figures]) -> Callable[..., Figures]:
        if name in MEASUREMENTS:
            raise ValueError(f"there are two measurements {name!r}")
        MEASUREMENTS[name] = Measurement(name, what, run, unit, must, aim, threads, device)
        return run

    return declare


@dataclass(frozen=True)
class Timed:
    """The answer of a call, with its seconds."""

    answer: Any
    cpu: float
    wall: float


def timed(call: Callable[[], Any], *, least: float = 0.0, repeats: int = 1) -> Timed:
    """Return the answer and the seconds of a call, the fewest of so many repeats.

    Calls are repeated until ``least`` seconds are over too, for those that take milliseconds.
    """
    best, spent, runs = None, 0.0, 0
    while runs < repeats or spent < least:
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        answer = call()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        if best is None or cpu < best.cpu:
            best = Timed(answer, cpu, wall)
        spent, runs = spent + wall, runs + 1
    assert best is not None
    return best
