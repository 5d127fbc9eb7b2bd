"""What families cost on all instances, and the whole search: who is left out, and what is said."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.cost import Cost, alm_cost, completion_cost

MOST_WORK = 2e11
"""Multiplications of a labeller on all instances from which on its family is left out."""
STEPS = 240
"""Products of features and classes that a logistic regression takes."""
LIFTS, SOLVED, LEFT_OUT = 4, 7, 3
"""Lifts of all instances that have weight in the end, their settings, and those solved again with
sets hidden, usually."""
SCALINGS, REFINED = 4, 15
"""Scalings of features that differ, and finer solves with each ridge, usually."""
ROUGH_ITERATIONS, ITERATIONS = 15, 28
FITS, ROUGH_STEPS = 10, 60
"""Logistic regressions on the sample, and their iterations."""


def labeller_work(N: int, m: int, sets: CandidateSets) -> dict[str, float]:
    """Return the multiplications of one labeller on all instances, of families that may be slow."""
    return {"logistic": float(STEPS * N * m * sets.n_classes), "neighbours": float(N) * N * m}


def too_large(families: AbstractSet[str], shape: tuple[int, int], sets: CandidateSets) -> list[str]:
    """Return the families that would take too long on all instances, of several to try."""
    work = labeller_work(*shape, sets)
    over = [family for family in sorted(families) if work.get(family, 0) > MOST_WORK]
    return over if len(over) < len(families) else []


def search_cost(
    families: AbstractSet[str],
    shape: tuple[int, int],
    sets: CandidateSets,
    sampled: int,
    landmarks: tuple[int, int, int],
    settings: tuple[int, int],
    denoises: bool,
) -> Cost:
    """Return the cost of a search, and of what has weight in it usually.

    Parameters
    ----------
    families : set of str
        Those that are tried, without those that are too large.
    shape : (int, int)
        Instances and features.
    sets : CandidateSets
    sampled : int
        Instances on which settings are scored, at most.
    landmarks : (int, int, int)
        Of kernels in the first pass, in the second, and on all instances, at most.
    settings : (int, int)
        Widths of kernels, and ridges.
    denoises : bool
        Whether features are denoised too.
    """
    N, m = shape
    n, c, entries = min(N, sampled), sets.n_classes, len(sets)
    rough, fine, most = (min(k, N) for k in landmarks)
    few = max(1, entries * n // max(N, 1))
    itemsize = 8 if N * most <= 4_000_000 else 4
    widths, ridges = settings
    screened = SCALINGS * (1 + widths)
    cost = screened * (_lifted(n, m, rough, 8) + 2 * _solved(n, rough, few, c, ROUGH_ITERATIONS))
    cost += LIFTS * _lifted(n, m, fine, 8)
    cost += REFINED * ridges * _solved(n, fine, few, c, ROUGH_ITERATIONS)
    if n < N or most > fine:
        cost += LIFTS * _lifted(N, m, most, itemsize)
        cost += LEFT_OUT * _solved(N, most, entries, c, ROUGH_ITERATIONS)
    cost += SOLVED * _solved(N, most, entries, c, ITERATIONS)
    work = labeller_work(N, m, sets)
    if "logistic" in families:
        cost += FITS * ROUGH_STEPS * _likelihood(n, m, c, 4) + STEPS * _likelihood(N, m, c, 8)
    if "neighbours" in families:
        cost += Cost(4 * work["neighbours"], 40.0 * N * N)
    if denoises:
        cost += 3 * alm_cost(c + m, N, 8, 6)
    # Lifted rows, their single copies and those of a ridge; guesses for hidden sets of the trials.
    held = LIFTS * N * most * (itemsize + 4) + N * most * 8 + 20.0 * n * c * 4 + 30.0 * N * m
    return Cost(cost.products, cost.moved, cost.calls, held + 200.0 * entries)


def _lifted(N: int, m: int, k: int, itemsize: int) -> Cost:
    """Return the cost of a lift with its Gram matrix."""
    single = itemsize / 8
    return Cost(N * k * (m + 1.5 * k) * single + k**3 / 3, 6.0 * N * k * itemsize, 60)


def _likelihood(N: int, m: int, c: int, itemsize: int) -> Cost:
    """Return the cost of one step of logistic regression."""
    return Cost(2.0 * N * m * c * itemsize / 8, 20.0 * N * c * itemsize, 20)


def _solved(N: int, k: int, entries: int, c: int, iterations: int) -> Cost:
    """Return the cost of one setting in single precision, its factor and its rows."""
    rows = Cost(0.4 * N * k * k + k**3 / 6, 2.0 * N * k * 4, 60)
    return rows + completion_cost(N, k // 2, entries, c, iterations, 4)
