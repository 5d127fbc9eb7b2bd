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
from candidly.solvers import CandidateSets, assign
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

    def _label(
        self, X: Floats, P: Floats, sets: CandidateSets, context: Context
    ) -> LabellingResult:
        """Return the result of the other rows, with labels for the broken ones."""
        whole = self._whole(len(X))
        if whole.all() or context.constraints:
            return super()._label(X, P, sets, context)
        weight = None if context.sample_weight is None else context.sample_weight[whole]
        groups = None if context.groups is None else context.groups[whole]
        part = replace(context, sample_weight=weight, groups=groups)
        inside, at = sets.of_instances(np.flatnonzero(whole))
        result = super()._label(X[whole], P[at], inside, part)
        solution = result.solution
        found = result.chosen
        if found is None:
            found = assign(solution.sets.values_on(worth(solution), inside), inside)
        classifier = self._trained_classifier("auto", result, X[whole], found, weight)
        counted = 1 if weight is None else weight[solution.sets.instance]
        frequency = solution.sets.class_total(counted * solution.labels)
        likely = (frequency / frequency.sum())[sets.classes]
        says = np.setdiff1d(self.feature_report_.broken_rows, self.feature_report_.empty_rows)
        if len(says):
            broken, entries = sets.of_instances(says)
            proba = np.zeros((len(says), sets.n_classes))
            proba[:, classifier.classes_] = classifier.predict_proba(X[says])
            likely[entries] = broken.entries_of(proba.T)
        last = P * likely
        total = sets.total(last)[sets.instance]
        last = np.where(total > 0, last / np.where(total > 0, total, 1), P)
        chosen = sets.classes[sets.best(last)]
        chosen[whole] = found
        return replace(
            result,
            solution=put_back(solution, last, sets, whole),
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
