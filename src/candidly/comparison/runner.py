"""Run methods on the same folds within a time budget, and keep every finished fold."""

from __future__ import annotations

import hashlib
import math
import platform
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import connection
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_array, column_or_1d

from candidly.base import read_candidates
from candidly.candidates import Candidates
from candidly.comparison.comparison import DONE, INTERRUPTED, Comparison, FoldResult
from candidly.comparison.store import Store
from candidly.comparison.workers import (
    ComparedData,
    Split,
    Worker,
    WorkerMessage,
    error_line,
    packed,
)
from candidly.methods import describe, get, names

QUICK = ("PL-KNN", "CLPL", "SURE", "WMCar", "RowSpace", "CandidateClassifier")
"""Methods compared by default: each takes seconds on a few thousand instances."""
QUICK_IN_GROUPS = ("MIMLSVM", "MM-SVM", "MMS", "LR-SVM", "CandidateClassifier")
"""Methods compared by default if there are groups or a null class."""

TICK = 0.5  # seconds between two checks of the time budgets


@dataclass(frozen=True)
class ComparisonProgress:
    """Progress of a comparison.

    ``row`` is a fold that was just finished, found in the file, or given up; ``running``
    maps each running method to its current fold, counted from 1. Before anything runs, the
    rows known already are reported one by one, and then once without a row.
    """

    done: int
    total: int
    folds: int
    running: dict[str, int]
    row: FoldResult | None = None


def compare(
    X: ArrayLike,
    candidates: Any,
    y: ArrayLike | None = None,
    *,
    methods: str | Sequence[str] | None = None,
    groups: ArrayLike | None = None,
    folds: int = 5,
    repeats: int = 1,
    time_budget: float | None = 600.0,
    out: str | Path | None = None,
    random_state: int = 0,
    n_jobs: int | None = 1,
    on_progress: Callable[[ComparisonProgress], None] | None = None,
) -> Comparison:
    """Compare methods on the same folds.

    Every method resolves the candidates of the training part and predicts the held-out
    fold, in its own process. One that raises, or is over its time budget, is "not run",
    with the reason. Ctrl-C ends the comparison and returns what is done.

    Parameters
    ----------
    X : (N, m) array or DataFrame
        Features, dense and finite.
    candidates : Candidates, mask, soft matrix, list of sets
        Candidate labels of each instance; see :class:`candidly.Candidates`.
    y : (N,) array, optional
        The truth, used only to count errors. Without it, held-out predictions are scored
        by their covering rate.
    methods : list of names, "all" or None
        Some of ``candidly.methods.names()``; None is a set that takes seconds.
    groups : (N,) array, optional
        Group of each instance, e.g. the photo of each face, unless the candidates have groups
        already. Folds never split a group; methods that take no groups are not run.
    folds, repeats : int
        Number of shuffled folds, and how often new ones are drawn.
    time_budget : float or None
        Seconds that a method may take for all its folds, without the start of its process.
    out : path, optional
        A file of JSON lines to which every finished fold is added. Folds that are in it
        already, with the same data, folds, random_state and version, are not run again.
    random_state : int
        Seed of the folds and of the methods.
    n_jobs : int
        Number of methods that run at the same time; -1 for one per processor. If it is over
        1, each has one thread for linear algebra, and ``seconds`` are less exact.
    on_progress : callable, optional
        Called with a :class:`~candidly.comparison.ComparisonProgress` after every step.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> found = candidly.compare(
    ...     digits.X, digits.candidates, digits.y, methods=["PL-KNN"], folds=2
    ... )
    >>> [row.status for row in found.rows], found.best
    (['done', 'done'], 'PL-KNN')
    """
    data = _checked(X, candidates, y, groups)
    budget = _checked_budget(time_budget)
    _whole("repeats", repeats, 1)
    _whole("random_state", random_state, 0)
    splits = _splits(data.candidates, folds, repeats, random_state)
    in_groups = data.candidates.groups is not None or data.candidates.null is not None
    entries = [_entry(name) for name in chosen_methods(methods, in_groups)]
    stored = {
        "data": fingerprint(data),
        "folds": int(folds),
        "seed": int(random_state),  # the name that stored runs have for it
        "version": import_module("candidly").__version__,
    }
    parameters = {entry.method: entry.parameters for entry in entries}
    store = Store(None if out is None else Path(out), stored, parameters, budget)
    run = _ComparisonRun(data, splits, store, effective_n_jobs(n_jobs), on_progress)
    run.plan(entries)
    run.carry_out()
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    settings = {**stored, "repeats": int(repeats), "time_budget": budget, "machine": machine}
    settings["random_state"] = settings.pop("seed")
    found = Comparison(run.table([entry.method for entry in entries]), settings)
    if found.interrupted:
        warnings.warn("interrupted; what was done is kept", stacklevel=2)
    return found


