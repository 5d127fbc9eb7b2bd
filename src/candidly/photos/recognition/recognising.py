"""Names the faces of photos without captions: learnt people are recognised, others nobody."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from candidly import __version__
from candidly.photos.certainty import NamedFaces
from candidly.photos.names import Lists
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.recognition.store import AGAIN, StoredRecogniser, read_recogniser
from candidly.photos.solving.labels import CandidateScore, FaceLabel
from candidly.photos.solving.problem import PhotoProblem, read_problems
from candidly.photos.solving.store import (
    RECOGNISED,
    NameChange,
    forget_faces,
    keep_changes,
    keep_labels,
)
from candidly.solvers.assignment import assign
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import AtMostOnce
from candidly.solvers.matchings import NEVER, marginals
from candidly.solvers.recogniser import Array

MAX_MATCHINGS = 3000
"""Number of matchings of a photo up to which probabilities are exact."""
FAINT = 1e-6
"""Probability below which a name is not compared with those of other faces."""
STORED = 5  # candidates of a face that are stored, in addition to nobody
LEARNT = "people were learnt again"
HERE = "something was decided in this photo, or other people may be named"
NOT_HERE = "nobody is to be named in this photo"


@dataclass
class RecognitionSummary:
    """Result of a run: photos without captions, their faces, faces named, names that changed.

    Of the ``named`` faces some are ``sure``, some ``likely``, the others guesses (``certainty``).
    """

    run: int
    trained: int
    photos: int = 0
    faces: int = 0
    named: int = 0
    sure: int = 0
    likely: int = 0
    changes: list[NameChange] = field(default_factory=list)

    @property
    def names(self) -> NamedFaces:
        """How many faces were named, and how surely."""
        return NamedFaces(self.faces, self.named, self.sure, self.likely)

    @property
    def counts(self) -> dict[str, int]:
        """Return all results as numbers."""
        return {"photos": self.photos, **asdict(self.names), "changes": len(self.changes)}


def recognise(project: Project, lists: Lists) -> RecognitionSummary:
    """Name the faces of photos without captions, by the people learnt.

    Parameters
    ----------
    project : Project
        Opened for writing.
    lists : Lists
        Who may be named, and where.
    """
    with project.snapshot() as sql:
        kept = read_recogniser(sql)
        if kept is None:
            raise ProjectProblem(
                f"no people are learnt in {project.path} yet; candidly train does it, once "
                "candidly name has named photos with captions"
            )
        problems = read_problems(sql, wordless=True)
        paths = _paths(sql)
    run = project.begin_run(__version__, {"solve": RECOGNISED, "trained": kept.run})
    done = RecognitionSummary(run, kept.run, len(problems))
    people = _PermittedPeople(kept, lists)
    with project.transaction() as sql:
        for photo, problem in problems.items():
            free = [face for face in problem.faces if face not in problem.bound]
            now: dict[int, FaceLabel] = {}
            if free and all(lists.permits_folder(path) for path in paths[photo]):
                now = people.label(problem, free, _vectors(sql, free, kept))
            counted = NamedFaces.of((label.name, label.confidence) for label in now.values())
            done.faces += counted.faces
            done.named += counted.named
            done.sure += counted.sure
            done.likely += counted.likely
            done.changes += _changes(sql, done, free, now)
            forget_faces(sql, free)
            keep_labels(sql, run, now)
        done.changes = keep_changes(sql, done.changes)
    project.end_run(run, done.counts)
    return done


class _PermittedPeople:
    """The people learnt who may be named; all others are nobody."""

    def __init__(self, kept: StoredRecogniser, lists: Lists) -> None:
        self.recogniser = kept.recogniser
        own = [
            lists.canonical(name) if lists.permits(name) else None for name in kept.recogniser.names
        ]
        self.names = sorted({name for name in own if name is not None})
        self.row = {name: i for i, name in enumerate(self.names)}
        nobody = len(self.names)
        self._to = np.array([*(nobody if n is None else self.row[n] for n in own), nobody])

    def label(self, problem: PhotoProblem, faces: list[int], X: Array) -> dict[int, FaceLabel]:
        """Return the labels of the faces of one photo."""
        learnt, evidence = self.recogniser.recognise(X)
        P = np.zeros((len(self.names) + 1, len(faces)))
        np.add.at(P, self._to, learnt)
        likeness = np.full(P.shape, -np.inf)
        np.maximum.at(likeness, self._to[:-1], evidence)
        likeness[-1] = 0
        taken = problem.drawn | {name for name in problem.bound.values() if name is not None}
        for name in taken & self.row.keys():
            P[self.row[name]] = 0
        for at, face in enumerate(faces):
            for refused in (name for number, name in problem.refused if number == face):
                if refused in self.row:
                    P[self.row[refused], at] = 0
        Y, chosen = at_most_once(P / P.sum(axis=0))
        return {
            face: self._label(Y[:, at], likeness[:, at], int(chosen[at]))
            for at, face in enumerate(faces)
        }

    def _label(self, y: Array, likeness: Array, chosen: int) -> FaceLabel:
        who: list[str | None] = [*self.names, None]
        best = {int(i) for i in np.argsort(-y[:-1], kind="stable")[:STORED]} | {chosen, len(y) - 1}
        shown = sorted((i for i in best if y[i] > 0 or i == chosen), key=lambda i: -y[i])
        total = float(y[shown].sum())
        scores = tuple(
            CandidateScore(who[i], float(y[i] / total), float(likeness[i]), 0.0) for i in shown
        )
        return FaceLabel(who[chosen], float(np.clip(y[chosen], 0, 1)), scores)


def at_most_once(P: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return probabilities and choices for the faces of one photo, each name at most once.

    Parameters
    ----------
    P : (c + 1, m) array
        Probabilities of each face by itself; the last row is nobody.

    Examples
    --------
    >>> Y, chosen = at_most_once(np.array([[0.9, 0.6], [0.1, 0.4]]))
    >>> Y.round(2), chosen
    (array([[0.78, 0.13],
           [0.22, 0.87]]), array([0, 1]))
    """
    Y = P.copy()
    names = np.flatnonzero((P[:-1] > FAINT).any(axis=1))
    if P.shape[1] > 1 and len(names):
        with np.errstate(divide="ignore"):
            worth = np.maximum(np.log(P[names].T), NEVER)
            free = np.maximum(np.log(P[-1]), NEVER)
        soft, rest = marginals(worth, free, MAX_MATCHINGS)
        Y[names], Y[-1] = soft.T, rest
    rows = np.append(names, len(P) - 1)
    groups = np.zeros(P.shape[1], dtype=np.intp)
    rule = AtMostOnce(groups, len(names))
    sets = CandidateSets.of_mask(np.ones((len(rows), P.shape[1]), dtype=bool))
    return Y, rows[assign(sets.entries_of(Y[rows]), sets, [rule])]


