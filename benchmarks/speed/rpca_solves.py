"""Robust PCA against pyrpca and tensorly, on their problem: low rank plus sparse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.speed.floors import thresholding_floor
from benchmarks.speed.measuring import Figures, Timed, measurement, timed
from candidly.baselines.rpca import robust_pca
from candidly.solvers.arrays import Floats

RHO, TOL = 1.5, 1e-7  # the defaults of pyrpca


def low_rank_plus_sparse(m: int, N: int, rank: int) -> tuple[Floats, Floats]:
    """Return a matrix of a rank, and the same with 5% of its entries broken."""
    rng = np.random.default_rng(0)
    L = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, N)) / math.sqrt(rank)
    return L, L + (rng.random((m, N)) < 0.05) * rng.uniform(-10, 10, size=(m, N))


def others(D: Floats, lam: float, names: tuple[str, ...]) -> Iterator[tuple[str, Timed, Floats]]:
    """Yield seconds and low-rank parts of those that are installed."""
    if "pyrpca" in names and find_spec("pyrpca"):
        from pyrpca import rpca_pcp_ialm

        found = timed(lambda: rpca_pcp_ialm(D, lam, rho=RHO, tol=TOL, verbose=False))
        yield "pyrpca", found, found.answer[0]
    if "tensorly" in names and find_spec("tensorly"):
        from tensorly.decomposition import robust_pca as by_tensorly

        found = timed(lambda: by_tensorly(D, reg_E=lam, tol=TOL, n_iter_max=1000, verbose=False))
        yield "tensorly", found, found.answer[0]


def against_others(m: int, N: int, *names: str) -> Figures:
    """Time robust PCA by all, to the same residual, and compare the low-rank parts."""
    L, D = low_rank_plus_sparse(m, N, N // 20)
    lam = 1 / math.sqrt(max(D.shape))
    robust_pca(D[:50, :20], lam)  # compiles what is compiled
    ours = timed(lambda: robust_pca(D, lam, rho=RHO, tol=TOL), repeats=2)
    size = float(np.linalg.norm(L))
    seconds, differences = {}, {}
    for name, found, low in others(D, lam, names):
        seconds[name] = found.cpu
        differences[name] = float(np.linalg.norm(ours.answer.low_rank - low)) / size
    iterations = len(ours.answer.residuals)
    return Figures(
        ours.cpu,
        ours.wall,
        seconds,
        floor=thresholding_floor(D, [N // 20] * iterations),
        agreement=differences,
        details={
            "iterations": iterations,
            "residual": ours.answer.residuals[-1],
            "error": float(np.linalg.norm(ours.answer.low_rank - L)) / size,
        },
    )


@measurement("rpca-2500x500", "robust PCA, 2500 x 500, rank 5%", must=5, aim=10)
def _small(quick: bool) -> Figures:
    shape = (120, 60) if quick else (2500, 500)
    return against_others(*shape, "pyrpca", "tensorly")


@measurement("rpca-5416x1122", "robust PCA, 5416 x 1122, rank 5%", must=5, aim=10)
def _large(quick: bool) -> Figures:
    return against_others(*((120, 60) if quick else (5416, 1122)), "pyrpca")
