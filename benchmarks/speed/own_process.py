"""One measurement in a process of its own, with its threads from the start."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import date
from multiprocessing import get_context
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.speed.machine import machine, peak_memory
from benchmarks.speed.speed_parts import measurements

THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def measure(name: str, quick: bool, device: str | None = None) -> dict[str, Any]:
    """Return the record of one measurement; runs in a process of its own."""
    chosen = measurements()[name]
    with threadpool_limits(chosen.threads or os.cpu_count()):
        figures = chosen.run(quick, device) if chosen.device else chosen.run(quick)
        where = machine()
    return {
        **asdict(figures),
        "peak memory MB": peak_memory(),
        "threads": chosen.threads or os.cpu_count(),
        "quick": quick,
        "date": date.today().isoformat(),
        "machine": where,
    }


def in_own_process(name: str, quick: bool, device: str | None = None) -> dict[str, Any]:
    """Measure in a new process, with the threads of the measurement from its start.

    ``device`` is for measurements that run on one.
    """
    chosen = measurements()[name]
    only_tried = chosen.device and device == "cpu"
    threads = str(1 if only_tried else chosen.threads or os.cpu_count())
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, threads))
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(measure, name, quick, device).result()
    finally:
        os.environ.clear()
        os.environ.update(before)
