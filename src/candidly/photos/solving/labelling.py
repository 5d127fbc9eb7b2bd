"""Photos to arrays, through the open-set labeller, to what it says of every face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.photos.solving.positions import by_cue, by_size
from candidly.photos.solving.problem import Told
from candidly.solvers.assignment import assign
from candidly.solvers.constraints import AtMostOnce
from candidly.solvers.open_set import Known, OpenSetLabelling


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


Verdicts = dict[int, Verdict]


def label(
    photos: Iterable[Told], embeddings: Embeddings, before: Verdicts | None = None
) -> Verdicts:
    """Say who every face of some photos is.

    Parameters
    ----------
    photos : iterable of Told
    embeddings : Embeddings
        Of their faces, and of those in ``before``.
    before : dict of int to Verdict, optional
        What was said of the faces of the project, with which these are compared; what it says
        of faces that are labelled now is not used. Without it they are compared with each other.
    """
    photos = [told for told in photos if told.faces]
    if not photos:
        return {}
    faces = [face for told in photos for face in told.faces]
    names = _all_names(photos, before)
    row = {name: i for i, name in enumerate(names)}
    null, N = len(names), len(faces)
    P, groups = np.zeros((null + 1, N)), _groups(photos)
    for told, start in zip(photos, _starts(photos), strict=True):
        for j, weights in enumerate(odds(told).values(), start):
            for name, weight in weights.items():
                P[null if name is None else row[name], j] = weight
    mask = P > 0
    place = np.log(np.where(mask, P, 1))
    P /= P.sum(axis=0)
    known = None if before is None else _known(before, set(faces), row, embeddings)
    X = embeddings.X[:, [embeddings.at[face] for face in faces]]
    rules = [AtMostOnce(groups, null)]
    solution = OpenSetLabelling().solve(X, P, mask, groups, null, None, rules, known)
    Y, likeness = solution.labels, solution.scores
    # Equal ones go to the face that is more like the name.
    chosen = assign(Y + 1e-9 * likeness / max(float(np.abs(likeness).max()), 1.0), mask, rules)
    verdicts = {}
    for j, face in enumerate(faces):
        candidates = sorted(np.flatnonzero(mask[:, j]), key=lambda i: -Y[i, j])
        verdicts[face] = Verdict(
            None if chosen[j] == null else names[chosen[j]],
            _part(Y[chosen[j], j]),
            tuple(
                Weighed(
                    None if i == null else names[i],
                    _part(Y[i, j]),
                    float(likeness[i, j]),
                    float(place[i, j]),
                )
                for i in candidates
            ),
        )
    return verdicts


def odds(told: Told) -> dict[int, dict[str | None, float]]:
    """Odds of each candidate of each face before anybody looks at it; 1 is the face like others.

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


def _all_names(photos: Sequence[Told], before: Verdicts | None) -> list[str]:
    """The candidates, and who is known from elsewhere."""
    names = {name for told in photos for face in told.faces for name in told.candidates(face)}
    for verdict in (before or {}).values():
        names |= {weighed.name for weighed in verdict.weighed if weighed.name is not None}
    return sorted(names)


def _starts(photos: Sequence[Told]) -> NDArray[np.intp]:
    return np.cumsum([0, *(len(told.faces) for told in photos[:-1])])


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


def _known(
    before: Verdicts, solved: set[int], row: Mapping[str, int], embeddings: Embeddings
) -> Known:
    """What verdicts tell of the names; faces that are solved now only tell how faces vary."""
    i, j, value = [], [], []
    for face, verdict in before.items():
        for weighed in verdict.weighed:
            if weighed.name is not None:
                i.append(row[weighed.name])
                j.append(embeddings.at[face])
                value.append(weighed.probability)
    N = embeddings.X.shape[1]
    R = sparse.csr_array((value, (i, j)), shape=(len(row) + 1, N))
    counted = np.ones(N)
    counted[[embeddings.at[face] for face in solved]] = 0
    return Known.of(embeddings.X, R, counted)


def _part(value: float) -> float:
    return float(np.clip(value, 0, 1))
