"""The default and the row-space labeller on candidate entries, in seconds and memory.

Made-up instances lie around the mean of their class, with three wrong candidates drawn at random;
their labels are easy on purpose, so that an error shows a fault of the program.
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.semi_supervised import LabelPropagation

from benchmarks.speed.measuring import ALL_CORES, Figures, measurement, timed
from candidly import CandidateClassifier, RowSpace, datasets, labelling_error, methods
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.row_space import Basis, RowSpaceCompletion

DOUBLED = (125_000, 250_000, 500_000, 1_000_000)
REPEATS = 3
"""Solves of each of these sizes; the one that took the fewest seconds counts."""


def around_means(
    N: int, m: int, c: int, wrong: int = 3, spread: float = 1.0, dtype: type = np.float64
) -> tuple[NDArray[np.floating], sparse.csr_array, NDArray[np.intp]]:
    """Return features, candidates as a sparse mask, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=N)
    X: NDArray[Any] = rng.standard_normal((N, m), dtype=np.float32).astype(dtype, copy=False)
    X *= spread
    X += 0.5 * rng.normal(size=(c, m)).astype(dtype)[y]
    listed = np.column_stack([y, rng.integers(c, size=(N, wrong))]).ravel()
    mask = sparse.csr_array(
        (np.ones(len(listed), dtype=bool), listed, np.arange(N + 1) * (wrong + 1)), shape=(N, c)
    )
    mask.sum_duplicates()
    return X, mask, y


def default(N: int, c: int, quick: bool) -> Figures:
    """Time the default on made-up instances."""
    X, mask, y = around_means(N // 20 if quick else N, 128, c // 10 if quick else c)
    CandidateClassifier(random_state=0).fit(X[:100], np.arange(100) % 10)  # compiles
    found = timed(lambda: CandidateClassifier(random_state=0).fit(X, mask))
    error = labelling_error(y, found.answer.transduction_)
    return Figures(found.cpu, found.wall, details={"error": error, **found.answer.best_params_})


for N, c, must, aim in ((2000, 100, 6, 3), (20_000, 100, 25, 10), (20_000, 5000, 90, 30)):
    measurement(
        f"default-{N}x{c}",
        f"`CandidateClassifier()`, {N:,} x 128, {c:,} classes",
        unit="cpu",
        must=must,
        aim=aim,
    )(partial(default, N, c))


def known(name: str, quick: bool) -> Figures:
    """Time the default on a data set."""
    data = datasets.load(name)
    rows = slice(0, 200) if quick else slice(None)
    X, candidates, y = data.X[rows], data.candidates[rows], data.y[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CandidateClassifier(random_state=0).fit(X[:100], candidates[:100])
        found = timed(lambda: CandidateClassifier(random_state=0).fit(X, candidates))
    return Figures(
        found.cpu, found.wall, details={"error": labelling_error(y, found.answer.transduction_)}
    )


for name, must, aim in (("lost", 3, 1), ("birdsong", 8, 3)):
    measurement(
        f"default-{name}", f"`CandidateClassifier()`, {name}", unit="cpu", must=must, aim=aim
    )(partial(known, name))


@measurement(
    "row-space-million",
    "row-space labeller, 1,000,000 x 128 float32, 10,000 names, 30 iterations",
    unit="wall",
    must=30,
    aim=8,
    threads=ALL_CORES,
)
def row_space_million(quick: bool) -> Figures:
    """Time completion, its basis included, as the number of instances doubles."""
    sizes = (2000, 4000) if quick else DOUBLED
    X, mask, y = around_means(sizes[-1], 128, 100 if quick else 10_000, 2, dtype=np.float32)
    sets = CandidateSets.of_rows(mask)
    solver = RowSpaceCompletion(tol=0.0)
    walls: list[float] = []
    for N in sizes:
        part, _ = sets.of_instances(np.arange(N))
        if not walls:
            _completed(X[:N], part, solver)  # compiles
        runs = [timed(partial(_completed, X[:N], part, solver)) for _ in range(REPEATS)]
        found = min(runs, key=lambda run: run.wall)
        walls.append(found.wall)
    solution = found.answer
    chosen = part.classes[part.best(solution.labels)]
    growth = [float(b / a) for a, b in pairwise(walls)]
    return Figures(
        found.cpu,
        found.wall,
        details={
            "seconds": walls,
            "growth as N doubles": growth,
            "iterations": len(solution.trace),
            "error": float((chosen != y).mean()),
        },
    )


def _completed(X: NDArray[Any], sets: CandidateSets, solver: RowSpaceCompletion) -> Any:
    return solver.solve(Basis.of(X), sets.uniform(), sets)


@measurement("labelling-others", "`RowSpace`, 2,000 x 128, 100 classes; others on the same")
def beside_others(quick: bool) -> Figures:
    """Time methods for candidates, and label propagation with one candidate drawn each."""
    X, mask, y = around_means(200 if quick else 2000, 128, 10 if quick else 100)
    drawn = drawn_labels(mask)
    RowSpace().fit(X, mask)  # compiles
    ours = timed(lambda: RowSpace().fit(X, mask))
    errors = {"RowSpace": labelling_error(y, ours.answer.transduction_)}
    seconds = {}
    for name in ("CLPL", "IPAL", "PL-KNN"):
        found = timed(partial(methods.get(name).fit, X, mask))
        seconds[name] = found.cpu
        errors[name] = labelling_error(y, found.answer.transduction_)
    spread = timed(
        lambda: LabelPropagation(kernel="knn", n_neighbors=10, max_iter=100).fit(X, drawn)
    )
    seconds["LabelPropagation"] = spread.cpu
    errors["LabelPropagation"] = labelling_error(y, spread.answer.transduction_)
    return Figures(ours.cpu, ours.wall, seconds, details={"error": errors})


def drawn_labels(mask: sparse.csr_array) -> NDArray[np.intp]:
    """Return one candidate of each row, drawn at random."""
    place = np.random.default_rng(0).random(mask.shape[0]) * np.diff(mask.indptr)
    return np.asarray(mask.indices[mask.indptr[:-1] + place.astype(np.intp)], dtype=np.intp)
