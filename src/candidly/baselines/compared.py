"""The base of the compared methods: sets in, labels and a predictor out, in any order of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from candidly.base import CandidateEstimator, Context, Labeller, LabellingResult, MethodTags
from candidly.solvers import AtLeastOneNamed, CandidateSets, Solution, Status, Trace
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.constraints import normalise
from candidly.solvers.constraints.feasible import project_to_simplex
from candidly.solvers.dense_memory import check_memory
from candidly.solvers.own_order import own_order, places
from candidly.solvers.row_space import LeftOutEvidence
from candidly.solvers.solution import Step

SETS = MethodTags(groups=False, null=False, constraints=False, weights=False)
"""Tags of a method that accepts candidate sets, and soft labels on them."""

ARRAYS = 6
"""Matrices of all classes and instances that a method has at a time, about."""

SETS_IN_GROUPS = MethodTags(constraints=False, weights=False)
"""Tags of a method that also accepts groups and a null class."""


class Predictor(Protocol):
    """Protocol of an object that scores new instances."""

    def scores(self, X: Floats) -> Floats:
        """Return the score of each class for each row of X, (n, c); the largest is the label."""


@dataclass(frozen=True)
class CandidateProblem:
    """Features and candidates as a method gets them: one row per instance.

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
        The only source of randomness.
    one_named : (N,) array of bool or None
        Whether somebody of the instance's photo has to be named; None without groups.
    """

    X: Floats
    P: Floats
    mask: Mask
    groups: NDArray[np.intp]
    null: int | None
    rng: np.random.Generator
    one_named: Mask | None = None


@dataclass(frozen=True)
class Labelling:
    """Result of a compared method: soft labels, and how to predict for new instances.

    Attributes
    ----------
    labels : (N, c) array
        Soft labels: entries off the candidates or below 0 count as 0, rows are normalised.
    predictor : Predictor or None
        Scores new instances; None leaves ``predict`` to what the trainer trains.
    objective : sequence of float
        What the method minimises, along its iterations.
    scores : (N, c) array or None
        What orders candidates whose soft labels are equal; by default the labels.
    status : Status
    trainer : callable or None
        ``trainer(X, labels)`` returns a classifier trained on the labels found; by default a
        linear support vector machine.
    """

    labels: Floats
    predictor: Predictor | None = None
    objective: Sequence[float] = ()
    scores: Floats | None = None
    status: Status = Status.DONE
    trainer: Callable[..., Any] | None = None


class ComparedMethod(CandidateEstimator):
    """Base of the compared methods: a subclass says how it labels, in :meth:`label`.

    Rows and classes are sorted by their content before they are labelled, so that a method
    that draws at random gives the same answer for every order of the input.

    Parameters
    ----------
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" is the method's own where it has one, else a linear support
        vector machine on the labels found.
    sparse_output : bool or "auto"
        As in :class:`candidly.MCar`.
    random_state : int, RandomState or None
        Where the method draws at random.
    """

    takes: ClassVar[MethodTags] = SETS

    @abstractmethod
    def label(self, problem: CandidateProblem) -> Labelling:
        """Return soft labels, and what predicts for new instances where the method has one."""

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Bind the features, sorted by their content, to the method."""
        seed = int(check_random_state(self.random_state).randint(2**31))

        def label(y: Floats, sets: CandidateSets) -> LabellingResult:
            check_memory(type(self).__name__, *sets.shape, ARRAYS, null=context.null is not None)
            P, mask = sets.matrix(y), sets.mask
            rows, columns, _ = own_order(places(X), y, sets)
            place = np.ix_(rows, columns)
            groups = np.arange(len(X)) if context.groups is None else context.groups[rows]
            null = None if context.null is None else int(np.flatnonzero(columns == context.null)[0])
            problem = CandidateProblem(
                X[rows].astype(np.float64),
                P.T[place].astype(np.float64),
                mask.T[place],
                np.unique(groups, return_inverse=True)[1],
                null,
                np.random.default_rng(seed),
                None if context.groups is None else _must_be_named(context, sets)[rows],
            )
            found = self.label(problem)
            labels, scores = np.zeros(P.shape), np.zeros(P.shape)
            labels.T[place] = found.labels
            scores.T[place] = found.labels if found.scores is None else found.scores
            trace = Trace([_step(value) for value in found.objective] or [_step(0.0)])
            result = LabellingResult(
                Solution(
                    normalise(sets.entries_of(labels), y, sets),
                    sets.entries_of(scores),
                    sets,
                    found.status,
                    trace,
                ),
                found.trainer,
                evidence=LeftOutEvidence(X) if self.tags.groups else None,
            )
            if found.predictor is None:
                return result
            predictor = PredictorInOrder(found.predictor, columns)
            # After elimination the method itself is trained, on the labels that are left.
            retrain = clone(self).set_params(classifier="auto").fit
            return replace(result, predictor=predictor, trainer=retrain)

        return label


class PredictorInOrder:
    """A predictor whose classes are back in the order of the estimator's."""

    def __init__(self, predictor: Predictor, columns: NDArray[np.intp]) -> None:
        self.predictor: Any = predictor  # some have probabilities too
        self.classes_ = np.arange(len(columns))
        self._back = columns.argsort()

    def predict(self, X: Floats) -> NDArray[np.intp]:
        """Return the class of the largest score of each row."""
        return self.predictor.scores(X.astype(np.float64))[:, self._back].argmax(axis=1)

    @available_if(lambda self: hasattr(self.predictor, "probabilities"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Floats:
        """Return the probability of each class for each row, where the predictor has it."""
        return self.predictor.probabilities(X.astype(np.float64))[:, self._back]


def softmax_over(mask: Mask, scores: Floats) -> Floats:
    """Return soft labels from scores, in the order of the scores and only on the candidates."""
    top = np.where(mask, scores, -np.inf).max(axis=1, keepdims=True)
    spread = np.where(mask, scores - top, 0)
    weight = np.where(mask, np.exp(spread / max(float(np.std(spread[mask])), 1e-12)), 0)
    return weight / weight.sum(axis=1, keepdims=True)


def nearest_labels(Y: Floats, sets: CandidateSets) -> Floats:
    """Return the nearest soft labels (N, c) to any numbers (N, c)."""
    return sets.matrix(project_to_simplex(sets.entries_of(Y.T), sets)).T


def _must_be_named(context: Context, sets: CandidateSets) -> Mask:
    for rule in context.constraints:
        if isinstance(rule, AtLeastOneNamed):
            return rule.binds(sets)[rule.groups]
    return np.zeros(sets.n_instances, dtype=bool)


def _step(objective: float) -> Step:
    return Step(np.nan, np.nan, 0, np.nan, float(objective), 0)
