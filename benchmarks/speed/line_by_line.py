"""Algorithm 1 as the paper writes it, with a full SVD and every array: what ratios are to.

Frozen: it shares nothing with the package, and does not change with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candidly.solvers.arrays import Floats, Mask


@dataclass(frozen=True)
class PaperSolve:
    """Labels and features of a solve, its iterations, and the rank of the last one."""

    labels: Floats
    features: Floats
    iterations: int
    rank: int


def shrink(A: Floats, tau: float) -> Floats:
    """Return A with absolute values smaller by tau, at least 0."""
    return np.sign(A) * np.maximum(np.abs(A) - tau, 0)


def algorithm_1(
    X: Floats,
    P: Floats,
    mask: Mask,
    w: Floats,
    *,
    lam: float,
    gamma: float,
    rho: float,
    mu: float,
    mu_max: float,
    tol: float,
    max_iter: int,
) -> PaperSolve:
    """Run Algorithm 1 until residual and label gap are at most tol."""
    c = len(P)
    Pbar, Xbar = P * w, X * w
    H_obs = np.vstack([Pbar, Xbar])
    Y, Z = np.zeros_like(Pbar), np.zeros_like(Xbar)
    L = H_obs / np.linalg.norm(H_obs, 2)
    iterations, rank, residual, gap = 0, 0, np.inf, np.inf
    while iterations < max_iter and max(residual, gap) > tol:
        iterations += 1
        E_P = Pbar - shrink(Y - L[:c] / mu, gamma / mu)  # line 4
        E_X = shrink(Xbar - Z + L[c:] / mu, lam / mu)  # line 5
        E = np.vstack([E_P, E_X])
        U, sigma, Vt = np.linalg.svd(H_obs - E + L / mu, full_matrices=False)  # line 6
        H = (U * np.maximum(sigma - 1 / mu, 0)) @ Vt  # line 7
        L = L + mu * (H_obs - H - E)  # line 8
        residual = float(np.linalg.norm(H_obs - H - E) / np.linalg.norm(H_obs))
        rank = int((sigma > 1 / mu).sum())
        mu = min(rho * mu, mu_max)  # line 9
        Y = np.where(mask, np.maximum(H[:c], 0), 0)  # lines 13-15
        empty = Y.sum(axis=0) <= 0
        Y[:, empty] = P[:, empty]
        Y = w * (Y / Y.sum(axis=0))  # line 16
        Z = H[c:]
        gap = float(np.linalg.norm(Y - H[:c]) / np.linalg.norm(Y))
    return PaperSolve(Y / w, Z / w, iterations, rank)
