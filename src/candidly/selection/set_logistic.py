"""Logistic regression on the partial likelihood of candidate sets, on lifted features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from candidly.baselines.partial_logistic import minimise_partial_likelihood
from candidly.estimators.row_space import Lifting
from candidly.solvers.arrays import Floats
from candidly.solvers.candidate_sets import CandidateSets

NORM = 10.0
"""Root mean square norm of the lifted rows: it gives the penalty on weights a unit."""
MOST = 200
"""Largest number of iterations."""


class LiftedLogistic(ClassifierMixin, BaseEstimator):
    """Classifier trained on candidate sets by their partial likelihood.

    Where a candidate set is a function of the input, and says no more about the label than that it
    is in the set, this is the maximum likelihood.

    Parameters
    ----------
    lifting : Lifting
        Fitted already.
    penalty : float
        Weight of the squared coefficients.
    """

    def __init__(self, lifting: Lifting, penalty: float) -> None:
        self.lifting = lifting
        self.penalty = penalty

    def fit_sets(
        self,
        X: Floats,
        P: Floats,
        sets: CandidateSets,
        start: Floats | None = None,
        most: int = MOST,
        dtype: Any = np.float64,
    ) -> Self:
        """Fit soft labels (E,) over candidate sets, from coefficients of a similar fit if given."""
        F = self.lifting.transform(X)
        self.mean_ = F.mean(axis=0)
        size = np.sqrt(((F - self.mean_) ** 2).sum(axis=1).mean())
        self.scale_ = NORM / size if size > 0 else 1.0
        A = ((F - self.mean_) * self.scale_).astype(dtype, copy=False)
        soft, mask = sets.rows(P).toarray(), sets.mask.T
        self.coef_, _, _ = minimise_partial_likelihood(A, soft, mask, self.penalty, most, start)
        self.classes_ = np.arange(sets.n_classes)
        return self

    def predict_proba(self, X: Floats) -> NDArray[np.float64]:
        """Return the probability of each class, one row per row of X."""
        A = (self.lifting.transform(X) - self.mean_) * self.scale_
        return np.asarray(softmax(A @ self.coef_[:-1] + self.coef_[-1], axis=1))

    def predict(self, X: Floats) -> NDArray[np.intp]:
        """Return the class of the largest probability of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
