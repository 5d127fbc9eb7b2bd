"""Runs: entries that lie one after another, such as the candidates of an instance.

``start`` is where each run begins, and where the last one ends. Arrays are of NumPy or of PyTorch,
and nothing here waits for a device: how many entries there are is known.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from candidly.solvers.arrays import counting, double, namespace, zeros

SHORT = 16
"""Entries of a run up to which a device reads one after another."""


def run_of_each(start, entries):
    """Return the run of each of so many entries."""
    if isinstance(start, np.ndarray):
        return np.repeat(np.arange(len(start) - 1), np.diff(start))
    xp = namespace(start)
    runs = counting(len(start) - 1, start)
    return xp.repeat_interleave(runs, xp.diff(start), output_size=entries)


def run_starts(counts):
    """Return where runs of so many entries begin, and where the last one ends."""
    start = zeros(len(counts) + 1, counts)
    start[1:] = namespace(counts).cumsum(counts, 0)
    return start


def sorted_order(values, most):
    """Return the order that sorts numbers below ``most``; equal ones stay in theirs."""
    if isinstance(values, np.ndarray):  # by counting, which is many times as fast as comparing
        N = len(values)
        one_each = np.ones(N, np.int8), values, np.arange(N + 1)
        return sparse.csr_array(one_each, shape=(N, most)).tocsc().indices.astype(np.intp)
    return namespace(values).argsort(values, stable=True)


def run_sums(values, start, longest=None):
    """Return the sum of each run, of numbers or of rows; in NumPy none may be empty.

    ``longest`` is the length of the longest run, where it is known and values are numbers: on a
    device short runs are then read entry by entry, which is many times as fast.
    """
    if isinstance(values, np.ndarray):
        return _reduced(np.add, values, start)
    xp = namespace(values)
    if longest is not None and longest <= SHORT:
        return _by_places(xp.add, values, start, longest, 0)
    return xp.segment_reduce(values, "sum", offsets=start, axis=0, unsafe=True)


def run_largest(values, start, longest=None):
    """Return the largest value of each run; in NumPy none may be empty."""
    if isinstance(values, np.ndarray):
        return _reduced(np.maximum, values, start)
    xp = namespace(values)
    if longest is not None and longest <= SHORT:
        return _by_places(xp.maximum, values, start, longest, -xp.inf)
    return xp.segment_reduce(values, "max", offsets=start, unsafe=True)


def first_of_runs(chosen, start, run, longest=None):
    """Return the first entry of each run that is chosen; ``run`` is that of each entry.

    Every run has one.
    """
    if isinstance(chosen, np.ndarray):
        at = np.flatnonzero(chosen)
        return at[np.diff(run[at], prepend=-1) > 0]
    xp = namespace(chosen)
    at = xp.where(chosen, counting(len(chosen), chosen), len(chosen))
    if longest is not None and longest <= SHORT:
        return _by_places(xp.minimum, at, start, longest, len(chosen))
    return xp.segment_reduce(double(at), "min", offsets=start, unsafe=True).long()


def _by_places(combine, values, start, longest, nothing):
    """Return the first entries of runs on a device, combined with their second, third, ... ones."""
    xp, begin, end = namespace(values), start[:-1], start[1:]
    found = zeros(len(begin), values) + nothing
    for place in range(longest):
        at = begin + place
        own = values[xp.clip(at, None, len(values) - 1)]
        found = combine(found, xp.where(at < end, own, nothing))
    return found


def _reduced(combine: np.ufunc, values, start):
    return combine.reduceat(values, start[:-1]) if len(values) else np.zeros(0, values.dtype)
