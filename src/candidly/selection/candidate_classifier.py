"""CandidateClassifier: families of labellers are scored on hidden sets, never by the truth."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from candidly.base import (
    CandidateEstimator,
    Context,
    DoubtfulLabelsWarning,
    Labeller,
    LabellingResult,
    MethodTags,
)
from candidly.estimators.examined_features import ExaminedFeatures
from candidly.estimators.open_set import OpenSet
from candidly.estimators.scaling import few_instances
from candidly.parameters import (
    COUNT,
    NAME,
    NOT_NEGATIVE,
    SHARE,
    SWITCH,
    Constraints,
    PositiveNumbers,
    one_of,
    optional,
)
from candidly.registry import name_of, register
from candidly.selection.calibration import ErrorEstimate, estimate_error, temper
from candidly.selection.choice import LABEL, Choice, LeftOut
from candidly.selection.family_cost import search_cost, too_large
from candidly.selection.family_search import FAMILIES, FINE, ROUGH, SAMPLE, FamilySearch, Plan
from candidly.selection.hiding import average
from candidly.selection.report import ChoiceSummary, FitReport
from candidly.selection.set_noise import Suspects, check_set_noise, open_suspects
from candidly.solvers import Population, Solution, Status, Trace
from candidly.solvers.arrays import Floats
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.cost import Cost
from candidly.solvers.row_space import LeftOutEvidence
from candidly.solvers.solution import Step
from candidly.telling import teller


class CandidateClassifier(ExaminedFeatures):
    """Classifier for candidate labels that needs no setting.

    Where there is a null class the labeller is :class:`OpenSet`. Otherwise several families of
    labellers are tried, without truth: candidate sets are hidden in turn, a labeller guesses the
    labels there, and it is measured how much a guess tells about the hidden set. Settings are
    averaged, weighted by how many standard errors they are below the best.

    - ``row-space``: completion of the labels in the row space of the features, as they are,
      standardised, scaled to [0, 1] and by rank, linear and with kernels of several widths
    - ``neighbours``: labels passed on between neighbours, as in IPAL
    - ``logistic``: logistic regression on the partial likelihood of the sets. It is used where sets
      follow the input: where features predict them better than any label does
    - ``WMCar``: completion on features from which WMCar removed sparse noise, where there are
      fewer than 2.5 instances per feature
    - the frequency of candidates, without features, is the floor. Where no family beats it, each
      label is the most frequent candidate, and a :class:`DoubtfulLabelsWarning` says so

    Soft labels and probabilities are calibrated on hidden sets, and ``error_estimate_`` says how
    many labels are wrong, without truth.

    Solves start from priors on candidates; features overrule them.

    Rows far outside the others are left out of the solve, named in a warning, and labelled last,
    from the others. Codes for missing values, as -9999, are warned of and become medians.

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
        Let a class that is large so far be more likely, in completion; by default where that
        tells clearly more about hidden sets.
    denoise : bool, optional
        Also remove sparse noise from the features; by default where there are fewer than 2.5
        instances per feature.
    families : sequence of str and estimators, optional
        Families to try, of those above; by default all of them. A candidate estimator, such as
        ``SelfLabelling()``, is one more family.
    population : Population, optional
        How features of this kind vary within and between people, as in :class:`OpenSet`; only
        where there is a null class, otherwise it is refused.
    time_budget : float, optional
        Seconds after which nothing further is tried; one setting always is.
    impute : bool
        Replace NaN by the median of its column, also in ``predict``; otherwise it is an error.
    set_noise : float or "auto"
        Share of candidate sets that miss the true label, below 1. Any label is then possible at a
        price, and ``suspect_`` has the instances that probably paid it. "auto" takes for the share
        how often the surest predictions are outside of their sets, and 0 unless that is clear,
        as it is not where few predictions are sure. Not with a null class. It takes matrices of
        all classes and instances, and refuses where these are too large for the memory.
    at_most_once, at_least_one : bool
        As in :class:`MCar`. With a null class a name is given at most once in any case.
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" averages regressions on the labels found, by how well they predict
        labels left out; it is the logistic regression where that labelled; with a null class it
        is that of :class:`OpenSet`.
    device : str, optional
        PyTorch device on which noise is removed from the features, as in :class:`MCar`, and on
        which row-space completion labels all instances, if these are more than 500. Settings are
        scored on a sample, which is not worth a device; other families run on the CPU. With a null
        class as in :class:`OpenSet`.
    n_jobs : int, optional
        Number of lifts that are tried at a time, as in joblib; they share memory.
    verbose : int
        1 says first how long a long fit will take, and reports every setting.
    sparse_output : bool or "auto"
        As in :class:`MCar`.
    random_state : int, RandomState or None
        Draws landmarks, and what is hidden.

    Attributes
    ----------
    best_params_ : dict
        The setting with the largest weight, and whether sets follow the label or the input.
    cv_results_ : dict of lists
        Everything tried on all views, largest weight first: ``params``, ``information`` (what
        guesses tell about hidden sets, in nats), ``covering_rate`` (how often guesses are in
        them), ``weight`` in the result, ``seconds`` (without the lift, which settings share).
        With a null class it is open-set labelling alone.
    error_estimate_ : ErrorEstimate
        Estimated share of wrong labels, with an interval: ``error``, ``low``, ``high``. Not with a
        null class.
    choice_ : ChoiceSummary
        What :meth:`report` tells about the families tried and the classes.
    suspect_ : Suspects
        Where ``set_noise`` is not 0: instances whose set may miss the label, most probable first:
        ``rows``, ``probability``, ``proposed`` label. ``transduction_`` has a proposed label where
        it is likelier than every candidate.
    set_noise_ : float
        Where ``set_noise`` is not 0: the share of sets without the true label.
    feature_report_ : FeatureExamination
        What was found in the features: broken rows and columns; ``notes`` are sentences.
    transduction_, label_distributions_, classes_, n_iter_, solution_, classifier_
        As in :class:`MCar`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=4, random_state=0)
    >>> model = candidly.CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.02
    True
    >>> model.best_params_["sets_follow"]
    'label'
    >>> model.error_estimate_.low <= 0.01 <= model.error_estimate_.high
    True
    """

    takes = MethodTags(proba=True)

    best_params_: dict[str, Any]
    cv_results_: dict[str, list[Any]]
    error_estimate_: ErrorEstimate
    choice_: ChoiceSummary
    set_noise_: float
    suspect_: Suspects

    _parameter_constraints: ClassVar[Constraints] = {
        **CandidateEstimator._parameter_constraints,
        "widths": [PositiveNumbers(least=0)],
        "ridges": [PositiveNumbers(least=1)],
        "landmarks": COUNT,
        "class_sizes": optional(SWITCH),
        "denoise": optional(SWITCH),
        "families": ["array-like", None],
        "impute": SWITCH,
        "set_noise": [*SHARE, *one_of("auto")],
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
        families: Sequence[Any] | None = None,
        population: Population | None = None,
        time_budget: float | None = None,
        impute: bool = False,
        set_noise: float | str = 0.0,
        at_most_once: bool = True,
        at_least_one: bool = False,
        classifier: Any = "auto",
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.widths = widths
        self.ridges = ridges
        self.landmarks = landmarks
        self.class_sizes = class_sizes
        self.denoise = denoise
        self.families = families
        self.population = population
        self.time_budget = time_budget
        self.impute = impute
        self.set_noise = set_noise
        self.at_most_once = at_most_once
        self.at_least_one = at_least_one
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    def report(self) -> FitReport:
        """Return what was chosen and why, how sure it is, and what to try, without truth.

        Examples
        --------
        >>> import candidly
        >>> digits = candidly.datasets.load("digits", each=20, n_extra=2, random_state=0)
        >>> model = candidly.CandidateClassifier(random_state=0).fit(digits.X, digits.candidates)
        >>> model.report().n_rows
        200
        """
        check_is_fitted(self)
        return FitReport.of(self)

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Bind the features to a search over families, or to open-set labelling."""
        if context.null is not None:
            if self.set_noise != 0:
                raise ValueError(
                    "set_noise is for candidates without a null class: null is what means that "
                    "none of the others is right; leave one of them out"
                )
            return _open_set(X, context, self.population, self.device)
        if self.population is not None:
            raise ValueError(
                "population is for candidates with a null class, and these have none; leave it "
                "out, or use OpenSet(population=...)"
            )
        plan = self._plan()

        def label(P: Floats, sets: CandidateSets) -> LabellingResult:
            if self.set_noise != 0:
                check_set_noise(sets)
            search = FamilySearch(plan, X, P.astype(np.float64), sets, context)
            choice = search.run()
            opened = open_suspects(search, choice, self.set_noise) if self.set_noise != 0 else None
            if opened is None:
                return _result(search, choice, X)
            return opened.proposed(_result(opened.search, opened.choice, X), sets, context)

        return label

    def predicted_cost(self, X: Floats, sets: CandidateSets, context: Context) -> Cost:
        """Return the cost of the search, or of open-set labelling."""
        if context.null is not None:
            model = OpenSet(population=self.population)
            return model.predicted_cost(X, sets, context)
        families = set(self._plan().families)
        families -= set(too_large(families, X.shape, sets))
        denoises = few_instances(X) if self.denoise is None else self.denoise
        most = self.landmarks
        return search_cost(
            families,
            X.shape,
            sets,
            SAMPLE,
            (min(ROUGH, most), min(FINE, most), most),
            (len(self.widths), len(self.ridges)),
            denoises and "WMCar" in families,
        )

    def _label(
        self, X: Floats, P: Floats, sets: CandidateSets, context: Context
    ) -> LabellingResult:
        result = super()._label(X, P, sets, context)
        if self.set_noise == 0:
            return result
        suspects = Suspects.of(result.solution.matrix(), sets.mask, self.classes_)
        rate = {"set_noise_": 0.0 if isinstance(self.set_noise, str) else self.set_noise}
        return replace(result, attributes={**rate, **result.attributes, "suspect_": suspects})

    def _plan(self) -> Plan:
        """Return what to try, with the families by name."""
        families = FAMILIES if self.families is None else self.families
        if isinstance(families, str) or not len(families):
            raise ValueError(f"families are a list of at least one, got {families!r}")
        named = {each for each in families if isinstance(each, str)}
        if named - set(FAMILIES):
            wrong = min(named - set(FAMILIES))
            raise ValueError(
                f"there is no family {wrong!r}; families are {', '.join(FAMILIES)}, or candidate "
                "estimators such as SelfLabelling()"
            )
        if named == {"WMCar"} and len(families) == 1:
            raise ValueError("WMCar starts from labels of another family; add 'row-space'")
        given = [each for each in families if not isinstance(each, str)]
        for each in given:
            if not isinstance(each, CandidateEstimator):
                raise TypeError(f"families are names or candidate estimators, got {each!r}")
        return Plan(
            families=frozenset(named),
            given={f"{name_of(each)} {k}": each for k, each in enumerate(given, 1)},
            widths=tuple(self.widths),
            ridges=tuple(self.ridges),
            landmarks=self.landmarks,
            class_sizes=self.class_sizes,
            denoise=self.denoise,
            time_budget=self.time_budget,
            device=self.device,
            n_jobs=self.n_jobs,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            tell=teller(self.verbose),
        )


