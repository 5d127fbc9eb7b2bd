"""A recogniser of known people: probabilities of who a face is, or a stranger.

The evidence is the same as in solving: the likelihood ratio of a person against anybody under two
covariances (``candidly.solvers.two_covariances``). Its power and the odds against a stranger are
fitted on held-out photos (``candidly.solvers.recogniser_fitting``)::

    weight of person i = exp(power * llr_i + odds) * share_i,   of a stranger = 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.matchings import NEVER
from candidly.solvers.two_covariances import KnownPeople

Array = NDArray[np.float64]


def posterior(llr: Array, share: Array, power: float, odds: float) -> Array:
    """Return probabilities of people (rows) and, last, of a stranger; one column per face.

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
    """Known people, and the parameters of the probabilities of who a face is.

    Parameters
    ----------
    names : sequence of str or int
    centre : (k,) array
        Mean that is subtracted from an embedding.
    known : KnownPeople
        Counts and sums of the faces of each name.
    power, odds : float
        Exponent of the likelihood ratios, and log odds of a known person against a stranger.
    most : float
        Weight of this answer; the rest is the answer without looking at the face.
    """

    names: Sequence[Any]
    centre: Array
    known: KnownPeople
    power: float
    odds: float
    most: float = 1.0

    def recognise(self, X: NDArray[np.floating]) -> tuple[Array, Array]:
        """Return probabilities of names and, last, of a stranger, and the evidence for names.

        Both have one column per face.

        Parameters
        ----------
        X : (N, k) array
            Embeddings, one row per face.
        """
        if not self.names:
            return np.ones((1, len(X))), np.zeros((0, len(X)))
        llr = self.known.likelihood_ratios(np.asarray(X, dtype=float).T - self.centre[:, None])
        share = shares(self.known.count)[:, None]
        P = posterior(llr, share, self.power, self.odds)
        blind = np.append(np.exp(share[:, 0]), 1.0)[:, None] / 2
        return self.most * P + (1 - self.most) * blind, self.power * llr


def shares(count: Array) -> Array:
    """Return the logarithm of the frequency of each name; a name without faces is impossible."""
    total = max(float(count.sum()), 1e-300)
    return np.where(count > 0, np.log(np.maximum(count, 1e-300) / total), NEVER)
