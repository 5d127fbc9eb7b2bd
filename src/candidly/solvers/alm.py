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
iteration is the Gram matrix, its eigenvectors and one product (``low_rank``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import full_precision, here, like, namespace, numbers, row_by_row
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import Constraint
from candidly.solvers.kernels.sweep import denoise, multiply
from candidly.solvers.label_rows import LabelRows
from candidly.solvers.low_rank import singular_value_threshold, singular_values
from candidly.solvers.prox import soft_threshold
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
            state = problem.start(self.start)
            trace, status = Trace(), Status.MAX_ITER
            for _ in range(self.max_iter):
                state, step = problem.step(state)
                trace.steps.append(step)
                if callback is not None:
                    callback(step)
                if step.residual <= self.tol and step.gap <= self.tol:
                    status = Status.CONVERGED
                    break
                if step.mu == problem.mu_max and len(trace) > 10 and not trace.labels_changed:
                    status = Status.STALLED
                    break
            return problem.solution(state, status, trace)

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


@dataclass
class State:
    """State that one iteration passes to the next."""

    H: NDArray[np.floating]  # [Y; Z], weighted, Y projected
    L: NDArray[np.floating]
    mu: float
    scores: NDArray[np.floating] | None = None  # Y before its projection, unweighted
    chosen: NDArray[np.intp] | None = None
    rank: int | None = None


class CompletionProblem:
    """One weighted problem: how to start, one iteration, and what to read off at the end."""

    def __init__(self, H_obs, w, labels, lam, gamma, rho):
        self.c = c = labels.sets.n_classes
        self.xp = namespace(H_obs)
        self.w, self.labels = w, labels
        self.lam, self.gamma, self.rho = lam, gamma, rho
        self.norm = float(self.xp.linalg.norm(H_obs))
        self.sigma = singular_values(H_obs).tolist()  # floats, which leave float32 as it is
        self.mu_max = MU_MAX / min(self.sigma[-1], float(self.xp.linalg.norm(H_obs[:c])))
        self._observed: Any = H_obs
        self.A = self.xp.empty_like(H_obs)  # overwritten by every iteration

    @property
    def P(self):
        """Soft labels given, weighted."""
        return self._observed[: self.c]

    @property
    def X(self):
        """Features, weighted."""
        return self._observed[self.c :]

    def start(self, start) -> State:
        """Return the initial state: Y = Z = 0, L = H_obs/sigma_1 and mu_0 (line 2)."""
        largest = self.sigma[-1]
        L = self._observed / largest
        return State(self.xp.zeros_like(L), L, self._mu(start))

    def _mu(self, start):
        """Return mu_0, which the paper leaves out; labels freeze as mu grows, so it matters."""
        largest = self.sigma[-1]
        if start == "rpca":
            return 1.25 / largest
        if start == "rank":
            rank = min(self.c, len(self.X), len(self.sigma))  # beyond m only labels are left
            return 1 / max(self.sigma[-rank], 1e-3 * largest)
        return 1 / (float(start) * largest)

    def step(self, state) -> tuple[State, Step]:
        """Return the next state (lines 4-16); the arrays of ``state`` are overwritten."""
        xp, c, labels, A, L, mu = self.xp, self.c, self.labels, self.A, state.L, state.mu
        penalty = self._denoise(A, state)  # lines 4-5
        H, shrunk = singular_value_threshold(A, 1 / mu, state.H, state.rank)  # lines 6-7
        change = multiply(L, A, H, mu)  # line 8
        scores = labels.read(H[:c])
        y = labels.project(scores)  # lines 13-16
        Y = labels.rows(y)
        gap = xp.linalg.norm(Y - H[:c]) / xp.linalg.norm(Y)
        H[:c] = Y
        chosen = labels.best(y)
        changed = len(chosen) if state.chosen is None else (chosen != state.chosen).sum()
        found = (change, gap, (shrunk > 0).sum(), shrunk.sum(), penalty, changed)
        change, gap, rank, nuclear, penalty, changed = numbers(*found)
        after = State(H, L, min(self.rho * mu, self.mu_max), scores, chosen, int(rank))  # line 9
        return after, Step(
            residual=math.sqrt(change) / (mu * self.norm),
            gap=gap,
            rank=int(rank),
            mu=float(mu),
            objective=nuclear + penalty,
            changed=int(changed),
        )

    def _denoise(self, A, state):
        """Set A = H_obs - E + L/mu (lines 4-5); return lam*|E_X|_1 + gamma*|P - E_P|_1."""
        c, H, L, mu = self.c, state.H, state.L, state.mu
        labels = denoise(A[:c], H[:c], L[:c], self._nothing, mu, self.gamma / mu)
        features = denoise(A[c:], H[c:], L[c:], self.X, mu, self.lam / mu)
        return self.gamma * labels + self.lam * features

    @cached_property
    def _nothing(self):
        """What is observed of labels where P cancels."""
        return self.xp.zeros_like(self.P)

    def solution(self, state, status, trace) -> Solution:
        """Return the solution, with the weights divided out again."""
        c, mu = self.c, state.mu
        Z = state.H[c:]
        E_X = soft_threshold(self.X - Z + state.L[c:] / mu, self.lam / mu)
        E_P = self.P - soft_threshold(state.H[:c] - state.L[:c] / mu, self.gamma / mu)
        y = self.labels.project(state.scores)
        return Solution(
            here(y),
            here(state.scores),
            self.labels.sets,
            status,
            trace,
            here(Z / self.w),
            here(E_X / self.w),
            here(E_P / self.w),
            self.labels.violations(y),
        )
