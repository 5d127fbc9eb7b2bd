"""What is known beforehand of how features vary: within one person, and over all people.

A collection of some hundred faces says too little about that, and through labels that are
themselves uncertain. An embedder is fixed, so its population is estimated once, from people who
need not be in the collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FAR = 3.0
"""Multiple of the expected squared distance of a collection's mean from which it does not fit."""
SCALE = 1.5
"""Factor between the variance of a collection and the population's from which it does not fit."""


@dataclass(frozen=True)
class Population:
    """How features vary within and between people, known beforehand.

    Parameters
    ----------
    mean : (k,) array
        Mean over people.
    within : (k, k) array
        Covariance of the features of one person.
    total : (k, k) array
        Covariance over everybody.
    even : float
        Log likelihood ratio at which two instances are as likely of one person as of two: below
        0 where people vary more, now and then, than the covariances say.
    people, instances : int
        Number of people and instances it was estimated from.

    Examples
    --------
    >>> import candidly
    >>> rng = np.random.default_rng(0)
    >>> who = np.arange(300) % 100
    >>> X = 3 * rng.normal(size=(100, 4))[who] + rng.normal(size=(300, 4))
    >>> population = candidly.estimate_population(X, who)
    >>> population.within.diagonal().round(0), population.people
    (array([1., 1., 1., 1.]), 100)
    """

    mean: NDArray[np.float64]
    within: NDArray[np.float64]
    total: NDArray[np.float64]
    even: float = 0.0
    people: int = 0
    instances: int = 0

    def misfit(self, X: NDArray[Any], share: NDArray[Any]) -> str | None:
        """Return why instances cannot be of this population, or None.

        Parameters
        ----------
        X : (N, k) array
            Features of a collection.
        share : (c,) array
            Number of instances that each person has in it, as far as is known: the mean of an
            album of four people is far from everybody's.
        """
        size = float(((X - self.mean) ** 2).sum(axis=1).mean())
        return self.misfit_of(X.mean(axis=0), size, len(X), share)

    def misfit_of(self, mean: NDArray[Any], size: float, N: int, share: NDArray[Any]) -> str | None:
        """Return the same by the mean of N instances and that of |x - population mean|^2."""
        off = mean - self.mean
        spread = np.trace(self.total) - np.trace(self.within)
        few = float((share**2).sum()) + max(N - float(share.sum()), 0)
        expected = max(spread, 0) * few / N**2 + np.trace(self.within) / N
        if off @ off > FAR * expected:
            return f"their mean is {np.sqrt(off @ off / expected):.1f} times as far off as expected"
        size /= np.trace(self.total)
        if not 1 / SCALE < size < SCALE:
            return f"they vary {size:.2g} times as much"
        return None
