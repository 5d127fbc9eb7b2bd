"""RowSpace on shards: features as they came, and a regression that is multiplied instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils import check_random_state

from candidly.distributed.checksums import SourceError
from candidly.distributed.label_shard import LabelShard
from candidly.distributed.moments import Measured, Moments, measure
from candidly.distributed.shard_making import State
from candidly.distributed.sources import Columns, Source
from candidly.estimators import RowSpace
from candidly.estimators.row_space import (
    Judged,
    LiftedRidge,
    Lifting,
    left_out_scores,
    some_rows,
)
from candidly.estimators.scaling import FeatureScaler
from candidly.solvers import CandidateSets, Constraint
from candidly.solvers.arrays import rows_at_once
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from candidly.solvers.row_space import (
    WEAK,
    LinearLift,
    RBFLift,
    RowSpaceCompletion,
    least_size,
)
from candidly.solvers.row_space_shard import RidgeMap, RowSpaceShard
from candidly.solvers.shards import Part, Shards
from candidly.solvers.solution import Status, Trace

EVIDENCE = RowSpaceCompletion()
"""The regression that decides between equal labels, as in ``LeftOutEvidence``."""
AT_ONCE = 1_000_000
"""Scores of the classifier that are judged at a time."""

Floats = NDArray[np.float64]


class RowSpaceColumns(LabelShard):
    """Instances of a row-space completion.

    Parameters
    ----------
    columns, state
        As in :class:`LabelShard`.
    shift : (m,) array, optional
        What is subtracted from features; bound after they are measured.
    **rules : bool
        As in :class:`LabelShard`.
    """

    def __init__(
        self,
        columns: Columns,
        state: State,
        shift: NDArray[np.floating] | None = None,
        **rules: bool,
    ) -> None:
        super().__init__(columns, state, **rules)
        self.shift = shift
        self._shard: RowSpaceShard | None = None

    @property
    def X(self) -> NDArray[np.floating]:
        """Features of these instances, or what they were lifted to, less the shift."""
        if "lifted" not in self.state:
            return self.columns.less(self.shift)
        return self._lifted

    @cached_property
    def _lifted(self) -> NDArray[np.floating]:
        lifted = self.state["lifted"]
        return lifted if self.shift is None else lifted - self.shift

    def project_rows(self, scaler: FeatureScaler, direction: NDArray[np.float64]) -> Part:
        """Return scaled features along a direction, with the numbers of their rows."""
        along = scaler.transform(self.columns.X) @ direction
        return Part(rows={"along": along, "number": self.columns.numbers()})

    def lift(self, lifting: Lifting) -> Part:
        """Keep lifted features instead of those that came."""
        self.state["lifted"] = lifting.transform(self.columns.X)
        return Part()

    def begin(self, ridge: RidgeMap, mean_weight: float, own: bool, sizes: bool, N: int) -> Part:
        """Keep the leverage of each instance, and return the contribution of P to start from."""
        weight = self.columns.weight
        w2 = None if weight is None else weight / mean_weight
        if own:
            found = ridge.leverage(self.X)
            self.state["own"] = found if w2 is None else found * w2
        if w2 is not None:
            self.state["counts"] = w2
        if sizes:
            self.state["share"] = (np.ones(len(self.columns)) if w2 is None else w2) / N
        self.state["y"], self.state["H"] = self.P, np.zeros(len(self.P))
        return self.shard.begin()

    def step(self, B: Any, sizes: Any, offset: Any, last: bool) -> Part:
        """Run one iteration; see :class:`RowSpaceShard`."""
        shard = self.shard
        part = shard.step(B, sizes, offset, last)
        self.state["y"], self.state["H"] = shard.y, shard.H
        return part

    @property
    def shard(self) -> RowSpaceShard:
        """The kernel, on these instances."""
        if self._shard is None or self._shard.sets is not self.sets:
            kept: dict[str, Any] = {
                name: self.state[name] for name in ("own", "counts", "share") if name in self.state
            }
            if not self.rules:
                equal = "P" not in self.state and self.columns.priors is None
                kept["simplex"] = np.zeros(0) if equal else self.P
            # No method of this one: each would hold the other, and memory, until it is collected.
            project = partial(_project, self.columns, self.state, self.sets, self.rules)
            self._shard = RowSpaceShard(
                self.X, self.sets, self.state["y"], project, offset=True, **kept
            )
        self._shard.y = self.state["y"]
        return self._shard


def _project(
    columns: Columns, state: State, sets: CandidateSets, rules: list[Constraint], H: Any
) -> Any:
    """Return the labels that obey all constraints, by predictions."""
    P = state.get("P", lambda: columns.P)
    return FeasibleSet(sets, CandidateSimplex(P), rules).project(H)


@dataclass(frozen=True)
class Factors:
    """Singular values and directions of scaled features, by their moments.

    Parameters
    ----------
    s : (k,) array
        Singular values, largest first.
    into : (m, k) array
        Map of centred scaled features to rows of unit singular vectors.
    mean, scale : (m,) arrays
        Scaled features are (x - mean)*scale.
    """

    s: NDArray[np.float64]
    into: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, moments: Moments, scale: NDArray[np.float64]) -> Factors:
        """Return the factors of features with these moments."""
        gram = moments.gram * np.outer(scale, scale)
        size, basis = linalg.eigh(gram, check_finite=False)
        far = moments.count * float(((moments.mean * scale) ** 2).sum())
        kept = size > least_size(size, far)
        s, basis = np.sqrt(size[kept])[::-1], basis[:, kept][:, ::-1]
        return cls(s, basis / s, moments.mean, scale)

    def shrunk(self, ridge: float) -> NDArray[np.float64]:
        """Return how much of each direction the ridge leaves."""
        return np.asarray(self.s**2 / (self.s**2 + ridge * self.s[:1] ** 2))

    def ridge_map(self, ridge: float, weak: float = WEAK) -> tuple[RidgeMap, int]:
        """Return the regression on features as they came, and its number of directions."""
        kept = self.s**2 > weak * ridge * self.s[:1] ** 2
        turn = self.scale[:, None] * self.into[:, kept]
        C = (turn * self.shrunk(ridge)[kept]) @ turn.T
        return RidgeMap(self.mean, C), int(kept.sum())


@dataclass
class RowSpaceProgram:
    """The calls of shards that label by an estimator, and that train its classifier.

    Parameters
    ----------
    estimator : RowSpace
    source : Source
    """

    estimator: RowSpace
    source: Source

    kind = RowSpaceColumns
    has_evidence = True

    def bytes_per_row(self) -> float:
        """Return about how much memory an instance takes while its shard is worked on."""
        lifted = self.estimator.landmarks * 24 if self.estimator.lift == "rbf" else 0
        return self.source.bytes_per_row() + lifted

    def side(self) -> int:
        """Return the side of the matrices that are added up."""
        e = self.estimator
        return max(self.source.features.shape[1], e.landmarks if e.lift == "rbf" else 0)

    def bytes_held(self) -> float:
        """Return the memory of choosing landmarks among all instances."""
        return 24.0 * len(self.source) if self.estimator.lift == "rbf" else 0.0

    def refuse(self) -> None:
        """Raise where something is asked for that shards cannot do."""
        if self.estimator.denoise:
            raise SourceError(
                "RowSpace(denoise=True) needs all features in memory; set denoise=False, or fit it"
            )

    def passes(self) -> int:
        """Return how many passes over the instances there are at most."""
        return self.estimator.max_iter + 8

    def begin(self, driver: Any) -> Measured:
        """Measure the features, and lift them where that is asked for."""
        measured = measure(driver, len(self.source), self.source.features.dtype)
        scale = self.begin_from(measured)
        if self.estimator.lift == "rbf":
            self._lift(driver, measured)
            again = measure(driver, len(self.source), self.source.features.dtype)
            self.moments, scale = again.weighted, np.ones(len(again.weighted.mean))
            self.factors = Factors.of(self.moments, scale)
            self.shift = self.factors.mean
        driver.bind(shift=self.shift)
        return measured

    def begin_from(self, measured: Measured) -> NDArray[np.float64]:
        """Choose scales by what was measured, and return them."""
        e, N = self.estimator, len(self.source)
        units = measured.plain.units_differ() if e.standardize is None else e.standardize
        scaler = measured.weighted.scaler(units, 1.0)
        scale = _scale(scaler)
        size = float(np.sqrt((measured.weighted.gram.diagonal() * scale**2).sum() / N))
        scaler.factor_ = 1.0 / size if size > 0 else 1.0  # rows of norm about 1
        seed = check_random_state(e.random_state).randint(2**31)
        self.lifting = Lifting(LinearLift(), scaler, seed)
        self.moments, self.measured = measured.weighted, measured
        scale = scale * scaler.factor_
        self.factors = Factors.of(self.moments, scale)
        self.shift = self.factors.mean.astype(self.source.features.dtype)
        return scale

    def _lift(self, driver: Shards, measured: Measured) -> None:
        """Find the landmarks, and have all shards lift their features."""
        e, scaler = self.estimator, self.lifting.scaler
        lift = RBFLift(e.width, e.landmarks)
        rng = np.random.default_rng(self.lifting.seed)
        direction = rng.normal(size=self.source.features.shape[1])
        found = driver.each("project_rows", scaler, direction).rows
        along = np.empty(len(self.source))
        along[found["number"]] = found["along"]
        points = scaler.transform(self.source.features.rows(lift.order(along, rng)))
        spread = measured.weighted.gram.diagonal() * (_scale(scaler) * scaler.factor_) ** 2
        lift.fit_points(points, 2 * float(spread.sum()) / len(self.source))
        self.lifting.lift = lift
        driver.each("lift", self.lifting)

    def label(self, driver: Shards) -> tuple[Trace, Status]:
        """Complete the labels from P."""
        e = self.estimator
        solver = RowSpaceCompletion(e.ridge, e.class_sizes, e.leave_one_out, e.max_iter, e.tol)
        ridge, rank = self.factors.ridge_map(e.ridge)
        weight, N = self.measured.mean_weight, len(self.source)
        ridge = ridge.less(self.shift)
        begin = (ridge, weight, e.leave_one_out, e.class_sizes, N)
        return solver.run(driver, rank, ridge, begin)

    def doubted(self, driver: Shards, labels: NDArray[np.floating], eliminated: bool) -> list[str]:
        """Return none: labels are regression on the features already."""
        return []

    def evidence(self) -> RidgeMap:
        """Return the regression that decides between equal labels."""
        plain = self.measured.plain
        return Factors.of(plain, np.ones(len(plain.mean))).ridge_map(EVIDENCE.ridge)[0]

    def classifier(self, driver: Shards, chosen: NDArray[np.intp]) -> Any:
        """Return ridge regression on the labels found, from sums over shards."""
        lifted = self.estimator.lift == "rbf"
        sums = driver.each("one_hot_sums", None if lifted else self.shift).sums
        model, factors = LiftedRidge(self.lifting, self.estimator.ridge), self.factors
        weight, f = self.measured.mean_weight, factors.shrunk(self.estimator.ridge)
        model.classes_ = present = np.flatnonzero(sums["mass"] > 0)
        total, mass = sums["B"][present] / weight, sums["mass"][present] / weight
        turn = factors.scale[:, None] * factors.into
        B = (total - np.outer(mass, factors.mean - self.shift)) @ turn * f
        model.lifting_, model.coef_ = self.lifting, factors.into @ B.T
        model.mean_ = factors.mean if lifted else np.zeros(len(factors.mean))
        model.choose_offset(self._judged(chosen, present, B, f), mass / mass.sum())
        return model

    def _judged(
        self, chosen: NDArray[np.intp], present: NDArray[np.intp], B: Floats, f: Floats
    ) -> Iterator[Judged]:
        """Yield scores of some instances by the regression B of the labels that are present."""
        N, factors = len(chosen), self.factors
        rows = some_rows(N, len(present))
        step = max(1, min(rows_at_once(factors.into), AT_ONCE // len(present)))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            X, weight = self.source.features.rows(some), np.ones(len(some))
            if self.source.weight is not None:
                weight = np.asarray(self.source.weight[some]) / self.measured.mean_weight
            if self.estimator.lift == "rbf":
                centred = self.lifting.transform(X) - factors.mean
            else:
                centred = (X - factors.mean) * factors.scale
            Q, column = centred @ factors.into, np.searchsorted(present, chosen[some])
            own = weight * (Q * f * Q).sum(axis=1)
            yield left_out_scores(Q @ B.T, own, column), column, weight / N


def _scale(scaler: FeatureScaler) -> NDArray[np.float64]:
    """Return by what centred features are multiplied."""
    return np.asarray(1 / (scaler.unit_ * scaler.scale_))
