"""Photos through the open-set labeller, a block at a time, to what it says of every face.

One iteration of the labeller looks at a face, at its photo, and at counts and sums of every name.
So blocks of photos can be done one after the other, each against what all the others tell, and
memory does not grow with faces times names. It is the same iteration as on everything at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.photos.solving.blocks import Block, split
from candidly.photos.solving.problem import Told
from candidly.solvers.open_set import Population, OpenSetLabelling

SOLVER = OpenSetLabelling(shrinkage=2.0, learn_shown=False, max_iter=10)
"""Two instances a dimension did best on drawn albums and newsroom, of one, two and three.

A few new photos tell too little of how often names are shown.
"""


@dataclass(frozen=True)
class Weighed:
    """A candidate of a face: ``name`` is None for nobody."""

    name: str | None
    probability: float
    likeness: float
    place: float


@dataclass(frozen=True)
class Verdict:
    """Who a face is (None: nobody), how sure that is, and its candidates, nobody among them."""

    name: str | None
    confidence: float
    weighed: tuple[Weighed, ...]


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of a project, centred: column ``at[face]`` of X."""

    X: NDArray[np.float64]
    at: Mapping[int, int]

    @classmethod
    def of(cls, numbers: Sequence[int], rows: NDArray[np.floating]) -> Embeddings:
        """From numbers of faces and a row each."""
        X = np.asarray(rows, dtype=float).T
        X = X - X.mean(axis=1, keepdims=True) if len(numbers) else X
        return cls(X, {number: column for column, number in enumerate(numbers)})

    def columns(self, faces: Iterable[int]) -> list[int]:
        """Where faces are."""
        return [self.at[face] for face in faces]


Verdicts = dict[int, Verdict]


def label(
    photos: Iterable[Told],
    embeddings: Embeddings,
    before: Verdicts | None = None,
    again: Iterable[int] = (),
    on_step: Callable[[int, int], None] | None = None,
) -> Verdicts:
    """Say who every face of some photos is.

    Parameters
    ----------
    photos : iterable of Told
    embeddings : Embeddings
        Of their faces, and of those in ``before``.
    before : dict of int to Verdict, optional
        What was said of the faces of the project: it tells how faces vary, and those that are
        not labelled now are what these are compared with.
    again : iterable of int
        Faces to begin with what was said of them, which is otherwise not used.
    on_step : callable, optional
        Told how many blocks of photos are done, and of how many at most.
    """
    photos = [told for told in photos if told.faces]
    if not photos:
        return {}
    now = {face for told in photos for face in told.faces}
    fixed = {face: one for face, one in (before or {}).items() if face not in now}
    names = _all_names(photos, before or {})
    row = {name: i for i, name in enumerate(names)}
    blocks = [Block(part, row, embeddings.columns) for part in split(photos)]
    others = _soft(fixed, row, embeddings)
    # How faces vary is what was learnt before: a few photos would teach their own mistakes.
    prior = SOLVER.shrinkage * len(embeddings.X)
    learnt = None
    if before is not None:
        learnt = Population.of(embeddings.X, _soft(before, row, embeddings), prior)
    begin = {face: before[face] for face in again if face in before} if before else {}
    soft = [sparse.csc_array(_start(block, begin, row)) for block in blocks]
    likeness = soft
    for step in range(SOLVER.max_iter):
        R = others + _spread(blocks, soft, others.shape)
        if learnt is None:
            known = Population.of(embeddings.X, R, prior)
        else:
            known = learnt.counting(embeddings.X, R)
        change = 0.0
        likeness, earlier, soft = [], soft, []
        for at, (block, Y) in enumerate(zip(blocks, earlier, strict=True)):
            if on_step is not None:
                on_step(step * len(blocks) + at, SOLVER.max_iter * len(blocks))
            Y_new, scores = _step(block, Y.toarray(), known, embeddings)
            change = max(change, float(np.abs(Y_new - Y.toarray()).max(initial=0)))
            soft.append(sparse.csc_array(Y_new))
            likeness.append(sparse.csc_array(scores))
        if change <= SOLVER.tol:
            break
    found: Verdicts = {}
    for block, Y, scores in zip(blocks, soft, likeness, strict=True):
        found |= _verdicts(block, Y.toarray(), scores.toarray(), names)
    return found


