"""Ambiguous labels made from true ones by the ambiguity model of Cour et al. (2011)."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from candidly.candidates.candidates import Candidates
from candidly.candidates.forms import Names, read_labels


def make_ambiguous(
    y: ArrayLike,
    *,
    ambiguous_fraction: float = 1.0,
    n_extra: int = 1,
    cooccurrence: float | None = None,
    classes: Names = None,
    random_state: np.random.Generator | int | None = None,
) -> Candidates:
    """Add wrong candidates to true labels.

    Parameters
    ----------
    y : 1-d array
        True labels.
    ambiguous_fraction : float
        Fraction of the instances that get extra labels, drawn at random; the others keep
        one candidate. (The paper's alpha in the figures, beta in its text.)
    n_extra : int
        Number of extra labels per ambiguous instance, drawn uniformly from the other classes.
    cooccurrence : float, optional
        Epsilon: every class draws one partner at random, with replacement between classes.
        The partner is among the extra labels with this probability, and never otherwise.
    classes : sequence, optional
        All classes; by default those in ``y``, sorted.
    random_state : numpy Generator or int, optional
        Source of randomness; a number is a seed.

    Examples
    --------
    >>> from candidly import make_ambiguous
    >>> candidates = make_ambiguous(["ann", "bob", "eve"], n_extra=1, random_state=0)
    >>> candidates.sizes
    array([2, 2, 2])
    >>> candidates.contain(["ann", "bob", "eve"]).all()
    np.True_
    """
    truth = read_labels(y, classes)
    generator = np.random.default_rng(random_state)
    n, c = truth.matrix.shape
    if not 0 <= ambiguous_fraction <= 1:
        raise ValueError(f"ambiguous_fraction is between 0 and 1, got {ambiguous_fraction!r}")
    if not isinstance(n_extra, Integral) or not 0 <= n_extra <= c - 1:
        raise ValueError(
            f"n_extra is a whole number from 0 to the number of other classes ({c - 1}), "
            f"got {n_extra!r}"
        )
    true = truth.matrix.indices
    rank = generator.random((n, c))  # the extra labels are those of smallest rank
    rank[np.arange(n), true] = np.inf
    if cooccurrence is not None:
        _promote_partner(rank, true, int(n_extra), cooccurrence, generator)
    mask = truth.matrix.toarray() > 0
    ambiguous = generator.permutation(n)[: round(ambiguous_fraction * n)]
    extra = rank[ambiguous].argsort(axis=1, kind="stable")[:, :n_extra]
    mask[ambiguous[:, None], extra] = True
    return Candidates.from_mask(mask, classes=truth.classes)


def _promote_partner(
    rank: NDArray[Any], true: NDArray[Any], n_extra: int, epsilon: float, rng: np.random.Generator
) -> None:
    """Rank the partner of each true class first with probability epsilon, last otherwise."""
    n, c = rank.shape
    if not 0 <= epsilon <= 1:
        raise ValueError(f"cooccurrence is a probability, got {epsilon!r}")
    if n_extra < 1:
        raise ValueError("cooccurrence needs n_extra of at least 1")
    if epsilon < 1 and n_extra > c - 2:
        raise ValueError(
            f"with {c} classes and n_extra={n_extra} every draw includes the partner, so "
            "cooccurrence can only be 1; lower n_extra or leave cooccurrence out"
        )
    partner = (np.arange(c) + rng.integers(1, c, size=c)) % c  # never the class itself
    joins = rng.random(n) < epsilon
    rank[np.arange(n), partner[true]] = np.where(joins, -1.0, 2.0)
