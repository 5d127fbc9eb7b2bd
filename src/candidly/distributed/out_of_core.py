"""The driver on disk: two shards at a time, with a journal to go on from.

Each is read, worked on and written by one thread. Their parts are added in the order of shards, so
that sums are the same to the last bit, whichever thread is the faster one.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

import joblib
import numpy as np

from candidly import __version__
from candidly.distributed.journal import (
    CheckpointError,
    Journal,
    Stored,
    checksum_of,
    no_room,
    take_room,
)
from candidly.distributed.shard_making import ShardMaker, State, placed, room, whole_rows
from candidly.heap import give_back, release
from candidly.solvers.shards import Part, Rowwise
from candidly.threads import one_blas_thread, sharing_threads

AT_ONCE = 2
"""Shards in memory, each with a thread of its own: one reads while another computes."""
FOUND = "found"
"""The call whose rows are the results, which stay; those of others go with the journal."""
LARGE = 20_000_000
"""Bytes of a part above which no further shard is begun before those that are done are added."""


@dataclass(frozen=True)
class Progress:
    """How far a solve on disk is.

    Parameters
    ----------
    passes, most : int
        Passes over all instances that were done before the present one, also by a process that was
        interrupted, and how many there are at most.
    shard, shards : int
        Shards that are done of the present pass, and their number.
    seconds : float
        Seconds since this process began the solve, or went on with it.
    left : float
        An estimate of the seconds that are left: those of a mean pass so far for each that may
        come. It is usually too high, since most solves converge early, and NaN until passes
        repeat themselves: the first ones are of other kinds than most.
    """

    passes: int
    most: int
    shard: int
    shards: int
    seconds: float
    left: float


def job_of(stated: Any, maker: ShardMaker) -> str:
    """Return what tells a solve from others, whose checkpoint is of no use to it.

    Parameters
    ----------
    stated : object
        What is solved and how, beside the source: estimators, parameters, arrays.
    maker : ShardMaker
    """
    shards = [cut if isinstance(cut, slice) else np.asarray(cut) for cut in maker.cuts]
    stated = joblib.hash((__version__, stated, shards))
    return json.dumps([maker.kind.__name__, maker.source.fingerprint(), len(shards), stated])


@dataclass
class PassTimes:
    """Seconds of passes of methods that are called again and again, the first calls left out."""

    methods: set[str] = field(default_factory=set)
    seconds: float = 0.0
    count: int = 0

    def add(self, method: str, seconds: float) -> None:
        """Count a pass; NaN are seconds that are not known."""
        if method in self.methods and not math.isnan(seconds):
            self.seconds += seconds
            self.count += 1
        self.methods.add(method)

    def mean(self) -> float:
        """Return the seconds of a pass; NaN where none is known."""
        return self.seconds / self.count if self.count else math.nan


class OutOfCore:
    """Shards on disk.

    Parameters
    ----------
    maker : ShardMaker
    folder : Path
        Where journal, states and results are; what is there is gone on from.
    job : str
        What is solved; see ``job_of``.
    most : int
        Passes that are expected at most.
    on_progress : callable, optional
        Called with a :class:`Progress` after every shard.
    """

    def __init__(
        self,
        maker: ShardMaker,
        folder: Path,
        job: str,
        most: int = 0,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.maker, self.folder, self.most = maker, folder, most
        self.on_progress = on_progress
        self.journal = Journal(folder, job)
        self.journal.open()
        self.calls = 0
        self.states: list[dict[str, Stored]] = [{} for _ in range(len(maker))]
        self.rebuilt: set[int] = set()
        self._ahead = 1
        try:
            self._take_up()
        except BaseException:
            self.journal.close()
            raise
        self._began = self._ended = time.perf_counter()
        self._times = PassTimes()

    def _take_up(self) -> None:
        """Take the states over, except damaged ones, which calls of the journal make again."""
        try:
            for number in range(len(self.journal)):
                self.journal.part(number)
                self.journal.rows(number)
        except CheckpointError:  # what came after it cannot be known without it
            self.journal.drop(number)
            self.rebuilt = set(range(len(self.maker)))
            return
        for number, state in enumerate(self.journal.states()):
            try:
                for stored in state.values():
                    self.journal.load(stored)
                self.states[number] = state
            except CheckpointError:
                self.rebuilt.add(number)

    def bind(self, **options: Any) -> None:
        """Pass further options to all shards from now on."""
        self.maker = replace(self.maker, options={**self.maker.options, **options})

    def each(self, method: str, *broadcast: Any) -> Part:
        """Call a method of every shard; a call in the journal is not repeated."""
        number, self.calls = self.calls, self.calls + 1
        if number < len(self.journal):
            self.journal.check(number, method)
            for shard in sorted(self.rebuilt):
                self._make_again(shard, method, broadcast)
            self._passed(method, again=True)
            return self.journal.part(number)
        self._ahead = 0
        total = Part.added(self._parts(method, broadcast))
        self.journal.append(method, total, {}, self.states)
        self._passed(method)
        return total

    def _parts(self, method: str, broadcast: tuple[Any, ...]) -> Iterator[Part]:
        """Yield what a method of every shard returns, in their order."""
        for shard, part in self._done_by(partial(self._call, method, broadcast)):
            self._ahead = int(part.size() <= LARGE)
            yield part
            del part
            self._tell(shard)

    def collect(self, method: str, *broadcast: Any) -> Rowwise:
        """Call a method of every shard that changes nothing, and write what it returns to files."""
        number, self.calls = self.calls, self.calls + 1
        if number < len(self.journal):
            self.journal.check(number, method)
            self._passed(method, again=True)
            return self.journal.rows(number)
        whole: dict[str, Any] = {}
        found, self._ahead = Rowwise(), 1
        prefix = "result" if method == FOUND else f"call-{number:05d}-placed"

        def call(shard: int, made: Any) -> Rowwise:
            rows: Rowwise = getattr(made, method)(*broadcast)
            return rows

        for shard, found in self._done_by(call):
            if not whole:
                whole = room(self.maker, found, partial(self._file, prefix))
            placed(self.maker, found, shard, whole)
            release(*whole.values())
            self._tell(shard)
        give_back()
        stored = self._stored(whole_rows(found, whole))
        self.journal.append(method, Part(), stored, self.states)
        self._passed(method)
        return self.journal.rows(number)

    def _stored(self, rows: Rowwise) -> dict[str, Any]:
        """Write rows that are maps to their files, and return where they are."""
        found: dict[str, Any] = {}
        for kind, named in (("instances", rows.instances), ("entries", rows.entries)):
            found[kind] = {}
            for name, values in named.items():
                values.flush()
                file = Path(values.filename).name
                found[kind][name] = Stored(file, checksum_of(values))
                release(values)
        return found

    def result(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return room for a result in a file, which stays."""
        return self._file("result", name, shape, dtype)

    def _file(self, prefix: str, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        try:
            path = self.folder / f"{prefix}-{name}.npy"
            path.unlink(missing_ok=True)  # a map of what was there stays what it is
            made = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
            take_room(path)
            return made
        except OSError as error:
            raise no_room(self.folder, error) from error

    def _done_by(self, work: Callable[[int, Any], Any]) -> Iterator[tuple[int, Any]]:
        """Yield what a function returns of each shard, in their order, by threads."""
        rooms: SimpleQueue[Any] = SimpleQueue()
        for _ in range(AT_ONCE):
            rooms.put(None)

        def done(shard: int) -> Any:
            room = rooms.get()
            try:
                room = self.maker.room() if room is None else room
                made = self.maker.make(shard, self._state(shard))
                made.columns.room = room
                with sharing_threads(AT_ONCE), one_blas_thread():
                    return work(shard, made)
            finally:
                self.maker.source.release()
                rooms.put(room)

        waiting: deque[Future[Any]] = deque()
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            given = 0
            for shard in range(len(self.maker)):
                while len(waiting) >= AT_ONCE + self._ahead:
                    yield given, waiting.popleft().result()
                    given += 1
                # Kernels are chosen by the context.
                waiting.append(pool.submit(copy_context().run, done, shard))
            while waiting:
                yield given, waiting.popleft().result()
                given += 1
        finally:
            pool.shutdown(cancel_futures=True)

    def _state(self, shard: int) -> State:
        stored = self.states[shard]
        return State({name: partial(self.journal.load, one) for name, one in stored.items()})

    def _make_again(self, shard: int, method: str, broadcast: tuple[Any, ...]) -> None:
        """Repeat a call of one shard, for its state alone; that before it is not needed."""
        before = {one.file for one in self.states[shard].values()}
        self._call(method, broadcast, shard, self.maker.make(shard, self._state(shard)))
        for file in before - {one.file for one in self.states[shard].values()}:
            (self.folder / file).unlink(missing_ok=True)

    def _call(self, method: str, broadcast: tuple[Any, ...], shard: int, made: Any) -> Part:
        """Call a method of a shard, and write what it changed beside what was there."""
        with one_blas_thread():
            part: Part = getattr(made, method)(*broadcast)
        state: State = made.state
        names = state.names()
        kept = {name: one for name, one in self.states[shard].items() if name in names}
        for name in state.changed:
            file = f"shard-{shard:05d}-{name}-{self.calls:05d}"
            kept[name] = self.journal.store(file, state[name])
        self.states[shard] = kept
        return part

    def _passed(self, method: str, again: bool = False) -> None:
        """Note the seconds of a pass; those of a call that was in the journal say nothing."""
        began, self._ended = self._ended, time.perf_counter()
        self._times.add(method, math.nan if again else self._ended - began)

    def _tell(self, shard: int) -> None:
        if self.on_progress is None:
            return
        passes, shards, most = self.calls - 1, len(self.maker), max(self.most, self.calls)
        left = self._times.mean() * (most - passes - (shard + 1) / shards)
        seconds = time.perf_counter() - self._began
        self.on_progress(Progress(passes, most, shard + 1, shards, seconds, left))

    def finish(self) -> None:
        """Remove journal and states; results stay."""
        self.journal.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()
