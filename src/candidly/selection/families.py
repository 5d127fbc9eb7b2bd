"""The families of labellers that are tried, behind one interface, on one set of instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from candidly.base import CandidateEstimator, Context
from candidly.baselines.feature_scaling import to_unit_interval
from candidly.baselines.ipal import propagate, shares
from candidly.estimators.row_space import Lifting
from candidly.selection.scalings import Scaling
from candidly.selection.set_logistic import LiftedLogistic
from candidly.solvers import CandidateSets
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.dense_shim import dense_labeller
from candidly.solvers.row_space import Basis, Lift, LinearLift, RBFLift, RowSpaceCompletion

NEIGHBOURS, PASSED_ON, ROUNDS = 10, 0.95, 100
"""Settings of the neighbours' family: those of IPAL."""

ROUGH_ROUNDS, ROUGH_TOL = 15, 1e-3
"""Iterations of completion, and the change at which it stops, while settings are scored."""

Solve = Callable[[Floats, Mask], tuple[Floats, Floats]]
"""(P, mask) -> soft labels, and the scores that order equal ones; both (c, N)."""


@dataclass(frozen=True)
class FamilySetting:
    """A labeller and its setting, as ``best_params_`` and ``cv_results_`` tell it.

    Parameters
    ----------
    labeller : str
        "RowSpace", "neighbours", "logistic", "WMCar", "frequency", or the name of an estimator
        that was given.
    scaling, width, ridge, class_sizes, penalty
        What the labeller has of them: scaling of the features, squared width of the kernel (None
        for the linear lift), ridge, whether class sizes count, and the penalty on weights.
    estimator : estimator or None
        The one that was given.
    """

    labeller: str
    scaling: str | None = None
    width: float | None = None
    ridge: float | None = None
    class_sizes: bool = False
    penalty: float | None = None
    estimator: CandidateEstimator | None = field(default=None, compare=False)

    @property
    def lift(self) -> tuple[str | None, float | None]:
        """Scaling and width, which settings on one basis share."""
        return self.scaling, self.width

    @property
    def params(self) -> dict[str, Any]:
        """The setting as a dictionary, without what the labeller does not have."""
        params: dict[str, Any] = {"labeller": self.labeller}
        if self.scaling is not None:
            params["scaling"] = self.scaling
        if self.labeller in ("RowSpace", "logistic"):
            params |= {"lift": "linear" if self.width is None else "rbf", "width": self.width}
        if self.labeller == "RowSpace":
            params |= {"ridge": self.ridge, "class_sizes": self.class_sizes}
        if self.labeller == "logistic":
            params["penalty"] = self.penalty
        return params


class Workbench:
    """Features of some instances, with what families share on them: lifts, bases, neighbours.

    Parameters
    ----------
    X : (N, m) array
    context : Context
        Weights and constraints of these instances.
    landmarks : int
        Largest number of instances that span a kernel.
    seed : int
    scaled : mapping of str to (Scaling, array)
        Scalings and scaled features that are known already.
    """

    def __init__(
        self,
        X: Floats,
        context: Context,
        landmarks: int,
        seed: int,
        scaled: Mapping[str, tuple[Scaling, Floats]],
    ) -> None:
        self.X, self.context, self.landmarks, self.seed = X, context, landmarks, seed
        self.scaled = scaled
        self._lifted: dict[tuple[str | None, float | None], tuple[Lifting, Basis]] = {}
        self._shares: sparse.csr_array | None = None

    def lifted(self, scaling: str | None, width: float | None) -> tuple[Lifting, Basis]:
        """Return the fitted lift of a scaling and a width, and the basis of these instances."""
        if (scaling, width) not in self._lifted:
            lift: Lift = LinearLift() if width is None else RBFLift(width, self.landmarks)
            weight = self.context.sample_weight
            scaler, scaled = self.scaled.get(scaling or "none", (None, self.X))
            if scaler is None:
                scaler = Scaling(scaling or "none").fit(self.X, sample_weight=weight)
                scaled = scaler.transform(self.X)
            lifting = Lifting(lift, scaler, self.seed)
            basis = Basis.of(lifting.fit_scaled(scaled, weight), weight)
            self._lifted[scaling, width] = lifting, basis
        return self._lifted[scaling, width]

    def solver(self, setting: FamilySetting, rough: bool = False) -> Solve:
        """Return the solver of a setting on these instances; a rough one stops early."""
        if setting.estimator is not None:
            return self._given(setting.estimator)
        if setting.labeller == "RowSpace":
            return self._row_space(setting, rough)
        if setting.labeller == "logistic":
            return self._logistic(setting)
        return self._neighbours() if setting.labeller == "neighbours" else by_frequency

    def logistic(self, setting: FamilySetting) -> LiftedLogistic:
        """Return logistic regression on the lift of a setting, to be fitted on sets."""
        lifting, _ = self.lifted(setting.scaling, setting.width)
        assert setting.penalty is not None
        return LiftedLogistic(lifting, setting.penalty)

    def _row_space(self, setting: FamilySetting, rough: bool) -> Solve:
        _, basis = self.lifted(setting.scaling, setting.width)
        assert setting.ridge is not None
        solver = RowSpaceCompletion(setting.ridge, setting.class_sizes)
        if rough:
            solver = replace(solver, max_iter=ROUGH_ROUNDS, tol=ROUGH_TOL)
        basis = basis.without_weak(setting.ridge)

        def solve(P: Floats, mask: Mask) -> tuple[Floats, Floats]:
            found = solver.solve(basis, P, mask, self.context.constraints)
            return found.labels, found.scores

        return solve

    def _neighbours(self) -> Solve:
        if self._shares is None:
            X = self.X.astype(np.float64)
            self._shares = shares(to_unit_interval(X)(X), NEIGHBOURS)
        H = self._shares

        def solve(P: Floats, mask: Mask) -> tuple[Floats, Floats]:
            sets = CandidateSets.of_mask(mask)
            F = sets.matrix(propagate(H, sets.entries_of(P), sets, PASSED_ON, ROUNDS))
            # A label that spread too far is scaled back to what it had at the start.
            mass = F.sum(axis=1)
            F = F * (P.sum(axis=1) / np.where(mass > 0, mass, 1))[:, None]
            F = F / F.sum(axis=0)
            return F, F

        return solve

    def _logistic(self, setting: FamilySetting) -> Solve:
        def solve(P: Floats, mask: Mask) -> tuple[Floats, Floats]:
            found = self.logistic(setting).fit_sets(self.X, P, mask).predict_proba(self.X).T
            labels = np.where(mask, found * P, 0)
            total = labels.sum(axis=0)
            return np.where(total > 0, labels / np.where(total > 0, total, 1), P), found

        return solve

    def _given(self, estimator: CandidateEstimator) -> Solve:
        label = dense_labeller(estimator.soft_labeller(self.X, self.context))

        def solve(P: Floats, mask: Mask) -> tuple[Floats, Floats]:
            found = label(P.astype(self.X.dtype), mask).solution
            return found.labels, found.scores

        return solve


def by_frequency(P: Floats, mask: Mask) -> tuple[Floats, Floats]:
    """Return candidates by how often they are listed: the floor, which uses no features."""
    labels = np.where(mask, P.mean(axis=1, keepdims=True), 0)
    return labels / labels.sum(axis=0), labels


def of_rows(context: Context, rows: Any) -> Context:
    """Return the context of some instances; constraints are left out, for they count all rows."""
    weight = None if context.sample_weight is None else context.sample_weight[rows]
    groups = None if context.groups is None else context.groups[rows]
    return replace(context, sample_weight=weight, groups=groups, constraints=())
