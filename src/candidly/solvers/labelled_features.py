"""Features of instances with soft labels: sums over names, and Gram matrices.

The features are read once for each of these, in pieces; sums are in double precision whatever the
precision of the features.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.compiling import MANY
from candidly.solvers.kernels.entry_products import class_sums, entry_products
from candidly.solvers.two_covariances import Covariances
from candidly.threads import in_pieces

FOLDS = 5
"""Parts of the groups, each weighed by covariances estimated without it."""
PIECE = 8192
"""Rows of features that are multiplied at a time."""

Values = NDArray[np.floating]


class LabelledFeatures:
    """Features and candidate entries of the same instances.

    Parameters
    ----------
    X : (N, k) array
        Centred features, in single or double precision.
    entries : CandidateEntries
    """

    def __init__(self, X: Values, entries: CandidateEntries) -> None:
        self.X = np.ascontiguousarray(X)
        self.entries = entries
        self.sets = CandidateSets(entries.first, entries.name, entries.n_names)

    @cached_property
    def gram(self) -> Values:
        """Sum of x x^T over all instances."""
        return self.weighted_gram(np.ones(len(self.X)))

    def weighted_gram(self, weight: Values) -> Values:
        """Return the sum of x x^T over instances, each with a weight."""
        root = np.sqrt(weight).astype(self.X.dtype)

        def of_piece(part: slice) -> Values:
            rows = self.X[part] * root[part, None]
            return (rows.T @ rows).astype(float)

        return sum(in_pieces(of_piece, len(self.X), PIECE), np.zeros((self.X.shape[1],) * 2))

    def sums(self, values: Values) -> Values:
        """Return the sum of features over the entries of each name (c x k)."""
        if self.X.size < MANY:  # not worth loading compiled loops
            return np.asarray(self.entries.matrix(values) @ self.X)
        return class_sums(self.sets, values, self.X)

    def products(self, B: Values) -> Values:
        """Return the inner product of features and a row of B (c x k) for each entry."""
        if self.X.size < MANY:
            return np.einsum("ek,ek->e", B[self.entries.name], self.X[self.entries.instance])
        return entry_products(self.sets, B, self.X)

    def coordinates(self, covariances: Covariances, rows: Indices | None = None) -> Values:
        """Return features of instances in the basis of covariances."""
        basis = covariances.basis.astype(self.X.dtype)
        Z = np.empty((len(self.X) if rows is None else len(rows), basis.shape[1]), basis.dtype)

        def of_piece(part: slice) -> None:
            np.matmul(self.X[part] if rows is None else self.X[rows[part]], basis, out=Z[part])

        in_pieces(of_piece, len(Z), PIECE)
        return Z
