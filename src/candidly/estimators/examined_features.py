"""A part of estimators that examine their features first: broken rows have no say."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from candidly.base import (
    BrokenFeaturesWarning,
    CandidateEstimator,
    Context,
    LabellingResult,
    put_back,
)
from candidly.candidates import Candidates
from candidly.estimators.feature_examination import FeatureExamination, examine
from candidly.solvers import assign
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.assignment import worth


class ExaminedFeatures(CandidateEstimator):
    """Base of estimators that examine features, solve without broken rows, and label these last.

    Broken rows are named in a :class:`BrokenFeaturesWarning`, and labelled by the classifier
    that was trained on the others; those that say nothing by how frequent their candidates are
    among the others. Where there are constraints, which count rows, they stay in the solve, with
    medians in place of what is broken. A subclass has the parameter ``impute``, and its
    classifier "auto" has ``predict_proba``.

    Attributes
    ----------
    feature_report_ : FeatureExamination
        What was found in the features; its ``notes`` are sentences.
    """

    impute: bool
    feature_report_: FeatureExamination

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(self.impute)
        return tags

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, null: Any
    ) -> tuple[Floats, Candidates, Floats | None]:
        X, candidates, weight = super()._validate(X, y, sample_weight, groups, null)
        counts = None if weight is None or weight.all() else weight > 0
        self.feature_report_, X = examine(X, counts)
        for sentence in self.feature_report_.warnings:
            warnings.warn(sentence, BrokenFeaturesWarning, stacklevel=3)
        return X, candidates, weight

    def _ready(self, X: ArrayLike) -> tuple[Any, Floats]:
        classifier, X = super()._ready(X)
        return classifier, self.feature_report_.fill(X)

    def _label(self, X: Floats, P: Floats, mask: Mask, context: Context) -> LabellingResult:
        """Return the result of the other rows, with labels for the broken ones."""
        whole = self._whole(len(X))
        if whole.all() or context.constraints:
            return super()._label(X, P, mask, context)
        weight = None if context.sample_weight is None else context.sample_weight[whole]
        groups = None if context.groups is None else context.groups[whole]
        part = replace(context, sample_weight=weight, groups=groups)
        result = super()._label(X[whole], P[:, whole], mask[:, whole], part)
        found = assign(worth(result.solution), mask[:, whole])
        found = found if result.chosen is None else result.chosen
        classifier = self._trained_classifier("auto", result, X[whole], found, weight)
        frequency = np.average(result.solution.labels, axis=1, weights=weight)
        likely = np.tile(frequency[:, None], len(X))
        says = np.setdiff1d(self.feature_report_.broken_rows, self.feature_report_.empty_rows)
        if len(says):
            likely[:, says] = 0
            likely[np.ix_(classifier.classes_, says)] = classifier.predict_proba(X[says]).T
        last = P * likely
        total = last.sum(axis=0)
        last = np.where(total > 0, last / np.where(total > 0, total, 1), P)
        chosen = last.argmax(axis=0)
        chosen[whole] = found
        return replace(
            result,
            solution=put_back(result.solution, last, whole),
            predictor=classifier,
            chosen=chosen,
        )

    def _trained_classifier(
        self,
        classifier: Any,
        result: LabellingResult,
        X: Floats,
        chosen: NDArray[np.intp],
        weight: Floats | None,
    ) -> Any:
        """Return the classifier; one of the user's gets no broken rows either."""
        if not isinstance(classifier, str):
            whole = self._whole(len(X))
            X, chosen = X[whole], chosen[whole]
            weight = None if weight is None else weight[whole]
        return super()._trained_classifier(classifier, result, X, chosen, weight)

    def _whole(self, n_rows: int) -> Mask:
        """Return which rows are not broken; if all are, there is nothing else to learn from."""
        whole = np.ones(n_rows, dtype=bool)
        whole[self.feature_report_.broken_rows] = False
        return whole if whole.any() else ~whole
