"""The contract of every candidate estimator: validate, label, train a classifier on the labels."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing, assert_all_finite, column_or_1d
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from candidly.candidates import Candidates, UnlistedClassWarning
from candidly.candidates.ambiguity import ListingRates
from candidly.candidates.forms import holds_sets, is_missing
from candidly.metrics import covering_rate
from candidly.parameters import SPARSE, Constraints, one_of
from candidly.registry import name_of
from candidly.solvers import AtLeastOneNamed, AtMostOnce, CandidateSets, Constraint, assign
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.assignment import worth
from candidly.solvers.constraints import violations
from candidly.solvers.cost import LONG, Cost
from candidly.solvers.solution import Solution
from candidly.telling import heard_by, teller
from candidly.threads import suited_threads


@dataclass(frozen=True)
class MethodTags:
    """What a method accepts beyond features and candidate sets; it refuses what it would ignore.

    Parameters
    ----------
    groups, null, constraints, weights : bool
        Whether it can use groups, a null class, constraints and ``sample_weight``.
    priors : bool
        Whether it starts from soft labels, so that priors and ICE work with it.
    proba : bool
        Whether the classifier that "auto" stands for has ``predict_proba``.
    any_features : bool
        Whether features may be sparse, a DataFrame of any columns, or miss values.
    """

    groups: bool = True
    null: bool = True
    constraints: bool = True
    weights: bool = True
    priors: bool = True
    proba: bool = False
    any_features: bool = False


DENSE_OUTPUT = 50_000_000
"""Numbers in ``label_distributions_`` above which ``sparse_output="auto"`` makes it sparse."""

INSTEAD = "CandidateClassifier, RowSpace or WMCar"
"""Methods that take everything; named where another one refuses something."""


@dataclass(frozen=True)
class Context:
    """What a labeller may know about the instances beyond features and candidates.

    Parameters
    ----------
    sample_weight : (N,) array or None
        Positive.
    constraints : sequence of Constraint
        Constraints on the labels, including those of the groups.
    groups : (N,) array of int or None
        Group of each instance, numbered from 0.
    null : int or None
        Column of the null class.
    """

    sample_weight: Floats | None = None
    constraints: Sequence[Constraint] = ()
    groups: NDArray[np.intp] | None = None
    null: int | None = None


@dataclass(frozen=True)
class LabellingResult:
    """Result of a labeller: a solution, and how to predict for new instances.

    Parameters
    ----------
    solution : Solution
    trainer : callable or None
        Trains the classifier that "auto" stands for: ``trainer(X, labels)``, with
        ``sample_weight=`` where there are weights, returns it fitted. None stands for a linear
        support vector machine.
    predictor : fitted classifier or None
        Belongs to exactly these labels, and is used instead of training one.
    attributes : mapping of str to object
        Fitted attributes that the estimator keeps, e.g. ``setting_``.
    evidence : callable or None
        ``(labels, sets) -> (E,) array``, from methods whose soft labels saturate: decides
        between equal labels where instances compete for them.
    chosen : (N,) array of int or None
        Hard labels, by number of their class, from methods that choose them under the
        constraints themselves.
    """

    solution: Solution
    trainer: Callable[..., Any] | None = None
    predictor: Any = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    evidence: Callable[[NDArray[Any], CandidateSets], NDArray[Any]] | None = None
    chosen: NDArray[np.intp] | None = None

    def evidence_of(self, solution: Solution) -> NDArray[Any] | None:
        """Return what decides between equal labels of a solution (E,), if the method has it."""
        return None if self.evidence is None else self.evidence(solution.labels, solution.sets)


Labeller = Callable[[Floats, CandidateSets], LabellingResult]
"""(P, sets) -> LabellingResult: a labeller to which features and settings are bound.

