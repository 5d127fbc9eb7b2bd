"""Iterative candidate elimination: Algorithm 2 over any estimator that takes soft labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from candidly.base import CandidateEstimator, Context
from candidly.estimators.mcar import MCar, WMCar
from candidly.estimators.progress import round_reporter
from candidly.registry import Method, register
from candidly.solvers import Elimination, Solution
from candidly.solvers.elimination import Labeller


class ICE(CandidateEstimator):
    """Iterative candidate elimination (Algorithm 2) over an estimator.

    Every round the estimator labels softly, the least likely candidate is taken from the
    ``fraction`` of ambiguous instances where it is least likely, and the labels are fed
    back in. There is no solve after the last elimination.

    Parameters
    ----------
    estimator : estimator with ``soft_labeller``, default WMCar()
        What labels in each round.
    fraction : float
        f_e: part of the ambiguous instances that lose a candidate in a round. 0 only feeds
        the labels back in.
    max_rounds : int
        Most rounds.
    classifier, random_state
        As in :class:`MCar`; the estimator's own classifier is not used, and it takes this
        ``random_state`` where it has none of its own.
    verbose : int
        1 reports every round; the estimator has its own.

    Attributes
    ----------
    estimator_ : estimator
        The one that labelled; its ``setting_`` says what was used.
    n_iter_ : int
        Rounds.
    transduction_, label_distributions_, classes_, solution_, classifier_
        As in :class:`MCar`; ``solution_.rounds`` tells what each round eliminated.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = candidly.ICE(candidly.MCar()).fit(digits.X, digits.candidates)
    >>> model.n_iter_ <= 5
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        fraction: float = 0.5,
        max_rounds: int = 5,
        classifier: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier=classifier, random_state=random_state)
        self.estimator = estimator
        self.fraction = fraction
        self.max_rounds = max_rounds
        self.verbose = verbose

    def soft_labeller(self, X: NDArray[np.floating], context: Context | None = None) -> Labeller:
        """Bind elimination to the estimator's labeller."""
        self.estimator_ = clone(self._labels_by())
        if self.estimator_.get_params().get("random_state", 0) is None:
            self.estimator_.set_params(random_state=self.random_state)
        label = self.estimator_.soft_labeller(X, context)
        return _eliminating(label, self.fraction, self.max_rounds, self.verbose)

    def _labels_by(self) -> Any:
        estimator = WMCar() if self.estimator is None else self.estimator
        if not getattr(estimator, "takes_soft_labels", False):
            raise TypeError(
                f"{type(estimator).__name__} takes no soft labels in, so candidates cannot be "
                "eliminated over it; use one that does, of the MCar family for one"
            )
        return estimator

    def _wants_once(self) -> bool:
        return self._labels_by()._wants_once()

    def _wants_one_named(self) -> bool:
        return self._labels_by()._wants_one_named()

    def _suitable_has_proba(self) -> bool:
        return self._labels_by()._suitable_has_proba()

    def _suitable_classifier(self, X: NDArray[np.floating]) -> Any:
        return self.estimator_._suitable_classifier(X)


class WMCarICE(WMCar):
    """WMCar with candidate elimination: the paper's best method, and ours to start with.

    The same as ``ICE(WMCar())``, with all parameters in one place.

    Parameters
    ----------
    fraction, max_rounds
        As in :class:`ICE`.
    **parameters
        Those of :class:`MCar`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = candidly.WMCarICE().fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    def __init__(
        self,
        *,
        fraction: float = 0.5,
        max_rounds: int = 5,
        setting: str = "auto",
        noise_weight: float | None = None,
        sparsity_weight: float | None = None,
        rho: float | None = None,
        start: str | float | None = None,
        center: bool | None = None,
        standardize: bool | None = None,
        norm: float | None = None,
        projection: str = "simple",
        at_most_once: bool = True,
        at_least_one: bool | None = None,
        classifier: Any = "auto",
        tol: float | None = None,
        max_iter: int = 500,
        device: str | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            setting=setting,
            noise_weight=noise_weight,
            sparsity_weight=sparsity_weight,
            rho=rho,
            start=start,
            center=center,
            standardize=standardize,
            norm=norm,
            projection=projection,
            at_most_once=at_most_once,
            at_least_one=at_least_one,
            classifier=classifier,
            tol=tol,
            max_iter=max_iter,
            device=device,
            verbose=verbose,
            random_state=random_state,
        )
        self.fraction = fraction
        self.max_rounds = max_rounds

    def soft_labeller(self, X: NDArray[np.floating], context: Context | None = None) -> Labeller:
        """Bind elimination to Algorithm 1."""
        label = super().soft_labeller(X, context)
        return _eliminating(label, self.fraction, self.max_rounds, self.verbose)


def _eliminating(labeller: Labeller, fraction: float, max_rounds: int, verbose: int) -> Labeller:
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction is between 0 and 1, got {fraction!r}")
    if not isinstance(max_rounds, Integral) or not max_rounds >= 1:
        raise ValueError(f"max_rounds is a whole number of at least 1, got {max_rounds!r}")
    elimination = Elimination(fraction, max_rounds)

    def label(P: NDArray[np.floating], mask: NDArray[np.bool_]) -> Solution:
        return elimination.solve(labeller, P, mask, callback=round_reporter(verbose))

    return label


_COST = "the estimator's, once a round, up to five rounds"
register(
    Method(
        "MCar-ICE",
        lambda: ICE(MCar()),
        "Chen, Patel & Chellappa (2018), Algorithm 2",
        _COST,
        "balanced labels, many candidates",
    )
)
register(
    Method(
        "WMCar-ICE",
        WMCarICE,
        "Chen, Patel & Chellappa (2018), Algorithm 2",
        _COST,
        "the most accurate of the paper's methods; start here",
    )
)
