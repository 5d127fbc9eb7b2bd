"""The classifier for new instances: regressions on the labels found, averaged and calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from candidly.estimators.row_space import LiftedRidge, Lifting, some_rows
from candidly.selection.calibration import HedgedCalibration
from candidly.solvers.arrays import Floats
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.ridge_gram import RidgeGram
from candidly.solvers.set_information import errors_below

SHARING = 2.0
"""A regression this many standard errors below the best has 1/e of its weight."""
LEAST_WEIGHT = 0.05
"""Part of the largest weight below which a regression has no part."""


class AveragedRidge(ClassifierMixin, BaseEstimator):
    """Classifier that averages regressions by how well they predict labels that they did not see.

    Parameters
    ----------
    regressions : sequence of LiftedRidge
    lifted : sequence of (Lifting, RidgeGram)
        The fitted lift of each, and what it makes of the rows that it is fitted on.
    sets : CandidateSets
        Candidates of these rows: they calibrate the probabilities.
    """

    def __init__(
        self,
        regressions: Sequence[LiftedRidge],
        lifted: Sequence[tuple[Lifting, RidgeGram]],
        sets: CandidateSets,
    ) -> None:
        self.regressions = regressions
        self.lifted = lifted
        self.sets = sets

    def fit(self, X: Floats, y: Any, sample_weight: Any = None) -> Self:
        """Fit each regression on the labels y, numbers of classes of the sets."""
        self.classes_, column = np.unique(y, return_inverse=True)
        rows = some_rows(len(column), len(self.classes_))
        fitted = [copy(each) for each in self.regressions]
        left_out = [
            each.fit_gram(lifting, gram, y, rows)
            for each, (lifting, gram) in zip(fitted, self.lifted, strict=True)
        ]
        right = [(proba.argmax(axis=1) == column[rows]).astype(float) for proba in left_out]
        best = max(right, key=np.mean)
        weight = np.exp([-max(errors_below(best, each), 0) / SHARING for each in right])
        weight = np.where(weight < LEAST_WEIGHT * weight.max(), 0, weight)
        self.weights_ = weight[weight > 0] / weight.sum()
        self.regressions_ = [each for each, w in zip(fitted, weight, strict=True) if w > 0]
        shown = [proba for proba, w in zip(left_out, weight, strict=True) if w > 0]
        together = np.tensordot(self.weights_, np.stack(shown), axes=1)
        mask = self.sets.of_instances(rows)[0].mask[self.classes_]
        self.calibration_ = HedgedCalibration.of(together.T, mask, column[rows])
        # What it was fitted with is not needed to predict, and large.
        self.regressions, self.lifted, self.sets = [], [], self.sets.of_instances(rows[:0])[0]
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Return the averaged probabilities, calibrated."""
        shown = [each.predict_proba(X) for each in self.regressions_]
        return self.calibration_(np.tensordot(self.weights_, np.stack(shown), axes=1).T).T

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the class of the largest probability of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class CalibratedSets(ClassifierMixin, BaseEstimator):
    """Classifier trained on candidate sets, with calibrated probabilities.

    Parameters
    ----------
    model : fitted classifier with predict_proba
    calibration : HedgedCalibration
    """

    def __init__(self, model: Any, calibration: HedgedCalibration) -> None:
        self.model = model
        self.calibration = calibration
        self.classes_ = model.classes_

    def predict_proba(self, X: Floats) -> Floats:
        """Return calibrated probabilities."""
        return self.calibration(self.model.predict_proba(X).T).T

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the class of the largest probability of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
