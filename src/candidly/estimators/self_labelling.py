"""Self-labelling: any scikit-learn classifier resolves candidates, by its own probabilities."""

from __future__ import annotations

import warnings
from collections import deque
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval

from candidly.base import (
    CandidateEstimator,
    Context,
    DoubtfulLabelsWarning,
    Labeller,
    LabellingResult,
    MethodTags,
)
from candidly.estimators.cross_fitting import FLOOR, Folds, SoftTraining, numpy_type
from candidly.estimators.scaling import FeatureScaler, differ_in_unit
from candidly.parameters import SPARSE
from candidly.registry import register
from candidly.solvers import CandidateSets, Solution, Status, Step, Trace
from candidly.solvers.arrays import Floats
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from candidly.telling import teller

COLLAPSED = 0.2
"""Labels are doubtful if they leave less than this share of the classes beside the largest."""
LAST = 3
"""Rounds over which labels are averaged in the end: folds are drawn, so each is a little off."""
LOOSE = 1e-3
"""Where logistic regression stops by default: closer does not change the labels."""
NORM = 8.0
"""Mean norm of a row in the default estimator: about that of 64 standardised features."""


class SelfLabelling(CandidateEstimator):
    """Labels by any scikit-learn classifier with ``predict_proba``, in a loop (ours).

    Every round the estimator is trained on the soft labels so far, without a fold of the
    instances at a time, and says how probable the candidates of the fold are. No instance is
    labelled by a model that was trained on it, so a flexible estimator does not just confirm
    its first guess. A soft label is the prior, uniform unless you gave another, times the
    probability, over the square root of the share of the class: between class sizes as the
    estimator learns them, and equal ones, since nothing says which of them the candidates were
    drawn by. So labels do not collapse into a class that is a candidate everywhere; if they
    nearly all end in a few classes, a :class:`DoubtfulLabelsWarning` says so.

    Labels that are unsure on average by u teach the estimator probabilities that are diluted
    by the shares of the classes: u times the share is taken off before the next round, which
    starts fast and ends as expectation-maximisation. Folds are drawn anew in each round, and
    keep groups and equal instances whole; the order of rows does not matter. The labels are
    averaged over the last three rounds. It ends when hardly one of them changes for two rounds.

    An instance is in the training data once for each candidate with a soft label of at least 1%,
    weighted by it. Where the estimator takes no ``sample_weight``, it is there once for each
    candidate at least half as likely as its best one. All steps of a pipeline get the weights
    that take them.

    Features may be whatever the estimator takes: sparse, with NaN, a DataFrame of any columns.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, or None
        Not modified. None is logistic regression on scaled features, or on sparse ones as they
        are; gradient boosting where values are missing or columns are not numbers.
    max_rounds : int
        Most rounds; each trains the estimator ``n_folds`` times.
    n_folds : int
        Folds of a round; more of them are slower, and leave more instances to train on.
    tol : float
        Share of the labels that may change in each of two rounds when it ends.
    at_most_once, at_least_one : bool
        As in :class:`MCar`.
    verbose : int
        1 reports every round.
    sparse_output : bool or "auto"
        As in :class:`MCar`.
    random_state : int, RandomState or None
        Draws the folds; the estimator gets a seed from it where its own is None.

    Attributes
    ----------
    n_iter_ : int
        Rounds.
    classifier_ : classifier
        The estimator, trained on the last soft labels of all instances; its classes are columns
        of ``classes_``. ``predict`` and ``predict_proba`` are by it.
    solution_ : Solution
        In its trace, ``objective`` is the mean negative logarithm of the probability that
        models gave to the candidate sets of instances they were not trained on.
    transduction_, label_distributions_, classes_
        As in :class:`MCar`.

    Examples
    --------
    >>> import candidly
    >>> from sklearn.naive_bayes import GaussianNB
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.SelfLabelling(GaussianNB(var_smoothing=0.01), random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    takes = MethodTags(proba=True, any_features=True)
    classifier = "auto"  # the estimator predicts, and there is no other

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit"]), None],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="both")],
        "at_most_once": ["boolean"],
        "at_least_one": ["boolean"],
        "verbose": ["verbose"],
        "sparse_output": SPARSE,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rounds: int = 15,
        n_folds: int = 5,
        tol: float = 0.005,
        at_most_once: bool = True,
        at_least_one: bool = False,
        verbose: int = 0,
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_rounds = max_rounds
        self.n_folds = n_folds
        self.tol = tol
        self.at_most_once = at_most_once
        self.at_least_one = at_least_one
        self.verbose = verbose
        self.sparse_output = sparse_output
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            tags.input_tags.sparse = tags.input_tags.allow_nan = True
        elif hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def soft_labeller(self, X: Any, context: Context) -> Labeller:
        """Bind the features to rounds of training and labelling."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        training = SoftTraining(self._seeded_estimator(X, seed), X, context.sample_weight)
        return partial(self._label_in_rounds, training, context, seed)

    def _seeded_estimator(self, X: Any, seed: int) -> Any:
        estimator = default_estimator(X) if self.estimator is None else clone(self.estimator)
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_proba, which self-labelling needs; use "
                "a classifier that has, or CalibratedClassifierCV around it"
            )
        given = estimator.get_params()
        unset = [name for name in given if name.split("__")[-1] == "random_state"]
        return estimator.set_params(**{name: seed for name in unset if given[name] is None})

    def _label_in_rounds(
        self,
        training: SoftTraining,
        context: Context,
        seed: int,
        P: Floats,
        sets: CandidateSets,
    ) -> LabellingResult:
        """Run the rounds, and train the estimator on the labels of the last one."""
        tell = teller(self.verbose)
        start = P.astype(np.float64)
        feasible = FeasibleSet(sets, CandidateSimplex(start), context.constraints)
        folds = Folds.of(training.X, start, sets, context.groups, self.n_folds, seed)
        N = sets.n_instances
        y: Floats = start
        found: Floats = start
        steps: list[Step] = []
        recent: deque[Floats] = deque(maxlen=LAST)
        settled = 0
        for number in range(1, self.max_rounds + 1) if folds.possible else ():
            proba = training.left_out(y, sets, folds)
            share = np.maximum(training.class_shares(y, sets), 1 / N)[sets.classes]
            fair = start / np.sqrt(share)
            recent.append(feasible.project(fair * proba))
            unsure = 1 - np.average(sets.largest(y), weights=context.sample_weight)
            y = feasible.project(fair * np.maximum(proba - unsure * share, FLOOR * proba))
            before, found = found, np.mean(recent, axis=0)
            changed = int((sets.best(found) != sets.best(before)).sum())
            covered = sets.total(proba)
            objective = float(-np.log(covered).mean())
            gap = float(np.abs(found - before).sum() / N)
            steps.append(Step(gap, np.nan, 0, np.nan, objective, changed))
            tell(
                f"self-labelling round {number} of at most {self.max_rounds}: {changed} labels "
                f"changed, candidates have {covered.mean():.1%} of the probability"
            )
            settled = settled + 1 if changed <= self.tol * N else 0
            if settled == 2:
                break
        y = feasible.project(found)
        status = Status.CONVERGED if settled == 2 or not steps else Status.MAX_ROUNDS
        doubts = _collapse(training.class_shares(start, sets), training.class_shares(y, sets))
        for doubt in doubts:
            warnings.warn(doubt, DoubtfulLabelsWarning, stacklevel=5)
        status = Status.DOUBTFUL if doubts else status
        return LabellingResult(
            Solution(y, y, sets, status, Trace(steps), doubts=doubts),
            training.on_hard_labels,
            predictor=training.fitted(y, sets, folds.rows),
        )


