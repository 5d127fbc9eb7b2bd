"""The choice without truth: families are screened on hidden sets, and those that count solved.

1. Every scaling and lift is tried roughly, on a sample of the instances; those that tell clearly
   less about hidden sets than the best are dropped.
2. What is left is tried with every ridge, beside the other families, on one view, and what is not
   clearly worse there on the others. A family that would cost too much is left out, and named.
3. If features predict the sets better than any label does, sets follow the input, and labels are
   those of the partial likelihood (``logistic``), unless others cover clearly more. Otherwise sets
   follow the label, and settings are weighted by what they tell.
4. What has weight is solved on all instances, and its soft labels are averaged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from candidly.base import CandidateEstimator, Context
from candidly.estimators.progress import Reporter
from candidly.estimators.row_space import LiftedRidge, denoise
from candidly.estimators.scaling import few_instances
from candidly.selection.calibration import HedgedCalibration, estimate_error, temper
from candidly.selection.choice import INPUT, LABEL, Choice, LeftOut, Trial
from candidly.selection.families import FamilySetting, Workbench, of_rows
from candidly.selection.family_cost import too_large
from candidly.selection.hiding import FOLDS, VIEWS, Hiding, View, average, order_of
from candidly.selection.predictor import AveragedRidge, CalibratedSets
from candidly.selection.scalings import distinct_scalings
from candidly.solvers.arrays import Floats, Mask, on_device
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.ridge_gram import regression_of_folds
from candidly.solvers.row_space import Basis, RowSpaceCompletion
from candidly.solvers.set_information import (
    errors_below,
    frequencies,
    log_frequencies,
    log_given_guess,
    told,
    told_by_features,
    told_by_labels,
)

SAMPLE = 1500
"""Largest number of instances on which settings are scored."""
ROUGH, FINE = 250, 500
"""Most landmarks of a kernel in the first pass, and in the second where it is on a sample."""
SCREENED = 2
"""Views of the first pass; the second has all."""
DROPPED, KEPT = 3.0, 5
"""Standard errors below the best at which a lift is dropped, and how many are kept at most."""
HALVED = 8
"""Settings that are tried on all views, at most, of those close on the first."""
SHARING = 2.0
"""A setting this many standard errors below the best has 1/e of its weight in the average."""
CLEAR = 4.0
"""Sets follow the input if features tell about them this many standard errors more than labels."""
SIZES = 2.5
"""Standard errors by which class sizes have to tell more, to be used."""
COUNTS = 0.05
"""Part of the largest weight below which a setting is not solved on all instances."""
MOST_WEIGHT = 3
"""Settings, those of largest weight, that say how sure all labels are where a sample scored."""
CLEARLY = 2.0
"""Standard errors more hidden sets than the floor that have to be covered, to beat it by that."""
ENOUGH = 50
"""Hidden instances from which on the floor is compared with the others."""
PENALTIES = (1.0, 10.0, 100.0)
"""Penalties of the logistic family; the second alone chooses its lift."""

FAMILIES = ("row-space", "neighbours", "logistic", "WMCar")
"""Families by name; the frequency of candidates is always there, as the floor."""


@dataclass(frozen=True)
class Plan:
    """What a search tries: parameters of :class:`CandidateClassifier`, checked.

    ``families`` are names, ``given`` estimators by a name of their own, ``seed`` a number, ``tell``
    is told about every setting.
    """

    families: frozenset[str]
    given: Mapping[str, CandidateEstimator]
    widths: tuple[float, ...]
    ridges: tuple[float, ...]
    landmarks: int
    class_sizes: bool | None
    denoise: bool | None
    time_budget: float | None
    device: str | None
    n_jobs: int | None
    seed: int
    tell: Callable[[str], None]


class FamilySearch:
    """Search over families and settings, each scored on hidden candidate sets.

    Parameters
    ----------
    plan : Plan
        What to try.
    X : (N, m) array
    P : (E,) array of float64
        Soft labels to start from, over the entries of the sets.
    sets : CandidateSets
    context : Context
    """

    def __init__(
        self, plan: Plan, X: Floats, P: Floats, sets: CandidateSets, context: Context
    ) -> None:
        self.plan, self.X, self.P, self.sets, self.context = plan, X, P, sets, context
        self.tell, seed = plan.tell, plan.seed
        self.too_large = tuple(too_large(plan.families, X.shape, sets))
        self.families = plan.families - set(self.too_large)
        for family in self.too_large:
            self.tell(f"{family} would take too long on {len(X)} instances: left out")
        self.started = time.perf_counter()
        self.rows = self.drawn = np.arange(len(X))
        part = context
        sampled = len(X) > SAMPLE
        if sampled:
            drawn = np.random.default_rng(seed).permutation(len(X))[:SAMPLE]
            self.drawn = order_of(X, P, sets, seed)[drawn]
            self.rows = np.sort(self.drawn)
            part = of_rows(context, self.rows)
        some = X[self.rows]
        scaled = distinct_scalings(some, part.sample_weight)
        self.rough = Workbench(some, part, min(plan.landmarks, ROUGH), seed, scaled)
        self.bench = Workbench(some, part, min(plan.landmarks, FINE), seed, scaled)
        self.everything = self.bench
        if sampled or len(X) > self.bench.landmarks:  # fewer are not worth a device
            known = {} if sampled else scaled
            self.everything = Workbench(
                X, context, plan.landmarks, seed, known, self.bench, plan.device
            )
        shown, entries = sets.of_instances(self.rows)
        self.hiding = Hiding.of(some, P[entries], shown, seed)

    def run(self) -> Choice:
        """Return the choice, with labels of all instances for the settings that count."""
        refined = self._refine(self._screen())
        # Without its family, completion only chooses the lifts of the classifier.
        trials = [trial for trial in refined if self._asked(trial)] or refined
        floor = self._try(self.bench, FamilySetting("frequency"))
        scored = [self._told(trial) for trial in trials]
        best = max(scored, key=np.mean)
        by_features = None
        if "logistic" not in self.too_large:  # nothing else would follow from it
            by_features = self._told_by_features(refined)
        by_labels = self._told_by_shown(trials[int(np.argmax([score.mean() for score in scored]))])
        more = 0.0 if by_features is None else errors_below(by_features, by_labels)
        follows = INPUT if more > CLEAR else LABEL
        if follows == INPUT and not self.over() and "logistic" in self.families:
            others = [trial for trial in trials if trial.setting.labeller != "logistic"]
            logistic = self._logistic(refined)
            counted = self._by_partial_likelihood(others, logistic) if others else logistic
            trials = [*others, *logistic]
            scores = [self._covered(trial) for trial in counted]
            beats_floor = self._beats(scores, self._covered(floor))
        else:
            counted, scores = trials, scored
            # A guess that tells nothing scores 0; one that is always the same may score less.
            lowest = max(self._told(floor), np.zeros(len(best)), key=np.mean)
            beats_floor = self._beats(scores, lowest)
            covered = [self._covered(trial) for trial in trials]
            if not beats_floor and self._beats(covered, self._covered(floor), CLEARLY):
                beats_floor, scores = True, covered
        kept = {id(trial) for trial in trials}
        trials = [*trials, *(trial for trial in refined if id(trial) not in kept), floor]
        if beats_floor:
            self._weigh(counted, scores)
            self._solve(counted)
            if follows == LABEL:
                self._reweigh(counted)
                trials += self._denoise(counted)
        else:
            floor.weight = 1.0
            self._solve([floor])
        trials.sort(key=lambda trial: -trial.weight)
        return Choice(
            trials,
            [float(self._told(trial).mean()) for trial in trials],
            [float(self._covered(trial).mean()) for trial in trials],
            follows,
            None if by_features is None else float(by_features.mean()),
            beats_floor,
            self.rows,
            self.hiding,
            None if self.everything is self.bench else self._leave_out(trials),
        )

    def _leave_out(self, trials: list[Trial]) -> LeftOut:
        """Return what the settings of largest weight find for hidden sets among all instances.

        From a sample, or from fewer landmarks, they would find less, and be taken for less sure
        than they are.
        """
        counted = [t for t in trials if t.weight > 0 and t.setting.labeller != "WMCar"]
        counted = counted[:MOST_WEIGHT]
        weight = np.array([trial.weight for trial in counted])
        if len(self.rows) == len(self.X):
            views = self.hiding.views
        else:
            rows = np.sort(self.drawn[: len(self.X) // FOLDS])
            views = [View.of(self.sets, self.P, rows)]
        found = [
            np.concatenate([self.everything.hidden(t.setting, view)[0] for view in views], axis=1)
            for t in counted
        ]
        soft = average(found, weight)
        return LeftOut(np.concatenate([v.rows for v in views]), soft / soft.sum(axis=0))

    def _asked(self, trial: Trial) -> bool:
        """Return whether the family of a trial is one of those asked for."""
        return trial.setting.labeller != "RowSpace" or "row-space" in self.families

    def _beats(
        self, scores: list[NDArray[np.float64]], floor: NDArray[np.float64], errors: float = 1.0
    ) -> bool:
        """Return whether the best score is above the floor, or there is too little to tell."""
        enough = len(self.hiding.fold) >= ENOUGH
        return not enough or errors_below(max(scores, key=np.mean), floor) > errors

    def _screen(self) -> list[Trial]:
        """Return rough trials of every scaling and lift, best first."""
        scalings = list(self.rough.scaled)
        widths: list[float | None] = [None, *self.plan.widths]
        ridge = sorted(self.plan.ridges)[len(self.plan.ridges) // 2]
        sizes = bool(self.plan.class_sizes)
        settings = [
            FamilySetting("RowSpace", scaling, width, ridge, sizes)
            for width in widths
            for scaling in scalings
        ]
        report = Reporter(self.tell, "screening", len(settings))
        trials = self._halved(self.rough, settings, report, SCREENED, len(settings))
        trials.sort(key=lambda trial: -float(self._told(trial).mean()))
        for trial in trials:
            trial.hidden = []  # only what they tell is needed, and of many classes these are large
        return trials

    def _refine(self, screened: list[Trial]) -> list[Trial]:
        """Return trials with all views: the best lifts with every ridge, and other families."""
        best = self._told(screened[0])
        close = [t for t in screened if errors_below(best, self._told(t)) <= DROPPED][:KEPT]
        lifts = [trial.setting for trial in close]
        settings = [
            replace(setting, ridge=ridge) for setting in lifts for ridge in self.plan.ridges
        ]
        if "neighbours" in self.families:
            settings.append(FamilySetting("neighbours"))
        settings += [FamilySetting(name, estimator=each) for name, each in self.plan.given.items()]
        report = Reporter(self.tell, "setting", len(settings))
        trials = self._halved(self.bench, settings, report, VIEWS, HALVED)
        if self.plan.class_sizes is None and not self.over():
            trials += self._with_class_sizes(trials)
        if "logistic" in self.families and not self.over():
            trials += self._linear_logistic(best)
        return trials

    def _halved(
        self,
        bench: Workbench,
        settings: Sequence[FamilySetting],
        report: Any,
        views: int,
        most: int,
    ) -> list[Trial]:
        """Return trials on several views of the settings that are close on the first.

        These are ``most`` at most, and the best of each family.
        """
        tried = self._each(bench, settings, report, 1)
        tried.sort(key=lambda trial: -float(self._told(trial).mean()))
        best = self._told(tried[0])
        families: set[str] = set()
        kept: list[Trial] = []
        for trial in tried:
            close = errors_below(best, self._told(trial)) <= DROPPED and len(kept) < most
            if close or trial.setting.labeller not in families:
                kept.append(trial)
            families.add(trial.setting.labeller)
        for trial in kept:
            self._try_on(trial, bench, self.hiding.views[1:views])
        return kept

    def _linear_logistic(self, best: NDArray[np.float64]) -> list[Trial]:
        """Return logistic regression on features as they are and standardised, where it is close.

        Of a tie it has a part: it is the one family that learns from what is *not* a candidate.
        """
        settings = [
            FamilySetting("logistic", scaling, penalty=PENALTIES[1])
            for scaling in ("none", "standard")
            if scaling in self.bench.scaled
        ]
        rough = [self._try(self.bench, setting, SCREENED) for setting in settings]
        alone = "row-space" not in self.families
        close = [t for t in rough if alone or errors_below(best, self._told(t)) <= DROPPED]
        for trial in close:
            self._try_on(trial, self.bench, self.hiding.views[SCREENED:])
        weaker = [replace(trial.setting, penalty=PENALTIES[0]) for trial in close]
        return [self._try(self.bench, setting) for setting in weaker] + close

    def _with_class_sizes(self, trials: list[Trial]) -> list[Trial]:
        """Return the settings with class sizes, if the best of them tells clearly more."""
        plain = [trial for trial in trials if trial.setting.labeller == "RowSpace"]
        plain.sort(key=lambda trial: -float(self._told(trial).mean()))
        without = self._told(plain[0])
        settings = [replace(trial.setting, class_sizes=True) for trial in plain]
        found = [self._try(self.bench, setting) for setting in settings[:2]]
        within = max((self._told(trial) for trial in found), key=np.mean)
        if errors_below(within, without) <= SIZES:
            return []
        report = Reporter(self.tell, "setting with class sizes", len(settings) - len(found))
        return found + self._each(self.bench, settings[len(found) :], report)

    def _logistic(self, trials: list[Trial]) -> list[Trial]:
        """Return trials of the partial likelihood: the best lift first, then every penalty."""
        tried = [trial.setting for trial in trials if trial.setting.labeller == "RowSpace"]
        scalings = dict.fromkeys(["none", tried[0].scaling])
        widths = dict.fromkeys([None, *[s.width for s in tried if s.width is not None][:1]])
        settings = [
            FamilySetting("logistic", scaling, width, penalty=PENALTIES[1])
            for scaling in scalings
            for width in widths
        ]
        report = Reporter(self.tell, "partial likelihood", len(settings) + len(PENALTIES) - 1)
        rough = self._each(self.bench, settings, report, SCREENED)
        best = max(rough, key=lambda trial: self._covered(trial).mean())
        finer = [replace(best.setting, penalty=penalty) for penalty in PENALTIES]
        return self._each(self.bench, finer, report)

    def _by_partial_likelihood(self, trials: list[Trial], logistic: list[Trial]) -> list[Trial]:
        """Return the logistic trials, or the others if the best of them covers clearly more."""
        covered, rates = (
            max((self._covered(trial) for trial in of_kind), key=np.mean)
            for of_kind in (logistic, trials)
        )
        return trials if errors_below(rates, covered) > 2 else logistic

    def _each(
        self, bench: Workbench, settings: Sequence[FamilySetting], report: Any, views: int = VIEWS
    ) -> list[Trial]:
        """Return a trial of each setting, as long as there is time; of the first in any case."""

        def attempt(place: int, setting: FamilySetting) -> Trial | None:
            if place and self.over():
                return None
            report()
            return self._try(bench, setting, views)

        # Settings on one lift share its basis: they stay in one thread.
        lifts = dict.fromkeys(setting.lift for setting in settings)
        numbered = list(enumerate(settings))
        found = Parallel(n_jobs=self.plan.n_jobs, prefer="threads")(
            delayed(lambda group: [attempt(*each) for each in group])(
                [(k, setting) for k, setting in numbered if setting.lift == lift]
            )
            for lift in lifts
        )
        return [trial for group in found for trial in group if trial is not None]

    def _try(self, bench: Workbench, setting: FamilySetting, views: int = VIEWS) -> Trial:
        trial = Trial(setting)
        self._try_on(trial, bench, self.hiding.views[:views])
        return trial

    def _try_on(self, trial: Trial, bench: Workbench, views: Sequence[View]) -> None:
        started = time.perf_counter()
        found = (bench.hidden(trial.setting, view)[0] for view in views)
        trial.hidden += [soft.astype(np.float32) for soft in found]
        trial.told = None
        trial.seconds += time.perf_counter() - started

    def _told(self, trial: Trial) -> NDArray[np.float64]:
        if trial.told is None:
            rows = self.hiding.rows(len(trial.hidden))
            sets, _ = self.hiding.sets.of_instances(rows)
            trial.told = told_by_labels(trial.guess, sets, self.hiding.fold[rows])
        return trial.told

    def _covered(self, trial: Trial) -> NDArray[np.float64]:
        return self.hiding.covered(trial.guess, len(trial.hidden))

    def _told_by_shown(self, trial: Trial) -> NDArray[np.float64]:
        """Return what the guesses of a trial tell, by the channel of the labels that were shown.

        These are more than the guesses, as many as features learn from.
        """
        given, back = [], []
        for view in self.hiding.views:
            hidden, y = self.bench.hidden(trial.setting, view)
            sets, _ = view.whole.of_instances(view.rows)
            base = frequencies(view.sets)
            guess, labels = hidden.argmax(axis=0), view.sets.rows(y)
            given.append(log_given_guess(labels, view.sets, guess, sets, base))
            back.append(log_frequencies(sets, base))
        return told(np.concatenate(given), np.concatenate(back))

    def _told_by_features(self, trials: list[Trial]) -> NDArray[np.float64]:
        """Return what the features tell about sets, by the best of the lifts that were kept."""
        mask, rows, fold = self.hiding.mask, self.hiding.rows(), self.hiding.fold
        tried = [t.setting for t in trials if t.setting.labeller == "RowSpace"]
        found = []
        for scaling, width, ridge in dict.fromkeys((s.scaling, s.width, s.ridge) for s in tried):
            assert ridge is not None
            _, gram = self.bench.lifted(scaling, width)
            predicted = regression_of_folds(gram, ridge, mask.astype(np.float64), fold)
            found.append(told_by_features(predicted[:, rows], mask[:, rows], fold[rows]))
        return max(found, key=np.mean)

    def _weigh(self, trials: list[Trial], scores: list[NDArray[np.float64]]) -> None:
        """Weight trials by how many standard errors their score is below the best."""
        best = max(scores, key=np.mean)
        below = np.array([max(errors_below(best, score), 0) for score in scores])
        weight = np.exp(-below / SHARING)
        weight[weight < COUNTS * weight.max()] = 0
        for trial, share in zip(trials, weight / weight.sum(), strict=True):
            trial.weight = float(share)

    def _reweigh(self, trials: list[Trial]) -> None:
        """Weight trials that count by how often they find the label that their average gives."""
        counted = [trial for trial in trials if trial.weight > 0]
        rows = self.rows[self.hiding.rows()]
        chosen = self.sets.classes[self.sets.best(self._average(counted))][rows]
        self._weigh(counted, [(trial.guess == chosen).astype(float) for trial in counted])

    def _solve(self, trials: list[Trial], rows: NDArray[np.intp] | None = None) -> None:
        """Label all instances with the settings that have weight.

        ``rows`` are the instances that were hidden, by default those of the search.
        """
        rows = self.rows[self.hiding.rows()] if rows is None else rows
        counted = [trial for trial in trials if trial.weight > 0]
        report = Reporter(self.tell, "solving", len(counted))

        def solve(trial: Trial) -> None:
            report()
            started = time.perf_counter()
            trial.labels, trial.scores = self.everything.solve(trial.setting, self.P, self.sets)
            if trial.setting.labeller == "neighbours":
                trial.labels = self._sharpened(trial, trial.labels, rows)
            trial.seconds += time.perf_counter() - started

        for trial in counted:
            solve(trial)

    def _sharpened(self, trial: Trial, labels: Floats, rows: NDArray[np.intp]) -> Floats:
        """Return soft labels as sure as they are right, by what the trial found for hidden rows.

        Propagation leaves labels far flatter than completion does: in an average of the two they
        would hardly count.
        """
        hidden = np.concatenate(trial.hidden, axis=1).astype(np.float64)
        fold = np.arange(len(rows)) % VIEWS
        sets, entries = self.sets.of_instances(rows)
        found = sets.matrix(labels[entries])
        estimate = estimate_error(hidden, found, sets.mask, fold, True, len(self.X))
        return temper(labels, self.sets, estimate.error)

    def _average(self, trials: list[Trial]) -> Floats:
        weight = np.array([trial.weight for trial in trials])
        return average([t.labels for t in trials if t.labels is not None], weight, self.sets)

    def _denoise(self, trials: list[Trial]) -> list[Trial]:
        """Return completion on features that WMCar denoised, with half the weight, if it is wanted.

        It is not where it covers clearly fewer hidden sets than the average so far, or takes too
        long.
        """
        wanted = self.plan.denoise
        if not (few_instances(self.X) if wanted is None else wanted) or self.over():
            return []
        if wanted is None and "WMCar" not in self.families:
            return []
        counted = [trial for trial in trials if trial.weight > 0]
        weight = np.array([trial.weight for trial in counted])
        trial = Trial(FamilySetting("WMCar"))
        started = time.perf_counter()
        report = Reporter(self.tell, "denoising", 1 + SCREENED)
        before = Trial(FamilySetting("average"))
        for view in self.hiding.views[:SCREENED]:
            report()
            seen = [self.bench.hidden(each.setting, view) for each in counted]
            Y = np.zeros(view.whole.shape)
            Y[:, view.shown] = view.sets.matrix(average([y for _, y in seen], weight, view.sets))
            hidden = average([soft for soft, _ in seen], weight)
            Y[:, view.rows] = hidden / hidden.sum(axis=0)
            before.hidden.append(Y[:, view.rows])
            sets, P = view.opened(Y)
            found, _ = self._complete(self.bench, P, sets)
            trial.hidden.append(sets.matrix(found)[:, view.rows])
            if self.over():
                return []
        # Of few hidden instances, how many are covered is less noise than what they tell.
        if errors_below(self._covered(before), self._covered(trial)) > 1:
            return []
        report()
        trial.labels, trial.scores = self._complete(
            self.everything, self._average(counted), self.sets
        )
        trial.seconds = time.perf_counter() - started
        for each in counted:
            each.weight /= 2
        trial.weight = 0.5
        return [trial]

    def _complete(self, bench: Workbench, P: Floats, sets: CandidateSets) -> tuple[Floats, Floats]:
        """Return row-space completion, from labels P, on what WMCar leaves of the features."""
        Z = denoise(bench.X, P, sets, bench.context, self.plan.device)
        basis = Basis.of(on_device(Z, bench.device), bench.context.sample_weight)
        found = RowSpaceCompletion().solve(basis, P, sets, bench.context.constraints)
        return found.labels, found.scores

    def opened(self, Y: Floats, rows: Mask) -> FamilySearch:
        """Return the search with any class possible in some rows, which start from Y (c, N)."""
        other = copy(self)
        mask = self.sets.mask
        mask[:, rows] = self.sets.listed[:, None]
        other.sets = CandidateSets.of_mask(mask)
        other.P = other.sets.entries_of(np.where(rows, Y, self.sets.matrix(self.P)))
        return other

    def predict_hidden(self, choice: Choice, hiding: Hiding, views: int) -> Choice:
        """Return the choice with soft labels of all instances, each found with its set hidden."""
        shown = [hiding.view(k) for k in range(views)]

        def predict(trial: Trial) -> Trial:
            if trial.weight == 0 or trial.setting.labeller == "WMCar":
                return replace(trial, hidden=[])
            hidden = [self.everything.hidden(trial.setting, view)[0] for view in shown]
            return replace(trial, hidden=hidden)

        trials = [predict(trial) for trial in choice.trials]
        everybody = np.arange(len(self.X))
        return replace(choice, trials=trials, sample=everybody, hiding=hiding, left_out=None)

    def solve_again(self, choice: Choice) -> Choice:
        """Return a choice that was predicted for all instances, with labels by the sets as now."""
        trials = [replace(trial) for trial in choice.trials]
        denoised = [t for t in trials if t.weight > 0 and t.setting.labeller == "WMCar"]
        counted = [t for t in trials if t.weight > 0 and t.setting.labeller != "WMCar"]
        self._solve(counted, choice.hiding.rows(FOLDS))
        for trial in denoised:
            trial.labels, trial.scores = self._complete(
                self.everything, self._average(counted), self.sets
            )
        hiding = replace(choice.hiding, P=self.P, sets=self.sets)
        return replace(choice, trials=trials, hiding=hiding)

    def labels(self, choice: Choice) -> Floats:
        """Return the averaged soft labels (E,) of a choice."""
        return self._average(choice.counted)

    def trainer(self, choice: Choice) -> Callable[..., AveragedRidge]:
        """Return a trainer of regressions on the lifts that count, or else on those kept."""
        tried = [trial for trial in choice.trials if trial.setting.labeller == "RowSpace"]
        used = [trial for trial in tried if trial.weight > 0] or tried
        ridges: dict[tuple[str | None, float | None], float] = {}
        for trial in used:  # largest weight first
            ridges.setdefault(trial.setting.lift, trial.setting.ridge or 1e-3)
        lifted = [self.everything.lifted(*lift) for lift in ridges]
        regressions = [
            LiftedRidge(lifting, ridge)
            for (lifting, _), ridge in zip(lifted, ridges.values(), strict=True)
        ]
        return AveragedRidge(regressions, lifted, self.sets).fit

    def predictor(self, choice: Choice, hidden: LeftOut) -> CalibratedSets | None:
        """Return logistic regression on the sets, calibrated, where that is what labelled."""
        best = choice.trials[0].setting
        if best.labeller != "logistic":
            return None
        fitted = self.everything.fitted(best, self.P, self.sets)
        rows = hidden.rows
        found = self.sets.classes[self.sets.best(self._average(choice.counted))][rows]
        mask = self.sets.of_instances(rows)[0].mask
        calibration = HedgedCalibration.of(hidden.labels, mask, found)
        return CalibratedSets(fitted, calibration)

    def over(self) -> bool:
        """Return whether the time budget is spent."""
        budget = self.plan.time_budget
        return budget is not None and time.perf_counter() - self.started > budget