P (E,) are soft labels to start from, one number per entry of the candidate sets.
"""


class PartialGroupWarning(UserWarning):
    """Warning about a group of which rows were left out, e.g. by a fold."""


class BrokenFeaturesWarning(UserWarning):
    """Warning about rows far outside the others, and about codes for missing values."""


class SortedFoldsWarning(UserWarning):
    """Warning about parts of candidates, to fit and to score, that are no random parts."""


class DoubtfulLabelsWarning(UserWarning):
    """Warning about labels, all or those of some names, that may be wrong; it says why."""


UNLIKELY = 1e-8
"""Chance below which two parts of candidates are not taken for random ones."""


def _classifier_has_proba(estimator: CandidateEstimator) -> bool:
    fitted = getattr(estimator, "classifier_", None)
    if fitted is not None or not isinstance(estimator.classifier, str):
        return hasattr(estimator.classifier if fitted is None else fitted, "predict_proba")
    return estimator.tags.proba


class CandidateEstimator(ClassifierMixin, BaseEstimator):
    """Base of the estimators: a labeller first, a classifier on its labels second.

    A subclass says how labels are found, in :meth:`soft_labeller`, and in ``takes`` what it
    can use; everything else is here.

    Parameters
    ----------
    classifier : "auto", scikit-learn classifier or None
        Trained on the recovered labels, for ``predict``. "auto" suits the labeller: a linear
        support vector machine on the features as it scaled them, as in the paper, or its
        own. Your own classifier gets the features as they came, and the labels as column
        numbers of ``classes_``. None trains none: ``predict`` is then an error.
    sparse_output : bool or "auto"
        Whether ``label_distributions_`` is a sparse array; "auto" makes it one where it would
        have more than 50 million numbers.
    random_state : int, RandomState or None
        Passed to the classifier where it takes one.
    """

    takes: ClassVar[MethodTags] = MethodTags()

    _parameter_constraints: ClassVar[Constraints] = {
        "classifier": [*one_of("auto"), HasMethods(["fit", "predict"]), None],
        "sparse_output": SPARSE,
        "random_state": ["random_state"],
    }

    classes_: NDArray[Any]
    solution_: Solution
    transduction_: NDArray[Any]

    def __init__(
        self,
        *,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.sparse_output = sparse_output
        self.random_state = random_state

    @property
    def tags(self) -> MethodTags:
        """What the method accepts; a method around another accepts what that one accepts."""
        return self.takes

    @abstractmethod
    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Bind checked features to a function ``(P, sets) -> LabellingResult``.

        Soft labels P and those of the result are vectors over the entries of candidate sets.
        Nothing is stored in the estimator.
        """

    def fit(
        self,
        X: ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        constraints: Sequence[Constraint] = (),
        null: Any = None,
    ) -> Self:
        """Resolve the candidates, then train the classifier on the labels found.

        What a method cannot use is an error; ``candidly methods`` lists what each accepts.

        Parameters
        ----------
        X : (N, m) array or DataFrame
            Features, dense and finite; NaN where a method has ``impute=True``.
            :class:`SelfLabelling` takes others too.
        y : Candidates, mask, soft matrix, list of sets, or 1-d labels
            Candidate labels of each instance; see :class:`candidly.Candidates`.
        sample_weight : (N,) array, optional
            How much an instance counts. One of weight 0 has no influence, and keeps its
            prior as its label distribution. With groups or constraints it must be positive.
        groups : (N,) array, optional
            Group of each instance, e.g. the photo of each face, unless the candidates have
            groups already. No two instances of a group get the same label, except null.
        constraints : sequence of constraints
            ``MustLink``, ``CannotLink``, ``ClassProportions``, or your own objects with
            ``project``, ``violation`` and ``rows``; they count rows of this ``X`` from 0, so
            they do not go through cross-validation.
        null : class name, optional
            The class that means "none of these", unless the candidates have one already; see
            :class:`candidly.Candidates`.
        """
        self._validate_params()
        X, candidates, weight = self._validate(X, y, sample_weight, groups, null)
        self._listing_rates = ListingRates.of(candidates) if candidates.is_part else None
        rules = self._rules(candidates, constraints)
        self._refuse_what_is_not_taken(candidates, weight, constraints)
        priors = candidates.sparse_priors
        sets, P = CandidateSets.of_rows(priors), priors.data.astype(_dtype(X))
        exact = rules if self._assigns() else ()
        assign(P, sets, exact)  # contradictions are found before the work, not after
        if rules and weight is not None and not weight.all():
            raise ValueError(
                "sample_weight 0 with groups or constraints: leave these instances out instead"
            )
        context = Context(weight, rules, candidates.group_numbers, candidates.null_column)
        self.classes_ = candidates.classes
        self._foretell(X, sets, context)
        with suited_threads(*np.shape(X)):
            result = self._label(X, P, sets, context)
            chosen = result.chosen
            if chosen is None:
                merit = result.solution.sets.values_on(_worth(result, bool(exact)), sets)
                chosen = assign(merit, sets, exact)
            self._store(result)
            self.transduction_ = self.classes_[chosen]
            self.n_iter_ = len(self.solution_.rounds or self.solution_.trace.steps)
            self.classifier_ = self._trained_classifier(self.classifier, result, X, chosen, weight)
        return self

    def predicted_cost(self, X: Floats, sets: CandidateSets, context: Context) -> Cost | None:
        """Return what a fit will take, by the shape of the problem; None where it is not known."""
        return None

    def _foretell(self, X: Floats, sets: CandidateSets, context: Context) -> None:
        """Say how long a long fit will take, and how much memory, to whoever wants to know."""
        verbose = getattr(self, "verbose", 0)
        if not verbose and heard_by() is None:
            return
        cost = self.predicted_cost(X, sets, context)
        if cost is not None and cost.seconds() >= LONG:
            teller(verbose)(cost.forecast(type(self).__name__))

    @cached_property
    def label_distributions_(self) -> Any:
        """Soft labels (N x c): an array, or a sparse one, by ``sparse_output``.

        It is made when it is first asked for; ``transduction_`` and ``predict`` do without it.
        """
        solution, sparse = self.solution_, self.sparse_output
        if sparse == "auto":
            sparse = math.prod(solution.sets.shape) > DENSE_OUTPUT
        rows = solution.sets.rows(solution.labels)
        return rows if sparse else rows.toarray()

    def fit_predict(self, X: ArrayLike, y: Any, **options: Any) -> NDArray[Any]:
        """Fit with the options of ``fit``, and return the label found for each instance."""
        return self.fit(X, y, **options).transduction_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return labels of new instances, by the classifier trained on the recovered labels."""
        classifier, X = self._ready(X)
        with suited_threads(*X.shape):
            return self.classes_[classifier.predict(X)]

    @property
    def predict_proba(self) -> Callable[[ArrayLike], Floats]:
        """``predict_proba(X)``: the probability of each class, in the order of ``classes_``.

        Only where the classifier has it: scikit-learn asks by ``hasattr``.
        """
        if not _classifier_has_proba(self):
            raise AttributeError(
                f"{type(self).__name__} has no predict_proba, since its classifier has none; use "
                "CandidateClassifier, or set classifier to one that has it, such as "
                "sklearn.linear_model.LogisticRegression()"
            )
        return self._predict_proba

    def _predict_proba(self, X: ArrayLike) -> Floats:
        classifier, X = self._ready(X)
        proba = np.zeros((_num_samples(X), len(self.classes_)))
        with suited_threads(*X.shape):
            proba[:, classifier.classes_] = classifier.predict_proba(X)
        return proba

    def score(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of ``predict`` for 1-d labels, or its covering rate for candidates.

        The covering rate, how often the prediction is one of the candidates, needs no
        truth: ``cross_val_score`` and ``GridSearchCV`` work on candidate sets as they are.
        Shuffle the folds of data that is sorted by class: ``KFold(5, shuffle=True)``, or
        ``candidly.interop.CandidateKFold()``; folds that are not are warned of.
        """
        candidates = read_candidates(y, known=self.classes_)
        _warn_of_sorted(getattr(self, "_listing_rates", None), candidates)
        return covering_rate(candidates, self.predict(X), sample_weight=sample_weight)

    def _validate_params(self) -> None:
        """Refuse parameters that are no such thing; an estimator inside is never fitted itself."""
        super()._validate_params()
        for value in self.get_params(deep=False).values():
            if isinstance(value, CandidateEstimator):
                value._validate_params()

    def _label(
        self, X: Floats, P: Floats, sets: CandidateSets, context: Context
    ) -> LabellingResult:
        """Return the result for all instances; an instance of weight 0 keeps its prior."""
        weight = context.sample_weight
        if weight is None or weight.all():
            result = self.soft_labeller(X, context)(P, sets)
            found = result.solution
            # Elimination changed the labels after the solver looked at them.
            broken = violations(found.labels, found.sets, context.constraints)
            return replace(result, solution=replace(found, violations=broken))
        counts = weight > 0
        groups = None if context.groups is None else context.groups[counts]
        part = replace(context, sample_weight=weight[counts], groups=groups)
        counted, at = sets.of_instances(np.flatnonzero(counts))
        result = self.soft_labeller(_safe_indexing(X, counts), part)(P[at], counted)
        chosen = None
        if result.chosen is not None:
            chosen = sets.classes[sets.best(P)]
            chosen[counts] = result.chosen
        return replace(result, solution=put_back(result.solution, P, sets, counts), chosen=chosen)

    def _store(self, result: LabellingResult) -> None:
        """Keep the solution and the fitted attributes that the labeller returned."""
        self.solution_ = result.solution
        self.__dict__.pop("label_distributions_", None)  # that of a fit before
        for name, value in result.attributes.items():
            setattr(self, name, value)

    def _rules(self, candidates: Candidates, constraints: Sequence[Constraint]) -> list[Constraint]:
        """Return Algorithm 3's constraints where there are groups, and those that were given."""
        rules: list[Constraint] = []
        null = candidates.null_column
        groups = candidates.group_numbers
        if groups is not None:
            at_most_once, at_least_one = self._group_rules()
            if at_least_one and null is not None:
                rules.append(AtLeastOneNamed(groups, null, _partial(candidates)))
            if at_most_once:
                rules.append(AtMostOnce(groups, null))
        if hasattr(constraints, "project"):
            raise TypeError("constraints are a list; put the one you have in brackets")
        for given in constraints or ():
            rules.append(given.bind(candidates.classes, null) if hasattr(given, "bind") else given)
        return rules

    def _group_rules(self) -> tuple[bool, bool]:
        """Return whether a group has each name at most once, and whether it needs a name."""
        return getattr(self, "at_most_once", True), bool(getattr(self, "at_least_one", False))

    def _assigns(self) -> bool:
        """Return whether labels obey constraints exactly, or are the largest soft label each."""
        return True

    def _refuse_what_is_not_taken(
        self, candidates: Candidates, weight: Any, constraints: Sequence[Constraint]
    ) -> None:
        """Raise an error if something was given that the method would ignore."""
        tags = self.tags
        wrong = {
            "groups": not tags.groups and candidates.groups is not None,
            "null class": not tags.null and candidates.null_column is not None,
            "constraints": not tags.constraints and bool(constraints),
            "sample_weight": not tags.weights and weight is not None,
            "priors on candidates": not tags.priors and not _uniform(candidates),
        }
        for what in (what for what, is_wrong in wrong.items() if is_wrong):
            them = "it" if what in ("null class", "sample_weight") else "them"
            raise ValueError(
                f"{self._called()} takes no {what} and would ignore {them}; leave {them} out, or "
                f"use {INSTEAD} instead"
            )

    def _called(self) -> str:
        """Return the name of the method for messages."""
        return name_of(self)

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, null: Any
    ) -> tuple[Floats, Candidates, Floats | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if self.tags.any_features:
            X = self._any_features(X)
        else:
            X = validate_data(
                self, X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False
            )
            _check_finite(X, getattr(self, "impute", None))
        candidates = read_candidates(y, null=null)
        if (rows := _num_samples(X)) != len(candidates):
            raise ValueError(
                f"X has {rows} rows and y {len(candidates)}; give one candidate set per row"
            )
        if groups is not None:
            candidates = candidates.with_groups(groups)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=_dtype(X), ensure_non_negative=True
            )
        return X, candidates, sample_weight

    def _any_features(self, X: Any, reset: bool = True) -> Any:
        """Return a DataFrame as it is, else a dense or sparse matrix that may miss values."""
        if hasattr(X, "iloc"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            reset=reset,
        )

    def _trained_classifier(
        self,
        classifier: Any,
        result: LabellingResult,
        X: Floats,
        chosen: NDArray[np.intp],
        weight: Floats | None,
    ) -> Any:
        """Return the classifier for ``predict``, trained on the labels chosen, or None."""
        if classifier is None:
            return None
        own = isinstance(classifier, str)
        if own and result.predictor is not None:
            return result.predictor
        counted = np.ones(len(chosen), dtype=bool) if weight is None else weight > 0
        if len(np.unique(chosen[counted])) == 1:
            train = self._seeded(DummyClassifier()).fit
        elif not own:
            train = self._seeded(clone(classifier)).fit
        else:
            train = result.trainer or self._seeded(SVC(kernel="linear")).fit
        if weight is None:
            return train(X, chosen)
        if not own and not has_fit_parameter(classifier, "sample_weight"):
            raise ValueError(
                f"{type(classifier).__name__} takes no sample_weight; leave sample_weight "
                "out, or set classifier to one that does"
            )
        return train(_safe_indexing(X, counted), chosen[counted], sample_weight=weight[counted])

    def _seeded(self, classifier: Any) -> Any:
        if "random_state" in classifier.get_params() and self.random_state is not None:
            classifier.set_params(random_state=self.random_state)
        return classifier

    def _ready(self, X: ArrayLike) -> tuple[Any, Floats]:
        check_is_fitted(self)
        if self.tags.any_features:
            checked = self._any_features(X, reset=False)
        else:
            checked = validate_data(
                self,
                X,
                dtype=[np.float64, np.float32],
                reset=False,
                ensure_all_finite="allow-nan" if getattr(self, "impute", False) else True,
            )
        if self.classifier_ is None:
            raise AttributeError(
                "classifier=None trains nothing to predict with; transduction_ has the labels "
                "of the instances that were fitted"
            )
        return self.classifier_, checked


