"""The base of RPCA and MC-Pos, which recover the matrix [P; X] of labels and features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.feature_scaling import to_unit_interval
from candidly.solvers import Status
from candidly.solvers.arrays import Floats, Mask


@dataclass(frozen=True)
class RecoveredLabels:
    """Label rows of the recovered matrix, (c, N), their soft labels, and how the solve went."""

    rows: Floats
    labels: Floats
    objective: Sequence[float]
    status: Status


class StackedMethod(ComparedMethod):
    """Base of the methods that recover the label rows of [P; X], one column per instance."""

    def label(self, problem: CandidateProblem) -> Labelling:
        """Recover the label rows; the label is the candidate whose row is largest."""
        scaling = to_unit_interval(problem.X)
        found = self.recover(problem.P.T, scaling(problem.X).T)
        machine = make_pipeline(FunctionTransformer(scaling), SVC(kernel="linear"))
        return Labelling(
            positive(found.labels.T, problem.mask),
            objective=found.objective,
            scores=np.where(problem.mask, found.rows.T, 0),
            status=found.status,
            trainer=machine.fit,
        )

    @abstractmethod
    def recover(self, P: Floats, X: Floats) -> RecoveredLabels:
        """Return the label rows recovered from P, (c, N), and features in [0, 1], (m, N)."""


def positive(rows: Floats, mask: Mask) -> Floats:
    """Return rows as soft labels in the same order; one without positive candidates is shifted.

    It is shifted by twice its lowest value, so that what was nearly equal stays so.
    """
    largest = np.where(mask, rows, -np.inf).max(axis=1, keepdims=True)
    smallest = np.where(mask, rows, np.inf).min(axis=1, keepdims=True)
    return np.where(mask, np.where(largest > 0, rows, rows - 2 * smallest), 0)
