"""Who a new instance is, or nobody: the classifier of open-set labelling."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from candidly.estimators.scaling import PrincipalComponents
from candidly.solvers.recogniser_fitting import learn


class Recognition(ClassifierMixin, BaseEstimator):
    """Likelihood ratios of the people named against anybody; nobody where none fits.

    Nobody is not learnt as a class: instances labelled so may be anybody, and tell only how
    many strangers to expect. What ratios count for is fitted on instances held out, each by
    itself: a name is in a group at most once, so the rest of the group tells nothing of it.

    Parameters
    ----------
    null : int
        The label of nobody.
    components : int
        Most principal components of the features that are used.
    """

    def __init__(self, null: int, components: int = 200) -> None:
        self.null = null
        self.components = components

    def fit(self, X: NDArray[np.floating], y: Any, sample_weight: Any = None) -> Self:
        """Learn people."""
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        self.components_ = PrincipalComponents(self.components).fit(X, sample_weight=weight)
        names = [None if label == self.null else int(label) for label in y]
        named = np.array([name is not None for name in names])
        counts = weight / (np.median(weight[named]) if named.any() else 1.0)
        strangers = named.sum() * weight[~named].sum() / max(weight[named].sum(), 1e-300)
        self.recogniser_ = learn(self.components_.transform(X), names, counts, strangers)
        self.classes_ = np.unique(np.append(y, self.null))
        return self

    def predict(self, X: NDArray[np.floating]) -> NDArray[Any]:
        """The most probable label."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Probability of each person, and of nobody."""
        P, _ = self.recogniser_.recognise(self.components_.transform(X))
        labels = [*self.recogniser_.names, self.null]
        proba = np.zeros((len(X), len(self.classes_)))
        proba[:, np.searchsorted(self.classes_, labels)] = P.T
        return proba
