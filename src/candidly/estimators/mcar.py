"""MCar and WMCar: Algorithm 1 as scikit-learn estimators."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from candidly.base import (
    CandidateEstimator,
    Context,
    DoubtfulLabelsWarning,
    Labeller,
    LabellingResult,
)
from candidly.estimators.progress import reporter
from candidly.estimators.scaling import (
    SETTING_FIELDS,
    SETTINGS,
    FeatureScaler,
    Setting,
    choose_setting,
)
from candidly.parameters import (
    ABOVE_ONE,
    COUNT,
    NAME,
    POSITIVE,
    SWITCH,
    Constraints,
    one_of,
    optional,
)
from candidly.registry import register
from candidly.solvers import ALM, CandidateSets, Status, Trace
from candidly.solvers.arrays import Floats, on_device
from candidly.solvers.candidate_floor import below_floor
from candidly.solvers.cost import Cost, alm_cost
from candidly.solvers.dense_memory import check_memory
from candidly.solvers.row_space import LeftOutEvidence
from candidly.solvers.weights import imbalance_weights

ARRAYS = 6
"""Matrices of all labels and features that a solve has at a time."""
ARGMAX, ASSIGNMENT = "argmax", "assignment"
FINAL_GAP = 0.01
"""Label gap up to which a stalled solve counts as converged; groups often end like this."""


class MCar(CandidateEstimator):
    """Matrix completion for ambiguity resolution (Algorithm 1 with W = I).

    Soft labels are stacked on the features; the right labels make the matrix low-rank, so
    it is completed by low-rank recovery, with noise removed from features and labels.

    A :class:`DoubtfulLabelsWarning` says where it ended at labels that tell no more about
    candidate sets than the candidates alone do (``solvers/candidate_floor.py``).

    Not offered: ``partial_fit`` (every label depends on all instances), sparse ``X`` (it is
    centred and completed, hence dense), ``class_weight`` (give known class sizes to ``fit`` as
    the constraint ``ClassProportions``).

    Parameters
    ----------
    setting : {"auto", "pixels", "features", "paper"}
        Values of the parameters below that are None. "auto" takes "pixels" where there are
        fewer than 2.5 instances per feature and "features" otherwise, and in both divides
        features by their standard deviation where they clearly differ in unit and are not
        principal components. "paper" is the paper to the letter; give it grey values in
        [0, 1].
    noise_weight : float, optional
        lambda, as a multiple of lambda_0 = 1/sqrt(max(c + m, N)): the penalty on noise of the
        features. 1 for "pixels" and "paper", 3 for "features".
    sparsity_weight : float, optional
        gamma, as a multiple of lambda_0: the penalty on soft labels. 2 everywhere.
    rho : float, optional
        Growth of mu per iteration; slower growth is more accurate and takes longer. 1.1 for
        "pixels", 1.8 for "features", 1.5 for "paper".
    start : {"rank", "rpca"} or float, optional
        First threshold on singular values; see :class:`candidly.solvers.ALM`.
    center, standardize : bool, optional
        Subtract the mean of every feature; divide by its standard deviation.
    norm : float, optional
        Mean norm of an instance's features, against labels of norm at most 1. 5 for
        "pixels", 15 for "features", left as it is for "paper".
    divisor : float, optional
        What features are divided by first: 255 for grey values that are not in [0, 1], and for
        projections of such values. It matters where the setting leaves the scale as it is.
    projection : {"simple", "euclidean"}
        The paper's projection of the labels, or the nearest point, which is worse.
    at_most_once : bool
        No two instances of a group get the same label, except null.
    at_least_one : bool, optional
        Some instance of every group gets a label other than null, unless no other is a
        candidate. True for "paper", else False: real captions sometimes violate it.
    hard_labels : {"argmax", "assignment"}, optional
        How labels are read off the soft ones where there are groups or constraints. "argmax" is
        the largest soft label of each instance, as in the paper: Algorithm 3 does not guarantee
        that such labels obey the constraints. "assignment" is ours: of all labellings that obey
        them, the one with the largest sum. "argmax" for "paper", else "assignment".
    classifier : "auto", scikit-learn classifier or None
        Trained on the recovered labels, for ``predict``.
    tol : float, optional
        Both stopping tests: relative residual and relative gap of the labels. 1e-5, and
        1e-7 for "paper".
    max_iter : int
        Largest number of iterations.
    device : str, optional
        PyTorch device to solve on, e.g. "cuda" for a GPU. Needs ``candidly[torch]``; by default
        NumPy is used on the CPU.
    precision : {"single", "double"}, optional
        Of the arrays; by default that of ``X``. "single" (float32) takes half the memory and
        less time for labels that differ by about 1e-5; what decides the rank is in double.
    verbose : int
        1 prints progress.
    sparse_output : bool or "auto"
        Whether ``label_distributions_`` is a sparse array; "auto" makes it one where it would
        have more than 50 million numbers.
    random_state : int, RandomState or None
        Passed to the classifier; the labelling itself is deterministic.

    Attributes
    ----------
    transduction_ : (N,) array
        Label found for each instance: a class name, or a column number without names.
    label_distributions_ : (N, c) array, or sparse array
        Soft labels, zero off the candidates, rows summing to 1.
    classes_ : (c,) array
    n_iter_ : int
    setting_ : Setting
        The values used.
    solution_ : Solution
        Labels, low-rank features Z, noise E_X and E_P, status and trace, one column per
        instance and features as scaled.
    classifier_ : classifier
        Trained on ``transduction_``.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = candidly.MCar().fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CandidateEstimator._parameter_constraints,
        "setting": one_of("auto", *SETTINGS),
        "noise_weight": optional(POSITIVE),
        "sparsity_weight": optional(POSITIVE),
        "rho": optional(ABOVE_ONE),
        "start": [*one_of("rank", "rpca"), *optional(POSITIVE)],
        "center": optional(SWITCH),
        "standardize": optional(SWITCH),
        "norm": optional(POSITIVE),
        "divisor": optional(POSITIVE),
        "projection": one_of("simple", "euclidean"),
        "at_most_once": SWITCH,
        "at_least_one": optional(SWITCH),
        "hard_labels": [*one_of(ARGMAX, ASSIGNMENT), None],
        "tol": optional(POSITIVE),
        "max_iter": COUNT,
        "device": optional(NAME),
        "precision": [*one_of("single", "double"), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        setting: str = "auto",
        noise_weight: float | None = None,
        sparsity_weight: float | None = None,
        rho: float | None = None,
        start: str | float | None = None,
        center: bool | None = None,
        standardize: bool | None = None,
        norm: float | None = None,
        divisor: float | None = None,
        projection: str = "simple",
        at_most_once: bool = True,
        at_least_one: bool | None = None,
        hard_labels: str | None = None,
        classifier: Any = "auto",
        tol: float | None = None,
        max_iter: int = 500,
        device: str | None = None,
        precision: str | None = None,
        verbose: int = 0,
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.setting = setting
        self.noise_weight = noise_weight
        self.sparsity_weight = sparsity_weight
        self.rho = rho
        self.start = start
        self.center = center
        self.standardize = standardize
        self.norm = norm
        self.divisor = divisor
        self.projection = projection
        self.at_most_once = at_most_once
        self.at_least_one = at_least_one
        self.hard_labels = hard_labels
        self.tol = tol
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.verbose = verbose

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Scale the features once and bind them to Algorithm 1."""
        sample_weight, constraints = context.sample_weight, context.constraints
        null = context.null
        setting = self._chosen_setting(X)
        alm = ALM(
            noise_weight=setting.noise_weight,
            sparsity_weight=setting.sparsity_weight,
            rho=setting.rho,
            start=setting.start,
            projection=self.projection,
            tol=setting.tol,
            max_iter=self.max_iter,
        )
        scaler = _scaler(setting)
        features = clone(scaler).fit(X, sample_weight=sample_weight).transform(X).T
        if np.abs(features).max(initial=0) > np.finfo(X.dtype).max ** 0.4:  # room for sums
            raise ValueError(
                f"features up to {np.abs(X).max():.3g} are too large to square; set norm, or "
                "scale them"
            )
        if self.precision is not None:
            features = features.astype(self.precision, order="K", copy=False)
        features = on_device(features, self.device)

        def label(P: Floats, sets: CandidateSets) -> LabellingResult:
            rows = sets.n_classes + X.shape[1]
            check_memory(type(self).__name__, rows, len(X), ARRAYS, X.itemsize, null is not None)
            w = self._column_weights(P, sets)
            if sample_weight is not None:
                w = w * np.sqrt(sample_weight)  # on top of the paper's instance weights
            report = reporter(self.verbose, type(self).__name__)
            solution = alm.solve(features, P, sets, w, constraints, callback=report)
            self.warn_unless_final(solution.status, solution.trace)
            assert solution.features is not None
            return LabellingResult(
                solution,
                ScaledSVC(scaler, self.random_state).fit,
                attributes={"setting_": setting},
                evidence=LeftOutEvidence(solution.features.T),
            )

        return label

    def predicted_cost(self, X: Floats, sets: CandidateSets, context: Context) -> Cost:
        """Return the cost of the usual number of iterations."""
        return alm_cost(sets.n_classes + X.shape[1], len(X), X.itemsize, ARRAYS)

    def _label(
        self, X: Floats, P: Floats, sets: CandidateSets, context: Context
    ) -> LabellingResult:
        """Return the result, with a doubt where its labels tell no more than the candidates."""
        result = super()._label(X, P, sets, context)
        if context.null is not None:  # listed everywhere: most of what is right tells nothing
            return result
        weight = context.sample_weight
        counts = np.ones(len(X), dtype=bool) if weight is None else weight > 0
        kept = None if weight is None else weight[counts]
        X = X[counts]
        features = _scaler(result.attributes["setting_"]).fit(X, sample_weight=kept).transform(X)
        part, at = sets.of_instances(np.flatnonzero(counts))
        if not below_floor(features, result.solution.labels[at], P[at], part, kept):
            return result
        doubt = self._doubt()
        warnings.warn(doubt, DoubtfulLabelsWarning, stacklevel=3)
        solution = replace(result.solution, status=Status.DOUBTFUL, doubts=(doubt,))
        return replace(result, solution=solution)

    def _doubt(self) -> str:
        """Return what is said of labels that tell no more than the candidates."""
        return (
            f"{self._called()} found labels that tell no more about the candidate sets of other "
            "instances than the candidates alone do, so many may be wrong, however sure they "
            "look; use CandidateClassifier, or more instances"
        )

    def _group_rules(self) -> tuple[bool, bool]:
        paper = self.setting == "paper"
        return self.at_most_once, paper if self.at_least_one is None else self.at_least_one

    def _assigns(self) -> bool:
        if self.hard_labels is None:
            return self.setting != "paper"
        return self.hard_labels == ASSIGNMENT

    weighted: ClassVar[bool] = False  # whether columns are weighted against imbalance

    def _column_weights(self, P: Floats, sets: CandidateSets) -> Floats:
        return (
            imbalance_weights(P, sets) if self.weighted else np.ones(len(sets.start) - 1, P.dtype)
        )

    def _chosen_setting(self, X: Floats) -> Setting:
        """Return the values used: those of ``setting``, except for parameters that are given."""
        base = choose_setting(X) if self.setting == "auto" else SETTINGS[self.setting]
        return base.override(**{name: getattr(self, name) for name in SETTING_FIELDS})

    def warn_unless_final(self, status: Status, trace: Trace) -> None:
        """Warn if a solve did not end where labels are final."""
        last = trace.steps[-1]
        final = status is Status.STALLED and last.gap <= FINAL_GAP
        if status is not Status.CONVERGED and not final:
            warnings.warn(
                f"{type(self).__name__} {status.value} (residual "
                f"{last.residual:.1e}, label gap {last.gap:.1e}, "
                f"{trace.labels_changed} labels changed over the last ten iterations)",
                ConvergenceWarning,
                stacklevel=5,
            )


class WMCar(MCar):
    """MCar with columns weighted against label imbalance (Algorithm 1).

    w_j = 1/sqrt(sum_i p_ij N_i) with N_i = sum_j p_ij: instances of frequent labels count
    less in the low-rank approximation, so that those labels do not take over.

    Parameters and attributes are those of :class:`MCar`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = candidly.WMCar().fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    weighted: ClassVar[bool] = True


class ScaledSVC(ClassifierMixin, BaseEstimator):
    """A linear support vector machine on scaled features; weights reach both parts."""

    def __init__(self, scaler: FeatureScaler, random_state: Any = None) -> None:
        self.scaler = scaler
        self.random_state = random_state

    def fit(self, X: Floats, y: Any, sample_weight: Any = None) -> ScaledSVC:
        """Fit a copy of the scaler, then the support vector machine."""
        self.scaler_ = clone(self.scaler).fit(X, sample_weight=sample_weight)
        self.svc_ = SVC(kernel="linear", random_state=self.random_state)
        self.svc_.fit(self.scaler_.transform(X), y, sample_weight=sample_weight)
        self.classes_ = self.svc_.classes_
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the predicted class of each row of X."""
        return self.svc_.predict(self.scaler_.transform(X))


def _scaler(setting: Setting) -> FeatureScaler:
    return FeatureScaler(
        center=setting.center,
        standardize=setting.standardize,
        norm=setting.norm,
        divisor=setting.divisor,
    )


_PAPER = "Chen, Patel & Chellappa (2018)"
register(
    "MCar",
    MCar,
    f"{_PAPER}, Algorithm 1 with W = I",
    "an eigenproblem of min(features + classes, instances) an iteration, 20 to 100 of them",
    "balanced labels; the plain form of the paper's method",
)
register(
    "WMCar",
    WMCar,
    f"{_PAPER}, Algorithm 1",
    "as MCar",
    "some labels are far more frequent than others",
)
