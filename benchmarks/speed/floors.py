"""What this machine can do: floors that no solver gets below."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from scipy import linalg

from benchmarks.speed.measuring import ALL_CORES, Figures, Timed, measurement, timed
from candidly.solvers.arrays import Floats


def gemm(dtype: type, n: int) -> Timed:
    """Time a product of two matrices of n rows and columns."""
    A: Floats = np.random.default_rng(0).normal(size=(n, n)).astype(dtype)
    return timed(lambda: A @ A, least=0.5, repeats=3)


def _gemm_figures(quick: bool, *, by: str) -> Figures:
    n = 500 if quick else 2000
    double, single = gemm(np.float64, n), gemm(np.float32, n)
    rates = {
        f"GFLOP/s {name}": round(2e-9 * n**3 / getattr(found, by), 1)
        for name, found in (("float64", double), ("float32", single))
    }
    return Figures(double.cpu, double.wall, details={"size": n, **rates})


measurement("floor-gemm", "product of two matrices of 2000, one thread", unit="cpu")(
    partial(_gemm_figures, by="cpu")
)
measurement("floor-gemm-all", "the same, all cores", unit="wall", threads=ALL_CORES)(
    partial(_gemm_figures, by="wall")
)


@measurement("floor-bandwidth", "copying 50 million numbers, one thread", unit="cpu")
def _bandwidth(quick: bool) -> Figures:
    A = np.ones((10 if quick else 50) * 1_000_000)
    B = np.empty_like(A)
    found = timed(lambda: np.copyto(B, A), least=0.5, repeats=3)
    return Figures(found.cpu, found.wall, details={"GB/s": round(2e-9 * A.nbytes / found.cpu, 1)})


@measurement("floor-eigensolver", "all eigenvectors of a matrix of 1122, one thread", unit="cpu")
def _eigensolver(quick: bool) -> Figures:
    seconds = {}
    for n in (100,) if quick else (500, 1122):
        A = np.random.default_rng(0).normal(size=(n, 2 * n))
        gram = A @ A.T
        found = timed(partial(linalg.eigh, gram, driver="evd"), repeats=3)
        seconds[f"{n}"] = found.cpu
    return Figures(found.cpu, found.wall, details={"seconds by size": seconds})


def thresholding_floor(A: Floats, ranks: Iterable[int]) -> float:
    """Return CPU seconds of the linear algebra of so many singular value thresholdings of A.

    A Gram matrix, eigenvectors for the rank and a product with them are timed here; a solver
    has its elementwise part, projections and tests on top.
    """
    short = min(A.shape)
    B = A if A.shape[0] == short else A.T
    gram = B @ B.T
    square = timed(lambda: B @ B.T, repeats=3).cpu
    product = timed(lambda: gram @ B, repeats=3).cpu
    every = timed(partial(linalg.eigh, gram, driver="evd"), repeats=3).cpu
    few = max(1, short // 20)
    some = timed(partial(linalg.eigh, gram, subset_by_index=(short - few, short - 1))).cpu
    return sum(
        square + (some if rank <= 2 * few else every) + product * min(2 * rank / short, 1)
        for rank in ranks
    )
