"""The driver on Ray: each shard is an actor, and parts are added up as a tree.

A shard is a deterministic function of its columns and of what was broadcast to it. So one that is
lost, with its worker or its machine, is made again from its own columns and the history of
broadcasts, and the others wait: a call that a shard has answered already is answered from memory.
What was broadcast is held by the process that asked, so only parts are lost with a machine, and
the call that made them is repeated.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Self

import numpy as np
from joblib import cpu_count

from candidly.distributed.shard_making import ShardMaker, State, placed, room, whole_rows
from candidly.extras import require
from candidly.solvers.shards import Part, Rowwise
from candidly.threads import ONE_THREAD, one_blas_thread

ATTEMPTS = 20
"""Times that a call is tried again after losses in a row."""
STARTED = 120.0
"""Seconds in which one more actor has to start, at least, until all have."""
SPARE = 20.0
"""Seconds that an actor that is made again waits for a core of its own."""
ANSWERS = 5.0
"""Seconds in which somebody answers at an address."""
START = "start one with 'ray start --head', or leave address out"
"""What to do where there is no Ray."""
LET_IN = (
    "is it a Ray of this version, and if it asks for a token, as one does that was started where "
    "there is a file ~/.ray/auth_token: is RAY_AUTH_MODE=token set here, with the same file?"
)
"""What to look at where somebody answers who lets nobody in."""
TOKENS = "ray._private.authentication.authentication_token_setup"
"""The logger of Ray that says at every start whether there are tokens."""

Asked = dict[int, tuple[Any, Any]]
"""Actors by the number of their shard, each with its answer, which is not fetched yet."""


class MissedCallError(Exception):
    """Raised by an actor that did not get an earlier call; it is made again."""


class Packed:
    """The recipe of all shards as bytes, which are unpacked where a shard is made.

    Errors of files that a machine does not have are then errors of a call, rather than of the
    start of a process.

    Parameters
    ----------
    maker : ShardMaker
    dumps : callable
        As ``pickle.dumps``; also for classes that only the process has that sends them.
    """

    def __init__(self, maker: ShardMaker, dumps: Callable[..., bytes]) -> None:
        self._arrays: list[pickle.PickleBuffer] = []  # they are shared by a machine's processes
        self._rest = dumps(maker, protocol=5, buffer_callback=self._arrays.append)

    def maker(self) -> ShardMaker:
        """Return the recipe, with files opened here."""
        found: ShardMaker = pickle.loads(self._rest, buffers=self._arrays)
        return found


class ShardActor:
    """A shard in a process of its own.

    Parameters
    ----------
    packed : Packed
    number : int
        Place of the shard among all.
    """

    def __init__(self, packed: Packed, number: int) -> None:
        self.packed, self.number, self.state = packed, number, State()
        self.maker: ShardMaker | None = None
        self.options: dict[str, Any] = {}
        self.shard: Any = None
        self.calls, self.last = -1, Part()
        self.wrong: Exception | None = None

    def call(self, number: int, method: str, broadcast: tuple[Any, ...]) -> Any:
        """Return what a method of the shard returns; a call that is repeated changes nothing."""
        if number == self.calls:
            return self.last
        if number != self.calls + 1:
            # Nobody asks for the answers of calls that are repeated after a loss.
            raise self.wrong or MissedCallError(f"call {number} came after {self.calls}")
        if method == "bind":
            self.options.update(broadcast[0])
            self.shard, self.last = None, Part()
        else:
            try:
                self.last = getattr(self._made(), method)(*broadcast)
            except Exception as error:
                self.wrong = error
                raise
        self.calls = number
        return self.last

    def ask(self, method: str, broadcast: tuple[Any, ...]) -> Any:
        """Return what a method that changes nothing returns."""
        return getattr(self._made(), method)(*broadcast)

    def _made(self) -> Any:
        """Return the shard with the options that it has now."""
        if self.maker is None:
            self.maker = self.packed.maker()
        if self.shard is None:
            columns = self.maker.columns(self.number)
            options = {**self.maker.options, **self.options}
            self.shard = self.maker.kind(columns, self.state, **options)
        return self.shard

    def add(self, one: Part, other: Part) -> Part:
        """Return two parts added up."""
        return one + other

    def process(self) -> int:
        """Return the number of the process, which shows that it is there."""
        return os.getpid()

    def answered(self) -> int:
        """Return how many calls were answered."""
        return self.calls + 1


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
        if address in (None, "local") and not require("ray", "ray").is_initialized():
            return int(cpu_count())  # those that this process may use
        ray, own = started(address, 1)
        cores = int(ray.cluster_resources().get("CPU", 1))
        if own:
            stopped(ray)
        return max(1, cores)

    def __enter__(self) -> Self:
        self.ray, self._own = started(self.address, len(self.maker))
        # Threads of linear algebra that wait here take the cores that actors work on.
        self._one_thread = one_blas_thread()
        self._one_thread.__enter__()
        try:
            self._start()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _start(self) -> None:
        """Start all actors, or raise where there are not enough cores."""
        cores, shards = int(self.ray.cluster_resources().get("CPU", 0)), len(self.maker)
        if cores < shards:  # they would wait for one forever
            raise ValueError(
                f"the cluster has {cores} cores, and there are {shards} shards, each with one; set "
                f"n_workers to {cores} or fewer, or start more machines"
            )
        self._kind = self.ray.remote(max_restarts=0, runtime_env={"env_vars": ONE_THREAD})(
            ShardActor
        )
        self._packed = self.ray.put(Packed(self.maker, self.ray.cloudpickle.dumps))
        self.actors = [self._actor(number) for number in range(shards)]
        if late := self._not_started(range(shards), STARTED):
            raise TimeoutError(
                f"{len(late)} of {shards} shards found no core in {STARTED:.0f} s: other work has "
                f"them; set n_workers to {shards - len(late)} or fewer, or wait for it to end"
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._one_thread.__exit__(kind, error, trace)
        try:
            for actor in self.actors:
                self.ray.kill(actor)
            self.actors, self.history = [], []
        finally:  # also where that was interrupted
            if self._own:
                stopped(self.ray)

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
        asked: Asked = {}
        for number in range(len(self.actors)):
            found = self._tried(partial(self._answer, number, asked, method, sent))
            if not whole:
                whole = room(self.maker, found, lambda _, shape, dtype: np.empty(shape, dtype))
            placed(self.maker, found, number, whole)
        return whole_rows(found, whole)

    def _answer(self, number: int, asked: Asked, method: str, sent: Any) -> Rowwise:
        """Return what a shard answers; it and those after it are asked, unless they were."""
        for k, actor in enumerate(self.actors[number:], number):
            if k not in asked or asked[k][0] is not actor:  # it was made again
                asked[k] = actor, actor.ask.remote(method, sent)
        found: Rowwise = self.ray.get(asked.pop(number)[1])
        return found

    def _call(self, method: str, broadcast: tuple[Any, ...]) -> Part:
        number, sent = len(self.history), self.ray.put(broadcast)
        self.history.append((method, sent))
        return self._tried(
            lambda: self._added([a.call.remote(number, method, sent) for a in self.actors]), number
        )

    def _tried(self, run: Callable[[], Any], before: int | None = None) -> Any:
        """Return what a function returns; after a loss, actors are made again and it is repeated.

        ``before`` is the number of the call that it makes, which they do not make by themselves.
        """
        lost: BaseException | None = None
        losses, raised = _losses(self.ray), self.ray.exceptions.RayTaskError
        for _ in range(ATTEMPTS):
            try:
                return run()
            except (*losses, raised) as error:
                cause = error.cause if isinstance(error, raised) else error
                if not isinstance(cause, losses):
                    raise cause from error
                lost = error
            self._rebuild(before)
        raise RuntimeError(
            f"workers were lost {ATTEMPTS} times in a row in one call; look at the cluster"
        ) from lost

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

    def _actor(self, number: int, cores: int = 1) -> Any:
        return self._kind.options(num_cpus=cores).remote(self._packed, number)

    def _rebuild(self, before: int | None = None) -> None:
        """Make actors that are gone again, from their columns and the calls before this one."""
        calls = self.history[:before]
        asked = [actor.answered.remote() for actor in self.actors]
        gone = [k for k, answer in enumerate(asked) if self._answered(answer) < len(calls)]
        self.rebuilt += len(gone)
        for number in gone:
            self.ray.kill(self.actors[number])
            self.actors[number] = self._actor(number)
        for number in self._not_started(gone, SPARE):  # cores are fewer now: it shares one
            self.ray.kill(self.actors[number])
            self.actors[number] = self._actor(number, cores=0)
        for number in gone:
            for call, (method, sent) in enumerate(calls):
                self.actors[number].call.remote(call, method, sent)

    def _answered(self, answer: Any) -> int:
        """Return how many calls an actor answered; one that works is waited for, however long.

        One that is gone answered -1.
        """
        try:
            return int(self.ray.get(answer))
        except _losses(self.ray):
            return -1

    def _not_started(self, numbers: Iterable[int], seconds: float) -> list[int]:
        """Return those of which none started for so many seconds."""
        waiting = {self.actors[number].process.remote(): number for number in numbers}
        while waiting:
            done, _ = self.ray.wait(list(waiting), num_returns=1, timeout=seconds)
            if not done:
                break
            for answer in done:
                del waiting[answer]
        return list(waiting.values())


def _losses(ray: Any) -> tuple[type[BaseException], ...]:
    """Return the errors that say that a worker, a machine or what they held is gone."""
    errors = ray.exceptions
    return (
        errors.ActorDiedError,
        errors.ActorUnavailableError,
        errors.RayActorError,
        errors.WorkerCrashedError,
        errors.NodeDiedError,
        errors.OutOfMemoryError,
        errors.ObjectLostError,
        errors.OwnerDiedError,
        MissedCallError,
    )


def started(address: str | None, shards: int) -> tuple[Any, bool]:
    """Return Ray, running, and whether it is ours to stop, with ``stopped``."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray = require("ray", "ray")
    if ray.is_initialized():
        _refuse_other(ray, address)
        return ray, False
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    own = address in (None, "local")
    if not own:
        _refuse_silent(ray, str(address))
    _prints(ray, False)
    try:
        with _less_said("ray" if own else TOKENS):
            if own:
                ray.init("local", num_cpus=shards, include_dashboard=False, **quiet)
            else:
                ray.init(address=address, **quiet)
    except BaseException as error:
        stopped(ray)
        if isinstance(error, ConnectionError) and not own:
            raise ConnectionError(f"no connection to {address}: {error}; {LET_IN}") from error
        raise
    return ray, True


