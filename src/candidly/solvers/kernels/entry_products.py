"""Products of soft labels over candidate entries with rows of features, without a c x N matrix.

Rows may be float32: sums are in float64, in the order of instances, however they are found. Rows
are read in that order where the sums fit the cache, four times as fast as class by class. On a
device the sums of classes are a sparse product, in runs of at most ``RUN`` entries whose sums are
then added in float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod

import numpy as np
from scipy import sparse

from candidly.solvers.arrays import cast, counting, double, namespace, row_products
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.kernels.compiling import kernel
from candidly.threads import loop_threads

FAST = {"reassoc", "contract", "nsz"}
"""What the compiler may change about the order of sums."""
PER_THREAD = 4_000_000
"""Multiplications from which on a thread is worth its start."""
IN_CACHE = 2_000_000
"""Numbers that NumPy gathers at a time."""
SUMS_IN_CACHE = 2_000_000
"""Numbers of sums up to which they stay in the cache while rows are read one after another."""
FEW_THREADS = 4
"""Threads up to which one that reads rows in their order is faster than all, class by class."""
AT_ONCE = 64_000_000
"""Numbers that PyTorch gathers at a time."""
RUN = 64
"""Rows that are added in their own precision on a device; one class may have very many."""


def class_sums(sets: CandidateSets, y, Q):
    """Return the sum of rows of Q (N x k), weighted by values of entries (E,), of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers import CandidateSets
    >>> from candidly.solvers.kernels.entry_products import class_sums
    >>> sets = CandidateSets.of_mask(np.array([[True, True], [False, True]]))
    >>> class_sums(sets, np.array([1.0, 0.5, 0.5]), np.array([[1.0], [4.0]]))
    array([[3.],
           [2.]])
    """
    if not isinstance(Q, np.ndarray):
        return _class_sums_there(sets, y, Q)
    B = np.zeros((sets.n_classes, Q.shape[1]))
    if not by_classes(B.shape):
        _add_rows(sets.start, sets.classes, y, Q, B)
        return B
    start, instance, value = sets.class_start, sets.instance_by_class, y[sets.by_class]
    _in_pieces(start, Q.shape[1], lambda a, b: _sum_rows(start, instance, value, Q, B, a, b))
    return B


def by_classes(shape: tuple[int, int]) -> bool:
    """Return whether sums of this shape are found class by class, which needs entries sorted."""
    return prod(shape) > SUMS_IN_CACHE or loop_threads() > FEW_THREADS


def entry_products(sets: CandidateSets, B, Q):
    """Return B_i . Q_j for each entry (E,) of a class i and an instance j.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers import CandidateSets
    >>> from candidly.solvers.kernels.entry_products import entry_products
    >>> sets = CandidateSets.of_mask(np.array([[True, True], [False, True]]))
    >>> entry_products(sets, np.array([[1.0], [10.0]]), np.array([[1.0], [4.0]]))
    array([ 1.,  4., 40.])
    """
    if not isinstance(Q, np.ndarray):
        return _entry_products_there(sets, B, Q)
    H = np.empty(len(sets))
    start, classes = sets.start, sets.classes
    _in_pieces(start, B.shape[1], lambda a, b: _multiply_rows(start, classes, B, Q, H, a, b))
    return H


def _in_pieces(start, k, run: Callable[[int, int], None]) -> None:
    """Run over rows of a CSR structure in threads, which have equally many entries each."""
    threads = int(max(1, min(loop_threads(), start[-1] * k // PER_THREAD)))
    cut = np.searchsorted(start, np.linspace(0, start[-1], threads + 1)[1:-1])
    ends = [0, *cut.tolist(), len(start) - 1]
    if threads == 1:
        run(0, len(start) - 1)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, ends[:-1], ends[1:]))


def _add_rows_loops(start, classes, value, Q, B):
    k = Q.shape[1]
    for j in range(len(start) - 1):
        for e in range(start[j], start[j + 1]):
            y = value[e]
            if y != 0:
                i = classes[e]
                for a in range(k):
                    B[i, a] += y * Q[j, a]


@kernel(_add_rows_loops, nogil=True, fastmath=FAST)
def _add_rows(start, classes, value, Q, B):
    """Add rows of Q to B, one instance after another."""
    B[:] = sparse.csr_array((value, classes, start), (len(start) - 1, len(B))).T @ Q


def _sum_rows_loops(start, instance, value, Q, B, first, last):
    k = Q.shape[1]
    for i in range(first, last):
        for e in range(start[i], start[i + 1]):
            y = value[e]
            if y != 0:
                j = instance[e]
                for a in range(k):
                    B[i, a] += y * Q[j, a]


@kernel(_sum_rows_loops, nogil=True, fastmath=FAST)
def _sum_rows(start, instance, value, Q, B, first, last):
    """Add rows of Q to B, those of the classes from ``first`` to ``last``."""
    part = slice(start[first], start[last])
    shape = last - first, len(Q)
    weights = sparse.csr_array(
        (value[part], instance[part], start[first : last + 1] - start[first]), shape
    )
    B[first:last] = weights @ Q


def _multiply_rows_loops(start, classes, B, Q, H, first, last):
    k = B.shape[1]
    for j in range(first, last):
        for e in range(start[j], start[j + 1]):
            i = classes[e]
            total = 0.0
            for a in range(k):
                total += B[i, a] * Q[j, a]
            H[e] = total


@kernel(_multiply_rows_loops, nogil=True, fastmath=FAST)
def _multiply_rows(start, classes, B, Q, H, first, last):
    """Write products of rows of B and Q to H, those of the instances from ``first`` to ``last``."""
    step = max(1, IN_CACHE // max(1, B.shape[1]))
    instance = np.repeat(np.arange(first, last), np.diff(start[first : last + 1]))
    for at in range(start[first], start[last], step):
        part = slice(at, min(at + step, start[last]))
        rows = Q[instance[at - start[first] : part.stop - start[first]]]
        H[part] = np.einsum("ek,ek->e", B[classes[part]], rows)


def _class_sums_there(sets: CandidateSets, y, Q):
    """Return the same by two sparse products: of the rows of a run, and of the runs of a class."""
    begin, first = sets.class_runs(RUN)
    of_runs = _sparse(begin, sets.instance[sets.by_class], cast(y[sets.by_class], Q), len(Q)) @ Q
    runs = double(of_runs)
    ones = namespace(Q).ones_like(runs[:, 0])
    return _sparse(first, counting(len(runs), runs), ones, len(runs)) @ runs


def _entry_products_there(sets: CandidateSets, B, Q):
    """Return the same in pieces, each by a few calls that do not wait for the device."""
    xp, rows = namespace(Q), cast(B, Q)
    step = max(1, AT_ONCE // max(1, Q.shape[1]))
    parts = [slice(at, at + step) for at in range(0, len(sets), step)]
    found = [row_products(rows[sets.classes[part]], Q[sets.instance[part]]) for part in parts]
    return xp.concatenate(found) if found else double(Q[:0, :1])[:, 0]


def _sparse(start, column, value, width):
    """Return a sparse matrix in CSR form, one row per run."""
    xp = namespace(value)
    _tell_once(xp)
    size = len(start) - 1, width
    return xp.sparse_csr_tensor(start, column, value, size, check_invariants=False)


@cache
def _tell_once(xp) -> None:
    """Let PyTorch say once in a process, to nobody, that sparse matrices are new."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xp.sparse_csr_tensor([0, 0], [], xp.zeros(0), (1, 1), check_invariants=False)
