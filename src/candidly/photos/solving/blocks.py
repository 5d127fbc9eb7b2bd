"""Photos as the arrays of a solver: candidates with their odds, and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from candidly.photos.solving.positions import by_cue, by_size
from candidly.photos.solving.problem import Told
from candidly.solvers.assignment import assign
from candidly.solvers.constraints import AtMostOnce

FACES = 500
"""Faces of a block, about."""
TIE = 1e-6
"""What decides between equals counts this much."""


def split(photos: Sequence[Told]) -> Iterator[list[Told]]:
    """Blocks of photos."""
    block: list[Told] = []
    size = 0
    for told in photos:
        block.append(told)
        size += len(told.faces)
        if size >= FACES:
            yield block
            block, size = [], 0
    if block:
        yield block


class Block:
    """Some photos: ``row`` is the row of each name, and nobody's comes after them."""

    def __init__(
        self,
        photos: Sequence[Told],
        row: Mapping[str, int],
        columns: Callable[[Iterable[int]], list[int]],
    ) -> None:
        self.faces = [face for told in photos for face in told.faces]
        self.columns = columns(self.faces)
        self.groups = _groups(photos)
        self.null = len(row)
        self.rules = [AtMostOnce(self.groups, self.null)]
        own = [weights for told in photos for weights in odds(told).values()]
        self._odds = [
            {self.null if name is None else row[name]: weight for name, weight in weights.items()}
            for weights in own
        ]
        self._misplaced = [
            {row[name]: cost for name, cost in costs.items() if name in row}
            for told in photos
            for costs in misplaced(told).values()
        ]

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Prior soft labels, and the candidates: a row a name, a column a face."""
        P = np.zeros((self.null + 1, len(self.faces)))
        for j, weights in enumerate(self._odds):
            P[list(weights), j] = list(weights.values())
        return P / P.sum(axis=0), P > 0

    def mask(self, j: int) -> NDArray[np.bool_]:
        """The candidates of a face."""
        candidates = np.zeros(self.null + 1, dtype=bool)
        candidates[list(self._odds[j])] = True
        return candidates

    def place(self) -> list[dict[int, float]]:
        """Logarithms of the odds of each candidate of each face, by row."""
        return [{i: float(np.log(odd)) for i, odd in own.items()} for own in self._odds]

    def choose(self, Y: NDArray[np.float64], likeness: NDArray[np.float64]) -> NDArray[np.intp]:
        """The row of each face: most probable together, a name once in a photo."""
        _, mask = self.arrays()
        worth = Y + 1e-9 * likeness / max(float(np.abs(likeness).max(initial=0)), 1.0)
        for j, costs in enumerate(self._misplaced):
            worth[list(costs), j] -= TIE * np.array(list(costs.values()))
        return assign(worth, mask, self.rules)


def misplaced(told: Told) -> dict[int, dict[str, float]]:
    """How far each name is from its place, were they listed from left to right.

    That is how captions are usually written, so it decides where nothing else does; it is not
    relied on so often that it could make a name more probable.

    Examples
    --------
    >>> from candidly.photos.records import Box
    >>> two = {1: Box(50, 0, 9, 9), 2: Box(0, 0, 9, 9)}
    >>> misplaced(Told(7, two, {"Ann": None, "Bob": None}))
    {1: {'Ann': 1.0, 'Bob': 0.0}, 2: {'Ann': 0.0, 'Bob': 1.0}}
    """
    order = sorted(told.faces, key=lambda face: told.faces[face].x + told.faces[face].w / 2)
    return {
        face: {
            name: float((order.index(face) - place) ** 2) for place, name in enumerate(told.names)
        }
        for face in told.faces
    }


def odds(told: Told) -> dict[int, dict[str | None, float]]:
    """Odds of each candidate of each face before anybody looks at it; 1 is a face like others.

    Examples
    --------
    >>> from candidly.photos.records import Box, Cue
    >>> two = {1: Box(0, 0, 9, 9), 2: Box(50, 0, 9, 9)}
    >>> odds(Told(7, two, {"Ann": Cue("right", 1, 2), "Bob": None}))[2]
    {None: 1.0, 'Ann': 1.95, 'Bob': 1.0}
    """
    boxes = list(told.faces.values())
    if not boxes:
        return {}
    sharing = Counter(cue for cue in told.names.values() if cue is not None)
    size = len(boxes) * by_size(boxes)
    share = {
        name: size if cue is None else len(boxes) * by_cue(cue, boxes, sharing[cue])
        for name, cue in told.names.items()
    }
    found: dict[int, dict[str | None, float]] = {}
    for place, face in enumerate(told.faces):
        names = told.candidates(face)
        if face in told.bound and names:
            found[face] = {names[0]: 1.0}
            continue
        own: dict[str | None, float] = {None: 1.0}
        own |= {name: max(float(share[name][place]), 1e-12) for name in names}
        found[face] = own
    return found


def _groups(photos: Sequence[Told]) -> NDArray[np.intp]:
    """The photo of each face; a second face decided to be one person is a group of its own.

    A name is in a group once, but somebody may know better: a mirror, a poster.
    """
    groups, extra = [], len(photos)
    for number, told in enumerate(photos):
        there: set[str] = set()
        for face in told.faces:
            name = told.bound.get(face)
            if name is not None and name in there:
                groups.append(extra)
                extra += 1
            else:
                groups.append(number)
            if name is not None:
                there.add(name)
    return np.array(groups, dtype=np.intp)
