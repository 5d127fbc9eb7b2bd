"""Where open-set labelling starts: it ends in a solution near its start.

From names shared out equally, the mean of a name is that of everybody it was ever mentioned with;
with many people all their faces then look like nobody's, and stay so. Row-space completion among
the names needs no such means, and finds most of them. On faces, where many names are never shown,
halfway between the two does better. So both are solved, and the better explanation is kept.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from candidly.solvers.arrays import like, namespace, zeros
from candidly.solvers.assignment import LABEL_DIGITS, SCORE_DIGITS
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.row_space import RowSpaceCompletion
from candidly.solvers.row_space_shard import RidgeMap
from candidly.solvers.shards import Shards

LEAST = 1e-3
"""Completed label below which a name is as unlikely as can be."""

CHANGE = 1e-4
"""Largest change of a label at which completion stops."""
TIE = 1e-6
"""Weight of what features say where labels and priors are equal."""


def shared_out(entries: CandidateEntries, shown: float):
    """Return the names of each group shared out equally among its instances."""
    R = zeros(len(entries), entries.prior)
    for batch in entries.batches:
        R[batch.listed[1]] = shown / max(batch.entries.shape[1:])
    return R


def ridge_of(total, gram, N: int) -> RidgeMap:
    """Return the regression on features with these sums: of x, and of x x^T."""
    solver = RowSpaceCompletion()
    mean = total / N
    gram = gram - N * np.outer(mean, mean)
    ridge = max(solver.ridge * float(linalg.eigvalsh(gram)[-1]), 1e-300)
    return RidgeMap(mean, linalg.inv(gram + ridge * np.eye(len(gram))))


def complete(shards: Shards, ridge: RidgeMap) -> None:
    """Find hard labels by row-space completion among the names, which the shards then have.

    With G the Gram matrix of the centred features, labels Y are predicted as Y X^T C X, where C =
    (G + ridge*s_1^2)^-1: all that is needed are the sums of every name, and products with them.
    """
    part = shards.each("complete_begin", ridge)
    for _ in range(RowSpaceCompletion().max_iter):
        B, offset = ridge.regression(part.sums["B"], part.sums["mass"])
        part = shards.each("complete_step", B, offset)
        if part.most["change"] <= CHANGE:
            break
    shards.each("complete_end")


def chosen_names(entries: CandidateEntries, Y, H):
    """Return hard labels (E,) by completed labels and scores, each name once per group."""
    # Names that are always together have equal labels but for rounding, which is left out: then
    # priors decide who is who. Those as unlikely as can be still differ in what features say,
    # whatever their order.
    xp = namespace(Y)
    found = xp.round(xp.log(xp.clip(Y, LEAST, None)), decimals=LABEL_DIGITS)
    worth = found + entries.prior + TIE * xp.round(xp.tanh(H), decimals=SCORE_DIGITS)
    chosen = entries.choose(worth, zeros(entries.n_instances, Y) + NEVER / 2)
    chosen = like(chosen, Y, xp.int64)
    return like(chosen[entries.instance] == entries.name, Y)