def confidence(model: Any) -> NDArray[np.float64]:
    """Return the soft label of the label chosen, for each instance a model was fitted on."""
    column = {name: i for i, name in enumerate(model.classes_.tolist())}
    chosen = np.array([column[name] for name in model.transduction_.tolist()], dtype=np.intp)
    if not hasattr(model, "solution_"):  # none of ours
        return np.asarray(model.label_distributions_[np.arange(len(chosen)), chosen], dtype=float)
    solution: Solution = model.solution_
    at = solution.sets.number(chosen, np.arange(len(chosen)))
    return np.where(at >= 0, solution.labels[at], 0.0).astype(float)


def read_candidates(y: Any, known: NDArray[Any] | None = None, null: Any = None) -> Candidates:
    """Return candidates in any form as ``Candidates``, with scikit-learn's rules for labels.

    With ``known`` classes, as for scoring, None in a list of sets means any of those too,
    and a class that no set lists gives no warning.
    """
    values = np.asarray(y) if hasattr(y, "__array__") and not isinstance(y, Candidates) else None
    if values is not None and values.ndim == 2 and values.shape[1] == 1 and values.dtype != bool:
        values = y = column_or_1d(values, warn=True)
    if values is not None and values.ndim == 1 and not holds_sets(values):
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y")
        check_classification_targets(values)
    if known is None:
        return _with_null(y, null)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlistedClassWarning)
        sets = y if values is None else values
        if isinstance(sets, (list, tuple, np.ndarray)) and any(is_missing(row) for row in sets):
            named = {name for row in sets if not is_missing(row) for name in row}
            others = sorted(named - set(known.tolist()), key=str)
            return Candidates(y, classes=[*known.tolist(), *others])
        return Candidates(y)


