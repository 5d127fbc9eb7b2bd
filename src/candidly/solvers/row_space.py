"""Row-space completion: the paper's noise-free problem, solved directly (ours).

The paper starts from features without noise: minimise rank([Y; X]) with Y in the candidate
simplex. That rank is rank(X), its least, exactly when the rows of Y lie in the row space of
X. So instead of one SVD per iteration, alternate between the two sets::

    H   = (Y V^T * f) V             onto the row space, softened by a ridge
    H_j = (H_j - h_j Y_j)/(1 - h_j) each instance left out of its own prediction
    Y   = project(H)                onto the candidate simplex

with X = U S V, f = s^2/(s^2 + ridge*s_1^2) and the leverage h_j = sum_k f_k v_kj^2.

Y are vectors over candidate entries: H is computed there alone, from one sum of rows per class.
With q_j = sqrt(f) v_j, the map from labels to H is S_ij = q_i q_j (:class:`RidgeRows`). An
iteration of some instances is ``row_space_shard``; the loop here goes over shards of them.

H is ridge regression of the labels on the features, for all instances at once; with a
kernel lift it is one step of label propagation along the kernel. It is what the augmented
Lagrangian method tends to when features carry no noise and labels no weight. There is no
intercept unless ``class_sizes`` asks for one: with X centred that takes the class sizes out,
as WMCar's weights do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from candidly.solvers.arrays import (
    cast,
    double,
    full_precision,
    here,
    like,
    namespace,
    row_by_row,
    row_products,
    solve_lower,
    zeros,
)
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import CandidateSimplex, Constraint, FeasibleSet
from candidly.solvers.kernels.entry_products import class_sums
from candidly.solvers.row_space_shard import ROUNDING, RidgeMap, RowSpaceShard
from candidly.solvers.shards import InMemory, Part, Shards
from candidly.solvers.solution import Solution, Status, Step, Trace

WEAK = 1e-3
"""Directions that are shrunk to less than this part of themselves are weak."""

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
        """Choose the landmarks, and factorise their kernel."""
        rows = self.order(X @ rng.normal(size=X.shape[1]), rng)
        mean = 2 * float((weight @ (X - weight @ X) ** 2).sum())
        return self.fit_points(X[rows], mean)

    def order(self, projected, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the rows that are landmarks, of rows projected onto a random direction."""
        # Rows are sorted by a random projection first, so that their input order does not matter.
        order = np.argsort(projected, kind="stable")
        few = len(order) <= self.landmarks
        return order if few else order[np.sort(rng.permutation(len(order))[: self.landmarks])]

    def fit_points(self, points: Features, mean: float) -> Self:
        """Learn the map from the landmarks and the mean squared distance of rows."""
        exact = points.astype(np.float64)
        K = _squared_distances(exact, exact)
        self.scale_ = self.width * mean if mean > 0 else 1.0
        K *= -1 / self.scale_
        # Landmarks whose kernel rounding of the features would fill with noise are left out.
        least = 1e-10 if points.dtype == np.float64 else 1e-6
        L, pivots, rank, _ = lapack.dpstrf(np.exp(K, out=K), tol=least, lower=1, overwrite_a=1)
        self.points_ = points[pivots[:rank] - 1]
        self.factor_ = np.tril(L[:rank, :rank]).astype(points.dtype)
        return self

    def transform(self, X: Features) -> Features:
        """Return coordinates whose inner products are the kernel, exactly on the landmarks."""
        xp = namespace(X)
        with full_precision(X):
            K = _squared_distances(X, like(self.points_, X))
            K *= -1 / self.scale_
            return solve_lower(like(self.factor_, K), xp.exp(K, out=K).T).T


def _squared_distances(A, B):
    D = A @ B.T
    D *= -2
    D += (A**2).sum(axis=1)[:, None]
    D += (B**2).sum(axis=1)
    return namespace(D).clip(D, 0, None, out=D)


