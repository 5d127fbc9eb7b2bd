"""Features of instances with soft labels: sums over names, and Gram matrices.

The features are read once for each of these, in pieces; sums are in double precision whatever the
precision of the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import (
    ROWS,
    by_pieces,
    cast,
    double,
    like,
    namespace,
    row_by_row,
    zeros,
)
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.compiling import MANY
from candidly.solvers.kernels.entry_products import class_sums, entry_products
from candidly.solvers.two_covariances import Covariances

FOLDS = 5
"""Parts of the groups, each weighed by covariances estimated without it."""
SAME = 1e-10
"""Part of a quantity by which another may be larger, and is equal but for rounding."""

Values = NDArray[np.floating]


class LabelledFeatures:
    """Features and candidate entries of the same instances.

    Parameters
    ----------
    X : (N, k) array
        Centred features, in single or double precision, of NumPy or PyTorch.
    entries : CandidateEntries
        They are put beside the features; ``here`` are those of NumPy.
    """

    def __init__(self, X: Values, entries: CandidateEntries) -> None:
        self.X = row_by_row(X)
        self.here, self.entries = entries, entries.beside(self.X)
        self.sets = CandidateSets(self.entries.first, self.entries.name, entries.n_names)

    @cached_property
    def gram(self) -> Values:
        """Sum of x x^T over all instances."""
        return self.weighted_gram(namespace(self.X).ones_like(self.X[:, 0]))

    def weighted_gram(self, weight: Values) -> Values:
        """Return the sum of x x^T over instances, each with a weight."""
        xp = namespace(self.X)
        root = cast(xp.sqrt(weight), self.X)

        def of_piece(part: slice) -> Values:
            rows = self.X[part] * root[part, None]
            return double(rows.T @ rows)

        none = zeros((self.X.shape[1],) * 2, self.X, xp.float64)
        return sum(by_pieces(of_piece, self.X, ROWS), none)  # few: each has a matrix

    @property
    def _few(self) -> bool:
        """Whether there is too little to do to load compiled loops for it."""
        return isinstance(self.X, np.ndarray) and self.X.size < MANY

    def sums(self, values: Values) -> Values:
        """Return the sum of features over the entries of each name (c x k)."""
        if self._few:
            return np.asarray(self.entries.matrix(values) @ self.X)
        return class_sums(self.sets, values, self.X)

    def products(self, B: Values) -> Values:
        """Return the inner product of features and a row of B (c x k) for each entry."""
        if self._few:
            return np.einsum("ek,ek->e", B[self.entries.name], self.X[self.entries.instance])
        return entry_products(self.sets, B, self.X)

    def coordinates(self, covariances: Covariances, rows: Indices | None = None) -> Values:
        """Return features of instances in the basis of covariances."""
        xp, basis = namespace(self.X), like(covariances.basis, self.X)
        if xp is not np:
            return (self.X if rows is None else self.X[rows]) @ basis
        Z = np.empty((len(self.X) if rows is None else len(rows), basis.shape[1]), basis.dtype)

        def of_piece(part: slice) -> None:
            np.matmul(self.X[part] if rows is None else self.X[rows[part]], basis, out=Z[part])

        by_pieces(of_piece, Z)
        return Z

    def basis_rows(self, covariances: Covariances) -> BasisRows:
        """Return what has rows of ``coordinates`` by their numbers, and finds no others."""
        return BasisRows(self, covariances)


@dataclass(frozen=True)
class BasisRows:
    """Coordinates of instances by number, found when they are asked for."""

    features: LabelledFeatures
    covariances: Covariances

    def __getitem__(self, rows: Indices) -> Values:
        X = self.features.X
        at = like(rows, X, namespace(X).int64)
        return X[at] @ like(self.covariances.basis, X)


def folds_of(quantity: NDArray[np.float64]) -> NDArray[np.int8] | None:
    """Return the fold of each group, (n,), or None where groups, or different ones, are few.

    Groups in order of their quantity go to the folds in turn. Copies of a group go to one fold,
    where one does not tell of the other: rounding would decide which of them goes to which.

    Parameters
    ----------
    quantity : (n,) array
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers.labelled_features import folds_of
    >>> folds_of(np.array([1.0, 3, 2, 5, 4, 6, 7, 8, 10, 9, 7 + 1e-14]))
    array([0, 2, 1, 4, 3, 0, 1, 3, 0, 4, 1], dtype=int8)
    """
    n = len(quantity)
    order = np.argsort(quantity, kind="stable")
    ordered, place = quantity[order], np.arange(n)
    begins = np.diff(ordered, prepend=-1.0) > SAME * ordered
    if begins.sum() < 2 * FOLDS:
        return None
    run = np.cumsum(begins) - 1
    size, start = np.bincount(run)[run], np.maximum.accumulate(np.where(begins, place, 0))
    # Where each has five copies all would start at a multiple of five.
    turn = np.where(size % FOLDS, start, start // size)
    folds = np.empty(n, dtype=np.int8)
    folds[order] = turn % FOLDS
    return folds if len(np.unique(folds)) == FOLDS else None
