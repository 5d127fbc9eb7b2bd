"""Soft labels of each instance by the predictions of the others, in one pass over entries."""

from __future__ import annotations

import numpy as np

from candidly.solvers.kernels.compiling import kernel


def _left_out_loops(H, y, before, start, classes, offset, own, P, rounding, least):
    gap, norm, change, changed = 0.0, 0.0, 0.0, 0
    for j in range(len(start) - 1):
        first, last = start[j], start[j + 1]
        rest = max(1 - own[j], least)
        total = 0.0
        for e in range(first, last):
            part = own[j] * before[e]
            value = H[e] - offset[classes[e]] - part
            if abs(value) <= rounding * part:
                value = 0.0
            H[e] = value / rest
            y[e] = max(H[e], 0.0)
            total += y[e]
        if total <= 0:
            mass = 0.0
            for e in range(first, last):
                mass += P[e] if len(P) else 1.0
            total = mass if mass > 0 else float(last - first)
            for e in range(first, last):
                y[e] = P[e] if len(P) and mass > 0 else 1.0
        again = 0.0
        for e in range(first, last):
            y[e] /= total
            again += y[e]
        best, best_before = first, first
        for e in range(first, last):
            y[e] /= again
            gap += (y[e] - H[e]) ** 2
            norm += y[e] ** 2
            change = max(change, abs(y[e] - before[e]))
            if y[e] > y[best]:
                best = e
            if before[e] > before[best_before]:
                best_before = e
        changed += best != best_before
    return gap, norm, changed, change


@kernel(_left_out_loops, nogil=True)
def left_out_labels(H, y, before, start, classes, offset, own, P, rounding, least):
    """Write predictions to H and soft labels to y; return how much these differ.

    Returned are |y - H|^2, |y|^2, the number of instances with another best candidate, and the
    largest change of a label.

    Parameters
    ----------
    H : (E,) array
        Products of the regression with the row of each entry; overwritten.
    y : (E,) array
        Written to.
    before : (E,) array
        Soft labels of the regression.
    start, classes : arrays of int
        Candidates, as in ``CandidateSets``; no instance is without.
    offset : (c,) array
        Subtracted from the predictions of each class.
    own : (N,) array
        Leverage of each instance.
    P : (E,) array
        Labels of instances for which nothing speaks; empty if these are equal.
    rounding, least : float
        Part of an instance up to which what is left is 0, and the smallest 1 - own.
    """
    sizes, first = np.diff(start), start[:-1]

    def spread(values):
        return np.repeat(values, sizes)

    part = spread(own) * before
    H -= offset[classes]
    H -= part
    H[np.abs(H) <= rounding * part] = 0
    H /= spread(np.maximum(1 - own, least))
    np.maximum(H, 0, out=y)
    nothing = spread(np.add.reduceat(y, first) <= 0) if len(y) else np.zeros(0, bool)
    if nothing.any():
        given = P if len(P) else np.ones(len(y))
        given = np.where(spread(np.add.reduceat(given, first) > 0), given, 1)
        y[nothing] = given[nothing]
    if len(y):
        y /= spread(np.add.reduceat(y, first))
        y /= spread(np.add.reduceat(y, first))
    best = [_first_largest(values, first, sizes) for values in (y, before)]
    change = np.abs(y - before).max(initial=0)
    return ((y - H) ** 2).sum(), (y**2).sum(), (best[0] != best[1]).sum(), change


def _first_largest(values, first, sizes):
    """Return the entry of largest value of each instance, of equal ones the first."""
    if not len(values):
        return np.zeros(0, np.intp)
    at = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, first), sizes))
    return at[np.searchsorted(at, first)]
