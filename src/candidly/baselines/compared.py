"""What the compared methods share: sets in, labels and a predictor out, in any order of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from candidly.base import CandidateEstimator, Context
from candidly.candidates import Candidates
from candidly.solvers import AtLeastOneNamed, Solution, Status, Trace
from candidly.solvers.constraints import normalise
from candidly.solvers.elimination import Labeller
from candidly.solvers.solution import Step


class Predictor(Protocol):
    """Scores new instances."""

    def scores(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Score of each class for each row of X, (n, c); the largest is the label."""


@dataclass(frozen=True)
class Problem:
    """Features and candidates as a method gets them: a row an instance.

    Attributes
    ----------
    X : (N, m) array of float64
        Features as they came; a method scales them as it needs.
    P : (N, c) array
        Soft labels to start from: uniform on the candidates unless priors were given.
    mask : (N, c) array of bool
        The candidates.
    groups : (N,) array of int
        Photo of each instance, numbered from 0; without groups every instance is its own.
    null : int or None
        Column of the null class.
    rng : numpy Generator
        The only source of chance.
    one_named : (N,) array of bool or None
        Whether somebody of the instance's photo has to be named; None without groups.
    """

    X: NDArray[np.float64]
    P: NDArray[np.float64]
    mask: NDArray[np.bool_]
    groups: NDArray[np.intp]
    null: int | None
    rng: np.random.Generator
    one_named: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Labelling:
    """What a method found.

    Attributes
    ----------
    labels : (N, c) array
        Soft labels: what is off the candidates or negative counts as 0, rows are normalised.
    predictor : Predictor or None
        Scores new instances; None leaves ``predict`` to a linear support vector machine
        trained on the labels found.
    objective : sequence of float
        What the method minimises, along its iterations.
    scores : (N, c) array or None
        What orders candidates whose soft labels are equal; by default the labels.
    status : Status
    """

    labels: NDArray[np.floating]
    predictor: Predictor | None = None
    objective: Sequence[float] = ()
    scores: NDArray[np.floating] | None = None
    status: Status = Status.DONE


