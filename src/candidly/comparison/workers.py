"""Processes that run one method on its folds, and can be ended when its time is up."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from joblib import wrap_non_picklable_objects
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from candidly.candidates import Candidates
from candidly.metrics import labelling_error

PATIENCE = 2.0  # seconds between asking a process to end and killing it


@dataclass(frozen=True)
class ComparedData:
    """Features, candidates and, if known, the truth that methods are compared on."""

    X: NDArray[np.floating]
    candidates: Candidates
    y: NDArray[Any] | None


@dataclass(frozen=True)
class Split:
    """Training and test rows of one fold of a repeat, and the seed of methods in it."""

    repeat: int
    fold: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seed: int


@dataclass(frozen=True)
class WorkerMessage:
    """Message of a worker: it begins a fold, has finished it, or failed."""

    kind: str
    figures: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


def measure(estimator: Any, data: ComparedData, split: Split) -> dict[str, Any]:
    """Fit on the training part, predict the held-out fold, and return the measures."""
    model = seeded(clone(estimator), split.seed)
    train, test = split.train, split.test
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.perf_counter()
        model.fit(data.X[train], data.candidates[train])
        predicted = model.predict(data.X[test]) if hasattr(model, "predict") else None
        seconds = time.perf_counter() - started
        notes = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    found: dict[str, Any] = {"seconds": round(seconds, 4), "note": notes[0] if notes else ""}
    if data.y is not None:
        found["labelling_error"] = labelling_error(data.y[train], model.transduction_)
    if predicted is not None:
        held_out = data.candidates[test]
        inside = held_out.contain(predicted)
        # The null class is in every set, so predicting null would always count as right.
        named = np.ones(len(test), bool) if held_out.null is None else predicted != held_out.null
        found["covering_rate"] = float(np.mean(inside & named))
        if data.y is not None:
            found["test_error"] = labelling_error(data.y[test], predicted)
    return found


def seeded(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` of the estimator and of those it contains."""
    names = [
        name
        for name in estimator.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    ]
    return estimator.set_params(**dict.fromkeys(names, seed))


def packed(estimator: Any) -> bytes:
    """Return an estimator as bytes, with its class if that was defined in a notebook or script."""
    return pickle.dumps(wrap_non_picklable_objects(estimator, keep_wrapper=False))


class Worker:
    """One process that runs one method on its folds in turn.

    Parameters
    ----------
    method : str
    estimator : bytes
        As :func:`packed` returns it.
    data : ComparedData
    splits : list of Split
    alone : bool
        Whether no other worker runs, so that it may use all threads.
    """

    def __init__(
        self, method: str, estimator: bytes, data: ComparedData, splits: list[Split], *, alone: bool
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.method, self.splits = method, splits
        self.channel, theirs = context.Pipe()
        self.process = context.Process(
            target=_run_worker,
            args=(theirs, estimator, data, splits, None if alone else 1),
            name=f"candidly {method}",
            daemon=True,
        )
        self._theirs = theirs

    def start(self) -> None:
        """Start the process."""
        resource_tracker.ensure_running()  # or starting it would let Ctrl-C through again
        with _isolated_start():
            self.process.start()
        self._theirs.close()

    def messages(self) -> tuple[list[WorkerMessage], bool]:
        """Return the messages since the last call, and whether the process has ended."""
        said: list[WorkerMessage] = []
        try:
            while self.channel.poll():
                said.append(self.channel.recv())
        except (EOFError, OSError):
            return said, True
        return said, False

    def stop(self, *, gently: bool = False) -> int | None:
        """End the process, ``gently`` after waiting for it, and return its exit code."""
        self.channel.close()
        self._theirs.close()
        if self.process.pid is None:
            return None
        if gently:
            self.process.join(PATIENCE)
        self.process.terminate()
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return code


def _run_worker(
    channel: Connection,
    estimator: bytes,
    data: ComparedData,
    splits: list[Split],
    threads: int | None,
) -> None:
    """Run in the new process: ignore Ctrl-C, end with the parent, and measure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the interrupt
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with threadpool_limits(threads):
        work(channel, estimator, data, splits)


def work(channel: Connection, estimator: bytes, data: ComparedData, splits: list[Split]) -> None:
    """Measure fold after fold, and send a message about each."""
    try:
        model = pickle.loads(estimator)
        for split in splits:
            channel.send(WorkerMessage("begin"))
            channel.send(WorkerMessage("done", measure(model, data, split)))
    except Exception as error:  # any failure is a row of the table
        channel.send(WorkerMessage("failed", reason=error_line(error)))


def error_line(error: Exception) -> str:
    """Return an error as one line of at most 300 characters."""
    text = " ".join(str(error).split())
    if not isinstance(error, (ValueError, ImportError)) or not text:
        text = f"{type(error).__name__}: {text}".rstrip(": ")
    return text if len(text) <= 300 else text[:297] + "..."


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _isolated_start() -> Iterator[None]:
    """Let a process start without importing the user's script, and out of reach of Ctrl-C.

    Importing the script would run it a second time unless it has a ``__main__`` guard.
    """
    main, masks = sys.modules["__main__"], hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
