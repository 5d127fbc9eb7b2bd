"""Who a face is among people known, or nobody known.

Evidence is that of solving, the likelihood ratio of a person against anybody under two
covariances (``candidly.solvers.open_set``). Its power and the odds of a stranger are two numbers
that are fitted on photos held out::

    weight of person i = exp(power * llr_i + odds) * share_i,   of nobody known = 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import Population

Array = NDArray[np.float64]


def posterior(llr: Array, share: Array, power: float, odds: float) -> Array:
    """Probabilities of people (rows) and, last, of nobody known; a column a face.

    Examples
    --------
    >>> posterior(np.array([[0.0], [9.0]]), np.log([[0.5], [0.5]]), 1.0, 0.0).round(2)
    array([[0.],
           [1.],
           [0.]])
    """
    weight = np.vstack([power * llr + share + odds, np.zeros(llr.shape[1])])
    weight = np.exp(weight - weight.max(axis=0))
    return np.asarray(weight / weight.sum(axis=0))


@dataclass(frozen=True)
class Recogniser:
    """People known, and how to tell who a face is.

    Parameters
    ----------
    names : sequence of str or int
    centre : (k,) array
        What is taken off an embedding.
    known : Population
        Counts and sums of the faces of each name.
    power, odds : float
        Of the likelihood ratios, and of a person known against a stranger.
    most : float
        How far to believe that at all; the rest is what could be said without looking.
    """

    names: Sequence[Any]
    centre: Array
    known: Population
    power: float
    odds: float
    most: float = 1.0

    def recognise(self, X: NDArray[np.floating]) -> tuple[Array, Array]:
        """Probabilities of names and, last, of nobody known, and evidence; a column a face.

        Parameters
        ----------
        X : (N, k) array
            Embeddings as they are kept.
        """
        if not self.names:
            return np.ones((1, len(X))), np.zeros((0, len(X)))
        llr = self.known.likelihood_ratios(np.asarray(X, dtype=float).T - self.centre[:, None])
        share = shares(self.known.count)[:, None]
        P = posterior(llr, share, self.power, self.odds)
        blind = np.append(np.exp(share[:, 0]), 1.0)[:, None] / 2
        return self.most * P + (1 - self.most) * blind, self.power * llr


def shares(count: Array) -> Array:
    """Logarithm of how often each name is seen; a name that is not known can not be it."""
    total = max(float(count.sum()), 1e-300)
    return np.where(count > 0, np.log(np.maximum(count, 1e-300) / total), NEVER)
