"""Bound on the errors in a finite set, from a random sample that may end at any time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

MANY = 600
"""Largest number of further errors that is tested; beyond, there is no bound."""


@dataclass(frozen=True)
class ErrorBound:
    """Upper bound on the errors in a set of which some members, drawn at random, were checked.

    For a set of ``size`` with D errors, the chance of finding x of them among t drawn without
    replacement is hypergeometric. A mixture of it over D, divided by that of one D, is a
    martingale if D is the truth, so by Ville's inequality it ever exceeds 1/risk with
    probability ``risk`` at most. The D at which it did not are a confidence sequence (Waudby-Smith
    & Ramdas 2020): the bound holds at all times at once, whenever one decides to stop.

    Parameters
    ----------
    size : int
        Members of the set.
    risk : float
        Probability with which the bound may ever be wrong.
    expected : float
        Share of errors that is expected; a guess costs sharpness, never validity.

    Examples
    --------
    >>> from candidly.estimators.error_bound import ErrorBound
    >>> ErrorBound(size=1000, risk=0.05, expected=0.001).most(checked=250, found=0)
    11
    """

    size: int
    risk: float = 0.05
    expected: float = 0.005

    def most(self, checked: int, found: int) -> int:
        """Return the largest number of errors in the set, including those found."""
        largest = self.size - checked + found
        possible = np.arange(found, min(largest, found + MANY) + 1)
        log_chance = self._log_chance(possible, checked, found)
        # Leaving many errors out of the mixture makes the bound wider, never wrong.
        log_mixture = np.logaddexp.reduce(self._log_prior(possible) + log_chance)
        kept = possible[log_mixture - log_chance < -np.log(self.risk)]
        if len(kept) and kept[-1] == possible[-1]:
            return largest
        return int(kept[-1]) if len(kept) else found

    def interval(self, checked: int, found: int) -> tuple[int, int]:
        """Return the fewest and the most errors in the set, including those found.

        Both bounds hold together, at all times, with the probability that ``risk`` leaves. Unlike
        ``most`` it takes time and memory in proportion to the size.

        Examples
        --------
        >>> ErrorBound(size=1000, risk=0.05, expected=0.05).interval(checked=200, found=10)
        (20, 102)
        """
        possible = np.arange(found, self.size - checked + found + 1)
        log_chance = self._log_chance(possible, checked, found)
        log_mixture = np.logaddexp.reduce(self._log_prior(possible) + log_chance)
        kept = possible[log_mixture - log_chance < -np.log(self.risk)]
        return (int(kept[0]), int(kept[-1])) if len(kept) else (found, found)

    def needed(self, allowed: int, checked: int = 0, found: int = 0) -> int:
        """Return how many more to check, without further errors, until ``allowed`` can be left.

        Errors that were found are known, so only those left in the rest count.
        """
        few, many = 0, self.size - checked
        while few < many:  # checking everything always suffices
            middle = (few + many) // 2
            if self.most(checked + middle, found) - found <= allowed:
                many = middle
            else:
                few = middle + 1
        return few

    def _log_chance(self, D: NDArray[np.intp], checked: int, found: int) -> NDArray[np.float64]:
        """Return log P(found | D errors), without terms that do not depend on D."""
        return self._log_choose(D, found) + self._log_choose(self.size - D, checked - found)

    def _log_prior(self, D: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the log prior of D, beta-binomial: one error per ``1 / expected`` members."""
        rate = min(max(self.expected, 0.1 / self.size), 0.5)
        b = 1 / rate - 1
        # With a = 1 the binomial coefficient and the beta function leave two gamma functions.
        log = _log_factorials(self.size.bit_length())
        left = self.size - D
        return (
            log[self.size] - log[left] + gammaln(left + b) - gammaln(self.size + 1 + b) + np.log(b)
        )

    def _log_choose(self, n: Any, k: Any) -> NDArray[np.float64]:
        log = _log_factorials(self.size.bit_length())
        return np.asarray(log[n] - log[k] - log[np.subtract(n, k)])


@lru_cache(maxsize=4)
def _log_factorials(bits: int) -> NDArray[np.float64]:
    """Return the logarithms of the factorials of numbers with at most so many bits."""
    return np.asarray(gammaln(np.arange(1 << bits) + 1.0))
