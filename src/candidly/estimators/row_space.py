"""Row-space completion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from candidly.base import CandidateEstimator, Context, Labeller, LabellingResult, MethodTags
from candidly.estimators.mcar import WMCar
from candidly.estimators.scaling import FeatureScaler, differ_in_unit
from candidly.parameters import COUNT, NAME, POSITIVE, SWITCH, Constraints, one_of, optional
from candidly.registry import register
from candidly.solvers.arrays import Floats, here, on_device
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.cost import EIGEN, Cost, basis_cost, completion_cost
from candidly.solvers.ridge_gram import RidgeGram
from candidly.solvers.row_space import (
    Basis,
    LeftOutEvidence,
    Lift,
    LinearLift,
    RBFLift,
    RowSpaceCompletion,
)

MOST_SCORES = 4_000_000
"""Scores of left-out rows in all classes that a regression judges itself by."""
DENOISED = 1e-3
"""Where WMCar stops if it only removes noise: beyond, the labels on top do not change."""

Judged = tuple[Floats, NDArray[np.intp], Floats]
"""Scores of rows (n, c), each left out of its own, their classes (n,) and weights (n,)."""


class RowSpace(CandidateEstimator):
    """Row-space completion: labels that lie in the row space of the features (ours).

    The paper's problem for features without noise, solved directly: alternate between
    ridge regression of the labels on the features, each instance left out of its own
    prediction, and the candidates. A fraction of the cost of MCar where features are many,
    and more accurate where classes are not linear in them (``lift="rbf"``).

    Parameters
    ----------
    lift : {"linear", "rbf"}
        The features themselves, or a Gaussian kernel of them.
    ridge : float
        How soft the row space is, relative to its largest squared singular value.
    width : float
        Squared width of the kernel, in multiples of the mean squared distance.
    landmarks : int
        Largest number of instances that span the kernel; beyond, the Nyström approximation.
    class_sizes : bool
        Let a class that is large so far be more likely; see the solver.
    leave_one_out : bool
        Leave each instance out of its own prediction.
    denoise : bool
        Remove sparse noise from the features first: completion on the Z that WMCar finds.
    standardize : bool, optional
        Divide features by their standard deviation; by default where they clearly differ
        in unit, as in :class:`MCar`.
    at_most_once, at_least_one : bool
        As in :class:`MCar`.
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" is the same regression, on the labels found.
    tol, max_iter
        Largest change of a soft label at which to stop, and most iterations.
    device : str, optional
        PyTorch device to solve on, e.g. "cuda" for a GPU, as in :class:`MCar`. Features go there
        once, scaled; constraints work on the labels of candidates here, which are copied in every
        iteration then.
    sparse_output : bool or "auto"
        As in :class:`MCar`.
    random_state : int, RandomState or None
        Draws the landmarks.

    Attributes
    ----------
    transduction_, label_distributions_, classes_, n_iter_, solution_, classifier_
        As in :class:`MCar`; the solution has no features.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=4, random_state=0)
    >>> model = candidly.RowSpace(lift="rbf").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    takes = MethodTags(proba=True)

    _parameter_constraints: ClassVar[Constraints] = {
        **CandidateEstimator._parameter_constraints,
        "lift": one_of("linear", "rbf"),
        "ridge": POSITIVE,
        "width": POSITIVE,
        "landmarks": COUNT,
        "class_sizes": SWITCH,
        "leave_one_out": SWITCH,
        "denoise": SWITCH,
        "standardize": optional(SWITCH),
        "at_most_once": SWITCH,
        "at_least_one": SWITCH,
        "tol": POSITIVE,
        "max_iter": COUNT,
        "device": optional(NAME),
    }

    def __init__(
        self,
        *,
        lift: str = "linear",
        ridge: float = 1e-3,
        width: float = 4.0,
        landmarks: int = 800,
        class_sizes: bool = False,
        leave_one_out: bool = True,
        denoise: bool = False,
        standardize: bool | None = None,
        at_most_once: bool = True,
        at_least_one: bool = False,
        classifier: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 30,
        device: str | None = None,
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.lift = lift
        self.ridge = ridge
        self.width = width
        self.landmarks = landmarks
        self.class_sizes = class_sizes
        self.leave_one_out = leave_one_out
        self.denoise = denoise
        self.standardize = standardize
        self.at_most_once = at_most_once
        self.at_least_one = at_least_one
        self.tol = tol
        self.max_iter = max_iter
        self.device = device

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Factorise the lifted features once and bind them to row-space completion."""
        solver = RowSpaceCompletion(
            self.ridge, self.class_sizes, self.leave_one_out, self.max_iter, self.tol
        )
        plain = self._lifting(X)
        lifting = deepcopy(plain)

        def factorise(features: Floats) -> Basis:
            return Basis.of(lifting.fit_transform(features, context.sample_weight), weight)

        weight = context.sample_weight
        shared = None if self.denoise else factorise(X)
        evidence = LeftOutEvidence(on_device(X, self.device))

        def label(P: Floats, sets: CandidateSets) -> LabellingResult:
            basis = shared or factorise(denoise(X, P, sets, context, self.device))
            solution = solver.solve(basis, P.astype(np.float64), sets, context.constraints)
            trainer = LiftedRidge(plain, self.ridge).fit  # by the same landmarks
            return LabellingResult(solution, trainer, evidence=evidence)

        return label

    def predicted_cost(self, X: Floats, sets: CandidateSets, context: Context) -> Cost:
        """Return the cost of the basis, of all iterations and, if wanted, of denoising."""
        N, m = X.shape
        k = m if self.lift == "linear" else min(self.landmarks, N)
        cost = basis_cost(N, k, X.itemsize)
        cost += completion_cost(N, min(k, N), len(sets), sets.n_classes, self.max_iter, X.itemsize)
        if self.lift != "linear":
            cost += Cost(float(N * k * (m + k)) + EIGEN * k**3, 4.0 * N * k * X.itemsize)
        if self.denoise:
            cost += WMCar().predicted_cost(X, sets, context)
        return cost

    def _lifting(self, X: Floats) -> Lifting:
        kinds: dict[str, Lift] = {
            "linear": LinearLift(),
            "rbf": RBFLift(self.width, self.landmarks),
        }
        units = differ_in_unit(X) if self.standardize is None else self.standardize
        seed = check_random_state(self.random_state).randint(2**31)
        scaler = FeatureScaler(standardize=units, norm=1.0)
        return Lifting(kinds[self.lift], scaler, seed, self.device)


def denoise(
    X: Floats, P: Floats, sets: CandidateSets, context: Context, device: str | None = None
) -> NDArray[np.float64]:
    """Return the features without sparse noise: rows of the Z of WMCar with these labels."""
    label = WMCar(setting="pixels", tol=DENOISED, device=device).soft_labeller(X, context)
    Z = label(P.astype(X.dtype), sets).solution.features
    assert Z is not None
    return np.asarray(Z.T, dtype=np.float64)


class Lifting:
    """Transformer that scales features, to rows of mean norm 1, then lifts them.

    The rows that it is fitted on are lifted on the device, if there is one, and stay there.
    """

    def __init__(self, lift: Lift, scaler: Any, seed: int, device: str | None = None) -> None:
        self.lift, self.scaler, self.seed, self.device = lift, scaler, seed, device

    def fit_transform(self, X: Floats, sample_weight: Any = None) -> Floats:
        """Learn scales and landmarks, and return the rows of X lifted."""
        scaled = self.scaler.fit(X, sample_weight=sample_weight).transform(X)
        return self.fit_scaled(scaled, sample_weight)

    def fit_scaled(self, scaled: Floats, sample_weight: Any = None) -> Floats:
        """Learn landmarks from rows that a fitted scaler has scaled, and return them lifted."""
        weight = np.ones(len(scaled)) if sample_weight is None else np.asarray(sample_weight, float)
        self.lift.fit(scaled, weight / weight.sum(), np.random.default_rng(self.seed))
        return self.lift.transform(on_device(scaled, self.device))

    def transform(self, X: Floats) -> Floats:
        """Return the rows of X, scaled and lifted."""
        return self.lift.transform(self.scaler.transform(X))


class LiftedRidge(ClassifierMixin, BaseEstimator):
    """Ridge regression of one-hot labels on lifted features.

    Centred features take the class sizes out of the scores. They are put back where that
    predicts more of the instances it was fitted on, each left out of its own prediction.

    Parameters
    ----------
    lifting : Lifting
        Not fitted yet.
    ridge : float
    """

    def __init__(self, lifting: Lifting, ridge: float = 1e-3) -> None:
        self.lifting = lifting
        self.ridge = ridge

    def fit(self, X: Floats, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regression."""
        lifting = deepcopy(self.lifting)
        gram = RidgeGram.of(lifting.fit_transform(X, sample_weight), sample_weight)
        self.fit_gram(lifting, gram, y)
        return self

    def fit_gram(
        self, lifting: Lifting, gram: RidgeGram, y: Any, rows: NDArray[np.intp] | None = None
    ) -> Floats:
        """Fit on lifted rows, and return probabilities, each row left out of its own.

        They are of some ``rows``, by default of as many as fit ``MOST_SCORES``.
        """
        self.classes_, column = np.unique(y, return_inverse=True)
        rows = some_rows(len(column), len(self.classes_)) if rows is None else rows
        found = gram.regress(self.ridge, column)
        self.lifting_, self.mean_, self.coef_ = lifting, gram.mean, gram.in_features(found)
        w = here(gram.w)
        scores = (here(gram.A[rows]) @ found) / w[rows, None]
        weight = w**2 / (w**2).sum()
        sizes = np.bincount(column, weight)
        own = here(gram.leverage(self.ridge))[rows]
        left_out = left_out_scores(scores, own, column[rows])
        self.choose_offset([(left_out, column[rows], weight[rows])], sizes)
        return _proba(left_out + self.offset_)

    def choose_offset(self, judged: Iterable[Judged], sizes: NDArray[Any]) -> None:
        """Put class sizes back if that predicts more.

        Parameters
        ----------
        judged : iterable of Judged
            Rows to judge by, some at a time.
        sizes : (c,) array
            Part of all rows that are of each class.
        """
        offsets = np.full(len(sizes), 1 / len(sizes)), np.asarray(sizes)
        right = np.zeros(2)
        for scores, column, weight in judged:
            right += [weight @ ((scores + one).argmax(axis=1) == column) for one in offsets]
        # Equal shares are equal, in whatever order they add up.
        self.offset_ = offsets[int(np.round(right, 9).argmax())]

    def decision_function(self, X: Floats) -> Floats:
        """Return the regressed label of each class."""
        return (self.lifting_.transform(X) - self.mean_) @ self.coef_ + self.offset_

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the class of the largest score of each row."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def predict_proba(self, X: Floats) -> Floats:
        """Return the scores, clipped at 0 and normalised."""
        return _proba(self.decision_function(X))


def left_out_scores(scores: Floats, own: Floats, column: NDArray[np.intp]) -> Floats:
    """Return the scores of rows (n, c), each left out of its own.

    Parameters
    ----------
    scores : (n, c) array
        Regressed labels.
    own : (n,) array
        Part of each row in its own scores.
    column : (n,) array of int
        Its class.
    """
    target = np.zeros_like(scores, dtype=np.float64)
    target[np.arange(len(column)), column] = 1
    return (scores - own[:, None] * target) / np.maximum(1 - own, 1e-3)[:, None]


def some_rows(N: int, n_classes: int) -> NDArray[np.intp]:
    """Return all rows, or evenly spaced ones where scores of all would take much memory."""
    count = min(N, max(MOST_SCORES // max(n_classes, 1), 500))
    return np.linspace(0, N - 1, count).astype(np.intp)


def _proba(scores: Floats) -> Floats:
    """Return scores clipped at 0 and normalised."""
    scores = np.maximum(scores, 0)
    total = scores.sum(axis=1, keepdims=True)
    return np.where(total > 0, scores / np.where(total > 0, total, 1), 1 / scores.shape[1])


_REFERENCE = "ours: the noise-free problem of Chen, Patel & Chellappa (2018), solved directly"
register(
    "RowSpace",
    RowSpace,
    _REFERENCE,
    "one eigenproblem of min(features, instances), then 30 products",
    "features in which classes are linear: principal components, embeddings, pixels",
)
register(
    "RowSpace-RBF",
    partial(RowSpace, lift="rbf"),
    _REFERENCE,
    "one eigenproblem of at most 800, then 30 products",
    "many instances, and classes that are not linear in the features",
)
