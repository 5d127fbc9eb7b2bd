"""Open-set labelling of photos, one block of photos at a time.

One iteration of the labeller uses a face, its photo, and counts and sums of every name. So blocks
of photos can be labelled one after the other, each against what is known from all the others, and
memory does not grow with faces times names. It is the same iteration as on everything at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.photos.solving.placement import misplaced, odds
from candidly.photos.solving.problem import PhotoProblem
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.assignment import assign
from candidly.solvers.constraints import AtMostOnce
from candidly.solvers.open_set import OpenSetLabelling
from candidly.solvers.two_covariances import KnownPeople as Population

BLOCK_FACES = 500
"""Approximate number of faces per block."""
TIE = 1e-6
"""Weight of the order from left to right, which decides between equal names."""

SOLVER = OpenSetLabelling(shrinkage=2.0, learn_shown=False, max_iter=10)
"""Of one, two and three instances per dimension, two did best on drawn albums and newsroom.

A few new photos say too little about how often names are shown.
"""


@dataclass(frozen=True)
class CandidateScore:
    """A candidate of a face: its probability, its likeness, and which face has the name instead.

    ``name`` is None for nobody. ``likeness`` is the log likelihood ratio against anybody, 0 where
    the name has no other face to compare with; for nobody it is that of somebody known who is not
    mentioned. ``place`` is the log odds by place and size, 0 for a face like the others.
    ``taken_by`` is another face of the photo that has the name, once it is stored.
    """

    name: str | None
    probability: float
    likeness: float
    place: float
    taken_by: int | None = None


@dataclass(frozen=True)
class FaceLabel:
    """Label of a face (None for nobody), its confidence, and the candidates including nobody."""

    name: str | None
    confidence: float
    scores: tuple[CandidateScore, ...]


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of a project, centred: column ``at[face]`` of X belongs to a face."""

    X: Floats
    at: Mapping[int, int]

    @classmethod
    def of(cls, numbers: Sequence[int], rows: Floats) -> Embeddings:
        """Return embeddings from numbers of faces and one row per face."""
        X = np.asarray(rows, dtype=float).T
        X = X - X.mean(axis=1, keepdims=True) if len(numbers) else X
        return cls(X, {number: column for column, number in enumerate(numbers)})

    def columns(self, faces: Iterable[int]) -> list[int]:
        """Return the columns of faces."""
        return [self.at[face] for face in faces]


FaceLabels = dict[int, FaceLabel]


class PhotoBlock:
    """Photos as arrays for a solver: candidates with their odds, and groups.

    ``row`` is the row of each name; that of nobody comes after them.
    """

    def __init__(
        self,
        photos: Sequence[PhotoProblem],
        row: Mapping[str, int],
        columns: Callable[[Iterable[int]], list[int]],
    ) -> None:
        self.faces = [face for photo in photos for face in photo.faces]
        self.columns = columns(self.faces)
        self.groups = _groups(photos)
        self.null = len(row)
        self.rules = [AtMostOnce(self.groups, self.null)]
        own = [weights for photo in photos for weights in odds(photo).values()]
        self._odds = [
            {self.null if name is None else row[name]: weight for name, weight in weights.items()}
            for weights in own
        ]
        self._misplaced = [
            {row[name]: cost for name, cost in costs.items() if name in row}
            for photo in photos
            for costs in misplaced(photo).values()
        ]

    def arrays(self) -> tuple[Floats, Mask]:
        """Return prior soft labels and candidates: one row per name, one column per face."""
        P = np.zeros((self.null + 1, len(self.faces)))
        for j, weights in enumerate(self._odds):
            P[list(weights), j] = list(weights.values())
        return P / P.sum(axis=0), P > 0

    def mask(self, j: int) -> Mask:
        """Return the candidates of a face."""
        candidates = np.zeros(self.null + 1, dtype=bool)
        candidates[list(self._odds[j])] = True
        return candidates

    def place(self) -> list[dict[int, float]]:
        """Return the log odds of each candidate of each face, by row."""
        return [{i: float(np.log(odd)) for i, odd in own.items()} for own in self._odds]

    def choose(self, Y: Floats, likeness: Floats) -> NDArray[np.intp]:
        """Return the row of each face: the most probable matching, each name once per photo."""
        _, mask = self.arrays()
        worth = Y + 1e-9 * likeness / max(float(np.abs(likeness).max(initial=0)), 1.0)
        for j, costs in enumerate(self._misplaced):
            worth[list(costs), j] -= TIE * np.array(list(costs.values()))
        return assign(worth, mask, self.rules)