@dataclass(frozen=True)
class Basis:
    """The row space of features: right singular vectors and singular values.

    V and w are where the features are, on a device or here; what is small is here.

    Parameters
    ----------
    V : (k, N) array
        Orthonormal rows; one column per instance, contiguous in memory.
    s : (k,) array
        Singular values, largest first.
    w : (N,) array
        Square roots of the instance weights, which V contains.
    mean : (m,) array
        Weighted mean of the features.
    into : (m, k) array
        Map of centred features to their columns of V, less the weight.
    """

    V: NDArray[np.floating]
    s: NDArray[np.float64]
    w: NDArray[np.float64]
    mean: NDArray[np.float64]
    into: NDArray[np.float64]

    @classmethod
    def of(cls, features, weight=None) -> Basis:
        """Return the basis of features (N x m, centred here), by the smaller Gram matrix.

        V has the precision of the features; the Gram matrix is summed in float64.
        """
        (N, m), xp = features.shape, namespace(features)
        weight = like(np.ones(N) if weight is None else weight, features, xp.float64)
        w, share = xp.sqrt(weight / weight.mean()), weight / weight.sum()
        parts = pieces(N, m, features)
        mean = sum(share[part] @ double(features[part]) for part in parts)
        far = N * float((mean**2).sum())
        if m <= N:
            gram = zeros((m, m), w)
            for part in parts:
                rows = (features[part] - mean) * w[part, None]
                gram += rows.T @ rows
            s, basis = _eigenvectors(gram, far)
        else:
            A = (features - mean) * w[:, None]
            s, basis = _eigenvectors(A @ A.T, far)
        if m > N:
            into = (A.T @ basis) / like(s, basis) ** 2
            return cls(row_by_row(basis).T, s, w, here(mean), here(into))
        into = basis / like(s, basis)
        U = zeros((N, len(s)), features)
        few, root, turn = (cast(each, features) for each in (mean, w, into))
        with full_precision(features):
            for part in parts:
                U[part] = ((features[part] - few) * root[part, None]) @ turn
        return cls(U.T, s, w, here(mean), here(into))

    def shrunk(self, ridge: float):
        """Return f, how much of each direction the ridge leaves."""
        return self.s**2 / (self.s**2 + ridge * self.s[:1] ** 2)


def least_size(size, far: float) -> float:
    """Return the largest eigenvalue of a Gram matrix, of these in order, that may be rounding.

    Features that do not vary, and are ``far`` from 0 by their sum of squares, have such alone.
    """
    rounding = (ROUNDING * np.finfo(np.float64).eps) ** 2 * (far + max(float(size.sum()), 0.0))
    return max(1e-12 * float(size[-1]), rounding, 1e-300)


def _eigenvectors(gram, far: float):
    """Return square roots of eigenvalues, the largest first and here, and their vectors."""
    xp = namespace(gram)
    size, basis = linalg.eigh(gram, check_finite=False) if xp is np else xp.linalg.eigh(gram)
    size = here(size)
    first = int((size <= least_size(size, far)).sum())
    return np.sqrt(size[first:])[::-1], xp.flip(basis[:, first:], (1,))


