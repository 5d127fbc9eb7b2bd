"""The driver on Ray: each shard is an actor, and parts are added up as a tree.

A shard is a deterministic function of its columns and of what was broadcast to it. So one that is
lost, with its worker or its machine, is made again from its own columns and the history of
broadcasts, and the others wait: a call that a shard has answered already is answered from memory.
"""

from __future__ import annotations

import logging
import os
from types import TracebackType
from typing import Any, Self

import numpy as np

from candidly.distributed.shard_making import ShardMaker, State, placed, room, whole_rows
from candidly.extras import require
from candidly.solvers.shards import Part, Rowwise
from candidly.threads import ONE_THREAD, one_blas_thread

ATTEMPTS = 20
"""Times that a call is tried again after losses in a row."""
WAIT = 60.0
"""Seconds in which an actor has to answer whether it is there."""


class ShardActor:
    """A shard in a process of its own.

    Parameters
    ----------
    maker : ShardMaker
    number : int
        Place of the shard among all.
    """

    def __init__(self, maker: ShardMaker, number: int) -> None:
        self.maker, self.number, self.state = maker, number, State()
        self.options: dict[str, Any] = {}
        self.shard: Any = None
        self.calls, self.last = -1, Part()

    def call(self, number: int, method: str, broadcast: tuple[Any, ...]) -> Any:
        """Return what a method of the shard returns; a call that is repeated changes nothing."""
        if number == self.calls:
            return self.last
        assert number == self.calls + 1, "a call is missing"
        if method == "bind":
            self.options.update(broadcast[0])
            self.shard, self.last = None, Part()
        else:
            if self.shard is None:
                columns = self.maker.columns(self.number)
                options = {**self.maker.options, **self.options}
                self.shard = self.maker.kind(columns, self.state, **options)
            self.last = getattr(self.shard, method)(*broadcast)
        self.calls = number
        return self.last

    def ask(self, method: str, broadcast: tuple[Any, ...]) -> Any:
        """Return what a method that changes nothing returns."""
        return getattr(self.shard, method)(*broadcast)

    def add(self, one: Part, other: Part) -> Part:
        """Return two parts added up."""
        return one + other

    def process(self) -> int:
        """Return the number of the process, which shows that it is there."""
        return os.getpid()


