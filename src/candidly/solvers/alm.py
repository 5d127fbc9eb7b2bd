"""Algorithm 1: WMCar by the augmented Lagrangian method; MCar when the weights are 1.

With constraints between instances it is Algorithm 3: the same loop, a longer projection.

One iteration of the paper, with H = [Y; Z] and E = [E_P; E_X]::

    E_P = P - S_(gamma/mu)[Y - L_P/mu]                      line 4
    E_X = S_(lam/mu)[X - Z + L_X/mu]                        line 5
    H   = singular_value_threshold(H_obs - E + L/mu, 1/mu)  lines 6-7
    L   = L + mu*(H_obs - H - E)                            line 8
    mu  = min(rho*mu, mu_max)                               line 9
    Y   = project(Y)                                        lines 13-16

The loop below never forms E. With A = H_obs - E + L/mu, line 8 is L = mu*(A - H), and
lines 4-5 become, by B - S_t[B] = clip(B, t)::

    feature rows: A_X = Z + clip(X - Z + L_X/mu, lam/mu)
    label rows:   A_P = Y + clip(0 - Y + L_P/mu, gamma/mu)

P cancels: it enters only through L, the weights, mu_0 and columns without mass. So both are one
pass over the arrays (``kernels/sweep.py``), line 8 with the residual is another, and the rest of an
iteration is the Gram matrix, its eigenvectors and one product (``low_rank``). What some columns do
in an iteration is ``alm_shard``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from candidly.solvers.alm_shard import AlmShard
from candidly.solvers.arrays import full_precision, here, like, namespace, numbers, row_by_row
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import Constraint
from candidly.solvers.label_rows import LabelRows
from candidly.solvers.low_rank import singular_value_threshold, singular_values, threshold_root
from candidly.solvers.prox import soft_threshold
from candidly.solvers.shards import Shards
from candidly.solvers.solution import Solution, Status, Step, Trace

MU_MAX = 1e10  # over the size of the labels; not in the paper, and beyond it nothing changes


@dataclass(frozen=True)
class ALM:
    """Settings of Algorithm 1; ``solve`` takes the arrays.

    Parameters
    ----------
    noise_weight, sparsity_weight : float
        lambda and gamma, as multiples of lambda_0 = 1/sqrt(max(c + m, N)).
    rho : float
        Growth of mu per iteration, over 1.
    start : {"rank", "rpca"} or float
        Where the singular value threshold 1/mu starts. "rank": at the min(c, m)-th
        singular value of H_obs, so that the first steps have about one direction
        per class. "rpca": at sigma_1/1.25, the usual start of robust PCA, with rank one. A
        number is the threshold as a fraction of sigma_1.
    projection : {"simple", "euclidean"}
        The paper's projection of the labels, or the nearest point.
    tol : float
        Bound on both stopping tests: |H_obs - H - E| / |H_obs| and |Y - H_Y| / |Y|.
    max_iter : int

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> sets = candidly.solvers.CandidateSets.of_mask(digits.candidates.mask.T)
    >>> X = (digits.X - digits.X.mean(axis=0)).T
    >>> solution = candidly.solvers.ALM(tol=1e-5).solve(X, sets.uniform(), sets)
    >>> solution.status.name, solution.matrix().shape
    ('CONVERGED', (10, 200))
    """

    noise_weight: float = 1.0
    sparsity_weight: float = 2.0
    rho: float = 1.2
    start: str | float = "rank"
    projection: str = "simple"
    tol: float = 1e-7
    max_iter: int = 500

    def solve(
        self,
        X,
        P,
        sets: CandidateSets,
        w=None,
        constraints: Sequence[Constraint] = (),
        callback: Callable[[Step], None] | None = None,
    ) -> Solution:
        """Complete [P; X] W.

        Parameters
        ----------
        X : (m, N) array
            Features, float32 or float64, of NumPy or PyTorch. The work is done where they are
            and in their precision, except for Gram matrix and eigenvectors, which are float64;
            only constraints need labels as arrays of NumPy. What is returned is of NumPy.
        P : (E,) array
            Soft labels of the candidates, those of an instance summing to 1.
        sets : CandidateSets
            Candidates.
        w : (N,) array, optional
            Diagonal of W, positive; ones give MCar.
        constraints : sequence of Constraint
            Further constraints on the labels (Algorithm 3), projected onto in this order.
        callback : callable, optional
            Called with a ``Step`` after every iteration.
        """
        with full_precision(X):
            problem = self.problem(X, P, sets, w, constraints)
            mu, trace, status = self._iterate(problem, callback)
            return problem.solution(mu, status, trace)

    def run(self, shards: Shards, c: int, m: int, N: int) -> tuple[Trace, Status]:
        """Iterate over shards (``alm_shard``), which then have labels and features."""
        _, trace, status = self._iterate(ProblemOnShards(shards, c, m, N, self.rho))
        return trace, status

    def _iterate(
        self,
        problem: CompletionProblem | ProblemOnShards,
        callback: Callable[[Step], None] | None = None,
    ) -> tuple[float, Trace, Status]:
        """Return the last mu, every iteration, and how it ended."""
        mu = problem.start(self.start)
        trace = Trace()
        for _ in range(self.max_iter):
            mu, step = problem.step(mu)
            trace.steps.append(step)
            if callback is not None:
                callback(step)
            if (ended := self._ended(trace, problem.scale.mu_max)) is not None:
                return mu, trace, ended
        return mu, trace, Status.MAX_ITER

    def _ended(self, trace: Trace, mu_max: float) -> Status | None:
        """Return how it ended after an iteration, or None if it goes on."""
        step = trace.steps[-1]
        if step.residual <= self.tol and step.gap <= self.tol:
            return Status.CONVERGED
        if step.mu == mu_max and len(trace) > 10 and not trace.labels_changed:
            return Status.STALLED
        return None

    def problem(self, X, P, sets, w=None, constraints=()) -> CompletionProblem:
        """Return the weighted arrays, and lambda and gamma for their size."""
        c, N = sets.shape
        w = like(np.ones(N) if w is None else w, X)
        lambda_0 = 1 / math.sqrt(max(c + len(X), N))
        return CompletionProblem(
            H_obs=row_by_row(namespace(X).vstack([_label_rows(P, sets, X), X]) * w),
            w=w,
            labels=LabelRows(P, sets, w, self.projection == "euclidean", constraints),
            lam=self.noise_weight * lambda_0,
            gamma=self.sparsity_weight * lambda_0,
            rho=self.rho,
        )


def _label_rows(P, sets: CandidateSets, X):
    """Return soft labels (E,) as label rows (c x N), made where the features are."""
    return sets.beside(X).matrix(like(P, X))


class CompletionProblem:
    """One weighted problem: how to start, one iteration, and what to read off at the end.

    Its columns are one shard; without a Gram matrix of the long side, it takes the shorter one.
    """

    def __init__(self, H_obs, w, labels, lam, gamma, rho):
        xp = namespace(H_obs)
        self.shard = AlmShard(H_obs, labels, lam, gamma)
        self.w, self.rho = w, rho
        c = self.shard.c
        sigma = singular_values(H_obs).tolist()  # floats, which leave float32 as it is
        norms = (float(xp.linalg.norm(H_obs)), float(xp.linalg.norm(H_obs[:c])))
        self.scale = Scale.of(sigma, *norms, c, len(H_obs) - c)
        self.rank = None

    def start(self, start) -> float:
        """Set Y = Z = 0, L = H_obs/sigma_1, and return mu_0 (line 2)."""
        self.shard.start(self.scale.sigma[-1])
        return self.scale.mu(start)

    def step(self, mu) -> tuple[float, Step]:
        """Run lines 4-16, and return the next mu."""
        shard = self.shard
        penalty = shard.denoise(mu)  # lines 4-5
        H, shrunk = singular_value_threshold(shard.A, 1 / mu, shard.H, self.rank)  # lines 6-7
        change, gap, norm, changed = shard.update(H, mu)
        found = (change, gap / norm, (shrunk > 0).sum(), shrunk.sum(), penalty, changed)
        change, gap, rank, nuclear, penalty, changed = numbers(*found)
        self.rank = int(rank)
        step = self.scale.step(mu, change, gap, self.rank, nuclear + penalty, changed)
        return min(self.rho * mu, self.scale.mu_max), step  # line 9

    def solution(self, mu, status, trace) -> Solution:
        """Return the solution, with the weights divided out again."""
        shard = self.shard
        c, labels = shard.c, shard.labels
        P, X, Z = shard.observed[:c], shard.observed[c:], shard.H[c:]
        E_X = soft_threshold(X - Z + shard.L[c:] / mu, shard.lam / mu)
        E_P = P - soft_threshold(shard.H[:c] - shard.L[:c] / mu, shard.gamma / mu)
        y = labels.project(shard.scores)
        return Solution(
            here(y),
            here(shard.scores),
            labels.sets,
            status,
            trace,
            here(Z / self.w),
            here(E_X / self.w),
            here(E_P / self.w),
            labels.violations(y),
        )


class ProblemOnShards:
    """The same with columns in many places: an iteration is one call.

    The Gram matrix of all columns comes back, and the square root of what is done to its singular
    vectors is broadcast.
    """

    def __init__(self, shards: Shards, c: int, m: int, N: int, rho: float) -> None:
        self.shards, self.rho = shards, rho
        seen = shards.each("observe").sums
        sigma2 = linalg.eigvalsh(seen["gram"], check_finite=False)
        sigma = np.sqrt(np.maximum(sigma2, 0))[-min(c + m, N) :].tolist()
        norms = math.sqrt(seen["norm"]), math.sqrt(seen["label_norm"])
        self.scale = Scale.of(sigma, *norms, c, m)
        self.rank: int | None = None

    def start(self, start) -> float:
        """Set Y = Z = 0, L = H_obs/sigma_1 and the first A, and return mu_0 (line 2)."""
        mu = self.scale.mu(start)
        self._next = self.shards.each("begin", self.scale.sigma[-1], mu).sums
        return mu

    def step(self, mu) -> tuple[float, Step]:
        """Run lines 4-16, and return the next mu."""
        gram, penalty = self._next["gram"], self._next["penalty"]
        root, shrunk, resolved = threshold_root(
            AllColumns(self.shards, mu), gram, 1 / mu, self.rank
        )
        self.rank = int((shrunk > 0).sum())
        after = min(self.rho * mu, self.scale.mu_max)  # line 9
        self._next = by = self.shards.each("step", root, resolved, mu, after).sums
        gap, objective = math.sqrt(by["gap"] / by["norm"]), float(shrunk.sum()) + penalty
        return after, self.scale.step(mu, by["change"], gap, self.rank, objective, by["changed"])


@dataclass(frozen=True)
class AllColumns:
    """Sums over A of all shards."""

    shards: Shards
    mu: float

    def gram_without(self, basis):
        """Return the Gram matrix of A without some directions."""
        return self.shards.each("gram_without", basis, self.mu).sums["gram"]

    def triangle(self):
        """Return rows whose QR factorisation has the R of A^T."""
        return self.shards.each("triangle", self.mu).rows["R"]


@dataclass(frozen=True)
class Scale:
    """How large a problem is: where mu starts and ends, and what residuals are relative to.

    Parameters
    ----------
    sigma : list of float
        Singular values of H_obs, smallest first.
    norm : float
        Norm of H_obs.
    mu_max : float
    rank : int
        Directions with which to start by "rank".
    """

    sigma: list[float]
    norm: float
    mu_max: float
    rank: int

    @classmethod
    def of(cls, sigma, norm: float, label_norm: float, c: int, m: int) -> Scale:
        """Return the scale of [P; X] W with c classes and m features."""
        rank = min(c, m, len(sigma))  # beyond m only labels are left
        return cls(sigma, norm, MU_MAX / min(sigma[-1], label_norm), rank)

    def mu(self, start) -> float:
        """Return mu_0, which the paper leaves out; labels freeze as mu grows, so it matters."""
        largest = self.sigma[-1]
        if start == "rpca":
            return 1.25 / largest
        if start == "rank":
            return 1 / max(self.sigma[-self.rank], 1e-3 * largest)
        return 1 / (float(start) * largest)

    def step(self, mu, change, gap, rank, objective, changed) -> Step:
        """Return an iteration as it is reported; ``change`` is the squared change of L."""
        residual = math.sqrt(change) / (mu * self.norm)
        return Step(residual, gap, rank, float(mu), objective, int(changed))