def _result(search: FamilySearch, choice: Choice, X: Floats) -> LabellingResult:
    """Return what the choice found: tempered soft labels, and how to predict."""
    counted, sets = choice.counted, search.sets
    weight = np.array([trial.weight for trial in counted])
    labels = search.labels(choice)
    found = sets.classes[sets.best(labels)]
    scores = average([t.scores for t in counted if t.scores is not None], weight)
    hidden = choice.hidden()
    left_out = choice.left_out or LeftOut(choice.sample[choice.hiding.rows()], hidden)
    some, entries = sets.of_instances(left_out.rows)
    estimate = estimate_error(
        left_out.labels,
        some.matrix(labels[entries]),
        some.mask,
        left_out.fold,
        choice.follows == LABEL,
        len(X),
    )
    if not choice.beats_floor:  # by chance
        estimate = estimate.with_doubt(1 - float((1 / sets.sizes).mean()))
    elif choice.follows != LABEL:
        # Nothing tells how often the model itself is wrong, but that another family differs.
        estimate = estimate.with_doubt(choice.disagreement(found))
    doubts = _doubts(choice)
    for doubt in doubts:
        warnings.warn(doubt, DoubtfulLabelsWarning, stacklevel=4)
    solution = Solution(
        temper(labels, sets, estimate.error),
        scores,
        sets,
        Status.DOUBTFUL if doubts else Status.DONE,
        Trace([Step(np.nan, np.nan, 0, np.nan, told, 0) for told in choice.told]),
        doubts=tuple(doubts),
    )
    results = {
        "params": [trial.setting.params for trial in choice.trials],
        "information": choice.told,
        "covering_rate": choice.covered,
        "weight": [trial.weight for trial in choice.trials],
        "seconds": [trial.seconds for trial in choice.trials],
    }
    best = {**choice.trials[0].setting.params, "sets_follow": choice.follows}
    predictor = search.predictor(choice, left_out)
    return LabellingResult(
        solution,
        search.trainer(choice) if predictor is None else None,
        predictor=predictor,
        attributes={
            "best_params_": best,
            "cv_results_": results,
            "error_estimate_": estimate,
            "choice_": ChoiceSummary.of(choice, found, sets, hidden, search.too_large),
        },
        evidence=LeftOutEvidence(X),
    )


