"""Ridge regression of labels on features by their Gram matrix, for several ridges and hidden rows.

With A the features, centred and weighted, labels Y predict Y A (A^T A + r I)^-1 A^T, where the
ridge r is a part of the largest eigenvalue of A^T A. A Cholesky factor L of the matrix inside makes
it inner products of the rows of A L^-T (:class:`RidgeRows`). Instances are left out by taking their
part from A^T A. That is ten times as fast as the eigenvectors of :class:`Basis`, which are only
needed where directions themselves are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import eigsh

from candidly.solvers.arrays import (
    Floats,
    double,
    full_precision,
    here,
    like,
    namespace,
    row_by_row,
    solve_lower,
    zeros,
)
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.kernels.entry_products import class_sums
from candidly.solvers.row_space import Basis, RidgeRows, least_size, pieces

LEAST_RIDGE = 1e-12
"""Smallest ridge: rounding leaves less of weak directions."""
FEW = 32
"""Directions up to which all eigenvalues are found at once."""


@dataclass(frozen=True)
class RidgeGram:
    """Features of which ridge regressions are made, with what these share.

    Parameters
    ----------
    A : (N, k) array
        Features, centred, times the square root of the weight; on a device if they were there.
    gram : (k, k) array
        A^T A, summed in float64.
    top : float
        Its largest eigenvalue.
    w : (N,) array
        Square roots of the instance weights.
    mean : (m,) array
        Weighted mean of the features.
    turn : (m, k) array or None
        Map of centred features to rows of A, less the weight; None where it is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.solvers.ridge_gram import RidgeGram
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> rows = RidgeGram.of(X).rows(0.1)
    >>> A = X - X.mean(axis=0)
    >>> r = 0.1 * np.linalg.eigvalsh(A.T @ A)[-1]
    >>> bool(np.allclose(rows.Q @ rows.Q.T, A @ np.linalg.solve(A.T @ A + r * np.eye(3), A.T)))
    True
    """

    A: NDArray[np.floating]
    gram: NDArray[np.float64]
    top: float
    w: NDArray[np.float64]
    mean: NDArray[np.float64]
    turn: NDArray[np.float64] | None = None
    _leverage: dict[float, NDArray[np.float64]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, features: Floats, weight: Floats | None = None) -> RidgeGram:
        """Return the Gram matrix of features (N x m, centred here), in their precision."""
        (N, m), xp = features.shape, namespace(features)
        if m > N:
            basis = Basis.of(features, weight)
            A, turn = basis.V.T * like(basis.s, basis.V), basis.into * basis.s
            return cls(A, np.diag(basis.s**2), _top(basis.s**2), basis.w, basis.mean, turn)
        weight = like(np.ones(N) if weight is None else weight, features, xp.float64)
        w, share, parts = (
            xp.sqrt(weight / weight.mean()),
            weight / weight.sum(),
            pieces(N, m, features),
        )
        mean = sum(share[part] @ double(features[part]) for part in parts)
        A, gram = xp.empty_like(features), zeros((m, m), w)
        with full_precision(features):
            for part in parts:
                rows = (features[part] - mean) * w[part, None]
                gram += rows.T @ rows
                A[part] = rows
        gram, far = here(gram), N * float((mean**2).sum())
        top = _largest_eigenvalue(gram)
        if top <= least_size(np.array([top]), far):  # features do not vary
            A, gram, top = zeros(A.shape, A), np.zeros_like(gram), 0.0
        return cls(A, gram, top, w, here(mean))

    def factor(
        self, ridge: float, hidden: NDArray[np.floating] | None = None
    ) -> NDArray[np.float64]:
        """Return L with L L^T = A^T A + r I, less what hidden rows of A add to that."""
        inside = self.gram.copy()
        inside.flat[:: len(inside) + 1] += max(ridge, LEAST_RIDGE) * self.top
        if hidden is not None:
            inside -= hidden.T @ hidden
        return np.asarray(linalg.cholesky(inside, lower=True, check_finite=False))

    def rows(
        self, ridge: float, dtype: Any = None, hidden: NDArray[np.intp] | None = None
    ) -> RidgeRows:
        """Return rows whose inner products are the regression on all instances but the hidden.

        Those of hidden instances predict, and are not to be learnt from.
        """
        A = self._single if dtype == np.float32 else self.A
        if self.top == 0:
            return RidgeRows(namespace(A).zeros_like(A), self.w)
        L = self.factor(ridge, None if hidden is None else here(A[hidden]))
        with full_precision(A):
            rows = RidgeRows(row_by_row(solve_lower(like(L, A), A.T).T), self.w)
        if hidden is None:
            self._leverage[ridge] = rows.own
        return rows

    @cached_property
    def _single(self) -> Any:
        return like(self.A, self.A, namespace(self.A).float32)

    def regress(self, ridge: float, label: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the regression of labels (N,), in the coordinates of A (k x c)."""
        AY = self._class_sums(label).T
        if self.top == 0:
            return np.zeros_like(AY)
        return np.asarray(linalg.cho_solve((self.factor(ridge), True), AY, check_finite=False))

    def _class_sums(self, label: NDArray[np.intp]) -> NDArray[np.floating]:
        """Return the weighted sum of rows of A over each class; not on a device."""
        if isinstance(self.A, np.ndarray):
            order = np.argsort(label, kind="stable")
            first = np.flatnonzero(np.diff(label[order], prepend=-1))
            return np.add.reduceat(self.A[order] * self.w[order, None], first, axis=0)
        sets = CandidateSets(np.arange(len(label) + 1), label, int(label.max()) + 1)
        return here(class_sums(sets.beside(self.A), self.w, self.A))

    def leverage(self, ridge: float) -> NDArray[np.float64]:
        """Return the part of each instance in its own prediction; it is kept."""
        return self._leverage[ridge] if ridge in self._leverage else self.rows(ridge).own

    def in_features(self, found: Floats) -> Floats:
        """Return a regression in the coordinates of the features (m x c)."""
        return found if self.turn is None else np.asarray(self.turn @ found)


def _largest_eigenvalue(gram: NDArray[np.float64]) -> float:
    if len(gram) <= FEW:
        return _top(linalg.eigvalsh(gram, check_finite=False))
    if not gram.any():
        return 0.0
    start = np.random.default_rng(0).normal(size=len(gram))
    return float(eigsh(gram, 1, v0=start, return_eigenvectors=False)[0])


def _top(sizes: NDArray[np.float64]) -> float:
    return float(max(sizes.max(initial=0), 0))


def regression_of_folds(gram: RidgeGram, ridge: float, Y: Floats, fold: NDArray[np.intp]) -> Floats:
    """Return the regression of Y (c x N), each fold left out of its own prediction.

    With S the map of labels to predictions, those of a fold B without it are
    (I - S_BB)^-1 (S Y - S_BB Y)_B.
    """
    rows = gram.rows(ridge, np.float32)
    mean = (Y * rows.w**2).sum(axis=1, keepdims=True) / (rows.w**2).sum()
    centred = (Y - mean) * rows.w
    all_in = (centred.astype(rows.Q.dtype) @ rows.Q) @ rows.Q.T
    found = np.empty_like(Y)
    for k in np.unique(fold):
        B = np.flatnonzero(fold == k)
        S = rows.Q[B] @ rows.Q[B].T
        rest = all_in[:, B] - centred[:, B] @ S
        found[:, B] = linalg.solve(np.eye(len(B)) * (1 + 1e-9) - S, rest.T, assume_a="pos").T
    return found / rows.w + mean