class ComparedMethod(CandidateEstimator):
    """Base of the compared methods: a subclass says how it labels, in :meth:`label`.

    Rows and classes are brought into an order of their own before they are labelled, so that
    a method that draws at random gives one answer whatever order they came in.

    Parameters
    ----------
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" is the method's own where it has one, else a linear support
        vector machine on the labels found.
    random_state : int, RandomState or None
        Where the method draws at random.
    """

    takes_groups: ClassVar[bool] = False
    """Whether groups and a null class mean something to it; they are an error otherwise."""

    @abstractmethod
    def label(self, problem: Problem) -> Labelling:
        """Resolve the candidates."""

    def fit(self, X: ArrayLike, y: Any, groups: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Resolve the candidates, and learn to predict.

        Parameters
        ----------
        X : (N, m) array or DataFrame
            Features, dense and finite.
        y : Candidates, mask, soft matrix, list of sets, or 1-d labels
            Candidate labels of each instance; see :class:`candidly.Candidates`.
        groups : (N,) array, optional
            What the instances came in, e.g. the photo of each face, for methods that take it.
        """
        return super().fit(X, y, groups=groups)

    def fit_predict(  # type: ignore[override]
        self, X: ArrayLike, y: Any, groups: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Fit, and return the label found for each instance (``transduction_``)."""
        return self.fit(X, y, groups).transduction_

    def soft_labeller(self, X: NDArray[np.floating], context: Context | None = None) -> Labeller:
        """Bind the features, in an order of their own, to the method."""
        context = Context() if context is None else context
        self._refuse(context.groups is not None, context.null is not None)
        if context.sample_weight is not None:
            raise ValueError(f"{type(self).__name__} takes no sample_weight; leave it out")
        seed = int(check_random_state(self.random_state).randint(2**31))

        def label(P: NDArray[np.floating], mask: NDArray[np.bool_]) -> Solution:
            rows, columns = _own_order(X, P.T)
            place = np.ix_(rows, columns)
            groups = np.arange(len(X)) if context.groups is None else context.groups[rows]
            null = None if context.null is None else int(np.flatnonzero(columns == context.null)[0])
            problem = Problem(
                X[rows].astype(np.float64),
                P.T[place].astype(np.float64),
                mask.T[place],
                np.unique(groups, return_inverse=True)[1],
                null,
                np.random.default_rng(seed),
                None if context.groups is None else _must_be_named(context, mask)[rows],
            )
            found = self.label(problem)
            self._predictor = None
            if found.predictor is not None:
                self._predictor = _InOrder(found.predictor, columns)
            labels, scores = np.zeros(P.shape), np.zeros(P.shape)
            labels.T[place] = found.labels
            scores.T[place] = found.labels if found.scores is None else found.scores
            return Solution(
                normalise(labels, P, mask),
                scores,
                X.T,
                np.zeros_like(X.T),
                found.status,
                Trace([_step(value) for value in found.objective] or [_step(0.0)]),
            )

        return label

    def _validate(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        X, candidates, weight = super()._validate(X, y, sample_weight, groups)
        self._check_taken(candidates)
        return X, candidates, weight

    def _check_taken(self, candidates: Candidates) -> None:
        self._refuse(candidates.groups is not None, candidates.null_column is not None)
        name = type(self).__name__
        uniform = candidates.mask / candidates.mask.sum(axis=1, keepdims=True)
        if not self.takes_soft_labels and not np.allclose(candidates.priors, uniform):
            raise ValueError(
                f"{name} takes candidate sets, not priors on them; give the sets alone, or use "
                "a method that takes soft labels (candidly methods lists which)"
            )

    def _refuse(self, groups: bool, null: bool) -> None:
        """Say so where groups or a null class would be ignored."""
        name = type(self).__name__
        if groups and not self.takes_groups:
            raise ValueError(
                f"{name} knows no groups and would ignore them; leave them out, or use a method "
                "that takes them (candidly methods lists which)"
            )
        if null and not self.takes_groups:
            raise ValueError(
                f"{name} knows no null class; leave these instances out, or use a method that "
                "takes one (candidly methods lists which)"
            )

    def _fit_classifier(
        self, X: NDArray[np.floating], chosen: NDArray[np.intp], weight: Any
    ) -> None:
        own = isinstance(self.classifier, str) and self.classifier == "auto"
        if own and self._predictor is not None:
            self.classifier_: Any = self._predictor
        else:
            super()._fit_classifier(X, chosen, weight)

    def _suitable_classifier(self, X: NDArray[np.floating]) -> Any:
        """Over ICE: the method itself, on the labels that are left."""
        if self._predictor is None:
            return super()._suitable_classifier(X)
        return clone(self)


class _InOrder:
    """A predictor whose classes are the estimator's again."""

    def __init__(self, predictor: Predictor, columns: NDArray[np.intp]) -> None:
        self.predictor = predictor
        self.classes_ = np.arange(len(columns))
        self._back = columns.argsort()

    def predict(self, X: NDArray[np.floating]) -> NDArray[np.intp]:
        return self.predictor.scores(X.astype(np.float64))[:, self._back].argmax(axis=1)


def softmax_over(mask: NDArray[np.bool_], scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Soft labels from scores, in the order of the scores and only among the candidates."""
    top = np.where(mask, scores, -np.inf).max(axis=1, keepdims=True)
    spread = np.where(mask, scores - top, 0)
    weight = np.where(mask, np.exp(spread / max(float(np.std(spread[mask])), 1e-12)), 0)
    return weight / weight.sum(axis=1, keepdims=True)


def _must_be_named(context: Context, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    for rule in context.constraints:
        if isinstance(rule, AtLeastOneNamed):
            return rule.binds(mask)[rule.groups]
    return np.zeros(mask.shape[1], dtype=bool)


def _own_order(
    X: NDArray[np.floating], P: NDArray[np.floating]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Order of rows and of classes that follows from what they are, not where they stand."""
    # One direction for all seeds: a method that draws nothing then rounds alike every time.
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    peak = np.abs(X).max(axis=0, initial=0)
    where = (X / np.where(peak > 0, peak, 1)).astype(np.float64) @ direction
    # Classes by the place of their candidates: sorted first, so that rounding is the same.
    weighted = np.sort(P * where[:, None], axis=0).sum(axis=0)
    columns = np.lexsort((weighted, np.sort(P, axis=0).sum(axis=0)))
    rows = np.lexsort((*P[:, columns].T, where))
    return rows, columns


def _step(objective: float) -> Step:
    return Step(np.nan, np.nan, 0, np.nan, float(objective), 0)