def stopped(ray: Any) -> None:
    """Stop Ray, or leave the cluster."""
    ray.shutdown()
    _prints(ray, True)


def _prints(ray: Any, whether: bool) -> None:
    """Have Ray print what happens to workers, or not; those that are killed are made again."""
    ray._private.worker._worker_logs_enabled = whether


@contextmanager
def _less_said(name: str) -> Iterator[None]:
    """Have a logger say only errors inside."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _refuse_silent(ray: Any, address: str) -> None:
    """Raise where nothing answers at an address: Ray would try for minutes."""
    kind, _, place = address.rpartition("://")
    try:
        place = place if kind else ray._private.services.canonicalize_bootstrap_address(address)
    except ConnectionError as error:
        raise ConnectionError(f"no Ray runs on this machine; {START}") from error
    if place is None:  # RAY_ADDRESS says that one is started here
        return
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWERS).close()
    except ValueError:
        return  # a form that is for Ray to judge
    except OSError as error:
        at = place if address == "auto" else address
        raise ConnectionError(f"no Ray answers at {at}; {START}") from error


def _refuse_other(ray: Any, address: str | None) -> None:
    """Raise where an address is not that of the Ray that this process is connected to."""
    if address in (None, "auto"):
        return
    running = ray.get_runtime_context().gcs_address
    if address != running and not _places(ray, address) & _places(ray, running):
        raise ValueError(
            f"this process is connected to the Ray at {running}, so that the one at {address} "
            "cannot be used; call ray.shutdown() first, or leave address out"
        )


def _places(ray: Any, address: str) -> set[tuple[str, str]]:
    """Return the numbers of a machine, with the port; this machine has two."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.gethostbyname(host)
    except OSError:
        found = host
    here = ray.util.get_node_ip_address()
    return {(found, port), (here if found == "127.0.0.1" else found, port)}