class OnRay:
    """Shards in actors of Ray; a context manager, which starts and stops them.

    Parameters
    ----------
    maker : ShardMaker
    address : str, optional
        Address of a cluster; by default Ray is started on this machine, and stopped afterwards.
    """

    def __init__(self, maker: ShardMaker, address: str | None = None) -> None:
        self.maker, self.address = maker, address
        self.history: list[tuple[str, Any]] = []
        self.actors: list[Any] = []
        self.rebuilt = 0
        """Actors that were lost and made again."""

    @staticmethod
    def workers(address: str | None, wanted: int | None) -> int:
        """Return how many shards there are: as wanted, or one for each core of the cluster."""
        if wanted is not None:
            if wanted < 1:
                raise ValueError(f"n_workers is at least 1, got {wanted}")
            return wanted
        if address is None:
            return os.cpu_count() or 1
        ray = started(address, 0)[0]
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def __enter__(self) -> Self:
        self.ray, self._own = started(self.address, len(self.maker))
        cores = int(self.ray.cluster_resources().get("CPU", 0))
        if cores < len(self.maker):  # they would wait for one forever
            if self._own:
                self.ray.shutdown()
            raise ValueError(
                f"the cluster has {cores} cores, and there are {len(self.maker)} shards, each with "
                f"one; set n_workers to {cores} or fewer, or start more machines"
            )
        self._kind = self.ray.remote(
            num_cpus=1, max_restarts=0, runtime_env={"env_vars": ONE_THREAD}
        )(ShardActor)
        # Threads of linear algebra that wait here take the cores that actors work on.
        self._one_thread = one_blas_thread()
        self._one_thread.__enter__()
        self._maker = self.ray.put(self.maker)
        self.actors = [self._actor(number) for number in range(len(self.maker))]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._one_thread.__exit__(kind, error, trace)
        for actor in self.actors:
            self.ray.kill(actor)
        self.actors, self.history = [], []
        if self._own:
            self.ray.shutdown()

    def bind(self, **options: Any) -> None:
        """Pass further options to all shards from now on."""
        self._call("bind", (options,))

    def each(self, method: str, *broadcast: Any) -> Part:
        """Call a method of all shards at the same time, and add their parts up as a tree."""
        return self._call(method, broadcast)

    def collect(self, method: str, *broadcast: Any) -> Rowwise:
        """Call a method of all shards, and put what they return into arrays here."""
        sent, found = self.ray.put(broadcast), Rowwise()
        whole: dict[str, Any] = {}
        for number in range(len(self.actors)):
            found = self._asked(number, method, sent)
            if not whole:
                whole = room(self.maker, found, lambda _, shape, dtype: np.empty(shape, dtype))
            placed(self.maker, found, number, whole)
        return whole_rows(found, whole)

    def _asked(self, number: int, method: str, sent: Any) -> Rowwise:
        for _ in range(ATTEMPTS):
            try:
                return self.ray.get(self.actors[number].ask.remote(method, sent))
            except _losses(self.ray):
                self._rebuild()
        raise RuntimeError(
            f"shard {number} was lost {ATTEMPTS} times in a row; look at the cluster"
        )

    def _call(self, method: str, broadcast: tuple[Any, ...]) -> Part:
        number, sent = len(self.history), self.ray.put(broadcast)
        self.history.append((method, sent))
        for _ in range(ATTEMPTS):
            try:
                return self._added([a.call.remote(number, method, sent) for a in self.actors])
            except _losses(self.ray):
                self._rebuild(number)
        raise RuntimeError(
            f"workers were lost {ATTEMPTS} times in a row in one call; look at the cluster"
        )

    def _added(self, parts: list[Any]) -> Part:
        """Add neighbours up where they are, until two are left."""
        actors = self.actors
        while len(parts) > 2:
            pairs = range(0, len(parts) - 1, 2)
            odd = parts[-1:] if len(parts) % 2 else []
            holders = [actors[k] for k in pairs] + actors[len(parts) - len(odd) : len(parts)]
            added = [actors[k].add.remote(parts[k], parts[k + 1]) for k in pairs]
            parts, actors = added + odd, holders
        first, *rest = self.ray.get(parts)
        return first + rest[0] if rest else first

    def _actor(self, number: int) -> Any:
        return self._kind.remote(self._maker, number)

    def _rebuild(self, before: int | None = None) -> None:
        """Make actors that are gone again, from their columns and the calls before this one."""
        for number, actor in enumerate(self.actors):
            try:
                self.ray.get(actor.process.remote(), timeout=WAIT)
            except (*_losses(self.ray), self.ray.exceptions.GetTimeoutError):
                self.rebuilt += 1
                self.ray.kill(actor)
                self.actors[number] = anew = self._actor(number)
                for call, (method, sent) in enumerate(self.history[:before]):
                    anew.call.remote(call, method, sent)


def _losses(ray: Any) -> tuple[type[BaseException], ...]:
    """Return the errors that say that a worker, a machine or what they held is gone."""
    errors = ray.exceptions
    return (
        errors.ActorDiedError,
        errors.ActorUnavailableError,
        errors.RayActorError,
        errors.WorkerCrashedError,
        errors.NodeDiedError,
        errors.ObjectLostError,
        errors.OwnerDiedError,
    )


def started(address: str | None, shards: int) -> tuple[Any, bool]:
    """Return Ray, running, and whether it is ours to stop."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray = require("ray", "ray")
    if ray.is_initialized():
        return ray, False
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    if address is not None:
        ray.init(address=address, **quiet)
        return ray, shards > 0
    ray.init(num_cpus=max(shards, 1), include_dashboard=False, **quiet)
    return ray, True
