"""Where open-set labelling starts: it ends in a solution near its start.

From names shared out equally, the mean of a name is that of everybody it was ever mentioned with;
with many people all their faces then look like nobody's, and stay so. Row-space completion among
the names needs no such means, and finds most of them. On faces, where many names are never shown,
halfway between the two does better. So both are solved, and the better explanation is kept.
"""

from __future__ import annotations

import numpy as np

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.kernels.entry_products import entry_products
from candidly.solvers.matchings import NEVER
from candidly.solvers.row_space import Basis, RowSpaceCompletion

LEAST = 1e-3
"""Completed label below which a name is as unlikely as can be."""

TIE = 1e-6
"""Weight of what features say where labels and priors are equal."""


def starts(X, entries: CandidateEntries, shown: float):
    """Return soft labels of entries to start from: completed and shared out, and completed.

    X (k x N) are the features.
    """
    completed = shown * _completed(X, entries)
    return [(completed + shared_out(entries, shown)) / 2, completed]


def shared_out(entries: CandidateEntries, shown: float):
    """Return the names of each group shared out equally among its instances."""
    R = np.zeros(len(entries))
    for batch in entries.batches:
        most = max(batch.entries.shape[1:])
        R[batch.entries[batch.entries >= 0]] = shown / most
    return R


def _completed(X, entries: CandidateEntries):
    """Return hard labels by row-space completion among the names, each once per group."""
    basis = Basis.of(X.T)
    solver = RowSpaceCompletion()
    f = basis.s**2 / (basis.s**2 + solver.ridge * basis.s[:1] ** 2)
    Vf = basis.V * f[:, None]
    leverage = np.einsum("kj,kj->j", basis.V, Vf)
    i, j = entries.name, entries.instance
    start = np.searchsorted(j, np.arange(entries.n_instances + 1))
    sets = CandidateSets(start, i, entries.n_names)
    Y = 1 / np.bincount(j, minlength=entries.n_instances)[j]
    for _ in range(solver.max_iter):
        H = entry_products(sets, np.asarray(entries.matrix(Y) @ basis.V.T), Vf.T.copy())
        H = (H - leverage[j] * Y) / np.maximum(1 - leverage[j], 1e-3)
        before, Y = Y, _onto_simplex(H, j)
        if np.abs(Y - before).max(initial=0) <= 1e-4:
            break
    # Names that are always together have equal labels: then priors decide who is who.
    # Those as unlikely as can be still differ in what features say, whatever their order.
    worth = np.log(np.maximum(Y, LEAST)) + entries.prior + TIE * np.tanh(H)
    chosen = entries.choose(worth, np.full(entries.n_instances, NEVER / 2))
    return (chosen[j] == i).astype(float)


def _onto_simplex(values, instance):
    """Return the entries of each instance projected onto the simplex; instances are sorted."""
    if not len(values):
        return values
    first = np.flatnonzero(np.diff(instance, prepend=-1))
    row = np.cumsum(np.diff(instance, prepend=-1) > 0) - 1
    table = np.full((len(first), int(np.bincount(row).max())), -np.inf)
    table[row, np.arange(len(values)) - first[row]] = values
    largest = -np.sort(-table, axis=1)
    over = np.cumsum(np.where(np.isfinite(largest), largest, 0), axis=1) - 1
    kept = (largest - over / np.arange(1, table.shape[1] + 1) > 0).sum(axis=1)
    threshold = over[np.arange(len(first)), kept - 1] / kept
    return np.maximum(values - threshold[row], 0)
