"""Instances compared with the names nearest to them, and which names these are."""

from __future__ import annotations

import numpy as np

from candidly.solvers.kernels.compiling import MANY, kernel
from candidly.solvers.kernels.entry_products import FAST, IN_CACHE

SINGLE, DOUBLE = 2.0**8 + 1, 2.0**21 + 1
"""By what values are split so that 16 of 24, or 32 of 53, binary digits are left (Veltkamp)."""


def shortened(values):
    """Return values rounded to the binary digits that are compared.

    Names that are only mentioned together are equally near but for rounding; so rounded, they are
    equal, and the first is kept.
    """
    split = values * values.dtype.type(SINGLE if values.itemsize == 4 else DOUBLE)
    return split - (split - values)


def _near_squares_loops(Z, near, mean, precision):
    N, L = near.shape
    k = Z.shape[1]
    found = np.empty((N, L), Z.dtype)
    for j in range(N):
        z = Z[j]
        for place in range(L):
            i = near[j, place]
            if i < 0:
                found[j, place] = np.inf
                continue
            m, q = mean[i], precision[i]
            sum_ = Z.dtype.type(0)
            for t in range(k):
                off = z[t] - m[t]
                sum_ += off * off * q[t]
            found[j, place] = sum_
    return found


@kernel(_near_squares_loops, least=MANY // 10, nogil=True, fastmath=FAST)
def near_squares(Z, near, mean, precision):
    """Return the squared distance of each row of Z (N x k) from the names near it (N x L).

    ``near`` (N x L) are rows of ``mean`` and ``precision`` (names x k), or -1 for none, whose
    distance is infinite.
    """
    found = np.empty(near.shape, Z.dtype)
    step = max(1, IN_CACHE // max(Z.shape[1] * near.shape[1], 1))
    for start in range(0, len(Z), step):
        part = slice(start, start + step)
        off = Z[part, None, :] - mean[near[part]]
        off *= off
        found[part] = np.einsum("jlk,jlk->jl", off, precision[near[part]])
    found[near < 0] = np.inf
    return found


def _keep_least_loops(values, rows, names, least, name, first, own):
    L, many = least.shape[1], len(names)
    factor = values.dtype.type(SINGLE if values.itemsize == 4 else DOUBLE)
    for r in range(len(rows)):
        j = rows[r]
        for start in range(0, many, 16):
            stop = min(start + 16, many)
            lowest = values[r, start]
            for q in range(start, stop):
                lowest = min(lowest, values[r, q])
            if not lowest < least[j, L - 1]:
                continue
            for q in range(start, stop):
                value = values[r, q]
                value = value * factor - (value * factor - value)  # shortened
                if not value < least[j, L - 1]:
                    continue
                candidate = False
                for e in range(first[j], first[j + 1]):
                    candidate = candidate or own[e] == names[q]
                if candidate:
                    continue
                place = L - 1
                while place > 0 and least[j, place - 1] > value:
                    least[j, place] = least[j, place - 1]
                    name[j, place] = name[j, place - 1]
                    place -= 1
                least[j, place] = value
                name[j, place] = names[q]


@kernel(_keep_least_loops, least=MANY // 10, nogil=True, fastmath={"nnan", "nsz"})
def keep_least(values, rows, names, least, name, first, own):
    """Overwrite the least values of some instances, and whose they are, where names have less.

    Candidates of an instance do not count.

    Parameters
    ----------
    values : (n, q) array
        Values of some instances and names.
    rows, names : (n,) and (q,) arrays of int
        These instances, and these names, sorted.
    least, name : (N, L) arrays
        The least values of each instance so far, sorted, and their names.
    first, own : (N + 1,) and (E,) arrays of int
        Where the candidates of each instance begin, and their names.
    """
    L, size = least.shape[1], first[rows + 1] - first[rows]
    row = np.repeat(np.arange(len(rows)), size)
    e = first[rows][row] + np.arange(len(row)) - (np.cumsum(size) - size)[row]
    values = shortened(values)
    column = np.minimum(np.searchsorted(names, own[e]), len(names) - 1)
    candidate = names[column] == own[e]
    values[row[candidate], column[candidate]] = np.inf
    both = np.hstack([least[rows], values])
    whose = np.hstack([name[rows], np.broadcast_to(names, values.shape)])
    if both.shape[1] > 4 * L:
        last = np.partition(both, L - 1, axis=1)[:, L - 1 : L]
        less, equal = both < last, both == last
        equal &= np.cumsum(equal, axis=1) <= L - less.sum(axis=1, keepdims=True)  # the first ones
        some = np.nonzero(less | equal)[1].reshape(-1, L)
        both, whose = (np.take_along_axis(one, some, axis=1) for one in (both, whose))
    order = np.argsort(both, axis=1, kind="stable")[:, :L]
    least[rows] = np.take_along_axis(both, order, axis=1)
    name[rows] = np.where(
        np.isfinite(least[rows]), np.take_along_axis(whose, order, axis=1), name[rows]
    )
