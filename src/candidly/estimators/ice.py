"""Iterative candidate elimination: Algorithm 2 over any estimator that takes soft labels."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import check_random_state

from candidly.base import (
    CandidateEstimator,
    Context,
    DoubtfulLabelsWarning,
    Labeller,
    LabellingResult,
    MethodTags,
)
from candidly.estimators.mcar import MCar, WMCar
from candidly.estimators.progress import round_reporter
from candidly.parameters import COUNT, ESTIMATOR, FRACTION, Constraints, one_of, optional
from candidly.registry import register
from candidly.solvers import CandidateSets, Elimination, Solution
from candidly.solvers.arrays import Floats
from candidly.solvers.cost import Cost
from candidly.solvers.elimination import TIES

ROUNDS = 6
"""Rounds that elimination usually takes, for how long it is said to take."""


class ICE(CandidateEstimator):
    """Iterative candidate elimination (Algorithm 2) over an estimator.

    Every round the estimator labels softly, the least likely candidate is taken from the
    ``fraction`` of ambiguous instances where it is least likely, and the labels are fed
    back in. There is no solve after the last elimination.

    Parameters
    ----------
    estimator : candidate estimator, default WMCar()
        Labels the instances in each round; it has to accept soft labels.
    fraction : float
        f_e: part of the ambiguous instances that lose a candidate in a round. 0 only feeds
        the labels back in.
    max_rounds : int
        Most rounds.
    ties : {"evidence", "scores", "index", "random"} or None
        Which of equal soft labels goes first; many are exactly 0, and the paper leaves it open.
        "evidence": the one that a regression of the labels on the features finds least likely,
        each instance left out, where the estimator has that; rounding decides nothing there, and
        the order of rows only between instances that are equal in all of this. "scores": the
        one with the smaller score before the projection, where rounding can decide. "index":
        the first. "random": any, by ``random_state``. But by scores, labels are fed back with
        five digits. None is "evidence", and over an estimator with ``setting="paper"`` it is
        "scores".
    classifier, sparse_output, random_state
        As in :class:`MCar`; the estimator's own classifier is not used, and it gets this
        ``random_state`` if its own is None.
    verbose : int
        1 reports every round; the estimator has its own ``verbose``.

    Attributes
    ----------
    n_iter_ : int
        Rounds.
    setting_ and others
        What the estimator keeps of its last round.
    transduction_, label_distributions_, classes_, solution_, classifier_
        As in :class:`MCar`; ``solution_.rounds`` has what each round eliminated.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = candidly.ICE(candidly.MCar()).fit(digits.X, digits.candidates)
    >>> model.n_iter_ <= 5
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CandidateEstimator._parameter_constraints,
        "estimator": optional(ESTIMATOR),
        "fraction": FRACTION,
        "max_rounds": COUNT,
        "ties": optional(one_of(*TIES)),
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        fraction: float = 0.5,
        max_rounds: int = 5,
        ties: str | None = None,
        classifier: Any = "auto",
        verbose: int = 0,
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.estimator = estimator
        self.fraction = fraction
        self.max_rounds = max_rounds
        self.ties = ties
        self.verbose = verbose

    @property
    def tags(self) -> MethodTags:
        """What the estimator accepts."""
        return self._labels_by().tags

    def soft_labeller(self, X: Floats, context: Context) -> Labeller:
        """Bind elimination to the estimator's labeller."""
        return partial(self._eliminate, self._labeller().soft_labeller(X, context))

    def predicted_cost(self, X: Floats, sets: CandidateSets, context: Context) -> Cost | None:
        """Return the cost of the usual number of rounds of the estimator."""
        once = self._labels_by().predicted_cost(X, sets, context)
        return None if once is None else min(ROUNDS, self.max_rounds) * once

    def _eliminate(self, labeller: Labeller, P: Floats, sets: CandidateSets) -> LabellingResult:
        """Run Algorithm 2, and return the last round's result with the labels that are left."""
        last: LabellingResult

        def label(P: Floats, sets: CandidateSets) -> Solution:
            nonlocal last
            with warnings.catch_warnings():  # of a round that is not the last
                warnings.simplefilter("ignore", DoubtfulLabelsWarning)
                last = labeller(P, sets)
            return last.solution

        def evidence(solution: Solution) -> Floats | None:
            return last.evidence_of(solution)

        tell = round_reporter(self.verbose)
        solution = self.elimination().solve(label, P, sets, callback=tell, evidence=evidence)
        for doubt in solution.doubts:
            warnings.warn(doubt, DoubtfulLabelsWarning, stacklevel=4)
        # Hard labels are chosen among the candidates as given, not among those that are left.
        return replace(last, solution=solution, predictor=None, chosen=None)

    def _labeller(self) -> Any:
        """Return a copy of the estimator, with this ``random_state`` if it has none."""
        estimator = clone(self._labels_by())
        if estimator.get_params().get("random_state", 0) is None:
            estimator.set_params(random_state=self.random_state)
        return estimator

    def elimination(self) -> Elimination:
        """Return the settings of Algorithm 2; a generator as ``random_state`` draws its seed."""
        seed = 0
        if self.ties == "random":
            seed = int(check_random_state(self.random_state).randint(2**31))
        return Elimination(self.fraction, self.max_rounds, self._ties_by(), seed)

    def _ties_by(self) -> str:
        """Return what decides between equal soft labels."""
        if self.ties is not None:
            return self.ties
        return "scores" if getattr(self._labels_by(), "setting", None) == "paper" else "evidence"

    def _labels_by(self) -> Any:
        estimator = WMCar() if self.estimator is None else self.estimator
        if not isinstance(estimator, CandidateEstimator) or not estimator.tags.priors:
            raise TypeError(
                f"{type(estimator).__name__} takes no soft labels in, so candidates cannot be "
                "eliminated over it; use one that does, such as WMCar, RowSpace or CLPL"
            )
        return estimator

    def _called(self) -> str:
        return f"ICE over {self._labels_by()._called()}"

    def _group_rules(self) -> tuple[bool, bool]:
        return self._labels_by()._group_rules()

    def _assigns(self) -> bool:
        return self._labels_by()._assigns()


def WMCarICE(
    *,
    fraction: float = 0.5,
    max_rounds: int = 5,
    ties: str | None = None,
    classifier: Any = "auto",
    verbose: int = 0,
    sparse_output: bool | str = "auto",
    random_state: Any = None,
    **parameters: Any,
) -> ICE:
    """Return ``ICE(WMCar())``: the paper's best method, and the one to try first.

    Parameters
    ----------
    fraction, max_rounds, ties, classifier, verbose, sparse_output, random_state
        As in :class:`ICE`; ``verbose`` is for WMCar too.
    **parameters
        Those of :class:`WMCar`; afterwards they are ``estimator__rho`` and so on.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = candidly.WMCarICE().fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """
    return ICE(
        WMCar(verbose=verbose, **parameters),
        fraction=fraction,
        max_rounds=max_rounds,
        ties=ties,
        classifier=classifier,
        verbose=verbose,
        sparse_output=sparse_output,
        random_state=random_state,
    )


_COST = "the estimator's, once per round, up to five rounds"
register(
    "MCar-ICE",
    lambda: ICE(MCar()),
    "Chen, Patel & Chellappa (2018), Algorithm 2",
    _COST,
    "balanced labels, many candidates",
)
register(
    "WMCar-ICE",
    WMCarICE,
    "Chen, Patel & Chellappa (2018), Algorithm 2",
    _COST,
    "the most accurate of the paper's methods; start here",
)
