"""Where open-set labelling starts: it ends in a solution near its start.

From names shared out equally, the mean of a name is that of everybody it was ever mentioned with;
with many people all their faces then look like nobody's, and stay so. Row-space completion among
the names needs no such means, and finds most of them. On faces, where many names are never shown,
halfway between the two does better. So both are solved, and the better explanation is kept.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from candidly.solvers.entries import CandidateEntries
from candidly.solvers.kernels.entry_simplex import onto_simplex
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.matchings import NEVER
from candidly.solvers.row_space import RowSpaceCompletion
from candidly.solvers.row_space_shard import LEAST_REST
from candidly.threads import in_pieces

LEAST = 1e-3
"""Completed label below which a name is as unlikely as can be."""

PIECE = 8192
"""Rows of features that are multiplied at a time."""
TIE = 1e-6
"""Weight of what features say where labels and priors are equal."""


def starts(features: LabelledFeatures, shown: float):
    """Return soft labels of entries to start from: completed and shared out, and completed."""
    completed = shown * _completed(features)
    return [(completed + shared_out(features.entries, shown)) / 2, completed]


def shared_out(entries: CandidateEntries, shown: float):
    """Return the names of each group shared out equally among its instances."""
    R = np.zeros(len(entries))
    for batch in entries.batches:
        most = max(batch.entries.shape[1:])
        R[batch.entries[batch.entries >= 0]] = shown / most
    return R


def _completed(features: LabelledFeatures):
    """Return hard labels by row-space completion among the names, each once per group.

    With G the Gram matrix of the centred features, labels Y are predicted as Y X^T C X, where C =
    (G + ridge*s_1^2)^-1: all that is needed are the sums of every name, and products with them.
    """
    X, entries = features.X, features.entries
    solver = RowSpaceCompletion()
    i, j = entries.name, entries.instance
    mean = X.mean(axis=0, dtype=float)
    gram = features.gram - len(X) * np.outer(mean, mean)
    ridge = max(solver.ridge * float(linalg.eigvalsh(gram)[-1]), 1e-300)
    C = linalg.inv(gram + ridge * np.eye(len(gram)))
    leverage = _leverage(X, mean, C)[j]
    rest = np.maximum(1 - leverage, LEAST_REST)
    Y = 1 / np.bincount(j, minlength=entries.n_instances)[j]
    for _ in range(solver.max_iter):
        B = (features.sums(Y) - np.outer(entries.over_names(Y), mean)) @ C
        H = features.products(B) - (B @ mean)[i]
        H = (H - leverage * Y) / rest
        before, Y = Y, onto_simplex(H, entries.first)
        if np.abs(Y - before).max(initial=0) <= 1e-4:
            break
    # Names that are always together have equal labels: then priors decide who is who.
    # Those as unlikely as can be still differ in what features say, whatever their order.
    worth = np.log(np.maximum(Y, LEAST)) + entries.prior + TIE * np.tanh(H)
    chosen = entries.choose(worth, np.full(entries.n_instances, NEVER / 2))
    return (chosen[j] == i).astype(float)


def _leverage(X, mean, C):
    """Return how much each row of X determines its own prediction."""
    found = np.empty(len(X))

    def of_piece(part):
        rows = X[part] - mean
        found[part] = np.einsum("jk,jk->j", rows @ C, rows)

    in_pieces(of_piece, len(X), PIECE)
    return found
