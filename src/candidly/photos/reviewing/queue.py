"""Faces in the order in which a decision about them settles most.

A decision is worth as many faces as it is expected to put right. Its own face is wrong with the
probability that the confidence leaves, the doubt. Of the photo's other faces those become surer
that compete for the names: over all ways to name the photo, by the probabilities of its faces, it
is the expected growth of their likeliest answers. In other photos it is the doubt of each face that
may have one of the names, times how likely it is the same person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.project import Project
from candidly.photos.solving import FaceLabel
from candidly.photos.solving.likeness import ALIKE, judged_embeddings
from candidly.photos.solving.problem import PhotoProblem, read_problems
from candidly.photos.solving.store import read_labels
from candidly.solvers.matchings import matchings, matchings_of

STEEP = 20.0
"""Growth of the log odds of being one person with the cosine, which are even at ``ALIKE``."""
COMPARED = 500
"""Faces that may have a name and are compared with each other: the most doubtful."""
WAYS = 3000
"""Ways to name a photo up to which all are weighed; beyond, its faces are taken one by one."""

Doubts = Mapping[int, float]


@dataclass(frozen=True)
class QueuedFace:
    """A face to ask about: its name (None for nobody), the doubt, and how much is settled by it."""

    face: int
    photo: int
    name: str | None
    doubt: float
    settles: float


def review_queue(project: Project) -> list[QueuedFace]:
    """Return the faces that nobody decided, those by which most is settled first."""
    with project.snapshot() as sql:
        problems, labels = read_problems(sql), read_labels(sql)
    asked: dict[int, PhotoProblem] = {}
    settles: dict[int, float] = {}
    for problem in problems.values():
        faces = [face for face in problem.faces if face in labels and face not in problem.bound]
        asked |= dict.fromkeys(faces, problem)
        settles |= dict(zip(faces, _beside([labels[face] for face in faces]), strict=True))
    doubt = {face: 1 - labels[face].confidence for face in asked}
    for face, value in _elsewhere(project, asked, doubt).items():
        settles[face] += value
    found = [
        QueuedFace(face, one.photo, labels[face].name, doubt[face], doubt[face] + settles[face])
        for face, one in asked.items()
    ]
    return sorted(found, key=lambda one: (-one.settles, one.face))


def _beside(labels: list[FaceLabel]) -> list[float]:
    """Return how many other faces of a photo a decision about each is expected to put right.

    Examples
    --------
    >>> from candidly.photos.solving import CandidateScore
    >>> even = tuple(CandidateScore(name, 0.5, 0, 0) for name in ("Ann", "Bob"))
    >>> _beside([FaceLabel("Ann", 0.5, even), FaceLabel("Bob", 0.5, even)])  # one settles the other
    [0.5, 0.5]
    """
    names = sorted({one.name for label in labels for one in label.scores if one.name is not None})
    if len(labels) < 2 or matchings_of(len(labels), len(names)) > WAYS:
        return [0.0] * len(labels)
    P = np.array([[label.probability(name) for name in (*names, None)] for label in labels])
    ways = matchings(len(labels), len(names))
    weight = P[np.arange(len(labels)), ways].prod(axis=1)
    if not weight.sum() > 0:
        return [0.0] * len(labels)
    used = np.eye(len(names) + 1)[ways]
    joint = np.einsum("w,wjv,wlu->jvlu", weight / weight.sum(), used, used)
    after = joint.max(axis=3).sum(axis=1)
    before = np.einsum("jvjv->jv", joint).max(axis=1)
    gain = after - before
    np.fill_diagonal(gain, 0)
    return [float(value) for value in gain.sum(axis=1)]


def _elsewhere(
    project: Project, asked: Mapping[int, PhotoProblem], doubt: Doubts
) -> dict[int, float]:
    """Return how many faces of other photos a decision is expected to put right."""
    rows = judged_embeddings(project, asked)
    of = defaultdict(list)
    for face in rows:
        for name in asked[face].candidates(face):
            of[name].append(face)
    settled: dict[int, dict[int, float]] = defaultdict(dict)
    for faces in of.values():
        faces = sorted(faces, key=lambda face: (-doubt[face], face))[:COMPARED]
        same = _same(np.array([rows[face] for face in faces]))
        for one, row in zip(faces, same.tolist(), strict=True):
            for other, value in zip(faces, row, strict=True):
                if asked[other].photo != asked[one].photo:
                    settled[one][other] = value * doubt[other]
    return {face: sum(own.values()) for face, own in settled.items()}


def _same(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return how likely each two faces are one person, by their cosines."""
    X = np.asarray(X, dtype=float)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    return np.asarray(1 / (1 + np.exp(-STEEP * (X @ X.T - ALIKE))))
