"""DLSD: dictionary learning with soft decisions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from candidly.baselines.dictionaries import DictionaryLearner, DictionaryMethod, Members
from candidly.registry import register
from candidly.solvers.arrays import Floats, Mask

N_FOLDS = 5


class DLSD(DictionaryMethod):
    """One dictionary per class, weighted by confidence, without the instance (Chen et al. 2013).

    In every round weighted K-SVD learns dictionaries from the instances that have the class
    among their candidates, with the confidences as weights; residuals on them give new
    confidences. In the end each instance takes its largest, and K-SVD on these labels gives
    the dictionaries that ``predict`` uses.

    As published, every instance and candidate has its own dictionary, from the *other*
    instances: thousands of fits per round. Here they are cross-fitted instead: the instances
    of a class are split into five folds, and those of a fold get their residual on the
    dictionary of the other four. Folds are drawn anew in each round. All else is assumed as
    in :class:`DictionaryMethod`.

    Parameters
    ----------
    n_atoms, atom_share, sparsity, coding, max_iter, tol, classifier, sparse_output, random_state
        As in :class:`DictionaryMethod`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("DLSD").set_params(max_iter=3, random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    def weights(self, P: Floats, mask: Mask) -> Floats:
        """Return the confidences, 0 off the candidates."""
        return np.where(mask, P, 0)

    def residuals(self, learner: DictionaryLearner, W: Floats, mask: Mask) -> Floats:
        """Return the residuals on the dictionary of the folds that the instance is not in."""
        found = np.zeros(W.shape)
        for j, w in enumerate(W.T):
            candidates = learner.order[mask[learner.order, j]]
            fold = np.arange(len(candidates)) % N_FOLDS
            for k in range(min(N_FOLDS, len(candidates))):
                inside, others = candidates[fold == k], candidates[fold != k]
                found[inside, j] = learner.residual(inside, learner.learn(others, w[others]))
        return found

    def parts(self, learner: DictionaryLearner) -> Iterator[tuple[Members, Members]]:
        """Yield each of five folds of all instances, with the others."""
        fold = np.arange(len(learner.order)) % N_FOLDS
        for k in range(min(N_FOLDS, len(fold))):
            yield learner.order[fold == k], learner.order[fold != k]


register(
    "DLSD",
    DLSD,
    "Chen et al. (2013), cross-fitted in five folds",
    "20 rounds of five K-SVDs per class",
    "raw face pixels with several candidates; a class is a union of subspaces",
)