def _with_null(y: Any, null: Any) -> Candidates:
    """Return candidates with the null class that was given to ``fit``, if any."""
    if null is None or not isinstance(y, Candidates):
        return Candidates(y, null=null)
    if y.null == null:
        return y
    if y.null is None and null not in y.classes.tolist():
        raise ValueError(
            f"the candidates have no class {null!r} for null to be; give null where they are made, "
            f"e.g. Candidates.from_sets(sets, null={null!r})"
        )
    return y.with_null(null)


def _warn_of_sorted(fitted: ListingRates | None, scored: Candidates) -> None:
    """Warn if the candidates to fit and to score are parts that shuffling would not make."""
    if fitted is None or not scored.is_part or len(fitted.rates) != scored.shape[1]:
        return
    if fitted.chance_of(ListingRates.of(scored)) < UNLIKELY:
        warnings.warn(
            "the candidates to score list other classes than those that were fitted, as in folds "
            "of data that is sorted by class; shuffle it: cv=KFold(5, shuffle=True), or "
            "cv=candidly.interop.CandidateKFold(5)",
            SortedFoldsWarning,
            stacklevel=3,
        )


def put_back(solution: Solution, P: Floats, sets: CandidateSets, counts: Mask) -> Solution:
    """Return the solution with the instances that do not count: labels P (E,), no features."""
    whole, inside = sets.with_sets(counts, solution.sets)
    rest = P[~counts[sets.instance]]

    def with_rest(part: Floats) -> Floats:
        values = np.empty(len(whole), dtype=part.dtype)
        values[inside], values[~inside] = part, rest
        return values

    def widen(part: Any) -> Any:
        if part is None:
            return None
        columns = np.zeros((len(part), len(counts)), dtype=part.dtype)
        columns[:, counts] = part
        return columns

    return replace(
        solution,
        labels=with_rest(solution.labels),
        scores=with_rest(solution.scores),
        sets=whole,
        features=widen(solution.features),
        noise=widen(solution.noise),
        label_noise=widen(solution.label_noise),
    )


