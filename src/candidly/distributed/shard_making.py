"""How a shard is made where its columns live, and the state that it keeps between two calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.sources import Columns, Source
from candidly.distributed.stored_features import Rows
from candidly.solvers.shards import Part, Rowwise


class State:
    """Arrays that a shard keeps: read when they are asked for, and known where they changed.

    Parameters
    ----------
    stored : mapping of str to callable
        What returns each array that is there already.
    """

    def __init__(self, stored: Mapping[str, Callable[[], NDArray[Any]]] | None = None) -> None:
        self._stored = dict(stored or {})
        self._here: dict[str, NDArray[Any]] = {}
        self.changed: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._here or name in self._stored

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._here:
            self._here[name] = self._stored[name]()
        return self._here[name]

    def get(self, name: str, otherwise: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return an array, or what a function returns where it is not there."""
        return self[name] if name in self else otherwise()

    def __setitem__(self, name: str, values: NDArray[Any]) -> None:
        self._here[name] = values
        self.changed.add(name)

    def __delitem__(self, name: str) -> None:
        self._here.pop(name, None)
        self._stored.pop(name, None)
        self.changed.discard(name)

    def names(self) -> set[str]:
        """Return the names of all arrays."""
        return {*self._stored, *self._here}


@dataclass(frozen=True)
class ShardMaker:
    """Recipe of all shards of a solve; it goes to wherever they live.

    Parameters
    ----------
    kind : type
        Class of a shard: ``kind(columns, state, **options)``, with methods that return a
        :class:`Part`, or a :class:`Rowwise`.
    source : Source
    cuts : list of rows
        The instances of each shard.
    options : mapping
        Passed to each shard.
    """

    kind: type
    source: Source
    cuts: list[Rows]
    options: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.cuts)

    def room(self) -> NDArray[np.floating]:
        """Return an empty array for the features of any shard."""
        sizes = (cut.stop - cut.start for cut in self.cuts if isinstance(cut, slice))
        return self.source.features.room(max(sizes, default=0))

    def columns(self, number: int) -> Columns:
        """Return the columns of a shard."""
        columns = self.source.columns(self.cuts[number])
        columns.number = number
        return columns

    def make(self, number: int, state: State) -> Any:
        """Return a shard with its state."""
        return self.kind(self.columns(number), state, **self.options)


def placed(maker: ShardMaker, found: Rowwise, number: int, whole: dict[str, Any]) -> None:
    """Write the rows of a shard to their places in arrays of all instances."""
    columns = maker.columns(number)
    for name, values in found.instances.items():
        whole[name][columns.rows] = values
    for name, values in found.entries.items():
        whole[name][columns.entries] = values


def room(maker: ShardMaker, found: Rowwise, make: Callable[..., Any]) -> dict[str, Any]:
    """Return empty arrays for all instances like those of a shard; ``make(name, shape, dtype)``."""
    N, E = len(maker.source), int(maker.source.start[-1])
    sizes = [(found.instances, N), (found.entries, E)]
    return {
        name: make(name, (size, *values.shape[1:]), values.dtype)
        for group, size in sizes
        for name, values in group.items()
    }


def whole_rows(found: Rowwise, whole: Mapping[str, Any]) -> Rowwise:
    """Return arrays of all instances in the two kinds of a shard."""
    return Rowwise(
        {name: whole[name] for name in found.instances},
        {name: whole[name] for name in found.entries},
    )


def nearly_even(source: Source, count: int) -> list[Rows]:
    """Return so many shards of about equal size; fewer where groups are few."""
    most = -(-len(source) // max(count, 1))
    cuts = source.cut(most)
    while len(cuts) > count and most < len(source):
        most += max(1, most // 20)
        cuts = source.cut(most)
    return cuts


class Here:
    """The plainest driver: all shards in this process, one called after another.

    Parameters
    ----------
    maker : ShardMaker
    """

    def __init__(self, maker: ShardMaker) -> None:
        self.maker = maker
        self.states = [State() for _ in range(len(maker))]
        self.shards: list[Any] = []

    def bind(self, **options: Any) -> None:
        """Pass further options to all shards from now on."""
        self.maker = replace(self.maker, options={**self.maker.options, **options})
        self.shards = []

    def _made(self) -> list[Any]:
        if not self.shards:
            self.shards = [self.maker.make(k, state) for k, state in enumerate(self.states)]
        return self.shards

    def each(self, method: str, *broadcast: Any) -> Part:
        """Call a method of every shard, and return their parts added up."""
        first, *rest = (getattr(shard, method)(*broadcast) for shard in self._made())
        for part in rest:
            first = first + part
        return first

    def collect(self, method: str, *broadcast: Any) -> Rowwise:
        """Call a method of every shard, and put what they return into arrays."""
        whole: dict[str, Any] = {}
        found = Rowwise()
        for number, shard in enumerate(self._made()):
            found = getattr(shard, method)(*broadcast)
            if not whole:
                whole = room(self.maker, found, lambda _, shape, dtype: np.empty(shape, dtype))
            placed(self.maker, found, number, whole)
        return whole_rows(found, whole)
