"""How labelling costs grow with instances and with classes, beside other methods, and forecasts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.semi_supervised import LabelPropagation

from benchmarks.speed.labelling_solves import around_means, drawn_labels
from benchmarks.speed.machine import peak_memory, restarted_peak
from benchmarks.speed.measuring import Figures, Timed, measurement, timed
from candidly import CandidateClassifier, OpenSet, RowSpace, WMCar, datasets, methods
from candidly.base import CandidateEstimator
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.cost import Cost
from candidly.telling import listening

INSTANCES, CLASSES = (500, 1000, 2000, 4000, 8000, 16_000), (10, 30, 100, 300, 1000)
PATIENCE = 20.0
"""CPU seconds of a method after which it is not tried on anything larger."""
LARGE = 50.0
"""MB from which on memory that was said is compared with what was taken."""


def label_propagation(X: Any, mask: Any) -> Any:
    """Return scikit-learn's label propagation, fitted to one candidate drawn each."""
    model = LabelPropagation(kernel="knn", n_neighbors=10, max_iter=100)
    return model.fit(X, drawn_labels(mask))


METHODS: Mapping[str, Callable[[Any, Any], Any]] = {
    "CandidateClassifier": lambda X, mask: CandidateClassifier(random_state=0).fit(X, mask),
    "RowSpace": lambda X, mask: RowSpace().fit(X, mask),
    "CLPL": lambda X, mask: methods.get("CLPL").fit(X, mask),
    "IPAL": lambda X, mask: methods.get("IPAL").fit(X, mask),
    "PL-KNN": lambda X, mask: methods.get("PL-KNN").fit(X, mask),
    "LabelPropagation": label_propagation,
}


def grown(shapes: Sequence[tuple[int, int]], sizes: Sequence[int]) -> Figures:
    """Time every method on problems of increasing size, until one takes too long."""
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of propagation that is not converged
        X, mask, _ = around_means(200, 128, 10)
        for fit in METHODS.values():
            fit(X, mask)  # compiles
        for N, c in shapes:
            X, mask, _ = around_means(N, 128, c)
            for name, fit in METHODS.items():
                if len(seconds[name]) == shapes.index((N, c)) and (
                    not seconds[name] or seconds[name][-1] <= PATIENCE
                ):
                    seconds[name].append(timed(partial(fit, X, mask)).cpu)
    ours = seconds["CandidateClassifier"]
    return Figures(ours[-1], ours[-1], details={"sizes": list(sizes), "CPU seconds": seconds})


@measurement(
    "growth-instances", "`CandidateClassifier()`, 16,000 x 128, 100 classes, and smaller; plot"
)
def _instances(quick: bool) -> Figures:
    sizes = (200, 400) if quick else INSTANCES
    return grown([(N, 10 if quick else 100) for N in sizes], sizes)


@measurement(
    "growth-classes", "`CandidateClassifier()`, 2,000 x 128, 1,000 classes, and fewer; plot"
)
def _classes(quick: bool) -> Figures:
    sizes = (5, 10) if quick else CLASSES
    return grown([(200 if quick else 2000, c) for c in sizes], sizes)


def foretold(model: CandidateEstimator, X: Any, y: Any) -> tuple[Timed, float, Cost]:
    """Return a fit with its seconds, the memory in bytes that it took, and what it was said to."""
    said: list[Cost] = []
    predict = model.predicted_cost

    def kept(X: Any, sets: CandidateSets, context: Any) -> Cost | None:
        cost = predict(X, sets, context)
        assert cost is not None
        said.append(cost)
        return cost

    model.predicted_cost = kept  # type: ignore[method-assign]
    before = restarted_peak()
    with listening(lambda text: None):
        found = timed(lambda: model.fit(X, y))
    return found, 2.0**20 * (peak_memory() - before), said[0]


def largest_factor(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the largest factor between the two of any pair.

    Examples
    --------
    >>> largest_factor([(2, 1), (1, 3)])
    3.0
    """
    return max((max(a / b, b / a) for a, b in pairs if a and b), default=1.0)


@measurement("forecast", "what fits were said to take, against what they took")
def _forecast(quick: bool) -> Figures:
    digits = datasets.load("digits", each=20, n_extra=2, random_state=0)
    problems: dict[str, tuple[CandidateEstimator, Any, Any]] = {
        "CandidateClassifier, digits": (CandidateClassifier(), digits.X, digits.candidates),
        "RowSpace, digits": (RowSpace(lift="rbf", classifier=None), digits.X, digits.candidates),
    }
    if not quick:
        for N, c in ((2000, 100), (10_000, 100), (4000, 1000)):
            X, mask, _ = around_means(N, 128, c)
            problems[f"CandidateClassifier, {N:,} x 128, {c:,} classes"] = (
                CandidateClassifier(random_state=0), X, mask,
            )  # fmt: skip
        X, mask, _ = around_means(200_000, 128, 1000, dtype=np.float32)
        problems["RowSpace, 200,000 x 128"] = RowSpace(classifier=None), X, mask
        X, mask, _ = around_means(1000, 800, 20)
        problems["WMCar, 1,000 x 800"] = WMCar(classifier=None), X, mask
        for name in ("lost", "birdsong"):
            data = datasets.load(name)
            problems[f"CandidateClassifier, {name}"] = (
                CandidateClassifier(random_state=0), data.X, data.candidates,
            )  # fmt: skip
        data = datasets.load("newsroom")
        problems["OpenSet, newsroom"] = OpenSet(classifier=None), data.X, data.candidates
    told, took, memory = {}, {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)  # compiles
        for name, (model, X, y) in problems.items():
            found, held, cost = foretold(model, X, y)
            told[name], took[name] = cost.seconds(), found.cpu
            memory[name] = cost.memory / 1e6, held / 1e6
    long = [(told[name], took[name]) for name in took if took[name] >= 1]
    large = [both for both in memory.values() if max(both) >= LARGE]
    return Figures(
        sum(took.values()),
        sum(took.values()),
        agreement={
            "largest factor over 1 s": largest_factor(long),
            f"largest factor of memory over {LARGE:.0f} MB": largest_factor(large),
        },
        details={"said": told, "took": took, "memory MB, said and taken": memory},
    )
