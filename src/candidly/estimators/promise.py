"""Which of the most confident labels can be promised, by the answers to a few questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, pdtr

from candidly.estimators.error_bound import ErrorBound
from candidly.solvers.arrays import Mask

SMALL = 1.25
"""Sets smaller than this multiple of the questions are not tried: nearly all would be asked."""
TRIED = 30
"""Number of set sizes that are compared."""

Places = NDArray[np.intp]
Answers = NDArray[np.int8]


@dataclass(frozen=True)
class PromiseState:
    """What is known after some answers.

    Attributes
    ----------
    size : int
        How many of the most confident labels the promise is about; 0 while the pilot is asked.
    holds : bool
        Whether it holds.
    ask : array of int
        Places to ask about next; empty once it holds.
    more : int
        Answers still needed, if no further error turns up.
    left : int
        Bound on the errors among labels of the set that were not asked about.
    kept : int
        Labels that are kept if it holds.
    """

    size: int
    holds: bool
    ask: Places
    more: int
    left: int = 0
    kept: int = 0


@dataclass
class Promise:
    """A promise about the most confident of some labels, of which a few are asked about.

    Labels are known by their place in the order of confidence. The answers of a pilot choose how
    many of the first labels to promise something about; all others are drawn at random from
    these, and decide. A bound that is valid whenever one stops (:class:`ErrorBound`) says how many
    errors are left. The choice can be unlucky, but it cannot break the promise, since no answer
    does both.

    Parameters
    ----------
    sure : (N,) array
        Confidences, largest first.
    pilot : array of int
        Places to ask about first, however they were chosen.
    draw : callable
        Returns some places in a random order, which does not depend on any answer.
    max_error : float
        Largest part of the labels kept that may be wrong.
    confidence : float
        Probability with which the promise is kept, over the questions drawn.
    n_questions : int
        Questions, at most; further ones are proposed after that.
    corrected : bool
        Whether a label that was answered to be wrong is kept with the answer, or dropped.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> promise = Promise(np.full(900, 0.99), np.arange(0, 900, 50), rng.permutation, 0.02)
    >>> known = np.full(900, -1, dtype=np.int8)  # -1: not asked, 0: right, 1: wrong
    >>> state = promise.state(known)
    >>> while len(state.ask):
    ...     known[state.ask] = 0
    ...     state = promise.state(known)
    >>> state.holds, state.size, int((known == 0).sum())
    (True, 900, 163)
    """

    sure: NDArray[np.float64]
    pilot: Places
    draw: Callable[[Places], Places]
    max_error: float
    confidence: float = 0.95
    n_questions: int = 300
    corrected: bool = True
    _chosen: tuple[bytes, int, Places, ErrorBound] | None = field(default=None, init=False)

    def state(self, wrong: Answers, still: Mask | None = None) -> PromiseState:
        """Return what can be said, and what to ask next.

        Parameters
        ----------
        wrong : (N,) array of int
            By place: 1 for a label that is wrong, 0 for a right one, -1 where that is not known.
        still : (N,) array of bool, optional
            Labels that are still those drawn; others are not kept, unless they were asked about.
        """
        unknown = wrong < 0
        first = self.pilot[unknown[self.pilot]]
        if len(first):
            return PromiseState(0, False, first, len(first))
        size, queue, bound = self._choose(wrong)
        drawn = wrong[queue]
        checked = int(np.argmax(drawn < 0)) if (drawn < 0).any() else len(drawn)
        found = int((drawn[:checked] == 1).sum())
        # Errors that became known otherwise are not left either.
        left = max(bound.most(checked, found) - int((drawn == 1).sum()), 0) if len(queue) else 0
        kept = self._kept(size, wrong, still)
        allowed = self._allowed(kept)
        if left <= allowed:
            return PromiseState(size, True, np.empty(0, dtype=np.intp), 0, left, kept)
        more = bound.needed(allowed, checked, found)
        asked = int((~unknown).sum())
        # The bound holds at all times, so no more is asked than may suffice.
        budget = max(self.n_questions - asked, 0) or more
        ask = queue[checked : checked + min(budget, more)]
        return PromiseState(size, False, ask[unknown[ask]], more, left, kept)

    def _choose(self, wrong: Answers) -> tuple[int, Places, ErrorBound]:
        """Return how many labels to promise something about, and what to draw from them.

        Only the answers of the pilot count.
        """
        answers = wrong[self.pilot].tobytes()
        if self._chosen is None or self._chosen[0] != answers:
            N = len(self.sure)
            known = np.full(N, -1, dtype=np.int8)
            known[self.pilot] = wrong[self.pilot]
            asked = known >= 0
            chance = chance_of_error(self.sure, asked, known)
            left = max(self.n_questions - int(asked.sum()), 1)
            sizes = np.unique(np.linspace(1, N, TRIED).astype(int))
            worth = [self._worth(size, chance, known, left) for size in sizes.tolist()]
            size = int(sizes[int(np.argmax(worth))])
            if size < SMALL * left:
                # The questions do not suffice for a useful set: take one that looks clean enough,
                # and report how many more it needs.
                mean = np.cumsum(chance) / np.arange(1, N + 1)
                clean = np.flatnonzero(mean <= self.max_error / 2)
                size = min(max(int(clean.max(initial=-1)) + 1, int(SMALL * left)), N)
            queue = self.draw(np.flatnonzero(~asked[:size]))
            self._chosen = (answers, size, queue, self._bound(size, chance, asked))
        return self._chosen[1:]

    def _bound(self, size: int, chance: NDArray[np.float64], asked: Mask) -> ErrorBound:
        rest = ~asked[:size]
        share = float(chance[:size][rest].mean()) if rest.any() else 0.0
        return ErrorBound(max(int(rest.sum()), 1), 1 - self.confidence, share)

    def _worth(self, size: int, chance: NDArray[np.float64], known: Answers, left: int) -> float:
        """Return the size of a set times the chance that the remaining questions confirm it."""
        bound = self._bound(size, chance, known >= 0)
        drawn = min(left, bound.size)
        expected = bound.expected * drawn
        allowed = self._allowed(self._kept(size, known, None))
        passed = -1
        while (  # until the errors found would be too many, or are very unlikely
            passed < drawn
            and bound.most(drawn, passed + 1) - passed - 1 <= allowed
            and 1 - _at_most(passed, expected) > 1e-3
        ):
            passed += 1
        return size * _at_most(passed, expected)

    def _kept(self, size: int, wrong: Answers, still: Mask | None) -> int:
        """Return how many labels are kept: those of the set, and what was asked outside it."""
        kept = wrong >= 0
        kept[:size] = True
        if not self.corrected:
            kept &= wrong != 1
        if still is not None:
            kept &= still | (wrong >= 0)
        return int(kept.sum())

    def _allowed(self, kept: int) -> int:
        """Return the errors that may be left in the set."""
        return int(np.floor(self.max_error * kept + 1e-9))


def _at_most(count: int, expected: float) -> float:
    """Return the chance of no more events than this, of which so many are expected."""
    return float(pdtr(count, expected)) if count >= 0 else 0.0


def chance_of_error(sure: NDArray[np.float64], asked: Mask, wrong: Answers) -> NDArray[np.float64]:
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
