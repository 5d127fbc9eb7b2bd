"""Open-set labelling: a million made-up faces in captioned photos, fewer, and the newsroom."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import candidly
from benchmarks.speed.measuring import ALL_CORES, Figures, measurement, timed
from candidly.solvers import CandidateSets
from candidly.solvers.arrays import Floats
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.labelled_features import LabelledFeatures
from candidly.solvers.open_set import OpenSetLabelling, OpenSetResult, centre
from candidly.solvers.unmentioned import Elsewhere, KnownNames

FEATURES, NAMES, SAMPLE = 128, 10_000, 2000
SPREAD = np.linspace(1.5, 0.3, FEATURES).astype(np.float32)
"""How much people differ in each direction, against pictures of one of them."""


@dataclass(frozen=True)
class MadeUpPhotos:
    """Faces in photos of three, each with the three names of its caption and nobody.

    A name is shown with probability 0.8. The other faces are strangers, or (0.4 of them) people
    who are named in other photos.
    """

    X: Floats
    entries: CandidateEntries
    truth: NDArray[np.intp]

    @classmethod
    def of(cls, N: int, names: int, seed: int = 0) -> MadeUpPhotos:
        """Draw about N faces of so many people, in single precision."""
        rng = np.random.default_rng(seed)
        photos = N // 3
        first = rng.integers(names, size=(photos, 1))
        mentioned = (first + np.array([0, 1, 2]) * rng.integers(1, names // 3, (photos, 1))) % names
        shown = rng.random((photos, 3)) < 0.8
        known = rng.random((photos, 3)) < 0.4
        other = np.where(known, rng.integers(names, size=(photos, 3)), -1)
        who = np.where(shown, mentioned, other).ravel()
        named = (np.repeat(mentioned, 3, axis=0) == who[:, None]).any(axis=1)
        people = rng.standard_normal((names, FEATURES), dtype=np.float32) * SPREAD
        X = rng.standard_normal((3 * photos, FEATURES), dtype=np.float32)
        for start in range(0, len(X), 50_000):
            own = who[start : start + 50_000]
            strangers = rng.standard_normal((int((own < 0).sum()), FEATURES), dtype=np.float32)
            X[start : start + 50_000][own >= 0] += people[own[own >= 0]]
            X[start : start + 50_000][own < 0] += strangers * SPREAD
        X -= centre(X, None).astype(np.float32)
        listed = np.sort(np.repeat(mentioned, 3, axis=0), axis=1)
        classes = np.column_stack([listed, np.full(len(X), names)]).ravel()
        sets = CandidateSets(4 * np.arange(len(X) + 1), classes, names + 1)
        groups = np.arange(len(X)) // 3
        entries = CandidateEntries.of_sets(np.full(len(classes), 0.25), sets, groups, names)
        return cls(X, entries, np.where(named, who, -1))


def bound_error(problem: MadeUpPhotos, solver: OpenSetLabelling, found: OpenSetResult) -> Floats:
    """Return by how much ``other`` of some instances is off that by all names."""
    features = LabelledFeatures(problem.X, problem.entries)
    sums = features.sums(found.soft) @ found.covariances.basis
    known = KnownNames.of(
        found.covariances, problem.entries.over_names(found.soft), sums, problem.X.dtype
    )
    rows = np.sort(np.random.default_rng(0).permutation(len(problem.X))[:SAMPLE])
    Z = features.coordinates(found.covariances, rows)
    everybody = Elsewhere(problem.entries, solver.elsewhere, solver.damping)
    exact = everybody.weigh(Z, found.covariances.anybody(Z), known, rows)
    return np.abs(exact - found.other[rows])


def solved(N: int, quick: bool) -> Figures:
    """Time a whole solve with its starts, twenty iterations each, and count wrong labels.

    A tolerance of 0 never stops it before.
    """
    N, names = (3000, 400) if quick else (N, NAMES)
    solver = OpenSetLabelling(tol=0.0)
    small = MadeUpPhotos.of(60_000, 2000) if not quick else MadeUpPhotos.of(600, 60)
    OpenSetLabelling(max_iter=2).solve(small.X.T, small.entries)  # compiles what is compiled
    problem = MadeUpPhotos.of(N, names)
    ours = timed(lambda: solver.solve(problem.X.T, problem.entries))
    found: OpenSetResult = ours.answer
    error = bound_error(problem, solver, found)
    sure = found.confidence > 0.95
    wrong = found.chosen != problem.truth
    return Figures(
        ours.cpu,
        ours.wall,
        agreement={"other, median": float(np.median(error))},
        details={
            "iterations": len(found.trace.steps),
            "labels wrong": float(wrong.mean()),
            "sure": float(sure.mean()),
            "sure and wrong": float((sure & wrong).mean()),
            "other off by 0.01": float((error > 0.01).mean()),
            "other off by 1": float((error > 1).mean()),
        },
    )


@measurement(
    "open-set-1000000",
    "open-set labeller, 1,000,000 x 128, 10,000 names, 20 iterations",
    unit="wall",
    must=180,
    aim=60,
    threads=ALL_CORES,
)
def _million(quick: bool) -> Figures:
    return solved(1_000_000, quick)


def _declare(N: int) -> None:
    @measurement(f"open-set-{N}", f"the same on {N:,}", unit="wall", threads=ALL_CORES)
    def _fewer(quick: bool) -> Figures:
        return solved(N, quick)


for _N in (20_000, 125_000, 250_000, 500_000):
    _declare(_N)


@measurement(
    "open-set-newsroom", "OpenSet on the newsroom, 2,021 photos", unit="cpu", must=3, aim=1
)
def _newsroom(quick: bool) -> Figures:
    data = candidly.datasets.load("newsroom")
    rows: Any = slice(0, 300) if quick else slice(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of doubtful labels
        ours = timed(
            lambda: candidly.OpenSet(classifier=None).fit(data.X[rows], data.candidates[rows]),
            repeats=2,
        )
    error = candidly.labelling_error(data.y[rows], ours.answer.transduction_)
    return Figures(ours.cpu, ours.wall, details={"labels wrong": float(error)})
