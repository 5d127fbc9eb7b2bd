"""What disk and processor need at least: the floor of an out-of-core solve, measured."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

BLOCK = 64 << 20


def read_rate(path: Path) -> tuple[float, float]:
    """Return bytes per second, and per CPU second, at which a file is read to its end."""
    size, began, cpu = 0, time.perf_counter(), time.process_time()
    buffer = bytearray(BLOCK)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            size += count
    return size / (time.perf_counter() - began), size / (time.process_time() - cpu)


def flop_rate(m: int, seconds: float = 2.0) -> tuple[float, float]:
    """Return FLOP per second, and per CPU second, of a product of matrices in double precision."""
    rows, square = np.random.default_rng(0).normal(size=(8192, m)), np.ones((m, m))
    count, began, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        rows @ square
        count += 1
    work = count * 2 * 8192 * m * m
    return work / (time.perf_counter() - began), work / (time.process_time() - cpu)


def floor_seconds(
    path: Path, N: int, m: int, entries: int, steps: int, reads: int
) -> dict[str, float]:
    """Return the floor of a row-space solve on a file, and what it is made of.

    The features are read ``reads`` times. There is one Gram, which is symmetric (N m^2), one
    product with a matrix m x m for the leverages (2 N m^2), and in each step a sum and a product
    over entries (2 E m each), all at the rate of a product of matrices.
    """
    (disk, disk_cpu), (flops, flops_cpu) = read_rate(path), flop_rate(m)
    size = reads * path.stat().st_size
    work = 3 * N * m * m + steps * 4 * entries * m
    return {
        "disk bytes per second": disk,
        "FLOP per second": flops,
        "disk seconds": size / disk,
        "FLOP seconds": work / flops,
        "seconds": size / disk + work / flops,
        "CPU seconds": size / disk_cpu + work / flops_cpu,
    }
