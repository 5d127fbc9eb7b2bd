"""A random order of the names that nobody confirmed: drawn once, stored, and answered in part.

The answers are decisions, wherever they were made; a question that is open is a face without one.
So nothing is asked twice, a decision that is undone is asked about again, and it does not matter
why somebody decided about a face: what is true of it does not depend on that.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import LIKELY
from candidly.photos.project.face_names import combine_decisions, name_and_confidence
from candidly.photos.project.named_faces import named_faces
from candidly.photos.project.schema import person_id, timestamp
from candidly.photos.records import NAMED

_MENTIONS = f"""SELECT name, count(DISTINCT photo) FROM (
    SELECT caption, person FROM mentions WHERE probability >= {NAMED}
    UNION SELECT caption, person FROM given UNION SELECT caption, person FROM regions
    ) JOIN captions ON captions.id = caption JOIN files ON files.id = file
    JOIN known ON known.id = person WHERE gone = 0 GROUP BY name"""


@dataclass(frozen=True)
class AuditSample:
    """The names drawn, in their order, with what is known of them.

    Attributes
    ----------
    audit : int
        Number of the audit.
    pilot : int
        How many of the first only choose what an export promises.
    faces : (N,) array of int
        Faces, in random order.
    names : list of str
        Their names when the sample was drawn, as people are called now.
    confidence : (N,) array
        How sure the names were.
    mentions : (N,) array of int
        How many photos mention the person.
    wrong : (N,) array of int
        1 where the name is wrong, 0 where it is right, -1 where nobody said; an answer of somebody
        who could not tell counts as wrong.
    """

    audit: int
    pilot: int
    faces: NDArray[np.int64]
    names: list[str]
    confidence: NDArray[np.float64]
    mentions: NDArray[np.int64]
    wrong: NDArray[np.int8]

    def still(self, sql: sqlite3.Connection) -> NDArray[np.bool_]:
        """Return which faces have the name now that they had when they were drawn."""
        return np.array(
            [
                name_and_confidence(sql, face)[0] == name
                for face, name in zip(self.faces.tolist(), self.names, strict=True)
            ],
            dtype=bool,
        )


def draw_sample(sql: sqlite3.Connection, seed: int, pilot: int) -> int:
    """Store a random order of all names that nobody confirmed, guesses left out; return its number.

    Parameters
    ----------
    sql : Connection
        In a transaction.
    seed : int
        Seed of the order.
    pilot : int
        How many of the first answers only choose what an export promises.
    """
    mentions = dict(sql.execute(_MENTIONS).fetchall())
    frame = [one for one in named_faces(sql) if not one.confirmed and one.confidence >= LIKELY]
    frame.sort(key=lambda one: one.face)
    order = np.random.default_rng(seed).permutation(len(frame))
    (audit,) = sql.execute(
        "INSERT INTO audits (seed, pilot, at) VALUES (?, ?, ?) RETURNING id",
        (seed, pilot, timestamp()),
    ).fetchone()
    sql.executemany(
        "INSERT INTO audited (audit, place, face, person, confidence, mentions)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                audit,
                place,
                frame[at].face,
                person_id(sql, frame[at].name),
                frame[at].confidence,
                mentions.get(frame[at].name, 0),
            )
            for place, at in enumerate(order.tolist())
        ),
    )
    return int(audit)


def is_drawn(sql: sqlite3.Connection) -> bool:
    """Return whether there is a sample."""
    return sql.execute("SELECT 1 FROM audits").fetchone() is not None


def read_sample(sql: sqlite3.Connection) -> AuditSample | None:
    """Return the sample that was drawn last, with the answers so far, or None."""
    last = sql.execute("SELECT id, pilot FROM audits ORDER BY id DESC LIMIT 1").fetchone()
    if last is None:
        return None
    rows = sql.execute(
        "SELECT face, known.name, confidence, mentions, unsure FROM audited"
        " JOIN known ON known.id = person WHERE audit = ? ORDER BY place",
        (last[0],),
    ).fetchall()
    said: dict[int, list[tuple[str, str | None]]] = defaultdict(list)
    for face, what, name in sql.execute(
        "SELECT face, what, known.name FROM standing LEFT JOIN known ON known.id = person"
        " WHERE face IS NOT NULL ORDER BY standing.id"
    ):
        said[face].append((what, name))
    wrong = [_answer(said.get(face, []), name, unsure) for face, name, _, _, unsure in rows]
    return AuditSample(
        last[0],
        last[1],
        np.array([row[0] for row in rows], dtype=np.int64),
        [row[1] for row in rows],
        np.array([row[2] for row in rows], dtype=float),
        np.array([row[3] for row in rows], dtype=np.int64),
        np.array(wrong, dtype=np.int8),
    )


def _answer(said: list[tuple[str, str | None]], name: str, unsure: int) -> int:
    """Return 1 if a name is wrong by what was decided, 0 if it is right, -1 if that is open."""
    decision = combine_decisions(said)
    if decision.name is not None:
        return int(decision.name != name)
    if decision.nobody or decision.ignored or name in decision.refused or unsure:
        return 1
    return -1


def keep_unsure(sql: sqlite3.Connection, audit: int, face: int, *, unsure: bool) -> None:
    """Store that somebody was asked about a face and could not tell, or take it back."""
    sql.execute(
        "UPDATE audited SET unsure = ? WHERE audit = ? AND face = ?", (int(unsure), audit, face)
    )
