"""Open-set labelling as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.base import CandidateEstimator, Context
from candidly.estimators.recognition import Recognition
from candidly.estimators.row_space import LiftedRidge, Lifting
from candidly.estimators.scaling import PrincipalComponents, differ_in_unit
from candidly.registry import Method, register
from candidly.solvers import Solution
from candidly.solvers.elimination import Labeller
from candidly.solvers.lifts import LinearLift
from candidly.solvers.open_set import OpenSetLabelling


class OpenSet(CandidateEstimator):
    """Names by likelihood ratio, nobody by what is left: for faces and captions (ours).

    Nobody, the null class, is not a class of its own kind of faces but what is left when no
    mentioned name fits: every face is compared with the other faces of a name against
    anybody's, mentioned names are probably shown, a name is used at most once in a group,
    and somebody who is not mentioned may be known from elsewhere. A person mentioned once is
    named by elimination. Soft labels are exact marginals over all ways to name a group.

    Parameters
    ----------
    shown : float
        Probability that a mentioned name is shown in its group, before anything is seen.
    learn_shown : bool
        Whether the labels found tell how often names are shown that several groups mention;
        they are believed half.
    elsewhere : float
        Probability that somebody who is not mentioned is known from other groups.
    damping : float
        Power of the likelihoods, between 0 and 1.
    shrinkage : float
        Instances a dimension that the belief counts for that pictures of one person, and
        people, differ alike in all directions.
    components : int
        Most principal components of the features that are used.
    classifier : "auto", scikit-learn classifier or None
        For ``predict``. "auto" compares with the people named and says nobody where none fits;
        without a null class it is ridge regression on the labels found.
    tol, max_iter
        Largest change of a soft label at which to stop, and most iterations.
    random_state : int, RandomState or None
        Passed to the classifier.

    Attributes
    ----------
    transduction_, label_distributions_, classes_, n_iter_, solution_, classifier_
        As in :class:`MCar`; the features of the solution are the ones given.

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

    _null: int | None = None

    def __init__(
        self,
        *,
        shown: float = 0.9,
        learn_shown: bool = True,
        elsewhere: float = 0.7,
        damping: float = 0.5,
        shrinkage: float = 3.0,
        components: int = 200,
        classifier: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 20,
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier=classifier, random_state=random_state)
        self.shown = shown
        self.learn_shown = learn_shown
        self.elsewhere = elsewhere
        self.damping = damping
        self.shrinkage = shrinkage
        self.components = components
        self.tol = tol
        self.max_iter = max_iter

    def soft_labeller(self, X: NDArray[np.floating], context: Context | None = None) -> Labeller:
        """Bind principal components of the features to open-set labelling."""
        context = Context() if context is None else context
        for name in ("shown", "elsewhere"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is between 0 and 1, got {getattr(self, name)!r}")
        for name in ("damping", "components", "tol", "max_iter"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is positive, got {getattr(self, name)!r}")
        if not self.shrinkage >= 0:
            raise ValueError(f"shrinkage is not negative, got {self.shrinkage!r}")
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
        Z = PrincipalComponents(self.components).fit(X, sample_weight=weight).transform(X).T
        groups = np.arange(len(X)) if context.groups is None else context.groups
        self._null = context.null
        weight = weight / weight.mean()

        def label(P: NDArray[np.floating], mask: NDArray[np.bool_]) -> Solution:
            solution = solver.solve(
                Z, P.astype(np.float64), mask, groups, context.null, weight, context.constraints
            )
            return replace(solution, features=X.T, noise=np.zeros_like(X.T))

        return label

    def _suitable_has_proba(self) -> bool:
        return True

    def _suitable_classifier(self, X: NDArray[np.floating]) -> Any:
        if self._null is None:
            return LiftedRidge(Lifting(LinearLift(), differ_in_unit(X), 0))
        return Recognition(self._null, self.components)


register(
    Method(
        "OpenSet",
        OpenSet,
        "ours: two-covariance likelihood ratios, exact posteriors over a group",
        "an eigenproblem of the features an iteration, at most twenty",
        "faces in captioned photos: many names, people named once, faces nobody named",
    )
)
