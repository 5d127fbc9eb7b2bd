"""Labels with a bound on their error; the estimator abstains on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from candidly.base import confidence
from candidly.estimators.promise import Promise, PromiseState
from candidly.parameters import COUNT, ESTIMATOR, INSIDE_UNIT, Constraints, optional
from candidly.registry import get
from candidly.solvers import Constraint
from candidly.solvers.arrays import Mask

PILOT = 8
"""One in this many questions is drawn from all instances, to calibrate the confidence."""


class RiskControlled(MetaEstimatorMixin, BaseEstimator):
    """Keep as many labels as possible with a bounded error, and abstain on the rest.

    The estimator labels everything. A few instances, spread over its confidence, are asked
    first; they say how far to trust it, and so which set of the most confident labels is
    likely to keep the promise. The other questions are drawn at random from that set, and
    decide whether it does (:class:`Promise`): by a bound that is valid whenever one stops, so
    going on after a look at the result is no cheating. Asked instances get the label answered;
    labels of others are left as they are, also where a photo then has a name twice.

    Parameters
    ----------
    estimator : candidate estimator, default CandidateClassifier()
        Labels all instances.
    max_error : float
        Largest fraction of the kept labels that may be wrong.
    confidence : float
        Probability with which the promise is kept, over the questions drawn.
    n_questions : int
        Instances to ask about, at most; further ones are proposed after that.
    random_state : int, RandomState or None
        Draws the questions, and is passed to the estimator.

    Attributes
    ----------
    ask_ : array of int
        Rows to ask about now; pass the true labels, in this order, to :meth:`answer`. Empty
        once the promise holds.
    accepted_ : (N,) array of bool
        Labels that are kept. Those asked about always are.
    transduction_ : (N,) array
        Labels of all instances; where ``accepted_`` is false they are the estimator's guess.
    error_bound_ : float
        Bound on the fraction of the accepted labels that is wrong.
    more_answers_ : int
        Answers still needed, if no further error turns up; 0 once the promise holds. At first
        only the number of the first questions: the set to promise is chosen after them.
    estimator_ : estimator
        The one that labelled.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=60, n_extra=3, random_state=0)
    >>> model = candidly.RiskControlled(max_error=0.02, n_questions=200, random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> while len(model.ask_):
    ...     model = model.answer(digits.y[model.ask_])  # a person would answer here
    >>> accepted = model.accepted_
    >>> bool(candidly.labelling_error(digits.y[accepted], model.transduction_[accepted]) <= 0.02)
    True
    """

    ask_: NDArray[np.intp]
    accepted_: Mask
    transduction_: NDArray[Any]
    estimator_: Any
    _order: NDArray[np.intp]
    _wrong: NDArray[np.int8]
    _promise: Promise

    _parameter_constraints: ClassVar[Constraints] = {
        "estimator": optional(ESTIMATOR),
        "max_error": INSIDE_UNIT,
        "confidence": INSIDE_UNIT,
        "n_questions": COUNT,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_error: float = 0.01,
        confidence: float = 0.95,
        n_questions: int = 300,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_error = max_error
        self.confidence = confidence
        self.n_questions = n_questions
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        constraints: Sequence[Constraint] = (),
        null: Any = None,
    ) -> Self:
        """Label everything, and choose what to ask first.

        Parameters
        ----------
        X, y, sample_weight, groups, constraints, null
            As the estimator's ``fit`` takes them.
        """
        self._validate_params()
        random = check_random_state(self.random_state)
        self.estimator_ = (
            # by name: it stands above this room
            get("CandidateClassifier") if self.estimator is None else clone(self.estimator)
        )
        if self.estimator_.get_params().get("random_state", 0) is None:
            self.estimator_.set_params(random_state=random.randint(2**31))
        facts = {
            "sample_weight": sample_weight,
            "groups": groups,
            "constraints": constraints or None,
            "null": null,
        }
        self.estimator_.fit(X, y, **{k: v for k, v in facts.items() if v is not None})
        if not any(
            hasattr(self.estimator_, kept) for kept in ("solution_", "label_distributions_")
        ):
            raise TypeError(
                f"{type(self.estimator_).__name__} has no label_distributions_ to order labels "
                "by; give a candidate estimator"
            )
        self.transduction_ = self.estimator_.transduction_.copy()
        rng = np.random.default_rng(random.randint(2**31))
        sure = confidence(self.estimator_)
        # Equal confidences, as after elimination, get a random order.
        self._order = np.lexsort((rng.random(len(sure)), -sure))
        self._wrong = np.full(len(sure), -1, dtype=np.int8)  # by place in the order; -1: not asked
        self._promise = Promise(
            sure[self._order],
            _spread(len(sure), self.n_questions // PILOT, rng),
            rng.permutation,
            self.max_error,
            self.confidence,
            self.n_questions,
        )
        return self._update(self._promise.state(self._wrong))

    def answer(self, labels: ArrayLike) -> Self:
        """Use the true labels of the rows in ``ask_``, in that order, and choose the next rows."""
        check_is_fitted(self)
        given = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)  # type: ignore[arg-type]
        if len(given) != len(self.ask_):
            raise ValueError(
                f"{len(self.ask_)} rows were asked about, and {len(given)} labels answered; "
                "give the true label of every row in ask_, in that order"
            )
        known = set(self.estimator_.classes_.tolist())
        if not known.issuperset(given):  # a class that no candidate set lists
            self.transduction_ = self.transduction_.astype(object)
        before = self.transduction_[self.ask_].tolist()
        self._wrong[self._asked] = [a != b for a, b in zip(before, given, strict=True)]
        self.transduction_[self.ask_] = given
        return self._update(self._promise.state(self._wrong))

    def _update(self, state: PromiseState) -> Self:
        """Set what is accepted so far, and what to ask next."""
        self._asked = state.ask
        self.ask_ = self._order[state.ask]
        self.more_answers_ = state.more
        self.accepted_ = np.zeros(len(self._order), dtype=bool)
        self.accepted_[self._order[self._wrong >= 0]] = True
        self.error_bound_ = 0.0
        if state.holds:
            self.accepted_[self._order[: state.size]] = True
            self.error_bound_ = state.left / max(int(self.accepted_.sum()), 1)
        return self


def _spread(N: int, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return places spread evenly over an order, from a random start."""
    count = min(max(count, 1), N)
    return np.unique(((np.arange(count) + rng.random()) * N / count).astype(int))
