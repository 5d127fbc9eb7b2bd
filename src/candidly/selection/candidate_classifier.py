"""CandidateClassifier: settings are scored by hiding candidate sets, never by the truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from candidly.base import CandidateEstimator, Context, Labeller, LabellingResult, MethodTags
from candidly.estimators.open_set import OpenSet
from candidly.estimators.progress import Reporter, teller
from candidly.estimators.row_space import AveragedRidge, LiftedRidge, Lifting, denoise
from candidly.estimators.scaling import differ_in_unit, few_instances
from candidly.parameters import (
    COUNT,
    NAME,
    NOT_NEGATIVE,
    SWITCH,
    Constraints,
    PositiveNumbers,
    optional,
)
from candidly.registry import register
from candidly.selection.hiding import Hiding
from candidly.solvers import Population, Solution
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.row_space import (
    Basis,
    Lift,
    LinearLift,
    RBFLift,
    RowSpaceCompletion,
    left_out_evidence,
)

FAR = 0.15
"""Least gain in estimated accuracy for which class sizes are taken into account."""
LEAST_WEIGHT = 0.05
"""Part of the largest weight below which a lift has no part in ``predict``."""


@dataclass(frozen=True)
class Trial:
    """A setting that was tried: its labels, and its labels with some candidate sets hidden."""

    params: dict[str, Any]
    solution: Solution
    hidden: list[Floats]
    seconds: float


class CandidateClassifier(CandidateEstimator):
    """Classifier for candidate labels that needs no setting.

    Where there is a null class the labeller is :class:`OpenSet`. Otherwise it is row-space
    completion, averaged over several lifts and ridges. To score a setting without truth, the
    candidate sets of two fifths of the instances are hidden in turn, and it is counted
    how often the label found for a hidden instance is in its real set: the covering rate. The
    soft labels are averaged, settings weighted by how close to the best they score; a second
    average weights them by how often they found the label of the first one.

    Class sizes are not used, unless the setting that covers most is estimated to be right far
    more often with them, as where one class holds most instances.

    Where there are fewer than 2.5 instances per feature, WMCar, started from these labels, then
    removes sparse noise from the features, and completion on what is left has half the weight,
    unless it covers fewer hidden sets.

    Solves start from priors on candidates; features overrule them.

    Parameters
    ----------
    widths : sequence of float
        Squared widths of Gaussian kernels to try in addition to the linear lift, in multiples
        of the mean squared distance; empty for the linear lift alone.
    ridges : sequence of float
        Ridges to try with every lift.
    landmarks : int
        Largest number of instances that span a kernel.
    class_sizes : bool, optional
        Let a class that is large so far be more likely; by default as described above.
    denoise : bool, optional
        Also remove sparse noise from the features; by default where there are fewer than 2.5
        instances per feature.
    population : Population, optional
        How features of this kind vary within and between people, as in :class:`OpenSet`; only
        where there is a null class, otherwise it is refused.
    time_budget : float, optional
        Seconds after which nothing further is tried; one setting always is.
    at_most_once, at_least_one : bool
        As in :class:`MCar`. With a null class a name is given at most once in any case.
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" averages the settings' regressions on the labels found, as
        the labels were averaged; with a null class it is that of :class:`OpenSet`.
    device : str, optional
        Device on which noise is removed from the features, as in :class:`MCar`, which is most of
        the work where it is done; the rest runs on the CPU.
    n_jobs : int, optional
        Number of lifts that are tried at a time, as in joblib; they share memory.
    verbose : int
        1 reports every setting.
    random_state : int, RandomState or None
        Draws landmarks, and what is hidden.

    Attributes
    ----------
    best_params_ : dict
        The labeller, and its setting that scored best.
    cv_results_ : dict of lists
        Everything tried: ``params``, ``covering_rate``, ``agreement`` with the result,
        ``by_covering_rate`` (weight in the first average), ``weight`` in the result, ``seconds``
        (without the lift, which ridges share). With a null class it is open-set labelling alone.
    transduction_, label_distributions_, classes_, n_iter_, solution_, classifier_
        As in :class:`MCar`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=4, random_state=0)
    >>> model = candidly.CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.02
    True
    >>> sorted(model.best_params_)
    ['class_sizes', 'denoise', 'labeller', 'lift', 'ridge', 'width']
    """

    takes = MethodTags(proba=True)

    best_params_: dict[str, Any]
    cv_results_: dict[str, list[Any]]

    _parameter_constraints: ClassVar[Constraints] = {
        **CandidateEstimator._parameter_constraints,
        "widths": [PositiveNumbers(least=0)],
        "ridges": [PositiveNumbers(least=1)],
        "landmarks": COUNT,
        "class_sizes": optional(SWITCH),
        "denoise": optional(SWITCH),
        "population": optional([Population]),
        "time_budget": optional(NOT_NEGATIVE),
        "at_most_once": SWITCH,
        "at_least_one": SWITCH,
        "device": optional(NAME),
        "n_jobs": optional([Integral]),
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        widths: Sequence[float] = (1.0, 4.0, 16.0, 64.0),
        ridges: Sequence[float] = (1e-4, 1e-3, 1e-2),
        landmarks: int = 800,
        class_sizes: bool | None = None,
        denoise: bool | None = None,
        population: Population | None = None,
        time_budget: float | None = None,
        at_most_once: bool = True,
        at_least_one: bool = False,
        classifier: Any = "auto",
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier=classifier, random_state=random_state)
        self.widths = widths
        self.ridges = ridges
        self.landmarks = landmarks
        self.class_sizes = class_sizes
        self.denoise = denoise
        self.population = population
        self.time_budget = time_budget
        self.at_most_once = at_most_once
        self.at_least_one = at_least_one
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Bind the features to a search over settings, or to open-set labelling."""
        if context.null is not None:
            return _open_set(X, context, self.population)
        if self.population is not None:
            raise ValueError(
                "population is for candidates with a null class, and these have none; leave it "
                "out, or use OpenSet(population=...)"
            )

        def label(P: Floats, mask: Mask) -> LabellingResult:
            search = SettingSearch(self, X, P.astype(np.float64), mask, context)
            trials, results = search.run()
            weight = np.array(results["weight"])
            best = trials[int(np.argmax(results["covering_rate"]))]
            solution = replace(
                best.solution,
                labels=_average([t.solution.labels for t in trials], weight),
                scores=sum(w * t.solution.scores for w, t in zip(weight, trials, strict=True)),
            )
            return LabellingResult(
                solution,
                search.trainer(results),
                attributes={"best_params_": best.params, "cv_results_": results},
                evidence=partial(left_out_evidence, X.T),
            )

        return label


