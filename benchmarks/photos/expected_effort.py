"""How many decisions orders of questions need if every face is as likely right as it is said to be.

The names of a photo are drawn from the distribution over all ways to name it that has the stored
probabilities as marginals (``candidly.photos.reviewing.joint_answers``), photo by photo. An answer
counts at once for the other faces of its photo, and nothing else is learnt from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from candidly.photos.reviewing.joint_answers import WAYS, open_photo, way_weights
from candidly.photos.solving import FaceLabel
from candidly.solvers.matchings import matchings, matchings_of, usages

ROUNDS = 5
"""Times that the truth is drawn."""
NOTHING = -1.0


class BelievedPhoto:
    """A photo with a truth that is drawn, and the labels by the answers so far."""

    def __init__(self, labels: dict[int, FaceLabel]) -> None:
        P = open_photo(labels).P
        self.faces, self.answers = P.shape
        self.use = usages(self.faces, self.answers - 1)
        self.ways = matchings(self.faces, self.answers - 1)
        self.prior = way_weights(P.reshape(1, -1), self.use)[0]

    def draw(self, rng: np.random.Generator) -> None:
        """Draw the truth, and forget the answers."""
        self.truth = self.ways[rng.choice(len(self.ways), p=self.prior)]
        self.asked = np.zeros(self.faces, dtype=bool)
        self.weight = self.prior
        self._label()

    def ask(self, face: int) -> None:
        """Learn the answer of a face."""
        self.asked[face] = True
        weight = self.weight * (self.ways[:, face] == self.truth[face])
        self.weight = weight / weight.sum()
        self._label()

    def _label(self) -> None:
        P = (self.weight @ self.use).reshape(self.faces, self.answers)
        self.doubt = 1 - P.max(axis=1)
        self.wrong = P.argmax(axis=1) != self.truth

    def gain(self) -> NDArray[np.float64]:
        """Return how many faces an answer about each is expected to put right."""
        joint = (self.weight[:, None] * self.use).T @ self.use
        joint = joint.reshape(self.faces, self.answers, self.faces, self.answers)
        after = joint.max(axis=3).sum(axis=1)
        return np.asarray(after.sum(axis=1) - (1 - self.doubt).sum())


Worth = Callable[[BelievedPhoto], NDArray[np.float64]]


def _truth(photo: BelievedPhoto) -> NDArray[np.float64]:
    return np.where(photo.wrong, 1.0 + photo.wrong.sum(), NOTHING)


WORTHS: dict[str, Worth] = {
    "least sure": lambda photo: photo.doubt,
    "most settled": lambda photo: photo.gain(),
    "truth": _truth,
}


def expected_efforts(
    photos: Sequence[dict[int, FaceLabel]], most_wrong: float, seed: int
) -> dict[str, float]:
    """Return the decisions by order until no more than a part of the faces is wrong.

    Photos with too many ways to name them are left out, with their faces.
    """
    believed, faces = [], 0
    for labels in photos:
        shape = open_photo(labels).P.shape
        if matchings_of(shape[0], shape[1] - 1) <= WAYS:
            faces += len(labels)
            if shape[0]:
                believed.append(BelievedPhoto(labels))
    found = {}
    for name, worth in WORTHS.items():
        rng = np.random.default_rng(seed)
        needed = [_needed(believed, worth, most_wrong * faces, rng) for _ in range(ROUNDS)]
        found[name] = round(float(np.mean(needed)), 1)
    return found


def _needed(
    photos: list[BelievedPhoto], worth: Worth, most: float, rng: np.random.Generator
) -> int:
    for photo in photos:
        photo.draw(rng)

    def best(photo: BelievedPhoto) -> tuple[float, int]:
        values = np.where(photo.asked, NOTHING, worth(photo))
        return float(values.max()), int(values.argmax())

    top = [best(photo) for photo in photos]
    wrong, decisions = sum(int(photo.wrong.sum()) for photo in photos), 0
    while wrong > most:
        at = max(range(len(photos)), key=lambda number: top[number][0])
        photo = photos[at]
        wrong -= int(photo.wrong.sum())
        photo.ask(top[at][1])
        wrong += int(photo.wrong.sum())
        top[at] = best(photo)
        decisions += 1
    return decisions
