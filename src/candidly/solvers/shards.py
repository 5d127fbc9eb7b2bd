"""Where the columns of a problem live: all in memory, on disk, or on other machines.

The solvers are column-separable. A *shard* has some instances, whole groups of them: features,
candidates and soft labels. Between two iterations only sums over all instances are needed, such as
those of every name. So a solver is written once, as a loop over calls of all shards::

    part = shards.each("begin")
    for _ in range(max_iter):
        part = shards.each("step", part.sums["B"], ...)

``each`` calls a method of every shard with the same arguments, and returns their parts added up.
That is all that a solver asks for, and so all in which the drivers differ:

- :class:`InMemory` has its one shard at hand, and calls it;
- ``candidly.distributed.out_of_core`` reads two shards at a time, calls them, and writes what they
  have changed back to disk, with a journal from which an interrupted solve goes on;
- ``candidly.distributed.on_ray`` has each shard in an actor of Ray, calls all at the same time, and
  adds their parts up as a tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


@dataclass
class Part:
    """What one shard contributes; parts of neighbouring shards are added.

    Parameters
    ----------
    sums : dict of str to array or number
        Added up.
    most : dict of str to array or number
        Of which the largest counts.
    rows : dict of str to array
        One row per instance, entry or group of the shard, in their order: put one after another.

    Examples
    --------
    >>> from candidly.solvers.shards import Part
    >>> both = Part({"count": 2}, {"change": 0.1}) + Part({"count": 3}, {"change": 0.5})
    >>> both.sums["count"], float(both.most["change"])
    (5, 0.5)
    """

    sums: dict[str, Any] = field(default_factory=dict)
    most: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other: Part) -> Part:
        return Part(
            {name: value + other.sums[name] for name, value in self.sums.items()},
            {name: np.maximum(value, other.most[name]) for name, value in self.most.items()},
            {name: np.concatenate([rows, other.rows[name]]) for name, rows in self.rows.items()},
        )

    def size(self) -> int:
        """Return how many bytes its arrays take."""
        kinds = (self.sums, self.most, self.rows)
        held = {id(value): value for kind in kinds for value in kind.values()}
        return sum(getattr(value, "nbytes", 8) for value in held.values())

    @classmethod
    def added(cls, parts: Iterable[Part]) -> Part:
        """Return parts of neighbours added up, in the arrays of the first, which is given up.

        Examples
        --------
        >>> from candidly.solvers.shards import Part
        >>> total = Part.added(Part({"count": k}, rows={"of": [k]}) for k in (2, 3, 4))
        >>> int(total.sums["count"]), total.rows["of"].tolist()
        (9, [2, 3, 4])
        """
        total, rows = cls(), []
        for number, part in enumerate(parts):
            rows.append(part.rows)
            part.rows = {}
            if number:
                total._take(part)
            else:
                total = part
            del part  # the next one needs its memory
        for name in list(rows[0]):  # once, since it copies all
            total.rows[name] = np.concatenate([own.pop(name) for own in rows])
        return total

    def _take(self, other: Part) -> None:
        """Add another part up in the arrays of this one, but for its rows."""
        held = Counter(map(id, self.sums.values()))  # one array may be two sums
        for name, value in self.sums.items():
            more = other.sums[name]
            alone = isinstance(value, np.ndarray) and held[id(value)] == 1
            # Of a shard in which nobody is named, sums are whole numbers.
            fits = alone and np.result_type(value, more) == value.dtype
            self.sums[name] = np.add(value, more, out=value if fits else None)
        for name, value in self.most.items():
            self.most[name] = np.maximum(value, other.most[name])


@dataclass
class Rowwise:
    """What a shard hands over in the end: values of its instances, and of its entries."""

    instances: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, Any] = field(default_factory=dict)


class Shards(Protocol):
    """All instances of a problem, in shards."""

    def each(self, method: str, *broadcast: Any) -> Part:
        """Call a method of every shard, and return their parts added up."""
        ...

    def collect(self, method: str, *broadcast: Any) -> Rowwise:
        """Call a method of every shard that returns rows, and return those of all instances."""
        ...


@dataclass(frozen=True)
class InMemory:
    """One shard with all instances.

    Parameters
    ----------
    shard : object
    """

    shard: Any

    def each(self, method: str, *broadcast: Any) -> Part:
        """Call the method of the shard."""
        return getattr(self.shard, method)(*broadcast)

    def collect(self, method: str, *broadcast: Any) -> Rowwise:
        """Call the method of the shard."""
        return getattr(self.shard, method)(*broadcast)