def _open_set(X: Floats, context: Context, population: Population | None) -> Labeller:
    """Return the labeller for a null class, open-set labelling; nothing is chosen."""
    model = OpenSet(population=population)
    settings = ("shown", "learn_shown", "elsewhere", "damping", "shrinkage", "population")
    params = {"labeller": "OpenSet", **{name: getattr(model, name) for name in settings}}
    results = {"params": [params], "weight": [1.0]}
    labeller = model.soft_labeller(X, context)

    def label(P: Floats, mask: Mask) -> LabellingResult:
        attributes = {"best_params_": params, "cv_results_": results}
        return replace(labeller(P, mask), attributes=attributes)

    return label


class SettingSearch:
    """Search over settings, each run on the problem as it is and with some sets hidden.

    Parameters
    ----------
    model : CandidateClassifier
        Defines what to try; it is not modified.
    X : (N, m) array
    P : (c, N) array of float64
        Soft labels to start from.
    mask : (c, N) array of bool
        Candidates.
    context : Context
    """

    def __init__(
        self, model: CandidateClassifier, X: Floats, P: Floats, mask: Mask, context: Context
    ) -> None:
        self.model, self.X, self.context, self.P, self.mask = model, X, context, P, mask
        self.units = differ_in_unit(X)
        self.seed = int(check_random_state(model.random_state).randint(2**31))
        self.hiding = Hiding.of(X, P, mask, self.seed)
        self.lifted: dict[float | None, tuple[Lifting, Basis]] = {}
        self.tell = teller(model.verbose)
        self.started = time.perf_counter()

    def run(self) -> tuple[list[Trial], dict[str, list[Any]]]:
        """Return all trials, and a table of their scores and weights."""
        asked = self.model.class_sizes
        trials = self._try_all(bool(asked))
        if asked is None and self._sizes_tell(trials):
            trials = self._try_all(True)
        guesses = [self.hiding.guesses(trial.hidden) for trial in trials]
        first = self.hiding.weights([self.hiding.covering_rate(g) for g in guesses])
        labels = _average([t.solution.labels for t in trials], first)
        weight = self.hiding.weights([self.hiding.agreement(g, labels) for g in guesses])
        wanted = self.model.denoise
        if (few_instances(self.X) if wanted is None else wanted) and not self._over():
            denoised = self._denoise(trials, weight)
            if denoised is not None:
                trials, first = [*trials, denoised], np.append(first, 0.0)
                guesses.append(self.hiding.guesses(denoised.hidden))
                weight = np.append(weight / 2, 0.5)
        labels = _average([t.solution.labels for t in trials], weight)
        return trials, {
            "params": [trial.params for trial in trials],
            "covering_rate": [self.hiding.covering_rate(g) for g in guesses],
            "agreement": [self.hiding.agreement(g, labels) for g in guesses],
            "by_covering_rate": first.tolist(),
            "weight": weight.tolist(),
            "seconds": [trial.seconds for trial in trials],
        }

    def trainer(self, results: dict[str, list[Any]]) -> Callable[..., AveragedRidge]:
        """Return a trainer of the regressions of the lifts that count, averaged as the labels."""
        tried = zip(results["weight"], results["params"], strict=True)
        settings = [(w, p["width"], p["ridge"]) for w, p in tried if not p["denoise"]]
        widths = list(dict.fromkeys(width for _, width, _ in settings))
        of_lift = [[(w, ridge) for w, of, ridge in settings if of == width] for width in widths]
        weight = np.array([sum(w for w, _ in of_one) for of_one in of_lift])
        kept = np.flatnonzero(weight > LEAST_WEIGHT * weight.max())
        lifted = [self.lifted[widths[k]] for k in kept]
        model = AveragedRidge(
            [LiftedRidge(lifted[at][0], max(of_lift[k])[1]) for at, k in enumerate(kept)],
            weight[kept] / weight[kept].sum(),
        )
        return partial(model.fit, bases=[basis for _, basis in lifted])

    def _try_all(self, class_sizes: bool) -> list[Trial]:
        lifts: list[float | None] = [None, *self.model.widths]
        report = Reporter(self.tell, "setting", len(lifts) * len(self.model.ridges))
        found = Parallel(n_jobs=self.model.n_jobs, prefer="threads")(
            delayed(self._try)(width, class_sizes, report) for width in lifts
        )
        return [trial for of_one_lift in found for trial in of_one_lift]

    def _basis(self, width: float | None) -> Basis:
        if width not in self.lifted:
            lift: Lift = LinearLift() if width is None else RBFLift(width, self.model.landmarks)
            lifting = Lifting(lift, self.units, self.seed)
            lifting.fit(self.X, self.context.sample_weight)
            basis = Basis.of(lifting.transform(self.X), self.context.sample_weight)
            self.lifted[width] = lifting, basis
        return self.lifted[width][1]

    def _try(self, width: float | None, class_sizes: bool, report: Reporter) -> list[Trial]:
        """Return the trials of one lift with every ridge; they share its factorisation."""
        trials: list[Trial] = []
        if width is not None and self._over():
            return trials
        basis = self._basis(width)
        for ridge in self.model.ridges:
            if (trials or width is not None) and self._over():
                break
            report()
            trials.append(self._trial(basis, width, ridge, class_sizes))
        return trials

    def _trial(self, basis: Basis, width: float | None, ridge: float, class_sizes: bool) -> Trial:
        started = time.perf_counter()
        solve = _solver(RowSpaceCompletion(ridge, class_sizes), basis, self.context)
        params = _params(width, ridge, class_sizes=class_sizes)
        solution = solve(self.P, self.mask)
        hidden = [solve(view.P, view.mask).labels for view in self.hiding.views]
        return Trial(params, solution, hidden, time.perf_counter() - started)

    def _sizes_tell(self, trials: list[Trial]) -> bool:
        """Return whether the setting that covers most is right far more often with class sizes."""
        if self._over():
            return False
        rates = [self.hiding.covering_rate(self.hiding.guesses(t.hidden)) for t in trials]
        without = trials[int(np.argmax(rates))]
        params = without.params
        width, ridge = params["width"], params["ridge"]
        with_sizes = self._trial(self._basis(width), width, ridge, True)
        before, after = (
            self.hiding.accuracy(self.hiding.guesses(trial.hidden), trial.solution.labels)
            for trial in (without, with_sizes)
        )
        return after - before > FAR

    def _denoise(self, trials: list[Trial], weight: Floats) -> Trial | None:
        """Return completion on denoised features, or None if it covers less or takes too long."""
        started = time.perf_counter()
        report = Reporter(self.tell, "denoising", 1 + len(self.hiding.views))

        def complete(P: Floats, mask: Mask) -> Solution:
            report()
            Z = denoise(self.X, P, mask, self.context, self.model.device)
            basis = Basis.of(Z, self.context.sample_weight)
            return _solver(RowSpaceCompletion(), basis, self.context)(P, mask)

        averages = [
            _average([trial.hidden[k] for trial in trials], weight)
            for k in range(len(self.hiding.views))
        ]
        hidden: list[Floats] = []
        for Y, view in zip(averages, self.hiding.views, strict=True):
            hidden.append(complete(Y, view.mask).labels)
            if self._over():
                return None
        before, after = (
            self.hiding.covering_rate(self.hiding.guesses(each)) for each in (averages, hidden)
        )
        if after < before:
            return None
        solution = complete(_average([t.solution.labels for t in trials], weight), self.mask)
        params = _params(None, RowSpaceCompletion().ridge, denoised=True)
        return Trial(params, solution, hidden, time.perf_counter() - started)

    def _over(self) -> bool:
        budget = self.model.time_budget
        return budget is not None and time.perf_counter() - self.started > budget


def _solver(
    solver: RowSpaceCompletion, basis: Basis, context: Context
) -> Callable[[Floats, Mask], Solution]:
    """Return a solver (P, mask) -> Solution on one basis."""
    return lambda P, mask: solver.solve(basis, P, mask, context.constraints)


def _params(
    width: float | None, ridge: float, class_sizes: bool = False, denoised: bool = False
) -> dict[str, Any]:
    return {
        "labeller": "RowSpace",
        "lift": "linear" if width is None else "rbf",
        "width": width,
        "ridge": ridge,
        "class_sizes": class_sizes,
        "denoise": denoised,
    }


def _average(labels: Sequence[Floats], weight: Floats) -> Floats:
    total: Any = sum(w * Y for w, Y in zip(weight, labels, strict=True))
    return total / total.sum(axis=0)


register(
    "CandidateClassifier",
    CandidateClassifier,
    "ours: row-space completion averaged over settings scored without truth; OpenSet with null",
    "an eigenproblem of at most 800 for each of five lifts, and 45 solves; where features "
    "outnumber instances, three solves of WMCar",
    "when you want one call without an argument",
)