def default_estimator(X: Any) -> Any:
    """Return a classifier that takes these features: logistic regression, or boosted trees.

    Columns are divided by their standard deviation where they clearly differ in unit, as in
    :class:`MCar`.
    """
    if sparse.issparse(X):
        return LogisticRegression(max_iter=1000, tol=LOOSE)
    if hasattr(X, "iloc") and not all(kind.kind in "iufb" for kind in map(numpy_type, X.dtypes)):
        return HistGradientBoostingClassifier(categorical_features="from_dtype")
    values = np.asarray(X, dtype=np.float64)
    if np.isnan(values).any():
        return HistGradientBoostingClassifier()
    scaler = FeatureScaler(standardize=differ_in_unit(values), norm=NORM)
    return make_pipeline(
        FunctionTransformer(np.asarray, kw_args={"dtype": np.float64}),
        scaler,
        LogisticRegression(max_iter=1000, tol=LOOSE),
    )


def _collapse(before: Floats, after: Floats) -> tuple[str, ...]:
    """Return what is doubtful about labels that leave few of the classes."""

    def count(share: Floats) -> float:
        """Return the number of equally large classes of the same entropy."""
        return float(np.exp(-(share * np.log(np.maximum(share, 1e-300))).sum()))

    if count(after) - 1 >= COLLAPSED * (count(before) - 1) - 1e-9:
        return ()
    return (
        f"labels are nearly all in {round(count(after))} of {len(after)} classes; if that is not "
        "so, use a more regularised estimator, or priors",
    )


register(
    "SelfLabelling",
    SelfLabelling,
    "ours: cross-fitted self-labelling, expectation-maximisation with any classifier",
    "the estimator's training, five times a round, up to 15 rounds",
    "gradient boosting, sparse or missing features: any scikit-learn classifier",
)
