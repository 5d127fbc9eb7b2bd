"""People as Gaussian clouds, three in a photo, with captions, on which a labeller may collapse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.photos.sure_names import SURE, percent
from candidly.base import confidence
from candidly.candidates import Candidates
from candidly.metrics import labelling_error
from candidly.selection import CandidateClassifier

PEOPLE = (100, 150, 200, 300)
SPREADS = ((32, 1.0), (64, 0.7), (128, 0.45), (256, 0.35))  # dimensions, distance of people
TOGETHER = 3  # faces in a photo
UNMENTIONED = 0.1
NULL = -1


def gaussian_people(
    people: int, dimensions: int, scale: float, each: int, seed: int
) -> tuple[NDArray[np.float64], Candidates, NDArray[np.int64]]:
    """Return features, candidates and true labels of photos of three different people.

    A caption mentions each of the three with a probability of 90% (else the label is NULL), and
    somebody who is not there.
    """
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=(people, dimensions)) * scale
    who = _dealt(rng, people, each)
    X = mu[who] + rng.normal(size=(len(who), dimensions))
    mentioned = rng.random(len(who)) >= UNMENTIONED
    photo = np.arange(len(who)) // TOGETHER
    sets: list[list[int]] = []
    for at in range(photo[-1] + 1):
        own = np.flatnonzero(photo == at)
        absent = int(rng.choice(np.setdiff1d(np.arange(people), who[own])))
        sets += [[*who[own][mentioned[own]].tolist(), absent, NULL]] * len(own)
    candidates = Candidates.from_sets(sets, null=NULL, groups=photo)
    return X, candidates, np.where(mentioned, who, NULL)


def _dealt(rng: np.random.Generator, people: int, each: int) -> NDArray[np.int64]:
    """Return who is on each face: everybody as often, nobody twice in a photo."""
    who = rng.permutation(np.repeat(np.arange(people), each))
    photo = np.arange(len(who)) // TOGETHER
    while len(twice := _second_faces(who, photo)):
        other = rng.integers(len(who))
        who[[twice[0], other]] = who[[other, twice[0]]]
    return who


def _second_faces(who: NDArray[np.int64], photo: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return faces of people who are in their photo already."""
    _, first = np.unique(photo * (who.max() + 1) + who, return_index=True)
    return np.setdiff1d(np.arange(len(who)), first)


def collapse(people: int, dimensions: int, scale: float, each: int, seed: int) -> dict[str, Any]:
    """Label once, and return the error and what is sure, in percent."""
    X, candidates, y = gaussian_people(people, dimensions, scale, each, seed)
    model = CandidateClassifier(classifier=None).fit(X, candidates)
    found = model.transduction_
    sure = (found != NULL) & (confidence(model) >= SURE)
    return {
        "people": people,
        "dimensions": dimensions,
        "faces each": each,
        "seed": seed,
        "error %": round(100 * labelling_error(y, found), 2),
        "nobody %": percent((found == NULL).tolist()),
        "sure names": int(sure.sum()),
        "sure names wrong %": percent((found != y)[sure].tolist()),
    }
