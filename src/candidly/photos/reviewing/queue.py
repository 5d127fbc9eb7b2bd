"""Faces in the order in which a decision about them settles most.

A decision is worth as many faces as it is expected to put right. Its own face is wrong with the
probability that the confidence leaves, the doubt d. Of the doubt about other faces it takes a part
c: beside it in the photo by all ways to name the photo (``joint_answers``), in other photos where
the same person may be shown, by likeness. So a decision about face f settles

    settles(f) = d_f + sum over g of c_fg d_g

Faces are taken greedily: after f every d_g is multiplied by 1 - c_fg, so that what the answers
before are expected to settle is not asked as well, whether or not all is solved in between.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.project import Project
from candidly.photos.reviewing.joint_answers import Coupling, couplings_in_photos
from candidly.photos.solving import FaceLabel
from candidly.photos.solving.likeness import ALIKE, judged_embeddings
from candidly.photos.solving.problem import PhotoProblem, read_problems
from candidly.photos.solving.store import read_labels

STEEP = 20.0
"""Growth of the log odds of being one person with the cosine, which are even at ``ALIKE``."""
COMPARED = 100
"""Faces that may have a name and are compared with each other: the most doubtful."""
DOUBTFUL = 0.02
"""Doubt below which there is nothing to settle."""
LEAST = 0.05
"""Part below which faces are not coupled."""


@dataclass(frozen=True)
class QueuedFace:
    """A face to ask about: its name (None for nobody), the doubt, and how much is settled by it."""

    face: int
    photo: int
    name: str | None
    doubt: float
    settles: float


def review_queue(project: Project) -> list[QueuedFace]:
    """Return the faces that nobody decided, those by which most is settled first.

    ``settles`` is what a decision is expected to settle after those about the faces before.
    """
    with project.snapshot() as sql:
        problems, labels = read_problems(sql), read_labels(sql)
    photo_of = {face: one for one in problems.values() for face in one.faces if face in labels}
    rows = judged_embeddings(project, {f for f in photo_of if _doubt(labels[f]) > DOUBTFUL})
    return [
        QueuedFace(face, photo_of[face].photo, labels[face].name, _doubt(labels[face]), settles)
        for face, settles in question_order(problems.values(), labels, rows)
    ]


def question_order(
    photos: Iterable[PhotoProblem],
    labels: Mapping[int, FaceLabel],
    rows: Mapping[int, NDArray[np.floating]],
) -> list[tuple[int, float]]:
    """Return the undecided faces of some photos in order, with what each settles.

    Parameters
    ----------
    photos : iterable of PhotoProblem
    labels : dict of int to FaceLabel
    rows : dict of int to array
        Embeddings of the doubtful faces whose cosines can be judged.
    """
    photo_of = {face: one for one in photos for face in one.faces if face in labels}
    doubt = {face: _doubt(labels[face]) for face in photo_of}
    inside: dict[int, dict[int, FaceLabel]] = defaultdict(dict)
    for face, one in photo_of.items():
        inside[one.photo][face] = labels[face]
    several = [own for own in inside.values() if sum(doubt[face] > DOUBTFUL for face in own) > 1]
    beside = list(couplings_in_photos(several))
    elsewhere = list(_couplings_elsewhere(photo_of, labels, rows))
    found = [*beside, *elsewhere, *_in_turn(elsewhere, beside)]
    asked = {face for face, one in photo_of.items() if face not in one.bound}
    # Decided since the last solve: the answer counts, though the labels do not show it yet.
    new = {f for f, one in photo_of.items() if f in one.bound and len(labels[f].scores) > 1}
    return greedy_order(doubt, found, asked, new)


def greedy_order(
    doubt: Mapping[int, float],
    couplings: Iterable[Coupling],
    asked: Collection[int],
    answered: Iterable[int] = (),
) -> list[tuple[int, float]]:
    """Return faces in greedy order, each with what it settles after those before.

    Parameters
    ----------
    doubt : dict of int to float
    couplings : iterable of Coupling
    asked : collection of int
        Faces to put in order.
    answered : iterable of int
        Faces whose answer is known before.

    Examples
    --------
    >>> doubt = {1: 0.5, 2: 0.5, 3: 0.6}
    >>> pair = [Coupling(1, 2, 0.9), Coupling(2, 1, 0.9)]
    >>> [(face, round(value, 2)) for face, value in greedy_order(doubt, pair, [1, 2, 3])]
    [(1, 0.95), (3, 0.6), (2, 0.05)]
    """
    parts: dict[int, dict[int, float]] = defaultdict(dict)
    for face, other, part in couplings:
        if part >= LEAST:
            parts[face][other] = max(part, parts[face].get(other, 0.0))
    left = dict(doubt)

    def worth(face: int) -> float:
        return left[face] + sum(part * left[g] for g, part in parts.get(face, {}).items())

    def answer(face: int) -> None:
        left[face] = 0.0
        for other, part in parts.get(face, {}).items():
            left[other] *= 1 - part

    for face in answered:
        answer(face)
    coupled = {*parts, *(other for own in parts.values() for other in own)}
    heap = [(-worth(face), face) for face in asked if face in coupled]
    heapq.heapify(heap)
    found = []
    while heap:
        value, face = heap[0]
        now = -worth(face)
        if now > value + 1e-12:  # others were asked since, and less is left
            heapq.heapreplace(heap, (now, face))
            continue
        heapq.heappop(heap)
        found.append((now, face))
        answer(face)
    alone = sorted((-left[face], face) for face in asked if face not in coupled)
    return [(face, -value) for value, face in heapq.merge(found, alone)]


def _in_turn(first: Iterable[Coupling], second: Iterable[Coupling]) -> Iterator[Coupling]:
    """Yield the couplings of faces with those that are settled in turn.

    Of two people always mentioned together an answer settles who the same face is elsewhere, and
    that who is beside it.
    """
    then = defaultdict(list)
    for one in second:
        then[one.face].append(one)
    for one in first:
        for other in then.get(one.other, ()):
            if one.part * other.part >= LEAST and other.other != one.face:
                yield Coupling(one.face, other.other, one.part * other.part)


def _doubt(label: FaceLabel) -> float:
    return 1 - label.confidence


def _couplings_elsewhere(
    photo_of: Mapping[int, PhotoProblem],
    labels: Mapping[int, FaceLabel],
    rows: Mapping[int, NDArray[np.floating]],
) -> Iterator[Coupling]:
    """Yield the couplings of doubtful faces of different photos.

    If the other face is the same person and may have the name that is the answer, it is settled; if
    the answer is nobody, as far as its doubt is about the names that both may have.
    """
    of: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for face in rows:
        if face not in photo_of:
            continue
        for one in labels[face].scores:
            if one.name is not None and one.probability > DOUBTFUL:
                of[one.name].append((face, one.probability))
    total: dict[tuple[int, int], float] = defaultdict(float)
    for own in of.values():
        if len(own) < 2:
            continue
        own = sorted(own, key=lambda pair: (labels[pair[0]].confidence, pair[0]))[:COMPARED]
        faces = [face for face, _ in own]
        photo = np.array([photo_of[face].photo for face in faces])
        named = np.array([probability for _, probability in own])
        nobody = np.array([labels[face].probability(None) for face in faces])
        parts = _same(np.array([rows[face] for face in faces]))
        parts *= named[:, None] + nobody[:, None] * named / np.maximum(1 - nobody, 1e-9)
        parts[photo[:, None] == photo] = 0
        for j, k in np.argwhere(parts >= LEAST / 2).tolist():
            total[faces[j], faces[k]] += float(parts[j, k])
    for (face, other), part in total.items():
        yield Coupling(face, other, min(part, 1.0))


def _same(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return how likely each two faces are one person, by their cosines."""
    X = np.asarray(X, dtype=float)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    return np.asarray(1 / (1 + np.exp(-STEEP * (X @ X.T - ALIKE))))
