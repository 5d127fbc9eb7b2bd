"""The families of labellers that are tried, behind one interface, on one set of instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.base import CandidateEstimator, Context
from candidly.baselines.feature_scaling import to_unit_interval
from candidly.baselines.ipal import propagate, shares
from candidly.estimators.row_space import Lifting
from candidly.selection.hiding import View
from candidly.selection.scalings import Scaling
from candidly.selection.set_logistic import LiftedLogistic
from candidly.solvers.arrays import Floats, here
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.ridge_gram import RidgeGram
from candidly.solvers.row_space import Lift, LinearLift, RBFLift, RowSpaceCompletion

NEIGHBOURS, PASSED_ON, ROUNDS = 10, 0.95, 100
"""Settings of the neighbours' family: those of IPAL."""

ROUGH_ROUNDS, ROUGH_TOL, ROUGHLY_SETTLED = 15, 1e-3, 2
"""Iterations of completion, the change at which it stops, and after how many without another label,
while settings are scored."""
SETTLED = 5
"""Iterations without another label after which completion of all instances stops."""
ROUGH_STEPS = 60
"""Iterations of logistic regression while settings are scored."""
MOST_NUMBERS = 4_000_000
"""Numbers of a lift on all instances up to which they are float64."""
SINGLE = np.float32
"""Precision of the rows that labels are regressed on; their Gram matrix has twice that."""


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
    sample : Workbench, optional
        That of a sample of the instances: its regressions are where to start from.
    device : str, optional
        Device of PyTorch on which row-space completion works.
    """

    def __init__(
        self,
        X: Floats,
        context: Context,
        landmarks: int,
        seed: int,
        scaled: Mapping[str, tuple[Scaling, Floats]],
        sample: Workbench | None = None,
        device: str | None = None,
    ) -> None:
        self.device = device
        self.X, self.context, self.landmarks, self.seed = X, context, landmarks, seed
        self.scaled = dict(scaled)
        # Bases of many instances are large, and float32 holds what counts of them.
        self.dtype = np.float64 if len(X) * landmarks <= MOST_NUMBERS else np.float32
        self._lifted: dict[tuple[str | None, float | None], tuple[Lifting, RidgeGram]] = {}
        self._shares: sparse.csr_array | None = None
        self._regressed: dict[tuple[Any, ...], Floats] = {} if sample is None else sample._regressed
        self._fitted: dict[FamilySetting, tuple[CandidateSets, LiftedLogistic]] = {}

    def lifted(self, scaling: str | None, width: float | None) -> tuple[Lifting, RidgeGram]:
        """Return the fitted lift of a scaling and a width, and what it makes of these instances."""
        if (scaling, width) not in self._lifted:
            lift: Lift = LinearLift() if width is None else RBFLift(width, self.landmarks)
            weight = self.context.sample_weight
            kind = scaling or "none"
            if kind not in self.scaled:
                scaler = Scaling(kind).fit(self.X, sample_weight=weight)
                self.scaled[kind] = scaler, scaler.transform(self.X)
            scaler, scaled = self.scaled[kind]
            lifting = Lifting(lift, scaler, self.seed, self.device)
            gram = RidgeGram.of(lifting.fit_scaled(scaled.astype(self.dtype), weight), weight)
            self._lifted[scaling, width] = lifting, gram
        return self._lifted[scaling, width]

    def solve(
        self, setting: FamilySetting, P: Floats, sets: CandidateSets
    ) -> tuple[Floats, Floats]:
        """Return soft labels of these instances, and the scores that order equal ones."""
        if setting.estimator is not None:
            found = self._given(setting.estimator, P, sets)
            return found.labels, found.scores
        if setting.labeller == "RowSpace":
            solver, gram, ridge = self._row_space(setting)
            rows = gram.rows(ridge, SINGLE)
            found = solver.iterate(rows, P, sets, self.context.constraints)
            return found.labels, found.scores
        if setting.labeller == "logistic":
            model = self.fitted(setting, P, sets)
            scores = sets.entries_of(model.predict_proba(self.X).T)
            return _restricted(scores * P, P, sets), scores
        if setting.labeller == "neighbours":
            y, back = _spread(self.shares, P, sets)
            y = _restricted(y * back[sets.classes], P, sets)
            return y, y
        return by_frequency(P, sets)

    def hidden(self, setting: FamilySetting, view: View) -> tuple[Floats, Floats]:
        """Return soft labels (c, n) of the instances that a view hides, and of those it shows.

        Constraints are left out, and iterations stop early.
        """
        if setting.estimator is not None:
            sets, P = view.opened()
            y = self._given(setting.estimator, P, sets).labels
            Y = sets.matrix(y)
            return Y[:, view.rows], view.sets.entries_of(Y[:, view.shown])
        if setting.labeller == "RowSpace":
            return self._hidden_rows(setting, view)
        if setting.labeller == "logistic":
            return self._hidden_logistic(setting, view)
        if setting.labeller == "neighbours":
            some = self.shares[view.shown][:, view.shown]
            y, back = _spread(some, view.P, view.sets)
            near = self.shares[view.rows][:, view.shown] @ view.sets.rows(y)
            y = _restricted(y * back[view.sets.classes], view.P, view.sets)
            return view.allowed(near.toarray().T * back[:, None]), y
        often = _frequency(view.P, view.sets)
        soft = view.allowed(np.repeat(often[:, None], len(view.rows), axis=1))
        return soft, by_frequency(view.P, view.sets)[0]

    def fitted(self, setting: FamilySetting, P: Floats, sets: CandidateSets) -> LiftedLogistic:
        """Return logistic regression on the lift of a setting, fitted on sets of all instances."""
        if setting not in self._fitted or self._fitted[setting][0] is not sets:
            model = self._logistic(setting)
            start = self._regressed.get((setting.lift, None))
            model.fit_sets(self.X, P, sets, start if setting.width is None else None)
            self._regressed[setting.lift, None] = model.coef_
            self._fitted[setting] = sets, model
        return self._fitted[setting][1]

    def _logistic(self, setting: FamilySetting) -> LiftedLogistic:
        lifting, _ = self.lifted(setting.scaling, setting.width)
        assert setting.penalty is not None
        return LiftedLogistic(lifting, setting.penalty)

    @property
    def shares(self) -> sparse.csr_array:
        """The share of each neighbour in each instance, one row per instance."""
        if self._shares is None:
            X = self.X.astype(np.float64)
            self._shares = shares(to_unit_interval(X)(X), NEIGHBOURS)
        return self._shares

    def _row_space(self, setting: FamilySetting) -> tuple[RowSpaceCompletion, RidgeGram, float]:
        _, gram = self.lifted(setting.scaling, setting.width)
        assert setting.ridge is not None
        solver = RowSpaceCompletion(setting.ridge, setting.class_sizes, settled=SETTLED)
        return solver, gram, setting.ridge

    def _hidden_rows(self, setting: FamilySetting, view: View) -> tuple[Floats, Floats]:
        solver, gram, ridge = self._row_space(setting)
        solver = replace(solver, max_iter=ROUGH_ROUNDS, tol=ROUGH_TOL, settled=ROUGHLY_SETTLED)
        turned = gram.rows(ridge, SINGLE, view.rows)
        shown = turned.of_instances(view.shown)
        y = solver.iterate(shown, view.P, view.sets).labels
        found = turned.predict(shown.sums(view.sets, y), view.rows).astype(np.float64)
        if setting.class_sizes:
            share = here(solver.share(shown))[view.sets.instance]
            size = view.sets.class_total(y * share)
            found += size[:, None]
        return view.allowed(found), y

    def _hidden_logistic(self, setting: FamilySetting, view: View) -> tuple[Floats, Floats]:
        key = setting.lift, view.rows.tobytes()
        model = self._logistic(setting)
        # The same sets with another penalty are a good place to start from.
        start = self._regressed.get(key)
        model.fit_sets(self.X[view.shown], view.P, view.sets, start, ROUGH_STEPS, SINGLE)
        self._regressed[key] = self._regressed[setting.lift, None] = model.coef_
        scores = view.sets.entries_of(model.predict_proba(self.X[view.shown]).T)
        hidden = view.allowed(model.predict_proba(self.X[view.rows]).T)
        return hidden, _restricted(scores * view.P, view.P, view.sets)

    def _given(self, estimator: CandidateEstimator, P: Floats, sets: CandidateSets) -> Any:
        return estimator.soft_labeller(self.X, self.context)(P.astype(self.X.dtype), sets).solution


def _spread(H_T: sparse.csr_array, P: Floats, sets: CandidateSets) -> tuple[Floats, Floats]:
    """Return labels (E,) that neighbours pass on, and a factor for each class.

    The factor scales a label that spread too far back to what it had at the start.
    """
    y = propagate(H_T, P, sets, PASSED_ON, ROUNDS)
    mass = sets.class_total(y)
    return y, sets.class_total(P) / np.where(mass > 0, mass, 1)


def by_frequency(P: Floats, sets: CandidateSets) -> tuple[Floats, Floats]:
    """Return candidates by how often they are listed: the floor, which uses no features."""
    scores = _frequency(P, sets)[sets.classes]
    return _restricted(scores, P, sets), scores


def _frequency(P: Floats, sets: CandidateSets) -> NDArray[np.float64]:
    return np.asarray(sets.class_total(P) / max(sets.n_instances, 1))


def _restricted(y: Floats, P: Floats, sets: CandidateSets) -> NDArray[np.float64]:
    """Return values (E,) that sum to 1 for each instance; P where there is none."""
    total = sets.total(y)[sets.instance]
    return np.where(total > 0, y / np.where(total > 0, total, 1), P)


def of_rows(context: Context, rows: Any) -> Context:
    """Return the context of some instances; constraints are left out, for they count all rows."""
    weight = None if context.sample_weight is None else context.sample_weight[rows]
    groups = None if context.groups is None else context.groups[rows]
    return replace(context, sample_weight=weight, groups=groups, constraints=())
