"""The ALM against Algorithm 1 line by line: features with sparse noise, and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import candidly
from benchmarks.speed.floors import thresholding_floor
from benchmarks.speed.line_by_line import algorithm_1
from benchmarks.speed.measuring import Figures, measurement, timed
from candidly.estimators.scaling import SETTINGS, FeatureScaler
from candidly.solvers import ALM, CandidateSets
from candidly.solvers.arrays import Floats
from candidly.solvers.weights import imbalance_weights


@dataclass(frozen=True)
class LabelProblem:
    """Arrays of a solve, in the paper's shapes."""

    X: Floats
    P: Floats
    sets: CandidateSets
    w: Floats

    @classmethod
    def of(cls, X: Floats, candidates: candidly.Candidates) -> LabelProblem:
        """Return the problem of WMCar with these features (m x N)."""
        sets = CandidateSets.of_mask(candidates.mask.T)
        P = sets.entries_of(candidates.priors.T)
        return cls(X, P, sets, imbalance_weights(P, sets))


def low_rank_problem(m: int, N: int, c: int, rank: int, noise: float) -> LabelProblem:
    """Return c classes in features of a rank, with a tenth of them broken and noise on all."""
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=N)
    inside = rng.normal(size=(rank, c))[:, y] + 0.5 * rng.normal(size=(rank, N))
    X = rng.normal(size=(m, rank)) @ inside / math.sqrt(rank)
    broken = rng.random((m, N)) < 0.1
    X = X + noise * rng.normal(size=(m, N)) + broken * rng.uniform(-5, 5, size=(m, N))
    X -= X.mean(axis=1, keepdims=True)
    X *= 5 / np.linalg.norm(X, axis=0).mean()
    candidates = candidly.make_ambiguous(y, n_extra=2, random_state=0)
    return LabelProblem.of(X, candidates)


def against_the_paper(problem: LabelProblem, alm: ALM, dtype: type = np.float64) -> Figures:
    """Time the ALM and Algorithm 1 line by line, and compare their labels."""
    X, sets, w = problem.X, problem.sets, problem.w
    given: Floats = X.astype(dtype)
    few, at = sets.of_instances(np.arange(20))
    alm.solve(given[:, :20], problem.P[at], few, w[:20])  # compiles what is compiled
    ours = timed(lambda: alm.solve(given, problem.P, sets, w), repeats=2)
    P, mask = sets.matrix(problem.P), sets.mask
    c, N = P.shape
    lambda_0 = 1 / math.sqrt(max(c + len(X), N))
    sigma = np.linalg.svd(np.vstack([P, X]) * w, compute_uv=False)
    theirs = timed(
        lambda: algorithm_1(
            X,
            P,
            mask,
            w,
            lam=alm.noise_weight * lambda_0,
            gamma=alm.sparsity_weight * lambda_0,
            rho=alm.rho,
            mu=1 / max(sigma[min(c, len(X)) - 1], 1e-3 * sigma[0]),
            mu_max=1e10 / min(sigma[0], float(np.linalg.norm(P * w))),
            tol=alm.tol,
            max_iter=alm.max_iter,
        )
    )
    paper, found = theirs.answer, ours.answer
    labels = found.matrix()
    return Figures(
        ours.cpu,
        ours.wall,
        {"line by line": theirs.cpu},
        floor=thresholding_floor(np.vstack([P, X]) * w, found.trace.column("rank")),
        agreement={
            "labels": float(np.abs(labels - paper.labels).max()),
            "features": float(np.abs(found.features - paper.features).max()),
        },
        details={
            "iterations": len(found.trace),
            "iterations line by line": paper.iterations,
            "rank": found.trace.steps[-1].rank,
            "rank line by line": paper.rank,
            "labels that differ": int((labels.argmax(axis=0) != paper.labels.argmax(axis=0)).sum()),
        },
    )


def faces_problem() -> LabelProblem:
    """Return FIW-like faces, ten people in 50 pictures each, at the setting for pixels."""
    data = candidly.datasets.load("fiw10b", n_extra=3, random_state=0)
    X = FeatureScaler(norm=SETTINGS["pixels"].norm).fit(data.X).transform(data.X).T
    return LabelProblem.of(np.ascontiguousarray(X), data.candidates)


@measurement("alm-2485x500", "ALM, 2485 x 500, FIW-like faces", must=2.8, aim=3.5)
def _faces(quick: bool) -> Figures:
    if quick:
        return against_the_paper(low_rank_problem(100, 40, 10, 20, 0.02), ALM(tol=1e-5))
    return against_the_paper(faces_problem(), ALM(rho=1.1, tol=1e-5))


@measurement("alm-2485x500-single", "the same, arrays in float32", must=2.8, aim=3.5)
def _faces_single(quick: bool) -> Figures:
    if quick:
        return against_the_paper(low_rank_problem(100, 40, 10, 20, 0.02), ALM(tol=1e-5), np.float32)
    return against_the_paper(faces_problem(), ALM(rho=1.1, tol=1e-5), np.float32)


@measurement("alm-5416x1122", "ALM, 5416 x 1122, rank 5%", must=4, aim=6)
def _low(quick: bool) -> Figures:
    m, N = (100, 40) if quick else (5400, 1122)
    return against_the_paper(low_rank_problem(m, N, 16, N // 20, 0.0), ALM(tol=1e-6))