def _uniform(candidates: Candidates) -> bool:
    """Return whether the priors are uniform on the candidates."""
    return np.allclose(candidates.sparse_priors.data, 1 / candidates.sizes.repeat(candidates.sizes))


def _dtype(X: Any) -> Any:
    """Return the precision to compute in; columns of a DataFrame have types of their own."""
    return np.float64 if hasattr(X, "iloc") else X.dtype


def _check_finite(X: Floats, impute: bool | None = None) -> None:
    """Raise an error at the first value that is not finite; NaN is where it is imputed."""
    wrong = np.argwhere(np.isinf(X) if impute else ~np.isfinite(X))
    if len(wrong):
        row, column = wrong[0]
        what = "NaN" if np.isnan(X[row, column]) else "infinity"
        fill = "Fill them in, e.g. with sklearn.impute"
        if what == "NaN" and impute is not None:
            fill = "Set impute=True for the median of the column, fill them in"
        raise ValueError(
            f"Input X contains {what}: row {row}, column {column} ({len(wrong)} values that are "
            f"not finite in all). {fill}, or leave the rows out"
        )


def _worth(result: LabellingResult, compete: bool) -> NDArray[np.float64]:
    """Return what hard labels maximise (E,); where labels compete, the evidence counts."""
    solution = result.solution
    return worth(solution, result.evidence_of(solution) if compete else None)


def _partial(candidates: Candidates) -> frozenset[int]:
    """Return the groups of which a part is missing; nobody in them needs to be named."""
    partial = candidates.in_partial_group
    if not partial.any() or candidates.group_numbers is None or candidates.groups is None:
        return frozenset()
    groups = frozenset(candidates.group_numbers[partial].tolist())
    warn_of_partial(len(groups), repr(candidates.groups[partial][0]))
    return groups


def warn_of_partial(count: int, one: str) -> None:
    """Warn the user, four calls up, that so many groups are here in part, one of them this."""
    warnings.warn(
        f"{count} groups are here in part, {one} for one; 'at least one named' does not hold for "
        "them",
        PartialGroupWarning,
        stacklevel=5,
    )
