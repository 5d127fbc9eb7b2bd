"""Open-set labelling as a scikit-learn estimator, and its classifier for new instances."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from candidly.base import (
    CandidateEstimator,
    Context,
    DoubtfulLabelsWarning,
    Labeller,
    LabellingResult,
    MethodTags,
)
from candidly.estimators.row_space import LiftedRidge, Lifting
from candidly.estimators.scaling import FeatureScaler, PrincipalComponents, differ_in_unit
from candidly.parameters import (
    COUNT,
    INSIDE_UNIT,
    NAME,
    NOT_NEGATIVE,
    POSITIVE,
    SWITCH,
    Constraints,
    optional,
)
from candidly.registry import register
from candidly.solvers import (
    AtMostOnce,
    CandidateSets,
    ContradictionError,
    Solution,
    Status,
    assign,
)
from candidly.solvers.arrays import Floats, on_device
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from candidly.solvers.cost import Cost, basis_cost, open_set_cost
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import FEW_FOUND, OpenSetLabelling, centre
from candidly.solvers.population import Population
from candidly.solvers.recogniser_fitting import learn
from candidly.solvers.row_space import LinearLift

SINGLE = 20_000_000
"""Numbers from which features are held in single precision."""
LISTED = 10
"""Largest number of names that a warning lists."""


class OpenSet(CandidateEstimator):
    """Open-set labelling: names by likelihood ratio, nobody by what is left (ours).

    For faces and captions. Nobody, the null class, is not learnt as a class; it is what is left
    when no mentioned name fits: every face is compared with the other faces of a name against
    anybody's, mentioned names are probably shown, a name is used at most once in a group,
    and somebody who is not mentioned may be known from elsewhere. A person mentioned once is
    named by elimination. Soft labels are exact marginals over all ways to name a group.

    Parameters
    ----------
    shown : float
        Probability that a mentioned name is shown in its group, before anything is seen.
    learn_shown : bool
        Whether to estimate from the labels how often names that several groups mention are
        shown; the estimate counts two thirds.
    elsewhere : float
        Probability that somebody who is not mentioned is known from other groups.
    damping : float
        Power of the likelihoods, between 0 and 1.
    shrinkage : float, optional
        Weight, in instances per dimension, of what is known of the covariances beforehand: the
        population, or without one that all directions are alike (30 by default), or that one
        person varies by the same part of what everybody does in all of them (5 by default). Both
        are tried, and the solution that explains the groups better is kept.
    population : Population, optional
        How features of this kind vary within and between people, by
        :func:`candidly.estimate_population`. Without it the instances themselves have to show
        that, which takes some hundred of them; features that cannot be of it are told by a
        warning, and are used without it.
    components : int
        Largest number of principal components of the features that are used; with a population
        all features are.
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" compares with the people named and says nobody where none fits;
        without a null class it is ridge regression on the labels found.
    tol, max_iter
        Largest change of a soft label at which to stop, and most iterations.
    device : str, optional
        PyTorch device on which to iterate, e.g. "cuda" for a GPU, as in :class:`MCar`. Where to
        start, how sure labels may be and the classifier are found on the CPU, and so are
        constraints beyond each name once in a group, for which labels are copied in every
        iteration.
    sparse_output : bool or "auto"
        As in :class:`MCar`.
    random_state : int, RandomState or None
        Passed to the classifier.

    Attributes
    ----------
    transduction_, label_distributions_, classes_, n_iter_, solution_, classifier_
        As in :class:`MCar`; the solution has no features.

    Examples
    --------
    >>> import candidly, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> who = rng.integers(4, size=60)
    >>> X = 3 * rng.normal(size=(4, 16))[who] + rng.normal(size=(60, 16))
    >>> people = np.array(["ann", "bob", "cas", "dee"])[who]
    >>> news = candidly.datasets.simulate_captions(people, np.arange(60), random_state=0)
    >>> model = candidly.OpenSet().fit(X, news.candidates)
    >>> candidly.labelling_error(news.y, model.transduction_) < 0.1
    True
    """

    takes = MethodTags(proba=True)

    _parameter_constraints: ClassVar[Constraints] = {
        **CandidateEstimator._parameter_constraints,
        "shown": INSIDE_UNIT,
        "learn_shown": SWITCH,
        "elsewhere": INSIDE_UNIT,
        "damping": POSITIVE,
        "shrinkage": optional(NOT_NEGATIVE),
        "population": optional([Population]),
        "components": COUNT,
        "tol": POSITIVE,
        "max_iter": COUNT,
        "device": optional(NAME),
    }

    def __init__(
        self,
        *,
        shown: float = 0.9,
        learn_shown: bool = True,
        elsewhere: float = 0.4,
        damping: float = 0.5,
        shrinkage: float | None = None,
        population: Population | None = None,
        components: int = 200,
        classifier: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 20,
        device: str | None = None,
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.shown = shown
        self.learn_shown = learn_shown
        self.elsewhere = elsewhere
        self.damping = damping
        self.shrinkage = shrinkage
        self.population = population
        self.components = components
        self.tol = tol
        self.max_iter = max_iter
        self.device = device

    def predicted_cost(self, X: Floats, sets: CandidateSets, context: Context) -> Cost:
        """Return the cost of principal components, and of all starts with all iterations."""
        N, m = X.shape
        k = m if isinstance(self.population, Population) else min(self.components, m, N)
        itemsize = 4 if N * k >= SINGLE else 8
        cost = open_set_cost(N, k, len(sets), sets.n_classes, self.max_iter, itemsize)
        return basis_cost(N, m, 8) + cost

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Bind principal components of the features to open-set labelling."""
        solver = OpenSetLabelling(
            shown=self.shown,
            elsewhere=self.elsewhere,
            damping=self.damping,
            shrinkage=self.shrinkage,
            learn_shown=self.learn_shown,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        weight = np.ones(len(X)) if context.sample_weight is None else context.sample_weight
        groups = np.arange(len(X)) if context.groups is None else context.groups

        def label(P: Floats, sets: CandidateSets) -> LabellingResult:
            P = P.astype(np.float64)
            entries = CandidateEntries.of_sets(P, sets, groups, context.null)
            population, doubts = self._population(X, entries)
            features = X
            if population is None:
                components = PrincipalComponents(self.components)
                features = components.fit(X, sample_weight=weight).transform(X)
            features = features - centre(features, population)
            if features.size >= SINGLE:
                features = features.astype(np.float32)
            found = solver.solve(
                on_device(features, self.device).T,
                entries,
                weight / weight.mean(),
                population,
                rules=_rules(entries, sets, P, context),
            )
            doubts += doubts_of(found.found, found.unlike)
            for doubt in doubts:
                warnings.warn(doubt, DoubtfulLabelsWarning, stacklevel=4)
            soft, rest = found.limited(entries)
            other = np.where(entries.free > NEVER, found.other, 0)
            return LabellingResult(
                Solution(
                    with_nobody(sets, soft, rest, context.null),
                    with_nobody(sets, found.likeness, other, context.null),
                    sets,
                    Status.DOUBTFUL if doubts else found.status,
                    found.trace,
                    doubts=tuple(doubts),
                ),
                self._classifier(X, context.null).fit,
                chosen=np.where(found.chosen < 0, context.null or 0, found.chosen),
            )

        return label

    def _population(
        self, X: Floats, entries: CandidateEntries
    ) -> tuple[Population | None, list[str]]:
        """Return the population given, unless the features cannot be of it, and doubts."""
        population = self.population
        if population is None:
            return None, []
        if population.mean.shape != (X.shape[1],):
            raise ValueError(
                f"population is of {len(population.mean)} features, and X has {X.shape[1]}"
            )
        why = population.misfit(X, entries.shares())
        if why is None:
            return population, []
        return None, [
            f"the features are not of the population given, which is not used: {why}; estimate "
            "one with candidly.estimate_population on features of the same kind"
        ]

    def _classifier(self, X: Floats, null: int | None) -> Any:
        if null is None:
            scaler = FeatureScaler(standardize=differ_in_unit(X), norm=1.0)
            return LiftedRidge(Lifting(LinearLift(), scaler, 0))
        return Recognition(null, self.components)


class Recognition(ClassifierMixin, BaseEstimator):
    """Classifier by likelihood ratios of the people named; nobody where none fits.

    Nobody is not learnt as a class: instances with this label may be anybody, and only show how
    many strangers to expect. The power of the ratios is fitted on held-out instances, one at a
    time: a name is in a group at most once, so the rest of the group says nothing about it.

    Parameters
    ----------
    null : int
        The label of nobody.
    components : int
        Largest number of principal components of the features that are used.
    """

    def __init__(self, null: int, components: int = 200) -> None:
        self.null = null
        self.components = components

    def fit(self, X: Floats, y: Any, sample_weight: Any = None) -> Self:
        """Learn the people named in y."""
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        self.components_ = PrincipalComponents(self.components).fit(X, sample_weight=weight)
        names = [None if label == self.null else int(label) for label in y]
        named = np.array([name is not None for name in names])
        counts = weight / (np.median(weight[named]) if named.any() else 1.0)
        strangers = named.sum() * weight[~named].sum() / max(weight[named].sum(), 1e-300)
        self.recogniser_ = learn(self.components_.transform(X), names, counts, strangers)
        self.classes_ = np.unique(np.append(y, self.null))
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the most probable label of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probability of each person and of nobody."""
        P, _ = self.recogniser_.recognise(self.components_.transform(X))
        labels = [*self.recogniser_.names, self.null]
        proba = np.zeros((len(X), len(self.classes_)))
        proba[:, np.searchsorted(self.classes_, labels)] = P.T
        return proba


@dataclass(frozen=True)
class _Rules:
    """Constraints of a fit on the entries of its candidates, those of nobody apart."""

    entries: CandidateEntries
    sets: CandidateSets
    feasible: FeasibleSet
    context: Context

    def project(self, R: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Return the soft labels projected onto the constraints."""
        null, named = self.context.null, self.sets.classes != self.context.null
        y = self.feasible.project(with_nobody(self.sets, R, rest, null))
        if null is not None:
            rest = np.zeros_like(rest)
            rest[self.sets.instance[~named]] = y[~named]
        return y[named], rest

    def choose(self, worth: Floats, nobody: Floats) -> NDArray[np.intp]:
        """Return the labels of largest worth under the constraints."""
        null = self.context.null
        merit = with_nobody(self.sets, worth, nobody, null)
        try:
            chosen = assign(merit, self.sets, self.context.constraints)
        except ContradictionError:  # by candidates that ICE eliminated
            return self.entries.choose(worth, nobody)
        return chosen if null is None else np.where(chosen == null, -1, chosen)


def _rules(
    entries: CandidateEntries, sets: CandidateSets, P: Floats, context: Context
) -> _Rules | None:
    """Return the constraints, or None where there are none but each name once in a group."""
    if all(
        isinstance(rule, AtMostOnce) and np.array_equal(rule.groups, entries.groups)
        for rule in context.constraints
    ):
        return None
    feasible = FeasibleSet(sets, CandidateSimplex(P), context.constraints)
    return _Rules(entries, sets, feasible, context)


def with_nobody(sets: CandidateSets, values: Floats, nobody: Floats, null: int | None) -> Floats:
    """Return values of the names among the candidates, and those of nobody where it is one."""
    named = sets.classes != null
    y = np.empty(len(sets))
    y[named], y[~named] = values, nobody[sets.instance[~named]]
    return y


def doubts_of(found: float, unlike: NDArray[np.intp]) -> list[str]:
    """Return what makes a result doubtful, in sentences.

    Parameters
    ----------
    found : float
        Part of the instances that have a name, of those that could have one at once.
    unlike : (u,) array of int
        Names whose instances do not look alike.
    """
    doubts = []
    if found < FEW_FOUND:
        doubts.append(
            "nearly everybody is nobody: of the instances that could have a name only "
            f"{100 * found:.0f}% have one; the features do not tell people apart, or few of "
            "the names are shown"
        )
    if len(unlike):
        some = [*map(str, unlike[:LISTED]), *["..."] * (len(unlike) > LISTED)]
        doubts.append(
            "names whose instances do not look alike, and may be several people, by their place "
            f"in classes_: {', '.join(some)}"
        )
    return doubts


register(
    "OpenSet",
    OpenSet,
    "ours: two-covariance likelihood ratios, exact posteriors over a group",
    "an eigenproblem of the features per iteration, at most twenty",
    "faces in captioned photos: many names, people named once, faces nobody named",
)
