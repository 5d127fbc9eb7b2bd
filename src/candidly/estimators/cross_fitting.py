"""Cross-fitting: soft labels in, probabilities by models that were not trained on the instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from candidly.solvers import CandidateSets
from candidly.solvers.arrays import Floats
from candidly.solvers.own_order import own_order, places

NEGLIGIBLE = 0.01
"""A soft label below this has no copy in the training data."""
RIVAL = 0.5
"""Without weights, a candidate this likely relative to the best one has a copy."""
FLOOR = 1e-3
"""Share of the probability that all classes have alike: no candidate is ruled out for good."""


PIECE = 20_000_000
"""Probabilities, of all classes, that an estimator is asked for at a time."""


@dataclass(frozen=True)
class Folds:
    """Folds that depend on the content of instances, and keep equal ones and groups whole.

    Parameters
    ----------
    rows : (N,) array
        The order in which an estimator sees the instances, whatever order they came in.
    columns : (c,) array
        The same for classes.
    units : (N,) array
        Instances of one number share their fold.
    most : int
        Number of folds, unless there are fewer units.
    rng : numpy Generator
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    units: NDArray[np.intp]
    most: int
    rng: np.random.Generator

    @classmethod
    def of(cls, X: Any, P: Floats, sets: CandidateSets, groups: Any, most: int, seed: int) -> Folds:
        """Return the folds of a problem with soft labels P (E,)."""
        where = places(as_numbers(X))
        rows, columns, labelled = own_order(where, P, sets)
        # Rounded: equal rows may differ in their last digit by where they are in memory.
        content = np.round(np.column_stack([where, labelled]), 9)
        units = np.unique(content, axis=0, return_inverse=True)[1].ravel()
        if groups is not None:
            first = np.full(groups.max() + 1, len(units))
            np.minimum.at(first, groups, units)
            units = np.unique(first[groups], return_inverse=True)[1].ravel()
        return cls(rows, columns, units, most, np.random.default_rng(seed))

    @property
    def possible(self) -> bool:
        """Whether there is more than one fold."""
        return bool(len(self.units)) and bool(self.units.max() > 0)

    def draw(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Draw folds anew, and yield rows to train on and rows to label for each."""
        count = int(self.units.max()) + 1
        fold = (self.rng.permutation(count) % min(self.most, count))[self.units[self.rows]]
        for k in range(min(self.most, count)):
            yield self.rows[fold != k], self.rows[fold == k]


class SoftTraining:
    """Training of an estimator on soft labels: one weighted copy per instance and candidate.

    Parameters
    ----------
    estimator : classifier
        Cloned before each training.
    X : features
    weight : (N,) array or None
        ``sample_weight``.
    """

    def __init__(self, estimator: Any, X: Any, weight: Floats | None) -> None:
        self.estimator, self.X, self.weight = estimator, X, weight
        self._steps = _steps_with_weight(estimator)
        if weight is not None and not self._steps:
            raise ValueError(
                f"{type(estimator).__name__} takes no sample_weight; leave sample_weight out, or "
                "set estimator to one that does"
            )

    def fitted(
        self,
        y: Floats,
        sets: CandidateSets,
        rows: NDArray[np.intp],
        number: NDArray[np.intp] | None = None,
    ) -> Any:
        """Return the estimator trained on the soft labels y (E,) of some rows.

        It knows a class by its ``number``, by default that of the sets.
        """
        part, at = sets.of_instances(rows)
        soft, row = y[at], part.instance
        top = part.largest(soft)[row]
        soft = np.where(
            soft >= (np.minimum(NEGLIGIBLE, top) if self._steps else RIVAL * top), soft, 0
        )
        soft /= part.total(soft)[row]
        if self.weight is not None:
            soft *= self.weight[rows][row]
        labels = part.classes if number is None else number[part.classes]
        order = np.lexsort((labels, row))
        copies = order[soft[order] != 0]
        return self._train(rows[row[copies]], labels[copies], soft[copies])

    def on_hard_labels(self, X: Any, labels: NDArray[np.intp], sample_weight: Any = None) -> Any:
        """Return the estimator trained on one label for each row of X."""
        weight = np.ones(len(labels)) if sample_weight is None else sample_weight
        return SoftTraining(self.estimator, X, sample_weight)._train(
            np.arange(len(labels)), labels, weight
        )

    def _train(self, rows: NDArray[np.intp], labels: NDArray[np.intp], weight: Floats) -> Any:
        if len(np.unique(labels)) == 1:
            return DummyClassifier().fit(np.zeros((len(rows), 1)), labels)
        weights = dict.fromkeys(self._steps, weight)
        return clone(self.estimator).fit(_safe_indexing(self.X, rows), labels, **weights)

    def left_out(self, y: Floats, sets: CandidateSets, folds: Folds) -> Floats:
        """Return the probability (E,) of each candidate, by models not trained on the instance."""
        proba = np.zeros(len(sets))
        number = folds.columns.argsort()
        for train, test in folds.draw():
            model = self.fitted(y, sets, train, number)
            place = np.full(sets.n_classes, -1)
            place[folds.columns[model.classes_]] = np.arange(len(model.classes_))
            for rows in np.array_split(test, -(-len(test) * sets.n_classes // PIECE)):
                found = model.predict_proba(_safe_indexing(self.X, rows))
                part, at = sets.of_instances(rows)
                column = place[part.classes]
                proba[at] = np.where(column >= 0, found[part.instance, column], 0)
        return (1 - FLOOR) * proba + FLOOR / sets.n_classes

    def class_shares(self, y: Floats, sets: CandidateSets) -> Floats:
        """Return the share of each class."""
        weight = np.ones(sets.n_instances) if self.weight is None else self.weight
        return sets.class_total(weight[sets.instance] * y) / weight.sum()


def as_numbers(X: Any) -> Any:
    """Return a DataFrame as numbers, its names and categories in their order; else X itself."""
    if not hasattr(X, "iloc"):
        return X
    columns = []
    for k in range(X.shape[1]):
        column = X.iloc[:, k]
        if numpy_type(column.dtype).kind in "iufb":
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            names = column.astype(object).map(str).to_numpy(dtype=str)
            columns.append(np.unique(names, return_inverse=True)[1].astype(np.float64))
    return np.column_stack(columns)


def numpy_type(kind: Any) -> Any:
    """Return the NumPy type of a pandas type: nullable numbers have one, categories do not."""
    kind = getattr(kind, "numpy_dtype", kind)
    return kind if isinstance(kind, np.dtype) else np.dtype(object)


def _steps_with_weight(estimator: Any) -> list[str]:
    """Return the parameters of ``fit`` that weigh instances; none if the classifier has none."""
    if not isinstance(estimator, Pipeline):
        return ["sample_weight"] if has_fit_parameter(estimator, "sample_weight") else []
    if not has_fit_parameter(estimator[-1], "sample_weight"):
        return []
    steps = [name for name, step in estimator.steps if hasattr(step, "fit")]
    taking = [name for name in steps if has_fit_parameter(estimator[name], "sample_weight")]
    return [f"{name}__sample_weight" for name in taking]
