"""The driver on disk: one shard after another, with a journal to go on from."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from candidly.distributed.journal import CheckpointError, Journal, Stored, no_room, take_room
from candidly.distributed.shard_making import ShardMaker, State, placed, room, whole_rows
from candidly.solvers.shards import Part, Rowwise
from candidly.threads import one_blas_thread


@dataclass(frozen=True)
class Progress:
    """How far a solve on disk is.

    Parameters
    ----------
    passes, most : int
        Passes over all instances that are done, and how many there are at most.
    shard, shards : int
        Shards that are done of the present pass, and their number.
    seconds, left : float
        Seconds since it began, and at most so many are left; NaN at the beginning.
    """

    passes: int
    most: int
    shard: int
    shards: int
    seconds: float
    left: float


class OutOfCore:
    """Shards on disk.

    Parameters
    ----------
    maker : ShardMaker
    folder : Path
        Where journal, states and results are; what is there is gone on from.
    job : str
        What is solved; see :class:`Journal`.
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
        self._take_up()
        self._began, self._done = time.perf_counter(), 0

    def _take_up(self) -> None:
        """Take the states over, except damaged ones, which calls of the journal make again."""
        try:
            for number in range(len(self.journal)):
                self.journal.part(number)
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
        """Call a method of one shard after another; a call in the journal is not repeated."""
        number, self.calls = self.calls, self.calls + 1
        if number < len(self.journal):
            for shard in sorted(self.rebuilt):
                self._call(shard, self.maker.make(shard, self._state(shard)), method, broadcast)
            return self.journal.part(number)
        total: Part | None = None
        for shard, made in self._made(method):
            part = self._call(shard, made, method, broadcast)
            total = part if total is None else total.taking(part)
            del part
            self._tell(shard)
        assert total is not None
        self.journal.append(total, self.states)
        return total

    def collect(self, method: str, *broadcast: Any) -> Rowwise:
        """Call a method of one shard after another, and write what it returns to files."""
        whole: dict[str, Any] = {}
        found = Rowwise()
        for shard, made in self._made(method):
            with one_blas_thread():
                found = getattr(made, method)(*broadcast)
            if not whole:
                whole = room(self.maker, found, self._file)
            placed(self.maker, found, shard, whole)
            self._tell(shard)
        for values in whole.values():
            values.flush()
        return whole_rows(found, whole)

    def _file(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        try:
            path = self.folder / f"result-{name}.npy"
            path.unlink(missing_ok=True)  # a map of an earlier result stays what it is
            made = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
            take_room(path)
            return made
        except OSError as error:
            raise no_room(self.folder, error) from error

    def _made(self, method: str) -> Any:
        """Yield all shards with their numbers; the next one is read while one is worked on."""

        def prepared(shard: int) -> Any:
            made = self.maker.make(shard, self._state(shard))
            if method not in getattr(made, "WITHOUT_FEATURES", ()):
                made.read()
            return made

        with ThreadPoolExecutor(1) as pool:
            ahead: Future[Any] = pool.submit(prepared, 0)
            for shard in range(len(self.maker)):
                made = ahead.result()
                if shard + 1 < len(self.maker):
                    ahead = pool.submit(prepared, shard + 1)
                yield shard, made
                del made

    def _state(self, shard: int) -> State:
        stored = self.states[shard]
        return State({name: partial(self.journal.load, one) for name, one in stored.items()})

    def _call(self, shard: int, made: Any, method: str, broadcast: tuple[Any, ...]) -> Part:
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

    def _tell(self, shard: int) -> None:
        self._done += 1
        if self.on_progress is None:
            return
        shards, seconds = len(self.maker), time.perf_counter() - self._began
        ahead = (max(self.most, self.calls) - self.calls + 1) * shards - shard - 1
        left = seconds / self._done * ahead
        self.on_progress(Progress(self.calls, self.most, shard + 1, shards, seconds, left))

    def finish(self) -> None:
        """Remove journal and states; results stay."""
        self.journal.remove()