def _vectors(sql: sqlite3.Connection, faces: list[int], kept: StoredRecogniser) -> Array:
    rows = []
    for face in faces:
        vector, model = sql.execute(
            "SELECT vector, model FROM embeddings JOIN faces ON faces.id = face WHERE face = ?",
            (face,),
        ).fetchone()
        if model != kept.model:
            raise ProjectProblem(
                f"people were learnt with {kept.model}, and face {face} was found with {model}; "
                f"{AGAIN}"
            )
        rows.append(np.frombuffer(vector, dtype="<f4"))
    return np.array(rows, dtype=float)


def _paths(sql: sqlite3.Connection) -> Mapping[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for photo, path in sql.execute("SELECT photo, path FROM files WHERE gone = 0"):
        found[photo].append(os.fsdecode(path))
    return found


def _changes(
    sql: sqlite3.Connection,
    done: RecognitionSummary,
    faces: list[int],
    now: Mapping[int, FaceLabel],
) -> list[NameChange]:
    found = []
    for face in faces:
        row = sql.execute(
            "SELECT name, run FROM labels LEFT JOIN known ON known.id = person WHERE face = ?",
            (face,),
        ).fetchone()
        after = now[face].name if face in now else None
        if row is None or row[0] == after:
            continue
        why = LEARNT if (row[1] or 0) < done.trained else HERE
        why = why if face in now else NOT_HERE
        found.append(NameChange(done.run, face, row[0], after, why))
    return found
