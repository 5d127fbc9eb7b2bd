"""One call, no argument: settings are scored by hiding candidate sets, never by the truth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from candidly.estimators.open_set import OpenSet
from candidly.estimators.progress import tell
from candidly.estimators.row_space import LiftedRidge, Lifting
from candidly.estimators.scaling import differ_in_unit
from candidly.methods.contract import CandidateEstimator, Context
from candidly.methods.registry import Method, register
from candidly.solvers import Constraint, Solution
from candidly.solvers.elimination import Labeller
from candidly.solvers.lifts import RBF, Lift, Linear
from candidly.solvers.row_space import Basis, RowSpaceCompletion

FOLDS, SCORED = 5, 2
"""A fifth of the candidate sets is hidden at a time, and so for two fifths in all."""
SHARING = 3.0
"""A setting this many standard errors below the best counts 1/e of it in the average."""


class CandidateClassifier(CandidateEstimator):
    """Candidate labels resolved without a setting to choose.

    Where there is a null class the labeller is :class:`OpenSet`. Otherwise it is row-space
    completion, averaged over several lifts and ridges. To score a setting without truth, the
    candidate sets of two random fifths of the instances are hidden in turn, and it is counted
    how often the label found for a hidden instance is in its real set: the covering rate. The
    soft labels are averaged, settings weighted by how close to the best they score.

    Parameters
    ----------
    widths : sequence of float
        Squared widths of Gaussian kernels to try beside the linear lift, in multiples of
        the mean squared distance; none for the linear lift alone.
    ridges : sequence of float
        Ridges to try with every lift.
    landmarks : int
        Most instances that span a kernel.
    time_budget : float, optional
        Seconds after which no further setting is tried; at least one always is.
    at_most_once, at_least_one : bool
        As in :class:`MCar`.
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" is the best setting's regression, on the labels found.
    random_state : int, RandomState or None
        Draws landmarks, and what is hidden.

    Attributes
    ----------
    best_params_ : dict
        The labeller, and its setting that scored best.
    cv_results_ : dict of lists
        Everything tried: ``params``, ``covering_rate``, ``weight`` in the average, ``seconds``.
    transduction_, label_distributions_, classes_, n_iter_, solution_, classifier_
        As in :class:`MCar`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=4, seed=0)
    >>> model = candidly.CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.02
    True
    >>> sorted(model.best_params_)
    ['labeller', 'lift', 'ridge', 'width']
    """

    def __init__(
        self,
        *,
        widths: Sequence[float] = (1.0, 4.0),
        ridges: Sequence[float] = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
        landmarks: int = 800,
        time_budget: float | None = None,
        at_most_once: bool = True,
        at_least_one: bool = False,
        classifier: Any = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier=classifier, random_state=random_state)
        self.widths = widths
        self.ridges = ridges
        self.landmarks = landmarks
        self.time_budget = time_budget
        self.at_most_once = at_most_once
        self.at_least_one = at_least_one

    def soft_labeller(self, X: NDArray[np.floating], context: Context | None = None) -> Labeller:
        """Bind the features to a search over settings, or to open-set labelling."""
        context = Context() if context is None else context
        sample_weight, constraints = context.sample_weight, context.constraints
        if not len(self.ridges) or not all(r > 0 for r in (*self.ridges, *self.widths)):
            raise ValueError(
                f"ridges and widths are positive, and there is at least one ridge; got "
                f"{self.ridges!r} and {self.widths!r}"
            )
        if context.null is not None:
            self._open_set = OpenSet()
            self.best_params_: dict[str, Any] = {"labeller": "OpenSet"}
            self.cv_results_ = {"params": [self.best_params_], "weight": [1.0]}
            return self._open_set.soft_labeller(X, context)
        self._units = differ_in_unit(X)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        lifts = [("linear", None), *(("rbf", width) for width in self.widths)]

        def label(P: NDArray[np.floating], mask: NDArray[np.bool_]) -> Solution:
            started = time.perf_counter()
            hidden = _hidden(X, self._seed)
            P = P.astype(np.float64)
            tried: list[dict[str, Any]] = []
            solutions: list[Solution] = []
            for lift, width in lifts:
                lifted = self._lifting(lift, width).fit(X, sample_weight).transform(X)
                basis = Basis.of(lifted, sample_weight)
                for ridge in self.ridges:
                    spent = time.perf_counter() - started
                    if tried and self.time_budget is not None and spent > self.time_budget:
                        break
                    tell(f"setting {len(tried) + 1} of {len(lifts) * len(self.ridges)}")
                    solver = RowSpaceCompletion(ridge)
                    solutions.append(solver.solve(basis, P, mask, constraints))
                    rate = _covering_rate(solver, basis, P, mask, hidden, constraints)
                    seconds = time.perf_counter() - started - spent
                    params = {"labeller": "RowSpace", "lift": lift, "width": width, "ridge": ridge}
                    tried.append({"params": params, "covering_rate": rate, "seconds": seconds})
            rates = np.array([t["covering_rate"] for t in tried])
            weight = _weights(rates, sum(len(rows) for rows in hidden))
            best = int(rates.argmax())
            self.best_params_ = tried[best]["params"]
            self.cv_results_ = {key: [t[key] for t in tried] for key in tried[0]}
            self.cv_results_["weight"] = weight.tolist()
            labels = sum(w * s.labels for w, s in zip(weight, solutions, strict=True))
            scores = sum(w * s.scores for w, s in zip(weight, solutions, strict=True))
            return replace(
                solutions[best],
                labels=labels / labels.sum(axis=0),
                scores=scores,
                features=X.T,
                noise=np.zeros_like(X.T),
            )

        return label

    def _lifting(self, lift: str, width: float | None) -> Lifting:
        made: Lift = Linear() if width is None else RBF(width, self.landmarks)
        return Lifting(made, self._units, self._seed)

    def _wants_once(self) -> bool:
        return self.at_most_once

    def _wants_one_named(self) -> bool:
        return self.at_least_one

    def _suitable_has_proba(self) -> bool:
        return True

    def _suitable_classifier(self, X: NDArray[np.floating]) -> Any:
        best: dict[str, Any] = self.best_params_
        if best["labeller"] == "OpenSet":
            return self._open_set._suitable_classifier(X)
        return LiftedRidge(self._lifting(best["lift"], best["width"]), best["ridge"])


def _hidden(X: NDArray[np.floating], seed: int) -> list[NDArray[np.intp]]:
    """Parts to hide in turn, chosen by the instances themselves: row order does not matter."""
    direction = np.random.default_rng(seed).normal(size=X.shape[1])
    peak = np.abs(X).max(axis=0, initial=0)
    place = (X / np.where(peak > 0, peak, 1)).astype(np.float64) @ direction
    fold = place.argsort(kind="stable").argsort(kind="stable") % FOLDS
    return [np.flatnonzero(fold == k) for k in range(SCORED)]


def _covering_rate(
    solver: RowSpaceCompletion,
    basis: Basis,
    P: NDArray[np.floating],
    mask: NDArray[np.bool_],
    hidden: list[NDArray[np.intp]],
    constraints: Sequence[Constraint],
) -> float:
    """How often the label found for an instance whose candidates were hidden is one of them."""
    listed = np.asarray(mask.any(axis=1))[:, None]
    inside: list[float] = []
    for rows in hidden:
        open_mask, open_P = mask.copy(), P.copy()
        open_mask[:, rows] = listed
        open_P[:, rows] = listed / listed.sum()
        labels = solver.solve(basis, open_P, open_mask, constraints).labels[:, rows]
        best = labels == labels.max(axis=0)  # of several, any may be meant
        inside += ((best & mask[:, rows]).sum(axis=0) / best.sum(axis=0)).tolist()
    return float(np.mean(inside)) if inside else 1.0


def _weights(rates: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Weights in the average, by how many standard errors a rate is below the best."""
    best = rates.max()
    error = np.sqrt(max(best * (1 - best), 1e-4) / max(count, 1))
    weight = np.exp((rates - best) / (SHARING * error))
    return weight / weight.sum()


register(
    Method(
        "CandidateClassifier",
        CandidateClassifier,
        "ours: row-space completion averaged over settings scored without truth; OpenSet with null",
        "an eigenproblem of at most 800 for each of three lifts, and 45 solves",
        "when you want one call without an argument",
    )
)
