"""The contract of every candidate estimator: validate, label, train a classifier on the labels."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.svm import SVC
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from candidly.candidates import Candidates, UnlistedClassWarning
from candidly.candidates.forms import holds_sets
from candidly.metrics import covering_rate
from candidly.solvers import AtLeastOneNamed, AtMostOnce, Constraint, assign
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from candidly.solvers.elimination import Labeller
from candidly.solvers.row_space import Basis, RowSpaceCompletion
from candidly.solvers.solution import Solution


@dataclass(frozen=True)
class Context:
    """What a labeller may know of the instances besides features and candidates.

    Parameters
    ----------
    sample_weight : (N,) array or None
        Positive.
    constraints : sequence of Constraint
        What labels have to obey, those of the groups included.
    groups : (N,) array of int or None
        Group of each instance, numbered from 0.
    null : int or None
        Column of the null class.
    """

    sample_weight: NDArray[np.floating] | None = None
    constraints: Sequence[Constraint] = ()
    groups: NDArray[np.intp] | None = None
    null: int | None = None


class PartialGroupWarning(UserWarning):
    """A group of which rows were left out, e.g. by a fold."""


def _classifier_has_proba(estimator: CandidateEstimator) -> bool:
    fitted = getattr(estimator, "classifier_", None)
    if fitted is not None or not isinstance(estimator.classifier, str):
        return hasattr(estimator.classifier if fitted is None else fitted, "predict_proba")
    return estimator._suitable_has_proba()


class CandidateEstimator(ClassifierMixin, BaseEstimator):
    """Base of the estimators: a labeller first, a classifier on its labels second.

    A subclass says how labels are found, in :meth:`soft_labeller`; everything else is here.

    Parameters
    ----------
    classifier : "auto", scikit-learn classifier or None
        Trained on the recovered labels, for ``predict``. "auto" suits the labeller: a linear
        support vector machine on the features as it scaled them, as in the paper, or its
        own. A classifier of your own gets
        the features as they came, and the labels as column numbers of ``classes_``. None
        trains none: ``predict`` is then an error.
    random_state : int, RandomState or None
        Passed to the classifier where it takes one.
    """

    takes_soft_labels: ClassVar[bool] = True
    """Whether it starts from soft labels, so that ICE and priors work with it."""

    classes_: NDArray[Any]
    label_distributions_: NDArray[np.floating]
    solution_: Solution
    transduction_: NDArray[Any]

    def __init__(self, *, classifier: Any = "auto", random_state: Any = None) -> None:
        self.classifier = classifier
        self.random_state = random_state

    @abstractmethod
    def soft_labeller(self, X: NDArray[np.floating], context: Context | None = None) -> Labeller:
        """Bind checked features to a function ``(P, mask) -> Solution``.

        Arrays of the returned function have the paper's shapes, a column an instance.
        """

    def fit(
        self,
        X: ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> Self:
        """Resolve the candidates, then train the classifier on the labels found.

        Parameters
        ----------
        X : (N, m) array or DataFrame
            Features, dense and finite.
        y : Candidates, mask, soft matrix, list of sets, or 1-d labels
            Candidate labels of each instance; see :class:`candidly.Candidates`.
        sample_weight : (N,) array, optional
            How much an instance counts. One of weight 0 has no influence, and keeps its
            prior as its label distribution. With groups or constraints it must be positive.
        groups : (N,) array, optional
            What the instances came in, e.g. the photo of each face, unless the candidates
            have groups already. No two instances of a group get one label, but for null.
        constraints : sequence of constraints
            ``MustLink``, ``CannotLink``, ``ClassProportions``, or objects of your own with
            ``project``, ``violation`` and ``rows``; they count rows of this ``X`` from 0, so
            they do not go through cross-validation.
        """
        X, candidates, weight = self._validate(X, y, sample_weight, groups)
        rules = self._rules(candidates, constraints)
        P, mask = candidates.priors.T.astype(X.dtype), candidates.mask.T
        assign(P, mask, rules)  # contradictions are found before the work, not after
        if rules and weight is not None and not weight.all():
            raise ValueError(
                "sample_weight 0 with groups or constraints: leave these instances out instead"
            )
        self.classes_ = candidates.classes
        context = Context(weight, rules, candidates.group_numbers, candidates.null_column)
        self.solution_ = self._resolve(X, P, mask, context)
        self.label_distributions_ = np.ascontiguousarray(self.solution_.labels.T)
        chosen = assign(merit(self.solution_, mask if rules else None), mask, rules)
        self.transduction_ = self.classes_[chosen]
        self.n_iter_ = len(self.solution_.rounds) or len(self.solution_.trace)
        self._fit_classifier(X, chosen, weight)
        return self

    def fit_predict(
        self,
        X: ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> NDArray[Any]:
        """Fit, and return the label found for each instance (``transduction_``)."""
        return self.fit(X, y, sample_weight, groups, constraints).transduction_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label new instances with the classifier trained on the recovered labels."""
        classifier, X = self._ready(X)
        return self.classes_[classifier.predict(X)]

    @available_if(_classifier_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.floating]:
        """Probability of each class, in the order of ``classes_``."""
        classifier, X = self._ready(X)
        proba = np.zeros((len(X), len(self.classes_)))
        proba[:, classifier.classes_] = classifier.predict_proba(X)
        return proba

    def score(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of ``predict`` against 1-d labels, covering rate against candidates.

        The covering rate, how often the prediction is one of the candidates, needs no
        truth: ``cross_val_score`` and ``GridSearchCV`` work on candidate sets as they are.
        Shuffle the folds of data that is sorted by class: ``KFold(5, shuffle=True)``.
        """
        candidates = read_candidates(y, known=self.classes_)
        return covering_rate(candidates, self.predict(X), sample_weight=sample_weight)

    def _resolve(
        self,
        X: NDArray[np.floating],
        P: NDArray[np.floating],
        mask: NDArray[np.bool_],
        context: Context,
    ) -> Solution:
        """Label the instances that count; one of weight 0 keeps its prior."""
        weight, rules = context.sample_weight, context.constraints
        if weight is None or weight.all():
            solution = self.soft_labeller(X, context)(P, mask)
            # Elimination changed the labels after the solver looked at them.
            violations = FeasibleSet(mask, CandidateSimplex(P), rules).violations(solution.labels)
            return replace(solution, violations=violations)
        counts = weight > 0
        groups = None if context.groups is None else context.groups[counts]
        part = replace(context, sample_weight=weight[counts], groups=groups)
        label = self.soft_labeller(X[counts], part)
        return put_back(label(P[:, counts], mask[:, counts]), P, counts)

    def _rules(self, candidates: Candidates, constraints: Sequence[Constraint]) -> list[Constraint]:
        """Algorithm 3's constraints where there are groups, and those that were given."""
        rules: list[Constraint] = []
        null = candidates.null_column
        groups = candidates.group_numbers
        if groups is not None:
            if self._wants_one_named() and null is not None:
                rules.append(AtLeastOneNamed(groups, null, _partial(candidates)))
            if self._wants_once():
                rules.append(AtMostOnce(groups, null))
        if hasattr(constraints, "project"):
            raise TypeError("constraints are a list; put the one you have in brackets")
        for given in constraints or ():
            rules.append(given.bind(candidates.classes, null) if hasattr(given, "bind") else given)
        return rules

    def _wants_once(self) -> bool:
        return True

    def _wants_one_named(self) -> bool:
        return False

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[NDArray[np.floating], Candidates, NDArray[np.floating] | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = validate_data(
            self, X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False
        )
        _check_finite(X)
        candidates = read_candidates(y)
        if len(X) != len(candidates):
            raise ValueError(
                f"X has {len(X)} rows and y {len(candidates)}; give one candidate set a row"
            )
        if groups is not None:
            candidates = candidates.with_groups(groups)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=X.dtype, ensure_non_negative=True
            )
        return X, candidates, sample_weight

    def _suitable_has_proba(self) -> bool:
        return False

    def _suitable_classifier(self, X: NDArray[np.floating]) -> Any:
        """The classifier that "auto" stands for."""
        return SVC(kernel="linear")

    def _fit_classifier(
        self, X: NDArray[np.floating], chosen: NDArray[np.intp], weight: Any
    ) -> None:
        if self.classifier is None:
            self.classifier_ = None
            return
        counted = np.ones(len(X), dtype=bool) if weight is None else weight > 0
        if len(np.unique(chosen[counted])) == 1:
            classifier: Any = DummyClassifier()
        elif isinstance(self.classifier, str):
            if self.classifier != "auto":
                raise ValueError(
                    f"classifier is 'auto', None or a scikit-learn classifier, "
                    f"got {self.classifier!r}"
                )
            classifier = self._suitable_classifier(X)
        else:
            classifier = clone(self.classifier)
        if "random_state" in classifier.get_params() and self.random_state is not None:
            classifier.set_params(random_state=self.random_state)
        if weight is None:
            self.classifier_ = classifier.fit(X, chosen)
        elif has_fit_parameter(classifier, "sample_weight"):
            self.classifier_ = classifier.fit(
                X[counted], chosen[counted], sample_weight=weight[counted]
            )
        else:
            raise ValueError(
                f"{type(classifier).__name__} takes no sample_weight; leave sample_weight out, "
                "or set classifier to one that does"
            )

    def _ready(self, X: ArrayLike) -> tuple[Any, NDArray[np.floating]]:
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        if self.classifier_ is None:
            raise AttributeError(
                "classifier=None trains nothing to predict with; transduction_ has the labels "
                "of the instances that were fitted"
            )
        return self.classifier_, checked


def confidence(model: Any) -> NDArray[np.float64]:
    """Soft label of the label chosen, for each instance that a model was fitted on."""
    column = {name: i for i, name in enumerate(model.classes_.tolist())}
    chosen = [column[name] for name in model.transduction_.tolist()]
    return np.asarray(model.label_distributions_[np.arange(len(chosen)), chosen], dtype=float)


def read_candidates(y: Any, known: NDArray[Any] | None = None) -> Candidates:
    """Candidates from whatever was given, with scikit-learn's rules for labels.

    With ``known`` classes, as for scoring, None in a list of sets means any of those too,
    and a class that nobody lists is nothing to warn of.
    """
    values = np.asarray(y) if hasattr(y, "__array__") and not isinstance(y, Candidates) else None
    if values is not None and values.ndim == 2 and values.shape[1] == 1 and values.dtype != bool:
        values = y = column_or_1d(values, warn=True)
    if values is not None and values.ndim == 1 and not holds_sets(values):
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y")
        check_classification_targets(values)
    if known is None:
        return Candidates(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlistedClassWarning)
        sets = y if values is None else values
        if isinstance(sets, (list, tuple, np.ndarray)) and any(row is None for row in sets):
            named = {name for row in sets if row is not None for name in row}
            others = sorted(named - set(known.tolist()), key=str)
            return Candidates(y, classes=[*known.tolist(), *others])
        return Candidates(y)


def put_back(solution: Solution, P: NDArray[np.floating], counts: NDArray[np.bool_]) -> Solution:
    """Give the instances that do not count their columns again: the prior, no features."""

    def widen(part: NDArray[np.floating], rest: NDArray[np.floating]) -> NDArray[np.floating]:
        whole = rest.astype(part.dtype)
        whole[:, counts] = part
        return whole

    nothing = np.zeros((len(solution.features), P.shape[1]))
    return replace(
        solution,
        labels=widen(solution.labels, P),
        scores=widen(solution.scores, P),
        features=widen(solution.features, nothing),
        noise=widen(solution.noise, nothing),
    )


def _check_finite(X: NDArray[np.floating]) -> None:
    wrong = np.argwhere(~np.isfinite(X))
    if len(wrong):
        row, column = wrong[0]
        what = "NaN" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(
            f"Input X contains {what}: row {row}, column {column} ({len(wrong)} values that are "
            "not finite in all). Fill them in, e.g. with sklearn.impute, or leave the rows out"
        )


def merit(solution: Solution, mask: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """What the labels maximise: the soft labels, and what tells equal ones apart.

    Soft labels saturate: two faces of a photo may both be surely one person. With a mask,
    for when labels compete, regression of the labels on the recovered features, each
    instance left out, then says which is more; the scores before projection come last.
    """
    worth = solution.labels + 1e-9 * _within_one(solution.scores)
    if mask is not None:
        basis = Basis.of(solution.features.T.astype(np.float64))
        evidence = RowSpaceCompletion().smoother(basis, mask)(solution.labels.astype(np.float64))
        worth = worth + 1e-3 * _within_one(np.where(mask, evidence, 0))
    return worth


def _within_one(values: NDArray[np.floating]) -> NDArray[np.float64]:
    return values.astype(np.float64) / max(float(np.abs(values).max(initial=0)), 1e-300)


def _partial(candidates: Candidates) -> frozenset[int]:
    """Groups of which a part is missing; nobody of theirs need be named here."""
    partial = candidates.in_partial_group
    if not partial.any() or candidates.group_numbers is None or candidates.groups is None:
        return frozenset()
    groups = frozenset(candidates.group_numbers[partial].tolist())
    warnings.warn(
        f"{len(groups)} groups are here in part, {candidates.groups[partial][0]!r} for one; "
        "'at least one named' does not hold for them",
        PartialGroupWarning,
        stacklevel=4,
    )
    return groups
