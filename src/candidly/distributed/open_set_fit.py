"""OpenSet on shards, and the solver alone for those who have entries already."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import SourceError
from candidly.distributed.label_shard import LabelShard
from candidly.distributed.moments import Measured, measure
from candidly.distributed.row_space_fit import Factors, RowSpaceProgram
from candidly.distributed.shard_making import State
from candidly.distributed.sources import Columns, Source
from candidly.distributed.stored_features import Features
from candidly.estimators import OpenSet, RowSpace
from candidly.estimators.open_set import SINGLE, Recognition, doubts_of, with_nobody
from candidly.solvers.confidence_limits import ROWS, TIMES
from candidly.solvers.confidence_shard import ConfidenceShard
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.limited_labels import limited_labels
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import CENTRE, Given, OpenSetLabelling, Solved
from candidly.solvers.open_set_shard import OpenSetShard
from candidly.solvers.shards import Part
from candidly.solvers.solution import Status, Trace
from candidly.solvers.two_covariances import Covariances

CLASSIFIED = 50_000_000
"""Numbers in features up to which a classifier is trained on all of them in memory."""

TRAINED = 32
"""Bytes per feature of an instance that training takes, beside the feature."""

HELD, PUT_IN_ORDER = 24, 70
"""Bytes per instance that the process that asked keeps, and where it puts groups in order."""
SEARCHED = 220_000_000
"""Bytes that comparing instances with names that they do not list takes, as measured."""
OF_ROWS = (70, 200)
"""Bytes per row of what shards return for how sure names may be, and where it is worked on."""

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class FeatureMap:
    """Features as they are compared: centred, and in principal components where asked for.

    Parameters
    ----------
    shift : (m,) array
        What is subtracted.
    turn : (m, k) array or None
        What they are multiplied with then.
    dtype : dtype
        Precision in which they are kept.
    """

    shift: Floats
    turn: Floats | None
    dtype: Any

    def __call__(self, X: Floats) -> Floats:
        """Return rows of X mapped."""
        Z = X - self.shift.astype(self.dtype if self.turn is None else float)
        return (Z if self.turn is None else Z @ self.turn).astype(self.dtype, copy=False)


@dataclass(frozen=True)
class MappedRows:
    """Coordinates of instances by number, from features that stay where they are."""

    features: Features
    turned: FeatureMap
    basis: Floats

    def __getitem__(self, rows: Any) -> Floats:
        X = self.features.rows(np.asarray(rows, dtype=np.intp))
        return self.turned(X) @ self.basis.astype(self.turned.dtype)


class OpenSetColumns(LabelShard):
    """Instances of an open-set labelling; the kernel is :class:`OpenSetShard`.

    Parameters
    ----------
    columns, state
        As in :class:`LabelShard`.
    settings : OpenSetLabelling
    turned : FeatureMap
        Bound after features are measured, as are the next two.
    even : float
    mean_weight : float
    decided : DecidedInstances, optional
    **rules : bool
        As in :class:`LabelShard`.
    """

    BY_KERNEL = frozenset(
        [
            "begin",
            "divide",
            "complete_begin",
            "complete_step",
            "complete_end",
            "take",
            "grams",
            "fold_sums",
            "discount",
            "step",
            "step_fold",
            "step_folds",
            "look",
            "stay",
            "keep",
            "take_best",
            "name_instances",
        ]
    )
    BY_CONFIDENCE = frozenset(
        ["decision", "rivals", "count_nameless", "nameless", "likened", "judge", "judged"]
    )

    def __init__(
        self,
        columns: Columns,
        state: State,
        settings: OpenSetLabelling | None = None,
        turned: FeatureMap | None = None,
        even: float = 0.0,
        mean_weight: float = 1.0,
        decided: Any = None,
        **rules: bool,
    ) -> None:
        super().__init__(columns, state, **rules)
        self.settings, self.turned, self.even = settings, turned, even
        self.mean_weight, self.decided = mean_weight, decided

    def __getattr__(self, name: str) -> Any:
        if name in OpenSetColumns.BY_KERNEL:
            return getattr(self.kernel, name)
        if name in OpenSetColumns.BY_CONFIDENCE:  # which needs no features
            return getattr(self.confidence, name)
        raise AttributeError(name)

    def shares(self) -> Part:
        """Return how many instances each name has, if those of an instance are equally likely."""
        return Part({"shares": self.entries.shares()})

    def turn(self) -> Part:
        """Keep mapped features instead of mapping them every time."""
        assert self.turned is not None
        self.state["lifted"] = self.turned(self.columns.X)
        return Part()

    @cached_property
    def entries(self) -> CandidateEntries:
        """Candidates of these instances as entries of names."""
        more, groups = self.columns.more, self.columns.local_groups()
        if "prior" in more:
            sets = self.sets
            shown, named = more.get("shown"), (sets.instance, sets.classes)
            prior, free = np.asarray(more["prior"]), np.asarray(more["free"])
            return CandidateEntries(*named, prior, free, groups, sets.n_classes, shown)
        return CandidateEntries.of_sets(self.P, self.sets, groups, self.columns.null)

    @cached_property
    def kernel(self) -> OpenSetShard:
        """The kernel, on these instances."""
        assert self.turned is not None
        X = self.state["lifted"] if "lifted" in self.state else self.turned(self.columns.X)
        weight = self.columns.weight
        weight = np.ones(len(X)) if weight is None else weight / self.mean_weight
        if "prior" in self.columns.more and self.columns.weight is None:
            weight = None
        return OpenSetShard(
            LabelledFeatures(X, self.entries),
            self.settings,
            weight,
            self.even,
            None,
            self.decided,
            self.columns.more.get("begin"),
            self.state,  # type: ignore[arg-type]
            self.columns.number,
            self.columns.numbers(),
        )

    @property
    def confidence(self) -> ConfidenceShard:
        """What says how sure the labels of these instances may be."""
        return ConfidenceShard(self.entries, self.entries, self.state, self.columns.numbers())

    def settle(self) -> Part:
        """Keep labels in which the names chosen have their confidence, and what they rest on."""
        found, entries, null = self.confidence.judged(), self.entries, self.columns.null
        of, one, chosen = found.instances, found.entries, found.instances["chosen"]
        soft, rest = limited_labels(entries, one["soft"], of["rest"], chosen, of["confidence"])
        other = np.where(entries.free > NEVER, of["other"], 0)
        self.state["y"] = with_nobody(self.sets, soft, rest, null)
        self.state["H"] = with_nobody(self.sets, one["likeness"], other, null)
        self.state["chosen"] = np.where(chosen < 0, null or 0, chosen).astype(np.int32)
        return Part()


@dataclass
class OpenSetProgram:
    """The calls of shards that label by an estimator, and its classifier.

    Parameters
    ----------
    estimator : OpenSet
    source : Source
    """

    estimator: OpenSet
    source: Source

    kind = OpenSetColumns
    has_evidence = False

    def __post_init__(self) -> None:
        self.misfits: list[str] = []
        self.doubts: list[str] = []

    def refuse(self) -> None:
        """Raise where something is asked for that shards cannot do."""
        size = int(np.prod(self.source.features.shape))
        if self.estimator.classifier is not None and self.source.null is not None:
            refuse_classifier("OpenSet", size)

    def bytes_per_row(self) -> float:
        """Return about how much memory an instance takes while its shard is worked on."""
        return bytes_of_open_set(self.source)

    def side(self) -> int:
        """Return the side of the matrices that are added up."""
        return int(self.source.features.shape[1])

    def bytes_to_classify(self) -> float:
        """Return the memory of training a classifier on all instances, where one is."""
        return 0.0 if self.source.null is None else bytes_of_training(self.source)

    def bytes_held(self) -> float:
        """Return the memory of what is of all instances, or names, with shards beside it."""
        held = bytes_of_all(len(self.source), float(self.source.start[-1]))[0]
        return held if self.source.null is None else held + SEARCHED

    def bytes_between(self) -> float:
        """Return the memory of what is worked on while no shard is."""
        return bytes_of_all(len(self.source), float(self.source.start[-1]))[1]

    def passes(self) -> int:
        """Return how many passes over the instances there are at most."""
        return OpenSetLabelling(max_iter=self.estimator.max_iter).passes()

    def begin(self, driver: Any) -> None:
        """Measure the features, and choose how they are compared."""
        e, N = self.estimator, len(self.source)
        self.settings = OpenSetLabelling(
            shown=e.shown,
            elsewhere=e.elsewhere,
            damping=e.damping,
            shrinkage=e.shrinkage,
            learn_shown=e.learn_shown,
            max_iter=e.max_iter,
            tol=e.tol,
        )
        measured = measure(driver, N, self.source.features.dtype)
        self.measured = measured
        self.population = self._population(driver, measured)
        even = 0.0 if self.population is None else self.population.even
        self.turned = self._feature_map(measured)
        driver.bind(
            settings=self.settings,
            turned=self.turned,
            even=even,
            mean_weight=measured.mean_weight,
        )
        if self.turned.turn is not None:
            driver.each("turn")

    def _population(self, driver: Any, measured: Measured) -> Any:
        """Return the population given, unless the features cannot be of it."""
        population, plain = self.estimator.population, measured.plain
        if population is None:
            return None
        if population.mean.shape != plain.mean.shape:
            raise ValueError(
                f"population is of {len(population.mean)} features, and X has {len(plain.mean)}"
            )
        off = plain.mean - population.mean
        size = float(np.trace(plain.gram) / plain.count + off @ off)
        shares = driver.each("shares").sums["shares"]
        why = population.misfit_of(plain.mean, size, int(plain.count), shares)
        if why is None:
            return population
        self.misfits.append(
            f"the features are not of the population given, which is not used: {why}; estimate "
            "one with candidly.estimate_population on features of the same kind"
        )
        return None

    def _feature_map(self, measured: Measured) -> FeatureMap:
        plain, weighted, N = measured.plain, measured.weighted, int(measured.plain.count)
        if self.population is not None:
            dtype = np.float32 if N * len(plain.mean) >= SINGLE else plain.dtype
            total = plain.mean * N + CENTRE * self.population.mean
            return FeatureMap(total / (N + CENTRE), None, dtype)
        scaler = weighted.scaler(plain.units_differ(), 1.0)
        scale = 1 / (scaler.unit_ * scaler.scale_)
        size = float(np.sqrt((weighted.gram.diagonal() * scale**2).sum() / N))
        scale = scale / size if size > 0 else scale
        factors = Factors.of(weighted, scale)
        directions = (factors.into * factors.s)[:, : self.estimator.components]
        if not directions.shape[1]:  # features that do not vary have one coordinate, 0
            directions = np.zeros((len(scale), 1))
        turn = scale[:, None] * directions
        dtype = np.float32 if N * turn.shape[1] >= SINGLE else np.float64
        return FeatureMap(plain.mean, turn, dtype)

    def label(self, driver: Any) -> tuple[Trace, Status]:
        """Label, find how sure names may be, and keep labels that obey it in the shards."""
        given = Given(self.source.n_classes, self.population)
        groups = OwnGroups() if self.source.groups is None else self.source.groups
        solved, judged = run_on(
            driver, self.settings, given, self.source.features, self.turned, groups
        )
        self.doubts = self.misfits + doubts_of(*judged)
        driver.each("settle")
        return solved.trace, Status.DOUBTFUL if self.doubts else solved.status

    def doubted(self, driver: Any, labels: NDArray[np.floating], eliminated: bool) -> list[str]:
        """Return what was doubted while labelling."""
        return self.doubts

    def classifier(self, driver: Any, chosen: NDArray[np.intp]) -> Any:
        """Return the classifier that "auto" stands for."""
        source = self.source
        if source.null is None:
            ridge = RowSpaceProgram(RowSpace(), source)
            ridge.begin_from(self.measured)
            return ridge.classifier(driver, chosen)
        model = Recognition(source.null, self.estimator.components)
        weight = None if source.weight is None else np.asarray(source.weight)
        X = source.features.rows(slice(0, len(source)))
        return model.fit(X, np.asarray(chosen), sample_weight=weight)


class OwnGroups:
    """Groups of instances that have one each: their numbers."""

    def __getitem__(self, rows: Any) -> Any:
        return rows


def run_on(
    driver: Any,
    settings: OpenSetLabelling,
    given: Given,
    features: Features,
    turned: FeatureMap,
    groups: Any,
) -> tuple[Solved, tuple[float, NDArray[np.intp]]]:
    """Return what shards find, and which part has names, and names that are doubtful."""
    k = features.shape[1] if turned.turn is None else turned.turn.shape[1]
    solved = settings.run(driver, given, (len(features), k), turned.dtype)

    def coordinates(covariances: Covariances) -> MappedRows:
        return MappedRows(features, turned, covariances.basis)

    return solved, settings.judge(driver, solved, groups, coordinates)


def refuse_classifier(method: str, numbers: int) -> None:
    """Raise where a classifier would be trained on more features than memory should have."""
    if numbers > CLASSIFIED:
        raise SourceError(
            f"the classifier of {method} would be trained on {numbers:,} numbers in memory, and "
            f"up to {CLASSIFIED:,} are; set classifier=None, and train one on a sample"
        )


def bytes_of_training(source: Source) -> float:
    """Return about how much memory it takes to train a classifier on all instances."""
    return float(np.prod(source.features.shape)) * (source.features.dtype.itemsize + TRAINED)


def bytes_of_open_set(source: Source) -> float:
    """Return about how much memory an instance takes while its shard is worked on."""
    entries = float(source.start[-1]) / max(len(source), 1)
    return source.features.shape[1] * 16 + 300 + 300 * entries


def bytes_of_all(N: int, E: float) -> tuple[float, float]:
    """Return about how much memory is of all instances, beside shards and where there are none."""
    rows = min(E, max(ROWS, E / TIMES))
    held = HELD * N
    return held + OF_ROWS[0] * rows, max(PUT_IN_ORDER * N, held + OF_ROWS[1] * rows)
