"""What elimination does, round by round, and what becomes of faces like one that lost its name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from candidly.base import Context, LabellingResult
from candidly.estimators import ICE, WMCar
from candidly.solvers import CandidateSets, Elimination, Solution
from candidly.solvers.weights import imbalance_weights

NEAREST = 5
REMOVED = 0.1
"""Part of the faces that lose their true label on purpose."""


class FirstWeights(WMCar):
    """WMCar with the weights of its first solve in all later ones: W is not updated."""

    def _column_weights(self, P: Any, sets: CandidateSets) -> Any:
        if not hasattr(self, "_first"):
            self._first = imbalance_weights(P, sets)
        return self._first


def rounds_of(
    model: Any,
    data: Any,
    fraction: float,
    max_rounds: int,
    *,
    update: bool = True,
    watch: Callable[[NDArray[Any]], None] | None = None,
) -> dict[str, Any]:
    """Return errors after every round, and how many of the labels removed were the true ones.

    Parameters
    ----------
    model : MCar or WMCar
    data : Bunch
        Features, truth and candidates.
    fraction, max_rounds : float, int
        As in ICE.
    update : bool
        Whether W is computed anew in each round, as the paper has it.
    watch : callable, optional
        Called after every round with the labels found.
    """
    if not update:
        model = FirstWeights(**model.get_params())
    sets, true = _problem(data)
    labeller = model.soft_labeller(data.X, Context())
    left: list[CandidateSets] = []
    errors: list[float] = []
    last: LabellingResult

    def label(P: Any, now: CandidateSets) -> Solution:
        nonlocal last
        left.append(now)
        last = labeller(P, now)
        return last.solution

    def evidence(solution: Solution) -> Any:
        return last.evidence_of(solution)

    def after_round(solution: Solution) -> None:
        found = _hard(solution.labels, solution.scores, sets)
        errors.append(round(100 * float(np.mean(found != true)), 3))
        if watch is not None:
            watch(data.candidates.classes[found])

    ice = Elimination(fraction, max_rounds, ICE(model)._ties_by())
    ice.solve(label, sets.uniform(), sets, callback=after_round, evidence=evidence)
    removed = [len(a) - len(b) for a, b in pairwise(left)]
    kept = [int((one.classes == true[one.instance]).sum()) for one in left]
    lost = [a - b for a, b in pairwise(kept)]
    return {
        "error": errors[-1],
        "by_round": errors,
        "removed": removed,
        "true_removed": lost,
    }


def spreading(model: Any, data: Any, seed: int) -> dict[str, Any]:
    """Return errors of faces near to and far from faces whose true label was taken away.

    A tenth of the faces lose it, at random; the same problem is solved with and without. Near are
    the faces of the same person among the five nearest of one that lost its label.
    """
    sets, true = _problem(data)
    rng = np.random.default_rng(seed)
    several = np.flatnonzero(sets.sizes > 1)
    hit = rng.choice(several, size=max(1, round(REMOVED * len(true))), replace=False)
    kept = ~(np.isin(sets.instance, hit) & (sets.classes == true[sets.instance]))
    labeller = model.soft_labeller(data.X, Context())
    found = {}
    for name, now in (("whole", sets), ("cut", sets.kept(kept))):
        solution = labeller(now.uniform(), now).solution
        found[name] = _hard(solution.labels, solution.scores, now) != true
    near = np.zeros(len(true), dtype=bool)
    neighbours = NearestNeighbors(n_neighbors=NEAREST + 1).fit(data.X)
    for face, others in zip(hit, neighbours.kneighbors(data.X[hit])[1], strict=True):
        near[[k for k in others if k != face and true[k] == true[face]]] = True
    near[hit] = False
    far = ~near
    far[hit] = False

    def rate(wrong: NDArray[np.bool_], rows: NDArray[np.bool_]) -> float:
        return round(100 * float(wrong[rows].mean()), 3) if rows.any() else 0.0

    return {
        "error": rate(found["cut"], near | far),
        "near_before": rate(found["whole"], near),
        "near_after": rate(found["cut"], near),
        "far_before": rate(found["whole"], far),
        "far_after": rate(found["cut"], far),
        "near": int(near.sum()),
    }


def _problem(data: Any) -> tuple[CandidateSets, NDArray[np.intp]]:
    sets = CandidateSets.of_mask(data.candidates.mask.T)
    number = {name: k for k, name in enumerate(data.candidates.classes.tolist())}
    return sets, np.array([number[name] for name in np.asarray(data.y).tolist()])


def _hard(labels: Any, scores: Any, sets: CandidateSets) -> NDArray[np.intp]:
    """Return the class with the largest soft label of each instance; scores decide ties."""
    order = np.lexsort((scores, labels, sets.instance))
    last = np.append(np.diff(sets.instance[order]) > 0, True)
    return sets.classes[order[last]]