def pieces(N: int, m: int, A):
    """Return slices of rows of which a matrix of m columns fits the cache several times.

    On a device a call has to have more to do.
    """
    step = max(1, (PIECE if isinstance(A, np.ndarray) else PIECE_THERE) // max(m, 1))
    return [slice(start, min(start + step, N)) for start in range(0, N, step)]


PIECE = 4_000_000
"""Numbers that are worked on at a time, where features are turned into a basis."""
PIECE_THERE = 64_000_000
"""The same on a device."""


@dataclass(frozen=True)
class RidgeRows:
    """Rows q_j of which the inner products are ridge regression: labels Y predict S Y.

    Parameters
    ----------
    Q : (N, k) array
        Rows; those of instances that are left out predict, and are not learnt from.
    w : (N,) array
        Square roots of the instance weights.
    """

    Q: NDArray[np.floating]
    w: NDArray[np.float64]

    @classmethod
    def of(cls, basis: Basis, ridge: float, dtype=None) -> RidgeRows:
        """Return the rows of a basis, without directions that the ridge all but removes."""
        rank = int((basis.s**2 > WEAK * ridge * basis.s[:1] ** 2).sum())
        root = np.sqrt(basis.shrunk(ridge)[:rank]).astype(dtype or np.float64)
        return cls(basis.V[:rank].T * like(root, basis.V), basis.w)

    @cached_property
    def own(self):
        """The leverage h_j of each instance, its part in its own prediction."""
        return row_products(self.Q, self.Q)

    def of_instances(self, instances: NDArray[np.intp]) -> RidgeRows:
        """Return the rows of some instances."""
        at = like(instances, self.Q, namespace(self.Q).int64)
        return RidgeRows(self.Q[at], self.w[at])

    def sums(self, sets: CandidateSets, y):
        """Return the regression of soft labels (E,), one row per class."""
        sets, y = sets.beside(self.Q), like(y, self.w)
        return class_sums(sets, y * self.w[sets.instance], self.Q)

    def predict(self, B, instances: NDArray[np.intp]) -> NDArray[np.floating]:
        """Return what a regression predicts for instances, in all classes (c x n)."""
        rows = self.of_instances(instances)
        with full_precision(rows.Q):
            return here((cast(B, rows.Q) @ rows.Q.T) / rows.w)


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
    settled : int, optional
        Iterations without another best candidate of any instance after which to stop, too.
    """

    ridge: float = 1e-3
    class_sizes: bool = False
    leave_one_out: bool = True
    max_iter: int = 30
    tol: float = 1e-6
    settled: int | None = None

    def solve(
        self, basis: Basis, P, sets: CandidateSets, constraints: Sequence[Constraint] = ()
    ) -> Solution:
        """Return soft labels, by alternating between the row space and the candidates.

        Parameters
        ----------
        basis : Basis
            Of features of NumPy or PyTorch: the work is done where they are, and only constraints
            need labels as arrays of NumPy. What is returned is of NumPy.
        P : (E,) array
            Soft labels to start from, over the entries of the sets.
        sets : CandidateSets
        constraints : sequence of Constraint
            Further constraints on the labels.
        """
        return self.iterate(RidgeRows.of(basis, self.ridge), P, sets, constraints)

    def iterate(
        self, rows: RidgeRows, P, sets: CandidateSets, constraints: Sequence[Constraint] = ()
    ) -> Solution:
        """Return soft labels by rows of the ridge, which may be of fewer instances than a basis."""
        feasible = FeasibleSet(sets, CandidateSimplex(like(P, rows.w)), constraints)
        shard = self._shard(rows, P, sets, feasible.project)
        with full_precision(rows.Q):
            trace, status = self.run(InMemory(shard), rows.Q.shape[1])
        y, H = here(shard.y), here(shard.H)
        return Solution(y, H, sets, status, trace, violations=feasible.violations(y))

    def run(
        self, shards: Shards, rank: int, ridge: RidgeMap | None = None, begin: Sequence = ()
    ) -> tuple[Trace, Status]:
        """Iterate over shards (``row_space_shard``), which then have the labels, wherever they are.

        Parameters
        ----------
        shards : Shards
        rank : int
            Number of directions, for the trace.
        ridge : RidgeMap, optional
            How sums of features are the regression, where shards have no rows of the ridge.
        begin : sequence
            What shards need to begin.
        """
        trace = Trace()
        part = shards.each("begin", *begin)
        for it in range(self.max_iter):
            B, offset = part.sums["B"], None
            if ridge is not None:
                B, offset = ridge.regression(B, part.sums["mass"])
            last = it + 1 == self.max_iter
            part = shards.each("step", B, part.sums.get("sizes"), offset, last)
            trace.steps.append(_step(part, rank))
            if part.most["change"] <= self.tol:
                return trace, Status.CONVERGED
            if self.settled and not trace.changed_in(self.settled):
                break
        return trace, Status.DONE

    def smoother(self, rows: RidgeRows, sets: CandidateSets) -> Callable:
        """Return the map of soft labels (E,) to H, at the candidates."""
        shard = self._shard(rows, np.zeros(len(sets)), sets, None)

        def smooth(y):
            y = like(y, rows.w)
            with full_precision(rows.Q):
                sums = shard.sums(y)
                return here(shard.predict(y, sums["B"], sums.get("sizes")))

        return smooth

    def _shard(self, rows: RidgeRows, P, sets: CandidateSets, project) -> RowSpaceShard:
        """Return all instances as one shard."""
        return RowSpaceShard(
            rows.Q,
            sets,
            P,
            project,
            own=rows.own if self.leave_one_out else None,
            counts=rows.w,
            scale=rows.w,
            share=self.share(rows) if self.class_sizes else None,
        )

    def share(self, rows: RidgeRows):
        """Return the part of each instance in the sizes of classes."""
        return rows.w**2 / (rows.w**2).sum()


def _step(part: Part, rank: int) -> Step:
    """Return one iteration in the terms that all solvers report."""
    gap = part.sums["gap"]
    return Step(
        residual=float(part.most["change"]),
        gap=math.sqrt(gap) / max(math.sqrt(part.sums["norm"]), 1e-300),
        rank=rank,
        mu=float("nan"),
        objective=gap,
        changed=int(part.sums["changed"]),
    )


class LeftOutEvidence:
    """The regression of soft labels on features, each instance left out.

    Soft labels saturate: two faces of one photo may both be surely one person. Where labels
    compete, or the least likely is looked for, this says which of them is the likelier one.

    Parameters
    ----------
    features : (N, m) array
        Factorised when it is first asked for.
    """

    def __init__(self, features) -> None:
        self._features = features

    @cached_property
    def _rows(self) -> RidgeRows:
        return RidgeRows.of(Basis.of(double(self._features)), RowSpaceCompletion().ridge)

    def __call__(self, labels, sets: CandidateSets):
        """Return what is regressed at the candidates (E,), by soft labels (E,)."""
        return RowSpaceCompletion().smoother(self._rows, sets)(labels.astype(np.float64))