def _doubts(choice: Choice) -> list[str]:
    """Return what makes all labels doubtful."""
    if choice.beats_floor:
        return []
    return [
        "no family of labellers tells more about hidden candidate sets than the frequency of the "
        "candidates does, so each label is the candidate that is listed most often; these "
        "features may not tell the classes apart, or there are too few instances"
    ]


def _open_set(
    X: Floats, context: Context, population: Population | None, device: str | None
) -> Labeller:
    """Return the labeller for a null class, open-set labelling; nothing is chosen."""
    model = OpenSet(population=population, device=device)
    settings = ("shown", "learn_shown", "elsewhere", "damping", "shrinkage", "population")
    params = {"labeller": "OpenSet", **{name: getattr(model, name) for name in settings}}
    results = {"params": [params], "weight": [1.0]}
    labeller = model.soft_labeller(X, context)

    def label(P: Floats, sets: CandidateSets) -> LabellingResult:
        choice = ChoiceSummary.of_sets(sets)
        attributes = {"best_params_": params, "cv_results_": results, "choice_": choice}
        return replace(labeller(P, sets), attributes=attributes)

    return label


register(
    "CandidateClassifier",
    CandidateClassifier,
    "ours: families of labellers, scored without truth and averaged; OpenSet with null",
    "about seventy solves of at most 1,500 instances, then at most twelve of all; where "
    "features outnumber instances, three solves of WMCar",
    "when you want one call without an argument",
)