def label_photos(
    photos: Iterable[PhotoProblem],
    embeddings: Embeddings,
    before: FaceLabels | None = None,
    again: Iterable[int] = (),
    on_step: Callable[[int, int], None] | None = None,
) -> FaceLabels:
    """Return the label of every face of some photos.

    Parameters
    ----------
    photos : iterable of PhotoProblem
    embeddings : Embeddings
        Embeddings of their faces, and of those in ``before``.
    before : dict of int to FaceLabel, optional
        Earlier labels of the project: they show how faces vary, and faces that are not
        labelled now are compared with.
    again : iterable of int
        Faces that start from their earlier label, which is not used otherwise.
    on_step : callable, optional
        Called with the number of blocks of photos done, and their largest number.
    """
    photos = [photo for photo in photos if photo.faces]
    if not photos:
        return {}
    now = {face for photo in photos for face in photo.faces}
    fixed = {face: one for face, one in (before or {}).items() if face not in now}
    names = _all_names(photos, before or {})
    row = {name: i for i, name in enumerate(names)}
    blocks = [PhotoBlock(part, row, embeddings.columns) for part in _split(photos)]
    others = _soft(fixed, row, embeddings)
    # How faces vary is taken from earlier labels: a few photos would confirm their own mistakes.
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
    found: FaceLabels = {}
    for block, Y, scores in zip(blocks, soft, likeness, strict=True):
        found |= _labels(block, Y.toarray(), scores.toarray(), names)
    return found


def _start(block: PhotoBlock, begin: FaceLabels, row: Mapping[str, int]) -> Floats:
    """Return soft labels to start from: names shared out equally, or earlier labels."""
    P, mask = block.arrays()
    nothing = np.zeros((1, P.shape[1]))
    none = replace(SOLVER, max_iter=0)
    Y = np.asarray(none.solve(nothing, P, mask, block.groups, block.null).labels)
    for j, face in enumerate(block.faces):
        if face in begin:
            Y[:, j] = 0
            for one in begin[face].scores:
                Y[block.null if one.name is None else row[one.name], j] = one.probability
    return Y


def _step(
    block: PhotoBlock, Y: Floats, known: Population, embeddings: Embeddings
) -> tuple[Floats, Floats]:
    """Return soft labels and scores after one iteration on a block, against all others."""
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


def _labels(block: PhotoBlock, Y: Floats, likeness: Floats, names: Sequence[str]) -> FaceLabels:
    chosen, place = block.choose(Y, likeness), block.place()
    who: list[str | None] = [*names, None]
    found = {}
    for j, face in enumerate(block.faces):
        candidates = sorted(np.flatnonzero(block.mask(j)), key=lambda i: -Y[i, j])
        scores = tuple(
            CandidateScore(who[i], _part(Y[i, j]), float(likeness[i, j]), place[j][int(i)])
            for i in candidates
        )
        found[face] = FaceLabel(who[chosen[j]], _part(Y[chosen[j], j]), scores)
    return found


def _all_names(photos: Sequence[PhotoProblem], before: FaceLabels) -> list[str]:
    """Return the names of the candidates, and of people known from elsewhere."""
    names = {name for photo in photos for face in photo.faces for name in photo.candidates(face)}
    for label in before.values():
        names |= {one.name for one in label.scores if one.name is not None}
    return sorted(names)


def _soft(labels: FaceLabels, row: Mapping[str, int], embeddings: Embeddings) -> sparse.csr_array:
    """Return soft labels without nobody: one column per embedding."""
    i, j, value = [], [], []
    for face, label in labels.items():
        for one in label.scores:
            if one.name is not None:
                i.append(row[one.name])
                j.append(embeddings.at[face])
                value.append(one.probability)
    shape = (len(row) + 1, embeddings.X.shape[1])
    return sparse.csr_array((np.array(value, float), (i, j)), shape=shape)


def _spread(
    blocks: Sequence[PhotoBlock], soft: Sequence[sparse.csc_array], shape: tuple[int, int]
) -> sparse.csr_array:
    """Return soft labels of blocks, without nobody, at the columns of their embeddings."""
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


def _split(photos: Sequence[PhotoProblem]) -> Iterator[list[PhotoProblem]]:
    """Yield blocks of photos."""
    block: list[PhotoProblem] = []
    size = 0
    for photo in photos:
        block.append(photo)
        size += len(photo.faces)
        if size >= BLOCK_FACES:
            yield block
            block, size = [], 0
    if block:
        yield block


def _groups(photos: Sequence[PhotoProblem]) -> NDArray[np.intp]:
    """Return the photo of each face; a second face decided to be one person is its own group.

    A name is in a group once, but a user may decide otherwise: a mirror, a poster.
    """
    groups, extra = [], len(photos)
    for number, photo in enumerate(photos):
        there: set[str] = set()
        for face in photo.faces:
            name = photo.bound.get(face)
            if name is not None and name in there:
                groups.append(extra)
                extra += 1
            else:
                groups.append(number)
            if name is not None:
                there.add(name)
    return np.array(groups, dtype=np.intp)
