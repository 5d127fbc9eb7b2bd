"""``solve``: an estimator fitted on instances that live on disk or on a cluster."""

from __future__ import annotations

import math
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from candidly.base import CandidateEstimator, DoubtfulLabelsWarning
from candidly.distributed.alm_fit import AlmProgram
from candidly.distributed.checksums import SourceError, path_of
from candidly.distributed.label_shard import Largest
from candidly.distributed.open_set_fit import OpenSetProgram
from candidly.distributed.out_of_core import AT_ONCE, OutOfCore, Progress, job_of
from candidly.distributed.row_space_fit import RowSpaceProgram
from candidly.distributed.shard_making import ShardMaker, nearly_even
from candidly.distributed.smallest import last_of
from candidly.distributed.source_reading import read_source
from candidly.distributed.sources import Source
from candidly.estimators import ICE, MCar, OpenSet, RowSpace, WMCar
from candidly.heap import release
from candidly.solvers import CandidateSets, Elimination, Solution
from candidly.solvers.shards import Shards
from candidly.solvers.solution import Round, Status, Trace

BASE = 385_000_000
"""Bytes that Python and the libraries take, with their code."""
BROADCASTS = 10
"""Arrays of a number per class and feature that a solve has at a time."""
SQUARES = 12
"""Square matrices of features, or of features and classes, that a solve has at a time."""
RESULT = (16, 16)
"""Bytes per instance and per candidate of what is returned in memory, beside names."""
SCATTERED = (44, 20)
"""Bytes per instance and per candidate where rows of groups do not follow one another.

Every shard then reads some of all pages of candidates, and writes some of all those of results.
"""
NAMED = 16_000_000
"""Bytes of names that are written at a time."""
ELIMINATED = (30, 100)
"""Bytes per candidate and per instance that elimination takes: which are least, and their keys."""
FEWEST = 1000
"""Instances of a shard at least, if there are as many."""


def solve(
    source: Any,
    estimator: CandidateEstimator,
    driver: str = "out-of-core",
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    max_memory: float | str = "1GB",
    folder: str | Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    address: str | None = None,
    n_workers: int | None = None,
) -> Any:
    """Return an estimator fitted on instances that need not fit memory, or one machine.

    The answer is that of ``fit``, to rounding: the same shard kernels run, on some shards after
    others, or on all at a time.

    Parameters
    ----------
    source : (features, candidates)
        Features: an array, a .npy file (of which a map of all is read by its path), or a folder of
        .npy or Parquet parts. Candidates: what
        ``fit`` takes, or a folder that :func:`store_candidates` wrote, which may have groups.
    estimator : RowSpace, OpenSet, MCar, WMCar, or ICE over one of them
        Not modified. ``classifier`` has to be "auto" or None; ``random_state=None`` is 0, so that
        a solve that goes on draws the same.
    driver : {"out-of-core", "ray"}
        Where instances live: on disk, with two shards in memory at a time; or in actors of Ray.
    sample_weight, groups : (N,) arrays, optional
        As in ``fit``; weights are positive. No group is ever split.
    max_memory : float or str
        Resident memory that the process may take out of core, e.g. ``"1GB"``: at least 385 MB,
        and what its classes and features ask for. Arrays that are given come on top of it.
    folder : path, optional
        Where an out-of-core solve keeps its checkpoint and results. A solve that was interrupted
        goes on if it is called again with the same folder and the same arguments, also
        ``max_memory``, by the same version of candidly. By default a temporary one, which is
        removed: labels are in memory then, and nothing can be gone on from.
    on_progress : callable, optional
        Called with a :class:`Progress` as an out-of-core solve goes on.
    address : str, optional
        Address of a Ray cluster, e.g. "auto"; by default Ray is started on this machine.
    n_workers : int, optional
        Shards on Ray; by default one for each core.

    Returns
    -------
    estimator
        A fitted copy. Out of core with a folder, ``solution_`` has maps of files in it.

    Examples
    --------
    >>> import candidly
    >>> from candidly.distributed import solve
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=2, random_state=0)
    >>> model = solve((digits.X, digits.candidates), candidly.RowSpace(), max_memory="400MB")
    >>> bool((model.transduction_ == model.fit(digits.X, digits.candidates).transduction_).all())
    True
    """
    _refuse_of_others(driver, {"folder": folder, "on_progress": on_progress}, "out-of-core")
    _refuse_of_others(driver, {"address": address, "n_workers": n_workers}, "ray")
    if not isinstance(n_workers, int | np.integer | None):
        raise TypeError(f"n_workers is a whole number, or None, got {n_workers!r}")
    if not isinstance(folder, str | Path | None):
        raise TypeError(f"folder is a path, or None, got {folder!r}")
    if not (on_progress is None or callable(on_progress)):
        raise TypeError(f"on_progress is a function of a Progress, got {on_progress!r}")
    program = _program(estimator, read_source(source, sample_weight, groups))
    with ExitStack() as stack:
        if driver == "ray":
            from candidly.distributed.on_ray import OnRay

            cuts = nearly_even(program.source, OnRay.workers(address, n_workers))
            running: Any = stack.enter_context(OnRay(program.maker(cuts), address))
        else:
            needs = program.needs(folder is None)
            cuts = program.source.cut(rows_in(program.source, read_bytes(max_memory), needs))
            place = stack.enter_context(kept_in(folder))
            maker = program.maker(cuts)
            job = job_of(program.estimator, maker)
            running = OutOfCore(maker, place, job, program.passes(), on_progress)
            stack.enter_context(running)
        fitted = program.run(running)
        if driver == "out-of-core":
            if folder is None:
                _into_memory(fitted)
            running.finish()
    return fitted


