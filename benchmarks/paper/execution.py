"""Carry runs out over the cores, and keep each as soon as it is done."""

from __future__ import annotations

import multiprocessing
import platform
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.paper.declaration import REFERENCE, Experiment, PaperRun
from benchmarks.paper.fingerprints import environment, fingerprint
from benchmarks.paper.measurements import MEASURED_BY, measure
from benchmarks.paper.stored_runs import Line, PaperResults
from candidly import __version__, json_lines
from candidly.comparison.workers import error_line
from candidly.datasets.store import locate

Watch = Callable[[Line | None, int, int, float], None]
"""Called after every run with its line, runs done, runs in total, and seconds of work left."""


def there(experiments: tuple[Experiment, ...]) -> tuple[list[Experiment], dict[str, str]]:
    """Return the experiments with those cells whose data is available, and why others are not."""
    found, absent = [], {}
    for experiment in experiments:
        cells = []
        for cell in experiment.cells:
            try:
                if cell.data != "digits":
                    locate(cell.data)
                cells.append(cell)
            except (FileNotFoundError, KeyError, ValueError) as problem:
                absent[f"{experiment.name} on {cell.data}"] = str(problem)
        if cells:
            found.append(replace(experiment, cells=tuple(cells)))
    return found, absent


def carry_out(
    runs: list[PaperRun], folder: Path, *, jobs: int = 1, watch: Watch | None = None
) -> None:
    """Carry out the runs that are not stored yet, in their order.

    A run that was stored is not made again, unless the code that affects it has changed since:
    its line has a fingerprint of it. Lines without one are of before there were fingerprints.

    Parameters
    ----------
    runs : list of PaperRun
    folder : Path
        Gets one file of JSON lines per experiment.
    jobs : int
        Processes.
    watch : callable, optional
    """
    folder.mkdir(parents=True, exist_ok=True)
    stored = PaperResults.read(folder)
    left = [run for run in runs if not stored.has(run.key, code_of(run))]
    clock = RemainingWork(stored, left, jobs)
    done = len(runs) - len(left)
    if watch is not None:
        watch(None, done, len(runs), clock.left())
    for run, line in _lines(left, jobs):
        json_lines.append(folder / f"{run.experiment.name}.jsonl", line)
        clock.took(run, line["figures"].get("seconds", 0.0))
        done += 1
        if watch is not None:
            watch(line, done, len(runs), clock.left())


def line_of(run: PaperRun) -> Line:
    """Carry out a run, and return its line: settings, seed, figures, version and machine."""
    try:
        with threadpool_limits(1):
            figures = measure(run)
    except FileNotFoundError:
        raise  # missing data says nothing about the method
    except Exception as error:  # a method that fails at a point is a result
        if run.device is not None:
            raise  # but it may be the device: out of memory, lost
        figures = {"error": None, "reason": error_line(error), "seconds": 0.0}
    return {
        "settings": run.settings,
        "seed": run.seed,
        "figures": figures,
        "version": __version__,
        "machine": ", ".join(
            (platform.machine(), f"Python {platform.python_version()}", *filter(None, [run.device]))
        ),
        "code": code_of(run),
        "made_by": {**environment(), "device": run.device or "cpu"},
    }


def code_of(run: PaperRun) -> str:
    """Return the fingerprint of the code that a run depends on."""
    model = None if run.entry.method == REFERENCE else run.entry.make(run.cell.params)
    return fingerprint(model, MEASURED_BY[run.experiment.protocol])


def _lines(runs: list[PaperRun], jobs: int) -> Iterator[tuple[PaperRun, Line]]:
    if jobs == 1 or len(runs) < 2:
        for run in runs:
            yield run, line_of(run)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_alone) as pool:
        waiting = iter(runs)
        running: dict[Future[Line], PaperRun] = {}
        try:
            while True:
                for run in waiting:
                    running[pool.submit(line_of, run)] = run
                    if len(running) > jobs:  # one ahead, so that no process waits
                        break
                if not running:
                    return
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.terminate()  # a solve may take minutes; nothing of it would be kept


def _alone() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent handles interrupts


class RemainingWork:
    """The work that is left, estimated from the time that runs of the same kind took."""

    def __init__(self, stored: PaperResults, left: list[PaperRun], jobs: int) -> None:
        self._jobs = jobs
        self._left: dict[tuple[str, str], int] = defaultdict(int)
        self._took: dict[tuple[str, str], list[float]] = defaultdict(list)
        for run in left:
            self._left[run.experiment.name, run.entry.name] += 1
        for line in stored.lines:
            settings = line["settings"]
            seconds = line["figures"].get("seconds", 0.0)
            self._took[settings["experiment"], settings["method"]].append(seconds)

    def took(self, run: PaperRun, seconds: float) -> None:
        """Note a run that is done."""
        kind = run.experiment.name, run.entry.name
        self._left[kind] -= 1
        self._took[kind].append(seconds)

    def left(self) -> float:
        """Return the seconds left, if every process is busy."""
        every = [value for values in self._took.values() for value in values]
        if not every:
            return float("nan")
        typical = sum(every) / len(every)
        total = 0.0
        for kind, count in self._left.items():
            values = self._took.get(kind) or [typical]
            total += count * sum(values) / len(values)
        return total / self._jobs
