"""Labels with a bound on their error; the estimator abstains on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import poisson
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from candidly.base import confidence
from candidly.estimators.error_bound import ErrorBound
from candidly.parameters import COUNT, ESTIMATOR, INSIDE_UNIT, Constraints, optional
from candidly.registry import get
from candidly.solvers import Constraint
from candidly.solvers.arrays import Mask

PILOT = 8
"""One in this many questions is drawn from all instances, to calibrate the confidence."""
SMALL = 1.25
"""Sets smaller than this multiple of the questions are not tried: nearly all would be asked."""
TRIED = 30
"""Number of set sizes that are compared."""


class RiskControlled(MetaEstimatorMixin, BaseEstimator):
    """Keep as many labels as possible with a bounded error, and abstain on the rest.

    The estimator labels everything. A few instances, spread over its confidence, are asked
    first; they say how far to trust it, and so which set of the most confident labels is
    likely to keep the promise. The other questions are drawn at random from that set, and
    decide whether it does: a bound that is valid whenever one stops (:class:`ErrorBound`), so
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
    _sure: NDArray[np.float64]
    _wrong: NDArray[np.int8]
    _size: int
    _rng: np.random.Generator

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
        self._rng = np.random.default_rng(random.randint(2**31))
        sure = confidence(self.estimator_)
        # Equal confidences, as after elimination, get a random order.
        self._order = np.lexsort((self._rng.random(len(sure)), -sure))
        self._sure = sure[self._order]
        self._wrong = np.full(len(sure), -1, dtype=np.int8)  # by place in the order; -1: not asked
        self._size = 0
        self._ask(self._pilot())
        return self._update()

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
        if not self._size:
            self._choose_set()
        return self._update()

    def _pilot(self) -> NDArray[np.intp]:
        """Return places spread evenly over the order, from a random start."""
        N = len(self._order)
        count = min(max(self.n_questions // PILOT, 1), N)
        return np.unique(((np.arange(count) + self._rng.random()) * N / count).astype(int))

    def _choose_set(self) -> None:
        """Fix how many of the most confident labels to promise, and what to draw from them."""
        asked = self._wrong >= 0
        chance = _chance_of_error(self._sure, asked, self._wrong)
        left = max(self.n_questions - int(asked.sum()), 1)
        N = len(self._order)
        sizes = np.unique(np.linspace(1, N, TRIED).astype(int))
        worth = [self._worth(size, chance, asked, left) for size in sizes.tolist()]
        self._size = int(sizes[int(np.argmax(worth))])
        if self._size < SMALL * left:
            # The questions do not suffice for a useful set: take one that looks clean enough,
            # and report how many more it needs.
            mean = np.cumsum(chance) / np.arange(1, N + 1)
            clean = np.flatnonzero(mean <= self.max_error / 2)
            self._size = min(max(int(clean.max(initial=-1)) + 1, int(SMALL * left)), N)
        rest = np.flatnonzero(~asked[: self._size])
        self._queue = self._rng.permutation(rest)
        self._drawn = 0
        self._bound = self._bound_of(self._size, chance, asked)

    def _bound_of(self, size: int, chance: NDArray[np.float64], asked: Mask) -> ErrorBound:
        rest = ~asked[:size]
        share = float(chance[:size][rest].mean()) if rest.any() else 0.0
        return ErrorBound(max(int(rest.sum()), 1), 1 - self.confidence, share)

    def _worth(self, size: int, chance: NDArray[np.float64], asked: Mask, left: int) -> float:
        """Return the size of a set times the chance that the remaining questions confirm it."""
        bound = self._bound_of(size, chance, asked)
        drawn = min(left, bound.size)
        expected = bound.expected * drawn
        allowed = self._allowed(size, asked)
        passed = -1
        while (  # until the errors found would be too many, or are very unlikely
            passed < drawn
            and bound.most(drawn, passed + 1) - passed - 1 <= allowed
            and poisson.sf(passed, expected) > 1e-3
        ):
            passed += 1
        return size * float(poisson.cdf(passed, expected))

    def _allowed(self, size: int, asked: Mask) -> int:
        """Return the errors that may be left in the set; what was asked outside it is kept too."""
        kept = size + int(asked[size:].sum())
        return int(np.floor(self.max_error * kept + 1e-9))

    def _ask(self, places: NDArray[np.intp]) -> None:
        self._asked = places
        self.ask_ = self._order[places]

    def _update(self) -> Self:
        """Set what is accepted so far, and what to ask next."""
        asked = self._wrong >= 0
        holds = False
        self.more_answers_ = len(self.ask_)
        self.error_bound_ = 0.0
        if self._size:
            drawn = self._wrong[self._queue]
            checked = int((drawn >= 0).sum())
            found = int((drawn == 1).sum())
            allowed = self._allowed(self._size, asked)
            left = self._bound.most(checked, found) - found if len(self._queue) else 0
            holds = left <= allowed
            self.more_answers_ = 0
            if not holds:
                self.more_answers_ = self._bound.needed(allowed, checked, found)
            # The bound holds at all times, so no more is asked than may suffice.
            budget = max(self.n_questions - int(asked.sum()), 0) or self.more_answers_
            self._ask(self._queue[checked : checked + min(budget, self.more_answers_)])
        self.accepted_ = np.zeros(len(self._order), dtype=bool)
        self.accepted_[self._order[asked]] = True
        if holds:
            self.accepted_[self._order[: self._size]] = True
            self.error_bound_ = left / max(int(self.accepted_.sum()), 1)
        return self


def _chance_of_error(
    sure: NDArray[np.float64], asked: Mask, wrong: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Return the chance of error at each confidence, corrected by the answers so far.

    Logistic in the log odds claimed; without answers the claim is taken as it is, and few
    answers move it little.
    """
    claimed = logit(np.clip(1 - sure, 1e-4, 1 - 1e-4))
    x, y = claimed[asked], wrong[asked]

    def cost(line: NDArray[np.float64]) -> float:
        score = line[0] + line[1] * x
        prior = line[0] ** 2 / 9 + (line[1] - 1) ** 2 / 0.25
        return float(np.sum(np.logaddexp(0, score) - y * score) + prior / 2)

    line = minimize(cost, [0.0, 1.0]).x
    return np.asarray(expit(line[0] + line[1] * claimed))
