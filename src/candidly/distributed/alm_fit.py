"""MCar and WMCar on shards: columns of [Y; Z], and one Gram matrix of all of them an iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import SourceError
from candidly.distributed.label_shard import LabelShard
from candidly.distributed.moments import Measured, measure
from candidly.distributed.open_set_fit import bytes_of_training, refuse_classifier
from candidly.distributed.row_space_fit import EVIDENCE, Factors
from candidly.distributed.shard_making import State
from candidly.distributed.sources import Columns, Source
from candidly.estimators import MCar
from candidly.estimators.mcar import ScaledSVC
from candidly.estimators.scaling import (
    INSTANCES_PER_FEATURE,
    SETTING_FIELDS,
    SETTINGS,
    FeatureScaler,
    Setting,
)
from candidly.solvers import ALM, CandidateSets
from candidly.solvers.alm_shard import AlmShard
from candidly.solvers.candidate_floor import RIDGES, left_out_guess, scored_rows, tells_less
from candidly.solvers.kernels.entry_products import class_sums
from candidly.solvers.label_rows import LabelRows
from candidly.solvers.row_space_shard import RidgeMap
from candidly.solvers.shards import Part, Shards
from candidly.solvers.solution import Status, Trace
from candidly.solvers.twins import class_keys, twins_of

ARRAYS = 9
"""Matrices of labels and features of its columns that a shard has at a time."""
SCORED = 17.0
"""Bytes of an instance while those that are scored are chosen: sizes of sets, and numbers."""


class AlmColumns(LabelShard):
    """Instances of Algorithm 1; the kernel is :class:`AlmShard`.

    Parameters
    ----------
    columns, state
        As in :class:`LabelShard`.
    scaler : FeatureScaler
        Bound after features are measured, as are the others.
    penalties : (float, float)
        lambda and gamma.
    euclidean : bool
    precision : str or None
    weighted : bool
        Whether columns are weighted against imbalance.
    **rules : bool
        As in :class:`LabelShard`.
    """

    BY_KERNEL = frozenset(["observe", "begin", "step", "gram_without", "triangle"])
    KEPT = ("H_rows", "L", "scores_now", "best_now")

    def __init__(
        self,
        columns: Columns,
        state: State,
        scaler: FeatureScaler | None = None,
        penalties: tuple[float, float] = (0.0, 0.0),
        euclidean: bool = False,
        precision: str | None = None,
        weighted: bool = True,
        **rules: bool,
    ) -> None:
        super().__init__(columns, state, **rules)
        self.scaler, self.penalties, self.euclidean = scaler, penalties, euclidean
        self.precision, self.weighted = precision, weighted

    def class_sizes(self) -> Part:
        """Return the sum of soft labels of each class, and the keys by which twins are found."""
        keys = class_keys(self.P, self.sets, self.columns.numbers())
        return Part({"sizes": self.sets.class_total(self.P), "keys": keys})

    def weigh(self, sizes: NDArray[np.float64], keys: NDArray[np.uint64]) -> Part:
        """Keep the weight of each column, by the sizes of all classes, and keys; start anew."""
        self.state["keys"] = keys
        dtype = self.columns.features.dtype
        P = self.P.astype(dtype)
        w = np.ones(len(self.columns), dtype=dtype)
        if self.weighted:
            w = 1 / np.sqrt(self.sets.total(P * sizes.astype(dtype)[self.sets.classes]))
        if self.columns.weight is not None:
            w = w * np.sqrt(self.columns.weight.astype(dtype))
        for name in self.KEPT:
            if name in self.state:
                del self.state[name]
        self.state["w"] = w
        self.__dict__.pop("kernel", None)
        return Part()

    def __getattr__(self, name: str) -> Any:
        if name in AlmColumns.BY_KERNEL:
            return lambda *broadcast: self._run(name, broadcast)
        raise AttributeError(name)

    def _run(self, name: str, broadcast: tuple[Any, ...]) -> Part:
        """Call the kernel, and keep what it changed."""
        shard = self.kernel
        part: Part = getattr(shard, name)(*broadcast)
        if name in ("begin", "step"):
            found = (shard.H, shard.L, shard.scores, shard.chosen)
            for key, values in zip(self.KEPT, found, strict=True):
                if values is not None:
                    self.state[key] = values
        return part

    @cached_property
    def kernel(self) -> AlmShard:
        """The kernel, on these instances."""
        assert self.scaler is not None
        features = self.scaler.transform(self.columns.X).T
        if self.precision is not None:
            features = features.astype(self.precision, order="K", copy=False)
        w = np.asarray(self.state["w"], dtype=features.dtype)
        P = self.P.astype(self.columns.features.dtype)
        twins = twins_of(self.state["keys"])
        labels = LabelRows(P, self.sets, w, self.euclidean, self.rules, twins)
        rows = np.asarray(self.sets.matrix(P), dtype=features.dtype)
        observed = np.ascontiguousarray(np.vstack([rows, features]) * w)
        shard = AlmShard(observed, labels, *self.penalties)
        if "L" in self.state:
            shard.H, shard.L = self.state["H_rows"], self.state["L"]
            if "scores_now" in self.state:
                shard.scores, shard.chosen = self.state["scores_now"], self.state["best_now"]
        return shard

    def finish(self) -> Part:
        """Keep the labels, and where they compete the recovered features."""
        shard = self.kernel
        labels = shard.labels
        self.state["y"] = labels.project(shard.scores)
        self.state["H"] = shard.scores
        if self.rules or self.eliminates:
            Z = shard.H[shard.c :] / self.state["w"]
            self.state["lifted"] = np.ascontiguousarray(Z.T, dtype=np.float64)
        for name in self.KEPT:
            if name in self.state:
                del self.state[name]
        self.__dict__.pop("kernel", None)
        return Part()

    def floor_sums(self) -> Part:
        """Return the sums of every class by the labels found, and by the candidates given."""
        sets, X = self.columns.sets, self.columns.X
        one_hot = np.zeros(len(sets))
        one_hot[sets.best(self.state["y"])] = 1
        sums = {}
        for name, y in (("labels", one_hot), ("candidates", self.columns.P)):
            counted = y if self.columns.weight is None else y * self.columns.weight[sets.instance]
            sums[name] = class_sums(sets, counted, X)
            sums[f"{name} mass"] = sets.class_total(counted)
        return Part(sums)

    def evidence_rows(self, mean: Any) -> NDArray[np.floating]:
        """Return the recovered features, on which labels are regressed, less their mean."""
        return self.X - mean


@dataclass
class AlmProgram:
    """The calls of shards that label by MCar or WMCar, and its classifier.

    Parameters
    ----------
    estimator : MCar
    source : Source
    """

    estimator: MCar
    source: Source

    kind = AlmColumns
    has_evidence = True

    def refuse(self) -> None:
        """Raise where something is asked for that shards cannot do."""
        name = type(self.estimator).__name__
        if self.estimator.classifier is not None:
            refuse_classifier(name, int(np.prod(self.source.features.shape)))

    def bytes_per_row(self) -> float:
        """Return about how much memory an instance takes while its shard is worked on."""
        rows = self.source.n_classes + self.source.features.shape[1]
        return self.source.bytes_per_row() + ARRAYS * rows * self.source.features.dtype.itemsize

    def side(self) -> int:
        """Return the side of the matrices that are added up."""
        return self.source.n_classes + int(self.source.features.shape[1])

    def bytes_to_classify(self) -> float:
        """Return the memory of training a classifier on all instances."""
        return bytes_of_training(self.source)

    def bytes_held(self) -> float:
        """Return the memory of choosing, among all instances, those by which labels are doubted."""
        return 0.0 if self.source.null is not None else SCORED * len(self.source)

    def passes(self) -> int:
        """Return how many passes over the instances there are at most."""
        return self.estimator.max_iter + 10

    def begin(self, driver: Any) -> None:
        """Measure the features, and choose the setting and scales."""
        measured = measure(driver, len(self.source), self.source.features.dtype)
        self.setting = setting = self._setting(measured)
        scaler = measured.weighted.scaler(
            setting.standardize, setting.norm, setting.center, setting.divisor
        )
        if setting.norm is not None:
            found = driver.each("norms", scaler, measured.mean_weight).sums["norm"]
            size = float(found) / len(self.source)
            scaler.factor_ = setting.norm / size if size > 0 else 1.0
        self.measured = measured
        largest = float((measured.plain.peak / scaler.unit_).max(initial=0) * scaler.factor_)
        if largest > np.finfo(self.source.features.dtype).max ** 0.4:
            raise SourceError("features are too large to square; set norm, or scale them")
        c, m = self.source.n_classes, self.source.features.shape[1]
        lambda_0 = 1 / math.sqrt(max(c + m, len(self.source)))
        self.scaler = scaler
        driver.bind(
            scaler=scaler,
            penalties=(setting.noise_weight * lambda_0, setting.sparsity_weight * lambda_0),
            euclidean=self.estimator.projection == "euclidean",
            precision=self.estimator.precision,
            weighted=self.estimator.weighted,
        )

    def _setting(self, measured: Measured) -> Setting:
        e = self.estimator
        if e.setting != "auto":
            base = SETTINGS[e.setting]
        else:
            few = len(self.source) < INSTANCES_PER_FEATURE * self.source.features.shape[1]
            base = SETTINGS["pixels" if few else "features"]
            base = replace(base, standardize=measured.plain.units_differ())
        return base.override(**{name: getattr(e, name) for name in SETTING_FIELDS})

    def label(self, driver: Any) -> tuple[Trace, Status]:
        """Complete the matrix from P."""
        sums = driver.each("class_sizes").sums
        driver.each("weigh", sums["sizes"], sums["keys"])
        s, e = self.setting, self.estimator
        weights = (s.noise_weight, s.sparsity_weight)
        alm = ALM(*weights, s.rho, s.start, e.projection, s.tol, e.max_iter)
        c, m = self.source.n_classes, self.source.features.shape[1]
        trace, status = alm.run(driver, c, m, len(self.source))
        driver.each("finish")
        self._driver = driver
        e.warn_unless_final(status, trace)
        return trace, status

    def evidence(self) -> RidgeMap:
        """Return the regression on recovered features that decides between equal labels."""
        found = measure(self._driver, len(self.source), np.float64).plain
        return Factors.of(found, np.ones(len(found.mean))).ridge_map(EVIDENCE.ridge)[0]

    def doubted(self, driver: Shards, labels: NDArray[np.floating], eliminated: bool) -> list[str]:
        """Return a doubt where labels tell no more than the candidates; see ``below_floor``."""
        source = self.source
        if eliminated or source.null is not None:  # null is listed everywhere, and tells nothing
            return []
        rows = scored_rows(CandidateSets(source.start, source.classes, source.n_classes))
        scaler, mean_weight = self.scaler, self.measured.mean_weight
        factors = Factors.of(self.measured.weighted, 1 / (scaler.unit_ * scaler.scale_))
        if not len(rows) or not len(factors.s):
            return []
        sums = driver.each("floor_sums").sums
        some = source.columns(rows)
        into = factors.scale[:, None] * factors.into
        Q = (some.X - factors.mean) @ into
        weight = 1.0 if some.weight is None else some.weight / mean_weight
        best = some.sets.best(np.asarray(labels[some.entries]))
        one_hot = np.zeros(len(some.sets))
        one_hot[best] = 1

        def guesses(name: str, y: NDArray[np.float64]) -> list[NDArray[np.intp]]:
            mass = np.outer(sums[f"{name} mass"], factors.mean)
            B = (sums[name] - mass) @ into / mean_weight
            return [
                left_out_guess(B * f, Q, weight * (Q * f * Q).sum(axis=1), some.sets, y)
                for f in map(factors.shrunk, RIDGES)
            ]

        found, by_labels = some.sets.classes[best], guesses("labels", one_hot)
        less = tells_less(found, some.sets, by_labels, lambda: guesses("candidates", some.P))
        return [self.estimator._doubt()] if less else []

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes to keep."""
        return {"setting_": self.setting}

    def classifier(self, driver: Any, chosen: NDArray[np.intp]) -> Any:
        """Return a linear support vector machine on scaled features."""
        e, s = self.estimator, self.setting
        scaler = FeatureScaler(
            center=s.center, standardize=s.standardize, norm=s.norm, divisor=s.divisor
        )
        weight = None if self.source.weight is None else np.asarray(self.source.weight)
        X = self.source.features.rows(slice(0, len(self.source)))
        model = ScaledSVC(scaler, e.random_state)
        return model.fit(X, np.asarray(chosen), sample_weight=weight)
