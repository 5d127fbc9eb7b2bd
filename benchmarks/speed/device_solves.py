"""Solvers on a device of PyTorch: ``--device cuda``, or ``--device cpu`` to try them on little.

Features are on the device before a solve begins; how long that takes is in the details. A solve
ends with its labels on the CPU, so that nothing is still under way when the clock stops. Each is
run once before, on fewer instances, for what happens in the first call alone; labels of that
smaller problem are compared with those that arrays of NumPy give.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.speed.alm_solves import LabelProblem, low_rank_problem
from benchmarks.speed.labelling_solves import around_means
from benchmarks.speed.measuring import ALL_CORES, Figures, Timed, measurement, timed
from benchmarks.speed.open_set_solves import NAMES, MadeUpPhotos
from candidly.extras import require
from candidly.solvers import ALM, CandidateSets, Solution
from candidly.solvers.arrays import Floats, full_precision, on_device
from candidly.solvers.open_set import OpenSetLabelling
from candidly.solvers.row_space import Basis, RowSpaceCompletion
from candidly.solvers.weights import imbalance_weights

COLUMNS = 50_000
"""Instances that are drawn at a time."""

device_measurement = partial(measurement, unit="wall", threads=ALL_CORES, device=True)


def waited(call: Callable[[], Any], device: str) -> Any:
    """Return the answer of a call once the device has nothing left to do."""
    answer = call()
    if device.startswith("cuda"):
        require("torch", "torch").cuda.synchronize(device)
    return answer


def timed_there(call: Callable[[], Any], device: str, repeats: int = 1) -> Timed:
    """Time a call on a device."""
    waited(lambda: None, device)
    return timed(partial(waited, call, device), repeats=repeats)


def moved(X: Floats, device: str) -> tuple[Any, dict[str, float]]:
    """Return features on a device, and how long they took to get there."""
    begin = time.perf_counter()
    there = waited(partial(on_device, X, device), device)
    return there, {"seconds to the device": time.perf_counter() - begin}


def memory(device: str) -> dict[str, float]:
    """Return the largest memory of the device that arrays have had."""
    if not device.startswith("cuda"):
        return {}
    torch = require("torch", "torch")
    return {"GB on the device": round(torch.cuda.max_memory_allocated(device) / 1e9, 2)}


@device_measurement("device-floors", "device: product of two matrices of 8192 in float64")
def _floors(quick: bool, device: str) -> Figures:
    torch = require("torch", "torch")
    n, short = (200, 100) if quick else (8192, 1122)
    found: dict[str, Any] = {}
    for kind in (torch.float32, torch.float64):
        A = torch.ones((n, n), dtype=kind, device=device)
        with full_precision(A):
            waited(partial(torch.matmul, A, A), device)
            product = timed_there(partial(torch.matmul, A, A), device, 3)
        found[f"GFLOP/s {str(kind).split('.')[-1]}"] = round(2e-9 * n**3 / product.wall, 1)
    A = torch.ones(n * n, dtype=torch.float64, device=device)
    copied = timed_there(A.clone, device, 3)
    found["GB/s"] = round(2e-9 * 8 * n * n / copied.wall, 1)
    gram = torch.eye(short, dtype=torch.float64, device=device)
    waited(partial(torch.linalg.eigh, gram), device)
    solved = timed_there(partial(torch.linalg.eigh, gram), device, 3)
    found[f"seconds of eigenvectors of {short}"] = solved.wall
    return Figures(product.cpu, product.wall, details={"size": n, **found, **memory(device)})


def large_problem(m: int, N: int, c: int) -> LabelProblem:
    """Return c classes in many instances of m features, in float32; a tenth of these is broken."""
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=N)
    into = rng.standard_normal((m, c), dtype=np.float32)
    X = np.empty((m, N), dtype=np.float32)
    for start in range(0, N, COLUMNS):
        part = slice(start, min(start + COLUMNS, N))
        size = m, part.stop - part.start
        X[:, part] = into[:, y[part]] + 0.1 * rng.standard_normal(size, dtype=np.float32)
        X[:, part] += (rng.random(size, dtype=np.float32) < 0.1) * rng.uniform(-5, 5)
    X -= X.mean(axis=1, keepdims=True)
    X *= 15 / float(np.sqrt((X[:, :COLUMNS] ** 2).sum(axis=0)).mean())
    listed = np.sort((y[:, None] + np.array([0, 1, 1 + c // 2])) % c, axis=1)
    sets = CandidateSets(3 * np.arange(N + 1), listed.ravel(), c)
    P = sets.uniform()
    return LabelProblem(X, P, sets, imbalance_weights(P, sets))


def _of_first(problem: LabelProblem, N: int) -> LabelProblem:
    sets, at = problem.sets.of_instances(np.arange(N))
    return LabelProblem(problem.X[:, :N], problem.P[at], sets, problem.w[:N])


def alm_there(problem: LabelProblem, alm: ALM, few: int, device: str) -> Figures:
    """Time the ALM on a device, and its linear algebra alone."""
    torch = require("torch", "torch")
    small = _of_first(problem, few)

    def solve(some: LabelProblem, X: Any) -> Solution:
        return alm.solve(X, some.P, some.sets, some.w)

    here = solve(small, np.ascontiguousarray(small.X))
    there = solve(small, on_device(np.ascontiguousarray(small.X), device))
    X, seconds = moved(problem.X, device)
    ours = timed_there(partial(solve, problem, X), device)
    B = torch.vstack([torch.zeros((problem.sets.n_classes, X.shape[1])).to(X), X])
    B = B if len(B) <= B.shape[1] else B.T
    with full_precision(B):
        gram = torch.as_tensor(B @ B.T, dtype=torch.float64)
        parts = [partial(torch.matmul, B, B.T), partial(torch.linalg.eigh, gram)]
        parts.append(partial(torch.matmul, gram.to(B), B))
        once = sum(timed_there(part, device, 3).wall for part in parts)
    iterations = len(ours.answer.trace)
    return Figures(
        ours.cpu,
        ours.wall,
        floor=once * iterations,
        agreement={"labels of fewer": float(np.abs(here.labels - there.labels).max())},
        details={
            "iterations": iterations,
            "rank": ours.answer.trace.steps[-1].rank,
            "seconds per iteration": ours.wall / iterations,
            **seconds,
            **memory(device),
        },
    )


@device_measurement("device-alm-5400x1122", "device: ALM, 5400 x 1122, 16 classes", must=3, aim=2)
def _alm_tall(quick: bool, device: str) -> Figures:
    m, N = (100, 40) if quick else (5400, 1122)
    problem = low_rank_problem(m, N, 16, N // 20, 0.0)
    return alm_there(problem, ALM(rho=1.1, tol=1e-6), N // 2, device)


def _alm_wide(N: int, quick: bool, device: str) -> Figures:
    problem = large_problem(924, N, 100) if not quick else large_problem(20, 300, 10)
    alm = ALM(noise_weight=3.0, rho=1.8, tol=1e-6)
    return alm_there(problem, alm, 100 if quick else 5000, device)


for _N, _must, _aim in ((100_000, 2, 1), (1_000_000, 20, 8)):
    device_measurement(
        f"device-alm-924x{_N}",
        f"device: ALM, 924 x {_N:,} float32, 100 classes",
        must=_must,
        aim=_aim,
    )(partial(_alm_wide, _N))


def _completed(X: Any, sets: CandidateSets) -> Solution:
    return RowSpaceCompletion(tol=0.0).solve(Basis.of(X), sets.uniform(), sets)


@device_measurement(
    "device-row-space-million",
    "device: row-space labeller, 1,000,000 x 128 float32, 10,000 names, 30 iterations",
    must=1,
    aim=0.2,
)
def _row_space(quick: bool, device: str) -> Figures:
    N, c, few = (2000, 100, 500) if quick else (1_000_000, 10_000, 20_000)
    X, mask, y = around_means(N, 128, c, 2, dtype=np.float32)
    sets = CandidateSets.of_rows(mask)
    some, _ = sets.of_instances(np.arange(few))
    here, there = (_completed(A, some).labels for A in (X[:few], on_device(X[:few], device)))
    features, seconds = moved(X, device)
    ours = timed_there(partial(_completed, features, sets), device)
    chosen = sets.classes[sets.best(ours.answer.labels)]
    return Figures(
        ours.cpu,
        ours.wall,
        agreement={"labels of fewer": float((some.best(here) != some.best(there)).mean())},
        details={
            "iterations": len(ours.answer.trace),
            "error": float((chosen != y).mean()),
            **seconds,
            **memory(device),
        },
    )


@device_measurement(
    "device-open-set-million",
    "device: open-set labeller, 1,000,000 x 128, 10,000 names, 20 iterations",
    must=6,
    aim=1.5,
)
def _open_set(quick: bool, device: str) -> Figures:
    N, names, few = (3000, 400, 600) if quick else (1_000_000, NAMES, 20_000)
    solver, small = OpenSetLabelling(), MadeUpPhotos.of(few, few // 10)
    here, there = (solver.solve(A.T, small.entries) for A in (small.X, on_device(small.X, device)))
    solver = OpenSetLabelling(tol=0.0)  # never stops before the last iteration, from either start
    problem = MadeUpPhotos.of(N, names)
    features, seconds = moved(problem.X, device)
    ours = timed_there(partial(solver.solve, features.T, problem.entries), device)
    return Figures(
        ours.cpu,
        ours.wall,
        agreement={"labels of fewer": float((here.chosen != there.chosen).mean())},
        details={
            "iterations": len(ours.answer.trace),
            "labels wrong": float((ours.answer.chosen != problem.truth).mean()),
            **seconds,
            **memory(device),
        },
    )
