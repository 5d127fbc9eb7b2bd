"""What scikit-learn's own tools need to work on candidate sets: folds, and bagging.

``cross_val_score``, ``GridSearchCV`` and ``Pipeline`` take :class:`candidly.Candidates` as they
are. Ensembles and calibration of other classifiers go inside, as ``classifier=``: they are trained
on the labels found, e.g. ``CandidateClassifier(classifier=VotingClassifier(...))``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from candidly.base import CandidateEstimator, read_candidates
from candidly.candidates import Candidates


class CandidateKFold(BaseCrossValidator):
    """Shuffled folds over which every class is spread alike, as ``StratifiedKFold`` has them.

    The class of an instance is not known, so instances are spread by their rarest candidate. Groups
    of the candidates stay together, and are spread by the rarest candidate in them.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    random_state : int, RandomState or None
        Shuffles.

    Examples
    --------
    >>> import candidly
    >>> from candidly.interop import CandidateKFold
    >>> from sklearn.model_selection import cross_val_score
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> folds = CandidateKFold(3, random_state=0)
    >>> model = candidly.RowSpace(lift="rbf")
    >>> rates = cross_val_score(model, digits.X, digits.candidates, cv=folds)
    >>> bool(rates.min() > 0.9)
    True
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.intp]]:
        """Yield the rows of each fold."""
        candidates = read_candidates(y)
        if groups is not None:
            candidates = candidates.with_groups(groups)
        units = candidates.group_numbers
        if units is None:
            units = np.arange(len(candidates))
        count = int(units.max()) + 1
        if not 2 <= self.n_splits <= count:
            raise ValueError(
                f"n_splits is from 2 to {count}, how many instances or groups there are, got "
                f"{self.n_splits!r}"
            )
        rarity = candidates.counts.argsort(kind="stable").argsort()
        listed = candidates.sparse_priors
        rarest = np.minimum.reduceat(rarity[listed.indices], listed.indptr[:-1])
        stratum = np.full(count, len(rarity))
        np.minimum.at(stratum, units, rarest)
        drawn = check_random_state(self.random_state).permutation(count)
        fold = np.empty(count, dtype=np.intp)
        fold[np.lexsort((drawn, stratum))] = np.arange(count) % self.n_splits  # dealt like cards
        for number in range(self.n_splits):
            yield np.flatnonzero(fold[units] == number)


class CandidateBagging(BaggingClassifier):
    """``BaggingClassifier`` over a candidate estimator: ``fit`` takes candidates in any form.

    ``score`` is the covering rate, as of every candidate estimator. Parameters and attributes are
    those of ``BaggingClassifier``; ``oob_score`` needs true labels, and so is not offered.

    Examples
    --------
    >>> import candidly
    >>> from candidly.interop import CandidateBagging
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> bags = CandidateBagging(candidly.RowSpace(), 5, random_state=0)
    >>> bags.fit(digits.X, digits.candidates).score(digits.X, digits.y) > 0.9
    True
    """

    def fit(self, X: ArrayLike, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit each estimator on instances drawn at random."""
        if self.oob_score:
            raise ValueError("oob_score needs true labels; score held-out candidates instead")
        self._candidates: Candidates = read_candidates(y)
        return super().fit(X, np.zeros(len(self._candidates)), sample_weight, **fit_params)

    score = CandidateEstimator.score

    def _validate_y(self, y: Any) -> Candidates:
        """Return the candidates with numbers for classes, as the votes are counted by number."""
        candidates = self._candidates
        del self._candidates
        self.classes_ = candidates.classes
        self.n_classes_ = len(self.classes_)
        return candidates.with_classes(range(self.n_classes_))
