"""DLHD: dictionary learning with hard decisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.dictionaries import Array, DictionaryLearner, DictionaryMethod, hard
from candidly.registry import Method, register


class DLHD(DictionaryMethod):
    """One dictionary per class, from the instances it is surest of (Chen et al. 2013).

    In every round an instance belongs to the class of its largest confidence, K-SVD learns a
    dictionary from the members of each class, and residuals on the dictionaries give new
    confidences. ``predict`` takes the largest confidence on the final dictionaries.

    Assumed: confidences as in :class:`DictionaryMethod`; where the largest is shared, as at
    the start, an instance belongs to all of these classes; a class that lost all its members
    starts again from all that have it as a candidate; rows get a constant feature and unit
    norm; a code has at most a quarter as many atoms as the features have rank, and a
    dictionary a quarter as many as the class has members; K-SVD starts from members drawn at
    random, in each round anew, and makes 8 iterations. How large dictionaries and codes
    were in the publication is not known to us; 15 atoms and 5 in a code are ours.

    A small class is fitted by noise as well as by its own members: DLSD labels better.

    Parameters
    ----------
    n_atoms : int
        Atoms of a dictionary at most.
    sparsity : int
        Atoms of a code at most.
    max_iter : int
        Rounds.
    tol : float
        Stop when no confidence changes by more.
    classifier, random_state
        As in every compared method.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("DLHD").set_params(max_iter=5, random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    def weights(self, P: Array, mask: NDArray[np.bool_]) -> Array:
        """1 for members, 0 for others; a class without members counts all its candidates."""
        W = hard(P, mask)
        return np.where(W.any(axis=0), W, mask)

    def residuals(self, learner: DictionaryLearner, W: Array, mask: NDArray[np.bool_]) -> Array:
        """Residuals on the dictionary of all members, the instance among them."""
        found = np.zeros(W.shape)
        for j, w in enumerate(W.T):
            atoms = learner.learn(np.flatnonzero(w), w[w > 0])
            candidates = np.flatnonzero(mask[:, j])
            found[candidates, j] = learner.residual(candidates, atoms)
        return found


register(
    Method(
        "DLHD",
        DLHD,
        "Chen et al. (2013)",
        "20 rounds of one K-SVD per class",
        "raw face pixels with few candidates; a class is a union of subspaces",
    )
)