@contextmanager
def kept_in(folder: str | Path | None) -> Iterator[Path]:
    """Give a folder, or a temporary one that is removed afterwards."""
    if folder is not None:
        yield path_of(folder)
        return
    place = Path(tempfile.mkdtemp(prefix="candidly-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@dataclass
class FitProgram:
    """A fit as calls of shards, whichever driver runs them.

    Parameters
    ----------
    given : CandidateEstimator
        As it was given.
    estimator : CandidateEstimator
        The same, with a seed.
    source : Source
    labelling : object
        How the estimator, or the one that ICE is over, labels: a program of its method.
    """

    given: Any
    estimator: Any
    source: Source
    labelling: Any

    def needs(self, in_memory: bool) -> Needs:
        """Return about how much memory a solve takes; ``in_memory`` are labels in the end."""
        source, labelling = self.source, self.labelling
        N, E = len(source), float(source.start[-1])
        per_row = float(labelling.bytes_per_row())
        if isinstance(self.estimator, ICE):
            per_row += ELIMINATED[0] * E / max(N, 1) + ELIMINATED[1]
        held = float(getattr(labelling, "bytes_held", float)())
        last = (RESULT[0] + source.names.dtype.itemsize) * N + RESULT[1] * E if in_memory else 0.0
        if self.estimator.classifier is not None:
            last += float(getattr(labelling, "bytes_to_classify", float)())
        between = float(getattr(labelling, "bytes_between", float)())
        return Needs(per_row, SQUARES * 8 * labelling.side() ** 2, held, between, last)

    def maker(self, cuts: list[Any]) -> ShardMaker:
        """Return the recipe of the shards."""
        at_most_once, at_least_one = self.estimator._group_rules()
        options = {"at_most_once": at_most_once, "at_least_one": at_least_one}
        options["assigns"] = self.estimator._assigns()
        if isinstance(self.estimator, ICE):
            options["eliminates"] = self.estimator._ties_by() == "evidence"
        return ShardMaker(self.labelling.kind, self.source, cuts, options)

    def passes(self) -> int:
        """Return how many passes over the instances there are at most."""
        rounds, more = 1, 6
        if isinstance(self.estimator, ICE):
            rounds, more = self.estimator.max_rounds, 24  # counts of digits, mostly
        return int(rounds * (self.labelling.passes() + more)) + 6

    def run(self, driver: Shards) -> Any:
        """Return the fitted estimator."""
        driver.each("check")
        self.labelling.begin(driver)
        rounds: list[Round] = []
        if isinstance(self.estimator, ICE):
            settings = self.estimator.elimination()
            candidates = CandidatesOnShards(settings, self, driver)
            rounds, status = settings.run(candidates)
            trace = candidates.trace
        else:
            trace, status = self.labelling.label(driver)
        broken = self._choose(driver)
        found = driver.collect("found")
        labels = found.entries["labels"]
        doubts = tuple(self.labelling.doubted(driver, labels, bool(rounds)))
        for doubt in doubts:
            warnings.warn(doubt, DoubtfulLabelsWarning, stacklevel=3)
        if doubts and not rounds:
            status = Status.DOUBTFUL
        sets = CandidateSets(self.source.start, self.source.classes, self.source.n_classes)
        solution = Solution(
            labels,
            found.entries["scores"],
            sets,
            status,
            trace,
            violations=broken,
            rounds=tuple(rounds),
            doubts=doubts,
        )
        fitted = clone(self.given)
        fitted.classes_ = self.source.names
        fitted.n_features_in_ = self.source.features.shape[1]
        if self.source.features.names is not None:
            fitted.feature_names_in_ = self.source.features.names
        fitted.solution_ = solution
        for name, value in getattr(self.labelling, "attributes", dict)().items():
            setattr(fitted, name, value)
        chosen = found.instances["chosen"]
        fitted.transduction_ = _named(driver, fitted.classes_, chosen)
        fitted.n_iter_ = len(rounds or trace.steps)
        fitted.classifier_ = None
        if self.estimator.classifier is not None:
            if (chosen == chosen[0]).all():
                fitted.classifier_ = DummyClassifier().fit(np.zeros((1, 1)), chosen[:1])
            else:
                fitted.classifier_ = self.labelling.classifier(driver, chosen)
        return fitted

    def _has_hard_rules(self) -> bool:
        """Return whether there are constraints that hard labels obey."""
        at_most_once, at_least_one = self.estimator._group_rules()
        asked = at_most_once or (at_least_one and self.source.null is not None)
        return bool(self.source.groups is not None and asked and self.estimator._assigns())

    def _choose(self, driver: Shards) -> dict[str, float]:
        """Choose hard labels; return how far soft ones are from each constraint."""
        most, broken = self.find_evidence(driver, left=False)
        if self.labelling.has_evidence or isinstance(self.estimator, ICE):
            driver.each("choose", most)
        return broken

    def find_evidence(self, driver: Shards, left: bool) -> tuple[Largest, dict[str, float]]:
        """Have shards find the evidence, if the method has any and something is decided by it.

        Return the largest score and evidence, and how far labels are from each constraint: of the
        candidates that are ``left``, without constraints, or of those given.
        """
        ridge = mean = None
        if self.labelling.has_evidence and (left or self._has_hard_rules()):
            ridge = self.labelling.evidence()
            mean = ridge.mean.astype(self.source.features.dtype)
            ridge = ridge.less(mean)
        part = driver.each("evidence_sums", left, mean)
        broken = {name: float(value) for name, value in part.most.items()}
        score, evidence = broken.pop("score"), 0.0
        if ridge is not None:
            given = (ridge, *ridge.regression(part.sums["B"], part.sums["mass"]))
            evidence = float(driver.each("evidence", left, mean, *given).most["evidence"])
        return (score, evidence), broken


class CandidatesOnShards:
    """Candidates that Algorithm 2 eliminates from, wherever they live.

    Parameters
    ----------
    settings : Elimination
    program : FitProgram
        What labels.
    driver : Shards
    """

    def __init__(self, settings: Elimination, program: FitProgram, driver: Shards) -> None:
        self.ties, self.seed = settings.ties, settings.seed
        self.program, self.driver, self.trace = program, driver, Trace()

    def ambiguous(self) -> int:
        """Return how many instances have several candidates."""
        return int(self.driver.each("ambiguous").sums["ambiguous"])

    def label(self) -> tuple[Trace, Status]:
        """Label from the labels that were fed back."""
        self.trace, status = self.program.labelling.label(self.driver)
        return self.trace, status

    def eliminate(self, count: int, number: int) -> int:
        """Eliminate the least likely candidates, and feed the labels back."""
        driver, last, most = self.driver, None, (0.0, 0.0)
        if count:
            if self.ties == "evidence":
                most, _ = self.program.find_evidence(driver, left=True)
            driver.each("least_likely", self.ties, (self.seed, number), most)
            last = last_of(count, lambda prefix: driver.each("count_least", prefix).sums["counts"])
        return int(driver.each("eliminate", last, self.ties).sums["ambiguous"])


def _program(estimator: Any, source: Source) -> FitProgram:
    """Return how an estimator is fitted on shards, or raise with what to do instead."""
    if not isinstance(estimator, CandidateEstimator):
        kind = getattr(estimator, "__name__", type(estimator).__name__)
        instead = f"give an instance, {kind}()" if isinstance(estimator, type) else "give one"
        raise TypeError(f"{kind} is no estimator of candidly; {instead}")
    given, estimator = estimator, clone(estimator)
    estimator._validate_params()
    if estimator.random_state is None:  # an interrupted solve has to draw the same again
        estimator.set_params(random_state=0)
    inner = estimator._labeller() if isinstance(estimator, ICE) else estimator
    if type(inner) not in PROGRAMS:
        raise SourceError(
            f"{type(inner).__name__} looks at all instances many times over, and so needs them in "
            "memory; choose on a sample with CandidateClassifier, e.g. a tenth of the rows, then "
            f"solve everything with one of {', '.join(kind.__name__ for kind in PROGRAMS)}"
        )
    if getattr(inner, "device", None) is not None:
        raise SourceError(
            f"{type(inner).__name__} on a device needs all instances there; set device=None, or "
            "fit it"
        )
    if not (estimator.classifier is None or isinstance(estimator.classifier, str)):
        raise SourceError(
            f"{type(estimator.classifier).__name__} would be trained on all instances in memory; "
            'set classifier="auto" or None'
        )
    labelling = PROGRAMS[type(inner)](inner, source)
    labelling.refuse()
    source.warn_of_partial(bool(estimator._group_rules()[1]))
    return FitProgram(given, estimator, source, labelling)


PROGRAMS: dict[type, Any] = {
    RowSpace: RowSpaceProgram,
    OpenSet: OpenSetProgram,
    MCar: AlmProgram,
    WMCar: AlmProgram,
}
"""Estimators that run on shards, and how."""


@dataclass(frozen=True)
class Needs:
    """About how much memory a solve out of core takes, in bytes.

    Parameters
    ----------
    per_row : float
        For each instance of a shard that is worked on.
    fixed : float
        For what is broadcast and added up, whatever the number of instances.
    held : float
        For what is of all instances at a time, wherever their features are.
    between : float
        Where no shard is in memory, between calls.
    last : float
        For results and the classifier, in the end.
    """

    per_row: float
    fixed: float = 0.0
    held: float = 0.0
    between: float = 0.0
    last: float = 0.0


def rows_in(source: Source, max_memory: float, needs: Needs) -> int:
    """Return how many instances a shard has so that a solve takes no more memory than it may."""
    fixed = BASE + needs.held + needs.fixed
    fixed += BROADCASTS * 8 * source.n_classes * source.features.shape[1]
    if source.groups is not None:
        fixed += 24 * len(source)
        if source.scattered():
            fixed += SCATTERED[0] * len(source) + SCATTERED[1] * float(source.start[-1])
    each = AT_ONCE * needs.per_row
    solving = max(fixed + min(FEWEST, len(source)) * each, BASE + needs.between)
    needed = max(solving, BASE + needs.last)
    if needed > max_memory:
        # Results can stay on disk, and a classifier be left out.
        instead = ", or classifier=None and a folder" if max_memory >= solving else ""
        raise MemoryError(
            f"max_memory of {max_memory / 1e6:.0f} MB is too little for {source.n_classes} "
            f"classes, {source.features.shape[1]} features, {needs.held / 1e6:.0f} MB that are "
            f"kept of all instances at a time, {needs.between / 1e6:.0f} MB between calls, and "
            f"{needs.last / 1e6:.0f} MB of results and classifier; give "
            f"{math.ceil(needed / 1e6)} MB or more{instead}"
        )
    return int(min((max_memory - fixed) / each, len(source)))


def _refuse_of_others(driver: str, given: dict[str, Any], own: str) -> None:
    """Raise where there is no such driver, or where something is given for another one."""
    if driver not in ("out-of-core", "ray"):
        raise ValueError(f"driver is 'out-of-core' or 'ray', got {driver!r}")
    for name, value in given.items():
        if value is not None and driver != own:
            raise ValueError(f"{name} is for driver={own!r}; leave it out with driver={driver!r}")


def read_bytes(size: float | str) -> float:
    """Return a size such as "1.5GB" in bytes.

    Examples
    --------
    >>> read_bytes("1.5GB")
    1500000000.0
    """
    units = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
    text = str(size).strip().lower().replace(" ", "")
    unit = units.get(text[-2:], 1.0)
    try:
        found = float(text if unit == 1 else text[:-2]) * unit
    except ValueError:
        found = 0.0
    if not found > 0:
        raise ValueError(
            f"max_memory is bytes, or a text such as '1.5GB', and more than 0, got {size!r}"
        )
    return found


def _named(driver: Shards, names: NDArray[Any], chosen: NDArray[Any]) -> NDArray[Any]:
    """Return the name of each instance, in a file of the solve where there is one: it may be long.

    Parameters
    ----------
    driver : Shards
    names : (c,) array
    chosen : (N,) array of int
    """
    make = getattr(driver, "result", None)
    if make is None or names.dtype == object:
        return names[chosen]
    found: NDArray[Any] = make("transduction", chosen.shape, names.dtype)
    step = max(1, NAMED // names.dtype.itemsize)
    for begin in range(0, len(chosen), step):
        part = slice(begin, begin + step)
        found[part] = names[chosen[part]]
        release(found, chosen)
    return found


def _into_memory(fitted: Any) -> None:
    """Replace maps of files that are about to be removed by arrays."""
    solution = fitted.solution_
    fitted.transduction_ = np.array(fitted.transduction_)
    for name in ("labels", "scores"):
        object.__setattr__(solution, name, np.array(getattr(solution, name)))