def chosen_methods(methods: str | Sequence[str] | None, groups: bool = False) -> list[str]:
    """Return the names of the methods to compare, each once; by default a quick set.

    Examples
    --------
    >>> from candidly.comparison import chosen_methods
    >>> chosen_methods(["WMCar", "PL-KNN", "WMCar"])
    ['WMCar', 'PL-KNN']
    """
    if methods is None:
        return list(QUICK_IN_GROUPS if groups else QUICK)
    if not isinstance(methods, (str, list, tuple)):
        raise TypeError(f"methods are names, e.g. ['CLPL', 'WMCar'], got {methods!r}")
    if isinstance(methods, str):
        methods = names() if methods == "all" else [methods]
    if not methods:
        raise ValueError(f"no method is named; there are {', '.join(names())}")
    return [describe(name).name for name in dict.fromkeys(methods)]


def fingerprint(data: ComparedData) -> str:
    """Return a hash of features, candidates, groups and truth."""
    found = hashlib.sha256(repr(data.X.shape).encode())
    found.update(np.ascontiguousarray(data.X, dtype=np.float64).tobytes())
    candidates = data.candidates
    for start in range(0, len(candidates), 1024):  # a dense matrix of all may be large
        found.update(np.ascontiguousarray(candidates[start : start + 1024].priors).tobytes())
    numbers = candidates.group_numbers
    rest = (
        candidates.classes.tolist(),
        candidates.null_column,
        None if numbers is None else numbers.tolist(),
        None if data.y is None else data.y.tolist(),
    )
    found.update(repr(rest).encode())
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class _PackedMethod:
    """A method packed for its process, or the problem that keeps it from running."""

    method: str
    parameters: dict[str, str]
    estimator: bytes = b""
    problem: str = ""


def _entry(method: str) -> _PackedMethod:
    parameters: dict[str, str] = {}
    try:
        estimator = get(method)
        parameters = {name: repr(value) for name, value in estimator.get_params().items()}
        return _PackedMethod(method, parameters, packed(estimator))
    except Exception as error:  # e.g. an extra that is missing
        return _PackedMethod(method, parameters, problem=error_line(error))


@dataclass(eq=False)
class _Job:
    """A method, the numbers of its remaining folds, and the seconds it has used."""

    method: str
    estimator: bytes
    left: list[int]
    spent: float
    worker: Worker | None = None
    since: float | None = None  # when its current fold began

    def time_left(self, budget: float | None) -> float:
        """Return the seconds left of its budget; the start of its process does not count."""
        going = 0.0 if self.since is None else time.monotonic() - self.since
        return math.inf if budget is None else budget - self.spent - going


class _ComparisonRun:
    """State of a running comparison: rows so far, methods that wait and methods that run."""

    def __init__(
        self,
        data: ComparedData,
        splits: list[Split],
        store: Store,
        n_jobs: int,
        on_progress: Callable[[ComparisonProgress], None] | None,
    ) -> None:
        self.data, self.splits, self.store, self.n_jobs = data, splits, store, n_jobs
        self.on_progress = on_progress
        self.budget = store.time_budget
        self.rows: dict[tuple[str, int], FoldResult] = {}
        self.waiting: deque[_Job] = deque()
        self.running: list[_Job] = []
        self.total = 0

    def plan(self, entries: list[_PackedMethod]) -> None:
        """Take over the folds in the file, and queue the missing ones."""
        self.total = len(entries) * len(self.splits)
        stored = self.store.read()
        for entry in entries:
            name = entry.method
            found = {k: stored.get((name, s.repeat, s.fold)) for k, s in enumerate(self.splits)}
            done = {k: row for k, row in found.items() if row and row.status == DONE}
            over = [row.reason for row in found.values() if row and row.status != DONE]
            for k, row in done.items():
                self._keep(k, row)
            left = [k for k in found if k not in done]
            job = _Job(name, entry.estimator, left, sum(r.seconds or 0.0 for r in done.values()))
            if over or job.time_left(self.budget) <= 0:
                self._give_up(job, over[0] if over else self._over())
            elif entry.problem:
                self._give_up(job, entry.problem)
            elif left:
                self.waiting.append(job)

    def carry_out(self) -> None:
        """Run all methods in the queue, until Ctrl-C."""
        try:
            self._tell()
            while self.waiting or self.running:
                while self.waiting and len(self.running) < self.n_jobs:
                    self._start(self.waiting.popleft())
                self._listen()
                for job in [j for j in self.running if j.time_left(self.budget) <= 0]:
                    self._end(job)
                    self._give_up(job, self._over(), remember=True)
        except KeyboardInterrupt:
            for job in [*self.running, *self.waiting]:
                self._end(job)
                self._give_up(job, INTERRUPTED)
        finally:
            for job in [*self.running]:
                self._end(job)

    def table(self, methods: list[str]) -> list[FoldResult]:
        """Return all rows, with the methods in this order."""
        return [
            # Ctrl-C can come between the end of a fold and its row.
            self.rows.get((name, k), replace(self._row(name, k), reason=INTERRUPTED))
            for name in methods
            for k in range(len(self.splits))
        ]

    def _start(self, job: _Job) -> None:
        self.running.append(job)
        self._tell()
        splits = [self.splits[k] for k in job.left]
        job.worker = Worker(job.method, job.estimator, self.data, splits, alone=self.n_jobs == 1)
        try:
            job.worker.start()
        except OSError as error:
            self._end(job)
            self._give_up(job, f"its process did not start: {error_line(error)}")

    def _listen(self) -> None:
        """Wait a short time for messages of the workers, and handle them."""
        jobs = {job.worker.channel: job for job in self.running if job.worker is not None}
        patience = min([TICK, *(job.time_left(self.budget) for job in self.running)])
        for channel in connection.wait(list(jobs), max(0.0, patience)):
            job = next(job for known, job in jobs.items() if known is channel)
            assert job.worker is not None
            messages, ended = job.worker.messages()
            for message in messages:
                self._take(job, message)
            if ended or not job.left:
                code = self._end(job)
                why = " (killed, perhaps because memory ran out)" if code == -9 else ""
                self._give_up(job, f"its process ended by itself, exit code {code}{why}")
        self._tell()

    def _take(self, job: _Job, message: WorkerMessage) -> None:
        if message.kind == "begin":
            job.since = time.monotonic()
            self._tell()
            return
        job.since = None
        if message.kind == "failed":
            self._end(job)
            self._give_up(job, message.reason)
            return
        k = job.left.pop(0)
        row = replace(self._row(job.method, k), status=DONE, **message.figures)
        job.spent += row.seconds or 0.0
        self.store.append(row)
        self._keep(k, row)

    def _end(self, job: _Job) -> int | None:
        """Stop the process of a job, if it has one, and return its exit code."""
        worker, job.worker = job.worker, None
        if job in self.running:
            self.running.remove(job)
        return None if worker is None else worker.stop(gently=not job.left)

    def _give_up(self, job: _Job, reason: str, *, remember: bool = False) -> None:
        """Record for every remaining fold of a job why it was not run."""
        for place, k in enumerate(job.left):
            row = replace(self._row(job.method, k), reason=reason)
            if remember and place == 0:  # one line says that the method is over its budget
                self.store.append(row)
            self._keep(k, row)
        job.left = []

    def _keep(self, k: int, row: FoldResult) -> None:
        self.rows[row.method, k] = row
        self._tell(row)

    def _row(self, method: str, k: int) -> FoldResult:
        split = self.splits[k]
        return FoldResult(method, split.repeat, split.fold, len(split.train), len(split.test))

    def _over(self) -> str:
        return f"over its time budget of {self.budget:g} s"

    def _tell(self, row: FoldResult | None = None) -> None:
        if self.on_progress is not None:
            at = {job.method: job.left[0] + 1 for job in self.running if job.left}
            self.on_progress(
                ComparisonProgress(len(self.rows), self.total, len(self.splits), at, row)
            )


