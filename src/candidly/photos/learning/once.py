"""A name at most once in a photo."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.assignment import assign
from candidly.solvers.constraints import AtMostOnce
from candidly.solvers.matchings import NEVER, marginals
from candidly.solvers.recogniser import Array

MOST_WAYS = 3000
"""Ways to give names to the faces of a photo up to which probabilities are exact."""
FAINT = 1e-6
"""Probability below which a name is not weighed against those of other faces."""


def at_most_once(P: Array) -> tuple[Array, NDArray[np.intp]]:
    """Probabilities of the faces of one photo, and who each is, a name at most once.

    Parameters
    ----------
    P : (c + 1, m) array
        Of each face by itself; the last row is nobody.

    Examples
    --------
    >>> Y, chosen = at_most_once(np.array([[0.9, 0.6], [0.1, 0.4]]))
    >>> Y.round(2), chosen
    (array([[0.78, 0.13],
           [0.22, 0.87]]), array([0, 1]))
    """
    Y = P.copy()
    names = np.flatnonzero((P[:-1] > FAINT).any(axis=1))
    if P.shape[1] > 1 and len(names):
        with np.errstate(divide="ignore"):
            worth = np.maximum(np.log(P[names].T), NEVER)
            free = np.maximum(np.log(P[-1]), NEVER)
        soft, rest = marginals(worth, free, MOST_WAYS)
        Y[names], Y[-1] = soft.T, rest
    rows = np.append(names, len(P) - 1)
    groups = np.zeros(P.shape[1], dtype=np.intp)
    rule = AtMostOnce(groups, len(names))
    return Y, rows[assign(Y[rows], np.ones((len(rows), P.shape[1]), dtype=bool), [rule])]
