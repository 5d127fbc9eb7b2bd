"""Entries compared with the other instances of their name, the own group left out."""

from __future__ import annotations

import numpy as np

from candidly.solvers.arrays import cast, counting, like, namespace, row_products, zeros
from candidly.solvers.kernels.compiling import MANY, kernel, prange
from candidly.solvers.kernels.entry_products import FAST
from candidly.solvers.runs import run_of_each, run_starts, run_sums

PIECE = 20_000
"""Mentions that the NumPy twin handles at a time."""
PIECE_THERE = 50_000
"""Mentions that are handled at a time on a device."""


def _mention_squares_loops(Z, instance, name, order, first, which, values, count, total, between):
    k, kind = Z.shape[1], Z.dtype.type
    square, logdet, others = np.zeros((3, len(values)))
    for a in prange(len(which)):
        m = which[a]
        i = name[m]
        mean, precision = np.empty(k, Z.dtype), np.empty(k, Z.dtype)
        mean[:] = total[i]
        n = count[i]
        for p in range(first[m], first[m + 1]):
            e = order[p]
            n -= values[e]
            value, z = kind(values[e]), Z[instance[e]]
            for t in range(k):
                mean[t] -= value * z[t]
        n = max(n, 0.0)
        size, product = 0.0, 1.0
        for t in range(k):
            v = between[t] / (n * between[t] + 1)
            mean[t] *= kind(v)
            precision[t] = kind(1 / (1 + v))
            product *= 1 + v
            if t % 8 == 7:  # a logarithm for eight factors, which cannot overflow
                size += np.log(product)
                product = 1.0
        size += np.log(product)
        for p in range(first[m], first[m + 1]):
            e = order[p]
            z = Z[instance[e]]
            sum_ = kind(0)
            for t in range(k):
                off = z[t] - mean[t]
                sum_ += off * off * precision[t]
            square[e], logdet[e], others[e] = sum_, size, n
    return square, logdet, others


def _mention_squares_tensors(Z, instance, name, order, first, which, values, count, total, between):
    xp = namespace(Z)
    between = like(between, Z)
    square, logdet, others = zeros((3, len(values)), values)
    start = run_starts(first[which + 1] - first[which])
    pieces = range(0, len(which), PIECE_THERE)
    # Of all pieces in one copy.
    bounds = xp.concatenate([start[::PIECE_THERE][: len(pieces)], start[-1:]]).tolist()
    for at, begin, end in zip(pieces, bounds[:-1], bounds[1:], strict=True):
        part = which[at : at + PIECE_THERE]
        runs = start[at : at + len(part) + 1] - begin
        own = run_of_each(runs, end - begin)
        e = order[first[part][own] + counting(end - begin, own) - runs[own]]
        z, i, value = Z[instance[e]], name[part], values[e]
        n = xp.clip(count[i] - run_sums(value, runs), 0, None)
        rest = cast(total[i], Z) - run_sums(cast(value, Z)[:, None] * z, runs)
        v = between / (cast(n, Z)[:, None] * between + 1)
        off = z - (v * rest)[own]
        off *= off
        square[e] = row_products(off, (1 / (1 + v))[own])
        logdet[e], others[e] = xp.log1p(v).sum(axis=1, dtype=xp.float64)[own], n[own]
    return square, logdet, others


@kernel(
    _mention_squares_loops,
    least=MANY // 10,
    tensors=_mention_squares_tensors,
    parallel=True,
    fastmath=FAST,
)
def mention_squares(Z, instance, name, order, first, which, values, count, total, between):
    """Return squared distances of entries from their names, and the number of others of these.

    An entry is compared with the instances of its name outside of its mention. All are arrays over
    entries, 0 where their mention is not asked for; between the two is the logarithm of the
    determinant of the covariance.

    Parameters
    ----------
    Z : (N, k) array
        Features in the basis of two covariances.
    instance : (E,) array of int
        Instance of each entry.
    name : (M,) array of int
        Name of each mention.
    order, first : arrays of int
        Entries sorted by mention, and where those of each mention begin.
    which : array of int
        Mentions asked for.
    values : (E,) array
        How much each entry counts for its name.
    count, total : (c,) and (c, k) arrays
        Sums of these values and of the features over each name.
    between : (k,) array
        Variance between people.
    """
    square, logdet, others = np.zeros((3, len(values)))
    for start in range(0, len(which), PIECE):
        part = which[start : start + PIECE]
        size = first[part + 1] - first[part]
        begin = np.cumsum(size) - size
        own = np.repeat(np.arange(len(part)), size)
        e = order[first[part][own] + np.arange(len(own)) - begin[own]]
        z, i = Z[instance[e]], name[part]
        n = np.maximum(count[i] - np.add.reduceat(values[e], begin), 0)
        rest = total[i] - np.add.reduceat(values[e][:, None] * z, begin, axis=0)
        v = between / (n[:, None] * between + 1)
        off = z - (v * rest)[own]
        off *= off
        square[e] = np.einsum("ek,ek->e", off, (1 / (1 + v))[own])
        logdet[e], others[e] = np.log1p(v).sum(axis=1)[own], n[own]
    return square, logdet, others