def _checked(X: Any, candidates: Any, y: ArrayLike | None, groups: Any) -> ComparedData:
    X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    read = read_candidates(candidates)
    if groups is not None:
        read = read.with_groups(groups)
    if len(read) != len(X):
        raise ValueError(f"X has {len(X)} rows and there are {len(read)} candidate sets")
    if y is None:
        return ComparedData(X, read, None)
    truth = column_or_1d(y)
    if len(truth) != len(X):
        raise ValueError(f"X has {len(X)} rows and y {len(truth)}; give one label per row")
    unknown = [k for k, name in enumerate(truth.tolist()) if name is None or name != name]
    if unknown:
        raise ValueError(
            f"y has no label in row {unknown[0]} ({len(unknown)} rows in all); leave these rows "
            "out, or y altogether"
        )
    if not set(truth.tolist()) & set(read.classes.tolist()):
        raise ValueError(
            f"no label of y is a class of the candidates: y has {truth.tolist()[0]!r}, the "
            f"candidates {read.classes.tolist()[0]!r}; name them alike"
        )
    return ComparedData(X, read, truth)


def _checked_budget(value: float | None) -> float | None:
    if value is None or value == math.inf:
        return None
    if not isinstance(value, Real) or isinstance(value, bool) or not value > 0:
        raise ValueError(f"time_budget is a number of seconds above 0, or None, got {value!r}")
    return float(value)


def _whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is a whole number of at least {least}, got {value!r}")


def _splits(candidates: Candidates, folds: int, repeats: int, seed: int) -> list[Split]:
    """Return the folds of every repeat; a group is never split."""
    groups = candidates.group_numbers
    what, most = ("instances", len(candidates)) if groups is None else ("groups", groups.max() + 1)
    _whole("folds", folds, 2)
    if folds > most:
        raise ValueError(f"{folds} folds need as many {what}, and there are {most}; take fewer")
    kind = KFold if groups is None else GroupKFold
    found = []
    for repeat in range(repeats):
        parts = kind(folds, shuffle=True, random_state=_derived(seed, repeat))
        for fold, (train, test) in enumerate(
            parts.split(np.empty((len(candidates), 0)), groups=groups)
        ):
            found.append(Split(repeat, fold, train, test, _derived(seed, repeat, fold)))
    return found


def _derived(*numbers: int) -> int:
    """Return a seed derived from these numbers."""
    return int(np.random.SeedSequence([int(n) for n in numbers]).generate_state(1)[0])
