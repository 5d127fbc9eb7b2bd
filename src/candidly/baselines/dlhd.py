"""DLHD: dictionary learning with hard decisions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from candidly.baselines.dictionaries import (
    DictionaryLearner,
    DictionaryMethod,
    Members,
    hard_labels,
)
from candidly.registry import register
from candidly.solvers.arrays import Floats, Mask


class DLHD(DictionaryMethod):
    """One dictionary per class, from the instances it is surest of (Chen et al. 2013).

    In every round an instance belongs to the class of its largest confidence, K-SVD learns a
    dictionary from the members of each class, and residuals on the dictionaries give new
    confidences. ``predict`` takes the largest confidence on the final dictionaries.

    Assumed, in addition to :class:`DictionaryMethod`: where the largest confidence is
    shared, as at the start, an instance belongs to all of these classes; a class that lost all
    its members starts again from all that have it as a candidate.

    A small class is fitted by noise as well as by its own members: DLSD labels better.

    Parameters
    ----------
    n_atoms, atom_share, sparsity, coding, max_iter, tol, classifier, sparse_output, random_state
        As in :class:`DictionaryMethod`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("DLHD").set_params(max_iter=5, random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    def weights(self, P: Floats, mask: Mask) -> Floats:
        """Return 1 for members and 0 for others; an empty class has all its candidates."""
        W = hard_labels(P, mask)
        return np.where(W.any(axis=0), W, mask)

    def residuals(self, learner: DictionaryLearner, W: Floats, mask: Mask) -> Floats:
        """Return the residuals on the dictionary of all members, including the instance itself."""
        found = np.zeros(W.shape)
        for j, w in enumerate(W.T):
            atoms = learner.learn(np.flatnonzero(w), w[w > 0])
            candidates = np.flatnonzero(mask[:, j])
            found[candidates, j] = learner.residual(candidates, atoms)
        return found

    def parts(self, learner: DictionaryLearner) -> Iterator[tuple[Members, Members]]:
        """Yield all instances once, with all."""
        yield learner.order, learner.order


register(
    "DLHD",
    DLHD,
    "Chen et al. (2013)",
    "20 rounds of one K-SVD per class",
    "raw face pixels with few candidates; a class is a union of subspaces",
)
