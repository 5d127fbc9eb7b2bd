"""Who a new instance is, or nobody: the classifier of open-set labelling."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from candidly.estimators.scaling import FeatureScaler, differ_in_unit
from candidly.solvers.recognition import TooFew, fit, untested
from candidly.solvers.row_space import Basis


class Recognition(ClassifierMixin, BaseEstimator):
    """Likelihood ratios of the people named against anybody; nobody where none fits.

    Nobody is not learnt as a class: instances labelled so may be anybody, and tell only how
    many strangers to expect. What ratios count for is fitted on instances held out.

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
        self.scaler_ = FeatureScaler(standardize=differ_in_unit(X), norm=1.0)
        F = self.scaler_.fit(X, sample_weight=weight).transform(X).astype(np.float64)
        basis = Basis.of(F, weight)
        V, s = basis.V[: self.components], basis.s[: self.components]
        # Weighted rows are F w = V' s U': so U = F' w V' / s, the directions in the features.
        self.directions_ = (F * basis.w[:, None]).T @ V.T / s
        names = [None if label == self.null else int(label) for label in y]
        sure = weight / weight.mean()
        Z = self._coordinates(X)
        try:
            self.recogniser_, _ = fit(Z, names, sure, range(len(Z)))
        except TooFew:
            self.recogniser_ = untested(Z, names, sure)
        self.classes_ = np.unique(np.append(y, self.null))
        return self

    def predict(self, X: NDArray[np.floating]) -> NDArray[Any]:
        """The most probable label."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Probability of each person, and of nobody."""
        P, _ = self.recogniser_.recognise(self._coordinates(X))
        labels = [*self.recogniser_.names, self.null]
        proba = np.zeros((len(X), len(self.classes_)))
        proba[:, np.searchsorted(self.classes_, labels)] = P.T
        return proba

    def _coordinates(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        Z = self.scaler_.transform(X).astype(np.float64) @ self.directions_
        return Z if Z.shape[1] else np.zeros((len(X), 1))
