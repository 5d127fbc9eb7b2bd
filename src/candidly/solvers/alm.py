"""Algorithm 1: WMCar by the augmented Lagrangian method; MCar when the weights are 1.

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
    label rows:   A_P = Y - clip(Y - L_P/mu, gamma/mu)

P cancels: it enters only through L, the weights, mu_0 and columns without mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from candidly.solvers.constraints import CandidateSimplex
from candidly.solvers.low_rank import singular_value_threshold, singular_values
from candidly.solvers.prox import clip, soft_threshold
from candidly.solvers.solution import Solution, Status, Step, Trace

MU_MAX = 1e10  # of 1/sigma_1; the paper gives none, and beyond it nothing moves


@dataclass(frozen=True)
class ALM:
    """Settings of Algorithm 1; ``solve`` takes the arrays.

    Parameters
    ----------
    noise_weight, sparsity_weight : float
        lambda and gamma, as multiples of lambda_0 = 1/sqrt(max(c + m, N)).
    rho : float
        Growth of mu an iteration, over 1.
    start : {"rank", "rpca"} or float
        Where the singular value threshold 1/mu starts. "rank": at the min(c, m)-th
        singular value of H_obs, so that the first steps have about one direction a
        class. "rpca": at sigma_1/1.25, the usual start of robust PCA, with rank one. A
        number is the threshold as a fraction of sigma_1.
    projection : {"simple", "euclidean"}
        The paper's projection of the labels, or the nearest point.
    tol : float
        Bound on both stopping tests: |H_obs - H - E| / |H_obs| and |Y - H_Y| / |Y|.
    max_iter : int
    """

    noise_weight: float = 1.0
    sparsity_weight: float = 2.0
    rho: float = 1.2
    start: str | float = "rank"
    projection: str = "simple"
    tol: float = 1e-7
    max_iter: int = 500

    def solve(self, X, P, mask, w=None, callback: Callable[[Step], None] | None = None) -> Solution:
        """Complete [P; X] W.

        Parameters
        ----------
        X : (m, N) array
            Features, float32 or float64.
        P : (c, N) array
            Soft labels, zero off the candidates, columns summing to 1.
        mask : (c, N) bool array
            Candidates.
        w : (N,) array, optional
            Diagonal of W, positive; ones give MCar.
        callback : callable, optional
            Called with a ``Step`` after every iteration.
        """
        c, N = P.shape
        w = np.ones(N, dtype=X.dtype) if w is None else np.asarray(w, dtype=X.dtype)
        lambda_0 = 1 / np.sqrt(max(c + X.shape[0], N))
        lam, gamma = self.noise_weight * lambda_0, self.sparsity_weight * lambda_0
        simplex = CandidateSimplex(mask, P, self.projection == "euclidean")

        H_obs = np.vstack([P.astype(X.dtype), X]) * w
        X = H_obs[c:]
        norm = np.linalg.norm(H_obs)
        sigma = singular_values(H_obs)
        L = H_obs / sigma[-1]
        mu, mu_max = self._mu_start(sigma, c, len(X)), MU_MAX / sigma[-1]
        H = np.zeros_like(H_obs)  # H[:c] holds Y, projected; H[c:] holds Z
        trace, status = Trace(), Status.MAX_ITER
        chosen = None

        for _ in range(self.max_iter):
            A, penalty = _denoise(X, H, L, lam, gamma, mu)  # lines 4-5
            H, sigma = singular_value_threshold(A, 1 / mu)  # lines 6-7
            A -= H
            A *= mu
            L, L_old = A, L  # line 8
            L_old -= L
            residual = np.linalg.norm(L_old) / (mu * norm)
            step_mu, mu = mu, min(self.rho * mu, mu_max)  # line 9
            scores = H[:c] / w
            Y = simplex.project(scores)  # lines 13-16
            gap = np.linalg.norm((Y - scores) * w) / np.linalg.norm(Y * w)
            H[:c] = Y * w

            before, chosen = chosen, np.where(mask, Y, -1).argmax(axis=0)
            step = Step(
                residual=float(residual),
                gap=float(gap),
                rank=int(np.count_nonzero(sigma > 1 / step_mu)),
                mu=float(step_mu),
                objective=float(np.maximum(sigma - 1 / step_mu, 0).sum() + penalty),
                changed=N if before is None else int(np.count_nonzero(chosen != before)),
            )
            trace.steps.append(step)
            if callback is not None:
                callback(step)
            if residual <= self.tol and gap <= self.tol:
                status = Status.CONVERGED
                break

        Z = H[c:]
        E_X = soft_threshold(X - Z + L[c:] / mu, lam / mu)
        return Solution(Y, scores, Z / w, E_X / w, status, trace)

    def _mu_start(self, sigma, c, m):
        """mu_0, which the paper leaves out; labels freeze as mu grows, so it matters."""
        largest = sigma[-1]
        if self.start == "rpca":
            return 1.25 / largest
        if self.start == "rank":
            rank = min(c, m, len(sigma))
            return 1 / max(sigma[-rank], 1e-3 * largest)
        return 1 / (float(self.start) * largest)


def _denoise(X, H, L, lam, gamma, mu):
    """Lines 4-5: A = H_obs - E + L/mu, and lam*|E_X|_1 + gamma*|P - E_P|_1."""
    c = len(H) - len(X)
    A = L / mu
    T = A[c:]
    T += X
    T -= H[c:]
    noise = np.maximum(np.abs(T) - lam / mu, 0).sum(dtype=np.float64)
    np.clip(T, -lam / mu, lam / mu, out=T)
    T += H[c:]
    B = H[:c] - A[:c]
    clipped = clip(B, gamma / mu)
    A[:c] = H[:c] - clipped
    labels = np.abs(B - clipped).sum(dtype=np.float64)
    return A, lam * noise + gamma * labels
