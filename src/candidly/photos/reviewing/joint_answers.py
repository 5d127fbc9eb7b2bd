"""How far an answer about one face of a photo settles the others.

A name is in a photo at most once, so faces compete for it. Stored are the probabilities of each
face alone. The distribution over all ways to name the photo is taken to be the least informative
one that has them as marginals: every pair of a face and a name has a weight, and these are scaled
until the marginals agree. Faces that are nearly sure are left out, and so are their names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from candidly.photos.solving import FaceLabel
from candidly.solvers.matchings import matchings_of, usages

NEARLY_SURE = 0.98
"""Confidence from which a face is taken to be settled."""
RARE = 0.01
"""Probability up to which a name is no candidate."""
WAYS = 3000
"""Ways to name a photo up to which all are weighed; beyond, its faces are taken one by one."""
ROUNDS = 60
"""Most times that weights are scaled."""
CLOSE = 1e-3
"""Difference of marginals at which to stop."""

PIECE = 4_000_000
"""Numbers that are held at a time."""

Values = NDArray[np.float64]


class Coupling(NamedTuple):
    """The part of the doubt about one face that an answer about another is expected to take."""

    face: int
    other: int
    part: float


class OpenPhoto(NamedTuple):
    """Faces of a photo that are not settled, and the probabilities of their answers."""

    faces: list[int]
    P: Values


def couplings_in_photos(photos: Sequence[dict[int, FaceLabel]]) -> Iterator[Coupling]:
    """Yield the couplings of the faces of each photo.

    Examples
    --------
    >>> from candidly.photos.solving import CandidateScore
    >>> either = (CandidateScore("Ann", 0.5, 0, 0), CandidateScore(None, 0.5, 0, 0))
    >>> photo = {1: FaceLabel("Ann", 0.5, either), 2: FaceLabel(None, 0.5, either)}
    >>> found = couplings_in_photos([photo])  # one of them is Ann
    >>> [(one.face, one.other, round(one.part, 1)) for one in found]
    [(1, 2, 1.0), (2, 1, 1.0)]
    """
    shapes: dict[tuple[int, int], list[OpenPhoto]] = defaultdict(list)
    for labels in photos:
        photo = open_photo(labels)
        faces, answers = photo.P.shape
        if faces > 1 and answers > 1 and matchings_of(faces, answers - 1) <= WAYS:
            shapes[photo.P.shape].append(photo)
    for alike in shapes.values():
        for photo, parts in zip(alike, settled(np.array([one.P for one in alike])), strict=True):
            for face, row in zip(photo.faces, parts.tolist(), strict=True):
                for other, part in zip(photo.faces, row, strict=True):
                    if other != face:
                        yield Coupling(face, other, part)


def open_photo(labels: dict[int, FaceLabel]) -> OpenPhoto:
    """Return the faces that are not settled, and their probabilities, nobody last."""
    taken = {one.name for one in labels.values() if one.confidence >= NEARLY_SURE}
    faces = [face for face, one in labels.items() if one.confidence < NEARLY_SURE]
    own = [
        {
            one.name: one.probability
            for one in labels[face].scores
            if one.name is None or (one.name not in taken and one.probability > RARE)
        }
        for face in faces
    ]
    names = sorted({name for row in own for name in row if name is not None})
    P = np.array([[row.get(name, 0.0) for name in (*names, None)] for row in own])
    P = np.maximum(P.reshape(len(faces), len(names) + 1), 1e-9)
    return OpenPhoto(faces, P / P.sum(axis=1, keepdims=True))


def settled(P: Values) -> Values:
    """Return the part of the doubt about each face that an answer about each other one takes.

    Parameters
    ----------
    P : (photos, faces, names + 1) array
        Probabilities of the answers; the last is nobody.

    Returns
    -------
    (photos, faces, faces) array
        The second dimension is the face that is answered.
    """
    photos, faces, answers = P.shape
    use = usages(faces, answers - 1)
    found = np.empty((photos, faces, faces))
    step = max(1, PIECE // use.size)
    for start in range(0, photos, step):
        part = slice(start, start + step)
        weight = way_weights(P[part].reshape(-1, use.shape[1]), use)
        joint = (weight[:, None] * use.T) @ use
        joint = joint.reshape(-1, faces, answers, faces, answers)
        now = np.einsum("pjvjv->pjv", joint).max(axis=2)[:, None]
        after = joint.max(axis=4).sum(axis=2)
        found[part] = np.clip((after - now) / np.maximum(1 - now, 1e-9), 0, 1)
    return found


def way_weights(P: Values, use: Values) -> Values:
    """Return the weights of all ways (photos x ways) whose marginals are P (photos x pairs)."""
    log_P = np.log(P)
    pairs = log_P.copy()
    for _ in range(ROUNDS):
        weight = pairs @ use.T
        weight = np.exp(weight - weight.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        marginals = weight @ use
        if np.abs(marginals - P).max(initial=0) < CLOSE:
            break
        pairs += log_P - np.log(np.maximum(marginals, 1e-12))
    return np.asarray(weight)
