"""Names for photos about which nothing is written: who is known is recognised, others nobody."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from candidly.photos.learning.once import at_most_once
from candidly.photos.learning.stored import AGAIN, Kept, read_trained
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.solving.labelling import Verdict, Weighed
from candidly.photos.solving.problem import Told, read_told
from candidly.photos.solving.stored import (
    RECOGNISED,
    Change,
    forget_faces,
    keep_changes,
    keep_verdicts,
)
from candidly.solvers.recogniser import Array

SHOWN = 5  # candidates of a face that are kept, besides nobody
LEARNT = "people were learnt again"
HERE = "something was decided in this photo, or other people may be named"
NOT_HERE = "nobody is to be named in this photo"


class Permits(Protocol):
    """What a user's lists say of names and folders."""

    def canonical(self, name: str) -> str:
        """The name that a name stands for."""

    def permits(self, name: str) -> bool:
        """Whether somebody may be named."""

    def permits_folder(self, path: str) -> bool:
        """Whether the people of a photo may be named, by its path under the root."""


@dataclass
class Recognised:
    """What a run did: photos without captions, their faces, those named, names that changed."""

    run: int
    trained: int
    photos: int = 0
    faces: int = 0
    named: int = 0
    changes: list[Change] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """All of it as numbers."""
        numbers = {name: getattr(self, name) for name in ("photos", "faces", "named")}
        return {**numbers, "changes": len(self.changes)}


def name_uncaptioned(
    project: Project, lists: Permits, on_start: Callable[[int], None] | None = None
) -> Recognised:
    """Name the faces of photos about which nothing is written, by the people learnt.

    Parameters
    ----------
    project : Project
        Opened for writing.
    lists : Permits
        Who may be named, and where.
    on_start : callable, optional
        Told how many photos there are.
    """
    from candidly import __version__

    with project.snapshot() as sql:
        kept = read_trained(sql)
        if kept is None:
            raise ProjectProblem(
                f"no people are learnt in {project.path} yet; candidly train does it, once "
                "candidly name has named photos with captions"
            )
        told = read_told(sql, wordless=True)
        paths = _paths(sql)
    if on_start is not None:
        on_start(len(told))
    run = project.begin_run(__version__, {"solve": RECOGNISED, "trained": kept.run})
    done = Recognised(run, kept.run, len(told))
    where = _Names(kept, lists)
    with project.transaction() as sql:
        for photo, one in told.items():
            free = [face for face in one.faces if face not in one.bound]
            now: dict[int, Verdict] = {}
            if free and all(lists.permits_folder(path) for path in paths[photo]):
                now = where.verdicts(one, free, _vectors(sql, free, kept))
            done.faces += len(now)
            done.named += sum(verdict.name is not None for verdict in now.values())
            done.changes += _changed(sql, done, free, now)
            forget_faces(sql, free)
            keep_verdicts(sql, run, now)
        keep_changes(sql, done.changes)
    project.end_run(run, done.counts)
    return done


class _Names:
    """From the people learnt to the names that may be given; whoever may not be is nobody."""

    def __init__(self, kept: Kept, lists: Permits) -> None:
        self.recogniser = kept.recogniser
        own = [
            lists.canonical(name) if lists.permits(name) else None for name in kept.recogniser.names
        ]
        self.names = sorted({name for name in own if name is not None})
        self.row = {name: i for i, name in enumerate(self.names)}
        nobody = len(self.names)
        self._to = np.array([*(nobody if n is None else self.row[n] for n in own), nobody])

    def verdicts(self, told: Told, faces: list[int], X: Array) -> dict[int, Verdict]:
        """Who the faces of one photo are."""
        learnt, evidence = self.recogniser.recognise(X)
        P = np.zeros((len(self.names) + 1, len(faces)))
        np.add.at(P, self._to, learnt)
        likeness = np.full(P.shape, -np.inf)
        np.maximum.at(likeness, self._to[:-1], evidence)
        likeness[-1] = 0
        taken = told.drawn | {name for name in told.bound.values() if name is not None}
        for name in taken & self.row.keys():
            P[self.row[name]] = 0
        for at, face in enumerate(faces):
            for refused in (name for number, name in told.refused if number == face):
                if refused in self.row:
                    P[self.row[refused], at] = 0
        Y, chosen = at_most_once(P / P.sum(axis=0))
        return {
            face: self._verdict(Y[:, at], likeness[:, at], int(chosen[at]))
            for at, face in enumerate(faces)
        }

    def _verdict(self, y: Array, likeness: Array, chosen: int) -> Verdict:
        who: list[str | None] = [*self.names, None]
        best = {int(i) for i in np.argsort(-y[:-1], kind="stable")[:SHOWN]} | {chosen, len(y) - 1}
        shown = sorted((i for i in best if y[i] > 0 or i == chosen), key=lambda i: -y[i])
        total = float(y[shown].sum())
        weighed = tuple(
            Weighed(who[i], float(y[i] / total), float(likeness[i]), 0.0) for i in shown
        )
        return Verdict(who[chosen], float(np.clip(y[chosen], 0, 1)), weighed)


def _vectors(sql: sqlite3.Connection, faces: list[int], kept: Kept) -> Array:
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


def _changed(
    sql: sqlite3.Connection, done: Recognised, faces: list[int], now: Mapping[int, Verdict]
) -> list[Change]:
    found = []
    for face in faces:
        row = sql.execute(
            "SELECT name, run FROM labels LEFT JOIN people ON people.id = person WHERE face = ?",
            (face,),
        ).fetchone()
        after = now[face].name if face in now else None
        if row is None or row[0] == after:
            continue
        why = LEARNT if (row[1] or 0) < done.trained else HERE
        change = Change(done.run, face, row[0], after, why)
        found.append(change if face in now else replace(change, why=NOT_HERE))
    return found