def _start(block: Block, begin: Verdicts, row: Mapping[str, int]) -> NDArray[np.float64]:
    """Names shared out alike, or what was said before."""
    P, mask = block.arrays()
    nothing = np.zeros((1, P.shape[1]))
    none = replace(SOLVER, max_iter=0)
    Y = np.asarray(none.solve(nothing, P, mask, block.groups, block.null).labels)
    for j, face in enumerate(block.faces):
        if face in begin:
            Y[:, j] = 0
            for one in begin[face].weighed:
                Y[block.null if one.name is None else row[one.name], j] = one.probability
    return Y


def _step(
    block: Block, Y: NDArray[np.float64], known: Population, embeddings: Embeddings
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One iteration on a block, against what all others tell."""
    P, mask = block.arrays()
    X, own = embeddings.X[:, block.columns], Y.copy()
    own[block.null] = 0
    once = replace(SOLVER, max_iter=1)
    solution = once.solve(
        X,
        P,
        mask,
        block.groups,
        block.null,
        constraints=block.rules,
        known=known.without(X, own),
        start=Y,
    )
    return solution.labels, solution.scores


def _verdicts(
    block: Block, Y: NDArray[np.float64], likeness: NDArray[np.float64], names: Sequence[str]
) -> Verdicts:
    chosen, place = block.choose(Y, likeness), block.place()
    who: list[str | None] = [*names, None]
    found = {}
    for j, face in enumerate(block.faces):
        candidates = sorted(np.flatnonzero(block.mask(j)), key=lambda i: -Y[i, j])
        weighed = tuple(
            Weighed(who[i], _part(Y[i, j]), float(likeness[i, j]), place[j][int(i)])
            for i in candidates
        )
        found[face] = Verdict(who[chosen[j]], _part(Y[chosen[j], j]), weighed)
    return found


def _all_names(photos: Sequence[Told], before: Verdicts) -> list[str]:
    """The candidates, and who is known from elsewhere."""
    names = {name for told in photos for face in told.faces for name in told.candidates(face)}
    for verdict in before.values():
        names |= {weighed.name for weighed in verdict.weighed if weighed.name is not None}
    return sorted(names)


def _soft(verdicts: Verdicts, row: Mapping[str, int], embeddings: Embeddings) -> sparse.csr_array:
    """Soft labels of verdicts, without nobody: a column an embedding."""
    i, j, value = [], [], []
    for face, verdict in verdicts.items():
        for weighed in verdict.weighed:
            if weighed.name is not None:
                i.append(row[weighed.name])
                j.append(embeddings.at[face])
                value.append(weighed.probability)
    shape = (len(row) + 1, embeddings.X.shape[1])
    return sparse.csr_array((np.array(value, float), (i, j)), shape=shape)


def _spread(
    blocks: Sequence[Block], soft: Sequence[sparse.csc_array], shape: tuple[int, int]
) -> sparse.csr_array:
    """Soft labels of blocks, without nobody, at the columns of their embeddings."""
    parts = [Y.tocoo() for Y in soft]
    i = np.concatenate([Y.coords[0] for Y in parts])
    j = np.concatenate(
        [np.array(block.columns)[Y.coords[1]] for block, Y in zip(blocks, parts, strict=True)]
    )
    value = np.concatenate([Y.data for Y in parts])
    named = i != shape[0] - 1
    return sparse.csr_array((value[named], (i[named], j[named])), shape=shape)


def _part(value: float) -> float:
    return float(np.clip(value, 0, 1))
