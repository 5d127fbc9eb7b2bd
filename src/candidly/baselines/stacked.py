"""The base of RPCA and MC-Pos, which recover the matrix [P; X] of labels and features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from candidly.baselines.compared import ComparedMethod, Labelling, Problem
from candidly.baselines.feature_scaling import to_unit_interval
from candidly.solvers import Status


@dataclass(frozen=True)
class RecoveredLabels:
    """Label rows of the recovered matrix, (c, N), soft labels in their order, how it went."""

    rows: NDArray[np.float64]
    labels: NDArray[np.float64]
    objective: Sequence[float]
    status: Status


class StackedMethod(ComparedMethod):
    """Base of the methods that recover the label rows of [P; X], one column per instance."""

    def label(self, problem: Problem) -> Labelling:
        """Recover the label rows; the label is the candidate whose row is largest."""
        found = self.recover(problem.P.T, to_unit_interval(problem.X)(problem.X).T)
        return Labelling(
            positive(found.labels.T, problem.mask),
            objective=found.objective,
            scores=np.where(problem.mask, found.rows.T, 0),
            status=found.status,
        )

    @abstractmethod
    def recover(self, P: NDArray[np.float64], X: NDArray[np.float64]) -> RecoveredLabels:
        """Return the label rows recovered from P, (c, N), and features in [0, 1], (m, N)."""

    def _suitable_classifier(self, X: NDArray[np.floating]) -> Any:
        """The usual linear support vector machine, on features in [0, 1]."""
        scaling = to_unit_interval(X.astype(np.float64))
        return make_pipeline(FunctionTransformer(scaling), super()._suitable_classifier(X))


def positive(rows: NDArray[np.float64], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rows as soft labels in the same order: one without a positive candidate is shifted up.

    It is shifted by twice its lowest value, so that what was nearly equal stays so.
    """
    largest = np.where(mask, rows, -np.inf).max(axis=1, keepdims=True)
    smallest = np.where(mask, rows, np.inf).min(axis=1, keepdims=True)
    return np.where(mask, np.where(largest > 0, rows, rows - 2 * smallest), 0)
