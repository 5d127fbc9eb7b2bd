"""Row-space completion: the paper's noise-free problem, solved directly (ours).

The paper starts from features without noise: minimise rank([Y; X]) with Y in the candidate
simplex. That rank is rank(X), its least, exactly when the rows of Y lie in the row space of
X. So instead of one SVD per iteration, alternate between the two sets::

    H   = (Y V^T * f) V             onto the row space, softened by a ridge
    H_j = (H_j - h_j Y_j)/(1 - h_j) each instance left out of its own prediction
    Y   = project(H)                onto the candidate simplex

with X = U S V, f = s^2/(s^2 + ridge*s_1^2) and the leverage h_j = sum_k f_k v_kj^2.

H is ridge regression of the labels on the features, for all instances at once; with a
kernel lift it is one step of label propagation along the kernel. It is what the augmented
Lagrangian method tends to when features carry no noise and labels no weight. There is no
intercept unless ``class_sizes`` asks for one: with X centred that takes the class sizes out,
as WMCar's weights do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from candidly.solvers.constraints import CandidateSimplex, Constraint
from candidly.solvers.dense_shim import DenseFeasibleSet as FeasibleSet
from candidly.solvers.dense_shim import DenseSolution as Solution
from candidly.solvers.solution import Status, Step, Trace

WEAK = 1e-3
"""Directions that are shrunk to less than this part of themselves are weak."""
LEAST_REST = 1e-3
"""Smallest 1 - h_j: an instance that determines its own prediction has no other evidence."""

Features = NDArray[np.floating]


class Lift(Protocol):
    """Map from features to features: ``fit`` on some rows, then ``transform`` any."""

    def fit(self, X: Features, weight: Features, rng: np.random.Generator) -> Self:
        """Learn the map from rows of X, whose weights sum to 1."""
        ...

    def transform(self, X: Features) -> Features:
        """Return the lifted rows of X."""
        ...


@dataclass
class LinearLift:
    """The identity."""

    def fit(self, X: Features, weight: Features, rng: np.random.Generator) -> Self:
        """Return the lift itself: there is nothing to learn."""
        return self

    def transform(self, X: Features) -> Features:
        """Return X itself."""
        return X


@dataclass
class RBFLift:
    """The Gaussian kernel exp(-|x - z|^2 / (width * mean |x - z|^2)), by landmarks.

    With as many landmarks as rows it is the kernel itself; with fewer, the Nyström
    approximation on rows drawn at random.

    Parameters
    ----------
    width : float
        Squared width, in multiples of the mean squared distance.
    landmarks : int
        Largest number of landmarks.
    """

    width: float = 2.0
    landmarks: int = 800

    def fit(self, X: Features, weight: Features, rng: np.random.Generator) -> Self:
        """Choose the landmarks, and whiten their kernel."""
        few = len(X) <= self.landmarks
        # Rows are sorted by a random projection first, so that their input order does not matter.
        order = np.argsort(X @ rng.normal(size=X.shape[1]), kind="stable")
        rows = order if few else order[np.sort(rng.permutation(len(X))[: self.landmarks])]
        self.points_ = X[rows]
        distance = _squared_distances(self.points_, self.points_)
        mean = 2 * float((weight @ (X - weight @ X) ** 2).sum())
        self.scale_ = self.width * mean if mean > 0 else 1.0
        size, basis = linalg.eigh(np.exp(-distance / self.scale_), check_finite=False)
        kept = size > 1e-10 * size[-1]
        self.whiten_ = basis[:, kept] / np.sqrt(size[kept])
        return self

    def transform(self, X: Features) -> Features:
        """Return coordinates whose inner products are the kernel, exactly on the landmarks."""
        distance = _squared_distances(X, self.points_)
        return np.exp(-distance / self.scale_) @ self.whiten_


def _squared_distances(A, B):
    return np.maximum((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * (A @ B.T), 0)


@dataclass(frozen=True)
class Basis:
    """The row space of features: right singular vectors and singular values.

    Parameters
    ----------
    V : (k, N) array
        Orthonormal rows.
    s : (k,) array
        Singular values, largest first.
    w : (N,) array
        Square roots of the instance weights, which V contains.
    """

    V: NDArray[np.floating]
    s: NDArray[np.floating]
    w: NDArray[np.floating]

    @classmethod
    def of(cls, features, weight=None) -> Basis:
        """Return the basis of features (N x m, centred here), by the smaller Gram matrix."""
        weight = np.ones(len(features)) if weight is None else np.asarray(weight, float)
        w = np.sqrt(weight / weight.mean())
        mean = (weight / weight.sum()) @ features
        A = ((features - mean) * w[:, None]).T
        wide = A.shape[0] <= A.shape[1]
        size, basis = linalg.eigh(A @ A.T if wide else A.T @ A, check_finite=False)
        kept = size > max(1e-12 * size[-1], 1e-300)
        s, basis = np.sqrt(size[kept])[::-1], basis[:, kept][:, ::-1]
        V = (basis / s).T @ A if wide else basis.T
        return cls(np.ascontiguousarray(V), s, w)

    def without_weak(self, ridge: float) -> Basis:
        """Return the basis without directions that the ridge all but removes, which cost time."""
        kept = self.s**2 > WEAK * ridge * self.s[:1] ** 2
        return Basis(self.V[kept], self.s[kept], self.w)


@dataclass(frozen=True)
class RowSpaceCompletion:
    """Settings of row-space completion; ``solve`` takes a basis and candidates.

    Parameters
    ----------
    ridge : float
        How soft the row space is, as a fraction of the largest squared singular value.
    class_sizes : bool
        Regress with an intercept, the share of each class so far: a large class is then more
        likely from the start.
    leave_one_out : bool
        Leave each instance out of its own prediction.
    max_iter : int
    tol : float
        Largest change of a soft label at which to stop.
    """

    ridge: float = 1e-3
    class_sizes: bool = False
    leave_one_out: bool = True
    max_iter: int = 30
    tol: float = 1e-6

    def solve(self, basis: Basis, P, mask, constraints: Sequence[Constraint] = ()) -> Solution:
        """Return soft labels, by alternating between the row space and the candidates.

        Parameters
        ----------
        basis : Basis
        P : (c, N) array
            Soft labels to start from, zero off the candidates.
        mask : (c, N) bool array
            Candidates.
        constraints : sequence of Constraint
            Further constraints on the labels.
        """
        feasible = FeasibleSet(mask, CandidateSimplex(P), constraints)
        smooth = self.smoother(basis, mask)
        Y, trace, status = P, Trace(), Status.DONE
        H = np.zeros_like(P)
        for _ in range(self.max_iter):
            H = smooth(Y)
            before, Y = Y, feasible.project(H)
            change = float(np.abs(Y - before).max(initial=0))
            trace.steps.append(self._step(basis, H, Y, before, change))
            if change <= self.tol:
                status = Status.CONVERGED
                break
        return Solution(Y, H, status, trace, violations=feasible.violations(Y))

    def smoother(self, basis: Basis, mask):
        """Return the map Y -> H; entries off the mask may be left at 0, where that is faster."""
        f = basis.s**2 / (basis.s**2 + self.ridge * basis.s[:1] ** 2)
        V, w = basis.V, basis.w
        Vf = V * f[:, None]
        leverage = np.einsum("kj,kj->j", V, Vf)
        rest = np.maximum(1 - leverage, LEAST_REST) if self.leave_one_out else np.ones(len(w))
        own = leverage if self.leave_one_out else np.zeros(len(w))
        dense = mask.size <= DENSE_LIMIT * np.count_nonzero(mask)
        i, j = np.nonzero(mask)
        share = w**2 / (w**2).sum()

        def smooth(Y):
            B = (Y * w) @ V.T
            if dense:
                H = B @ Vf
            else:
                H = np.zeros_like(Y)
                H[i, j] = entry_products(B, Vf, i, j)
            H = (H / w - own * Y) / rest
            return H + mask * (Y @ share)[:, None] if self.class_sizes else H

        return smooth

    def _step(self, basis, H, Y, before, change):
        """Return one iteration in the terms that all solvers report."""
        size = max(float(np.linalg.norm(Y)), 1e-300)
        return Step(
            residual=change,
            gap=float(np.linalg.norm(Y - H) / size),
            rank=len(basis.s),
            mu=float("nan"),
            objective=float(np.linalg.norm(Y - H) ** 2),
            changed=int((Y.argmax(axis=0) != before.argmax(axis=0)).sum()),
        )


DENSE_LIMIT = 20
"""Classes per candidate up to which a dense product beats computing candidate entries only."""


def regression_of_folds(basis: Basis, ridge, Y, fold):
    """Return the regression of Y (c x N) on a basis, each fold left out of its own prediction.

    With S the map of labels to predictions, those of a fold B without it are
    (I - S_BB)^-1 (S Y - S_BB Y)_B.
    """
    f = basis.s**2 / (basis.s**2 + ridge * basis.s[:1] ** 2)
    mean = (Y * basis.w**2).sum(axis=1, keepdims=True) / (basis.w**2).sum()
    centred = (Y - mean) * basis.w
    all_in = (centred @ basis.V.T) * f @ basis.V
    found = np.empty_like(Y)
    for k in np.unique(fold):
        B = np.flatnonzero(fold == k)
        S = (basis.V[:, B].T * f) @ basis.V[:, B]
        rest = all_in[:, B] - centred[:, B] @ S
        found[:, B] = linalg.solve(np.eye(len(B)) * (1 + 1e-9) - S, rest.T, assume_a="pos").T
    return found / basis.w + mean


def left_out_evidence(features, labels, mask):
    """Return the regression of soft labels on features (m x N), each instance left out.

    Soft labels saturate: two faces of one photo may both be surely one person. Where labels
    compete, this says which of them is the likelier one.
    """
    basis = Basis.of(features.T.astype(np.float64))
    evidence = RowSpaceCompletion().smoother(basis, mask)(labels.astype(np.float64))
    return np.where(mask, evidence, 0)


def entry_products(B, Vf, i, j):
    """Return (B @ Vf)[i, j], computed in pieces that fit the cache."""
    out = np.empty(len(i))
    rows, columns = np.ascontiguousarray(B), np.ascontiguousarray(Vf.T)
    piece = max(1, 2_000_000 // max(1, B.shape[1]))
    for start in range(0, len(i), piece):
        part = slice(start, start + piece)
        out[part] = np.einsum("ek,ek->e", rows[i[part]], columns[j[part]])
    return out
