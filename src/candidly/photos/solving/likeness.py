"""People whose faces do not look alike: one name, two groups of faces.

Cosines mean the same in every collection only for an embedder whose cosines were measured, which
is SFace. Of other embedders nothing is said here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import LIKELY
from candidly.photos.project import Project
from candidly.photos.solving.labels import LabelArrays
from candidly.photos.solving.statistics import comparable_model
from candidly.photos.solving.vectors import Vectors, read_vectors_of
from candidly.wording import count

ALIKE = 0.363
"""Cosine from which two faces count as alike: the threshold that SFace's authors recommend."""
APART = 0.25
"""Mean cosine between two groups of faces below which they are hardly one person.

On labelled news photos no person with four faces or more is below it, and 98% of mixtures of two
people are (``tests/photos/test_photo_certainty.py``).
"""
FEWEST = 4
"""Number of faces of a name from which they are compared."""
GROUP = 2
"""Number of faces of the smaller group: a single face may be a bad picture."""
ROUNDS = 100


@dataclass(frozen=True)
class UnlikeFaces:
    """A name whose faces are two groups that do not look alike, and the cosine between them.

    Examples
    --------
    >>> UnlikeFaces("Ann", (1, 2, 3), (7, 9), 0.08).sentence
    'the faces of Ann do not look alike: 2 of them, such as face 7, are unlike the other 3 (mean ...
    """

    name: str
    larger: tuple[int, ...]
    smaller: tuple[int, ...]
    cosine: float

    @property
    def sentence(self) -> str:
        """The flag in words, with faces to look at."""
        return (
            f"the faces of {self.name} do not look alike: {len(self.smaller)} of them, such as "
            f"face {self.smaller[0]}, are unlike the other {len(self.larger)} (mean cosine "
            f"{self.cosine:.2f}, of one person at least {APART}); they may be several people"
        )


def flags(found: Sequence[UnlikeFaces], most: int = 5) -> list[str]:
    """Return the sentences of some people, and how many more there are."""
    more = len(found) - most
    others = count(more, "more person", "more people")
    return [one.sentence for one in found[:most]] + (
        [f"the faces of {others} do not look alike: candidly people has them"] if more > 0 else []
    )


def has_known_cosines(model: str) -> bool:
    """Return whether cosines of a model, as ``faces.model`` has it, can be judged: only SFace's.

    Examples
    --------
    >>> has_known_cosines("face_detection_yunet:49f0; face_recognition_sface:fb14 mean=0 scale=1")
    True
    """
    return "sface" in model.rpartition("; ")[2].lower()


@dataclass(frozen=True)
class NamedArrays:
    """Faces with a name that is sure or likely, their photos, and the place of their name."""

    names: list[str]
    faces: NDArray[np.int64]
    photos: NDArray[np.int64]
    who: NDArray[np.intp]

    @classmethod
    def of(cls, labels: LabelArrays, photos: NDArray[np.int64]) -> NamedArrays:
        """Return the faces of labels; ``photos`` are those of the faces in their order."""
        order = np.argsort(labels.faces, kind="stable")
        chosen, sure = labels.chosen[order], labels.confidence[order]
        kept = (chosen >= 0) & (sure >= LIKELY)
        return cls(labels.names, labels.faces[order][kept], photos[kept], chosen[kept])

    def joined(self, other: NamedArrays) -> NamedArrays:
        """Return these faces, and others."""
        names = sorted({*self.names, *other.names})
        row = {name: i for i, name in enumerate(names)}
        who = [
            np.array([row[name] for name in one.names], dtype=np.intp)[one.who]
            for one in (self, other)
            if one.names
        ]
        return NamedArrays(
            names,
            np.concatenate([self.faces, other.faces]),
            np.concatenate([self.photos, other.photos]),
            np.concatenate(who) if who else np.zeros(0, dtype=np.intp),
        )

    def by_name(self) -> list[NDArray[np.intp]]:
        """Return the places of the faces of each name that has some, sorted by face."""
        order = np.lexsort((self.faces, self.who))
        if not len(order):
            return []
        return np.split(order, np.flatnonzero(np.diff(self.who[order])) + 1)


def unlike_people(project: Project, names: Mapping[int, str]) -> list[UnlikeFaces]:
    """Return the people whose faces do not look alike, the least alike first.

    Parameters
    ----------
    project : Project
    names : dict of int to str
        Faces with the names to check; leave guesses out.
    """
    rows = judged_embeddings(project, names)
    own = defaultdict(list)
    for face in sorted(rows):
        own[names[face]].append(face)
    found = [_check(name, faces, np.array([rows[f] for f in faces])) for name, faces in own.items()]
    return sorted((one for one in found if one is not None), key=lambda one: one.cosine)


def unlike_in(vectors: Vectors, named: NamedArrays) -> list[UnlikeFaces]:
    """Return the same of many faces."""
    enough = [own for own in named.by_name() if len(own) >= FEWEST]
    rows = vectors.of_each(named.faces[own].tolist() for own in enough)
    found = [
        _check(named.names[named.who[own[0]]], named.faces[own].tolist(), X)
        for own, X in zip(enough, rows, strict=True)
    ]
    return sorted((one for one in found if one is not None), key=lambda one: one.cosine)


def judged_embeddings(project: Project, faces: Collection[int]) -> dict[int, NDArray[np.float32]]:
    """Return the embeddings of those faces whose cosines can be judged."""
    with project.snapshot() as sql:
        if not has_known_cosines(comparable_model(sql) or ""):
            return {}
        found = read_vectors_of(sql, faces)
    return {int(face): row for face, row in zip(found.faces, found.X, strict=True)}


def _check(name: str, faces: Sequence[int], X: NDArray[np.floating]) -> UnlikeFaces | None:
    split = two_groups(X)
    if split is None:
        return None
    side, cosine = split
    numbers = np.array(faces)
    parts = (tuple(numbers[side].tolist()), tuple(numbers[~side].tolist()))
    smaller, larger = sorted(parts, key=len)
    return UnlikeFaces(name, larger, smaller, cosine)


def two_groups(X: NDArray[np.floating]) -> tuple[NDArray[np.bool_], float] | None:
    """Return two groups of faces that do not look alike and their mean cosine; None where they do.

    Two means, begun on both sides of the direction in which faces differ most. Linkage would
    part a single stranger from all others, where each of several strangers is another person.

    Parameters
    ----------
    X : (N, d) array
        Embeddings of faces with one name.

    Examples
    --------
    >>> two_groups(np.array([[1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0, 1, 0.1]]))
    (array([...]), 0.04...)
    >>> two_groups(np.ones((9, 3))) is None
    True
    """
    if len(X) < FEWEST:
        return None
    X = np.asarray(X, dtype=float)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    centred = X - X.mean(axis=0)
    side = centred @ np.linalg.svd(centred, full_matrices=False)[2][0] > 0
    for _ in range(ROUNDS):
        if not GROUP <= side.sum() <= len(X) - GROUP:
            return None
        one, other = X[side].mean(axis=0), X[~side].mean(axis=0)
        nearer = X @ (one - other) > (one @ one - other @ other) / 2
        if (nearer == side).all():
            cosine = float(one @ other)  # of unit vectors: the mean over all pairs
            return (side, cosine) if cosine < APART else None
        side = nearer
    return None
