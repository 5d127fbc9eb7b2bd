"""Robust PCA against pyrpca and tensorly, on their problem: low rank plus sparse."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from benchmarks.speed.measuring import Figures, measurement, timed
from candidly.baselines.rpca import robust_pca
from candidly.solvers.arrays import Floats

TOL = 1e-7


def low_rank_plus_sparse(m: int, N: int, rank: int) -> tuple[Floats, Floats]:
    """Return a matrix of a rank, and the same with 5% of its entries broken."""
    rng = np.random.default_rng(0)
    L = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, N)) / math.sqrt(rank)
    return L, L + (rng.random((m, N)) < 0.05) * rng.uniform(-10, 10, size=(m, N))


def against_others(m: int, N: int, *, tensorly_too: bool) -> Figures:
    """Time robust PCA by all, to the same residual, and compare the low-rank parts."""
    from pyrpca import rpca_pcp_ialm

    L, D = low_rank_plus_sparse(m, N, N // 20)
    lam = 1 / math.sqrt(max(D.shape))
    robust_pca(D[:50, :20], lam)  # compiles what is compiled
    ours = timed(lambda: robust_pca(D, lam, rho=1.5, tol=TOL), repeats=2)
    theirs = timed(lambda: rpca_pcp_ialm(D, lam, rho=1.5, tol=TOL, verbose=False))
    answers: dict[str, tuple[float, Any]] = {"pyrpca": (theirs.cpu, theirs.answer[0])}
    if tensorly_too:
        from tensorly.decomposition import robust_pca as tensorly_pca

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own
            other = timed(lambda: tensorly_pca(D, reg_E=lam, tol=TOL, n_iter_max=1000))
        answers["tensorly"] = (other.cpu, other.answer[0])
    size = np.linalg.norm(L)
    return Figures(
        ours.cpu,
        ours.wall,
        {name: cpu for name, (cpu, _) in answers.items()},
        agreement={
            name: float(np.linalg.norm(ours.answer.low_rank - low) / size)
            for name, (_, low) in answers.items()
        },
        details={
            "iterations": len(ours.answer.residuals),
            "error": float(np.linalg.norm(ours.answer.low_rank - L) / size),
        },
    )


@measurement("rpca-2500x500", "robust PCA, 2500 x 500, rank 5%", must=5, aim=10)
def _small(quick: bool) -> Figures:
    return against_others(*((120, 60) if quick else (2500, 500)), tensorly_too=True)


@measurement("rpca-5416x1122", "robust PCA, 5416 x 1122, rank 5%", must=5, aim=10)
def _large(quick: bool) -> Figures:
    return against_others(*((120, 60) if quick else (5416, 1122)), tensorly_too=False)
