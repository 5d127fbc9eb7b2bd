"""What was solved, as it is kept in a project: read and written."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from candidly.photos.project import Project
from candidly.photos.project.queries import embeddings
from candidly.photos.project.values import person_named
from candidly.photos.solving.labelling import Embeddings, Verdict, Verdicts, Weighed
from candidly.photos.solving.problem import Told

RECOGNISED = "known people"
"""What a run that names photos without captions says that it solved."""


@dataclass(frozen=True)
class Rival:
    """A candidate of a face: how likely, how like, and which face has the name instead.

    ``name`` is None for nobody. ``likeness`` is the log likelihood ratio against anybody, 0 where
    the name has no other face to compare with; for nobody it is that of somebody known who is not
    mentioned. ``place`` is the log odds by place and size, 0 for a face like the others.
    """

    name: str | None
    probability: float
    likeness: float
    place: float
    taken_by: int | None


@dataclass(frozen=True)
class Change:
    """A face whose name became another in a run: None is nobody."""

    run: int
    face: int
    before: str | None
    after: str | None
    why: str


def rivals(sql: sqlite3.Connection, face: int) -> list[Rival]:
    """The candidates of a face as they were last weighed, most likely first."""
    rows = sql.execute(
        "SELECT name, probability, likeness, place, (SELECT labels.face FROM labels"
        " JOIN faces other ON other.id = labels.face WHERE labels.person = weighed.person"
        " AND other.photo = faces.photo AND other.id != faces.id LIMIT 1)"
        " FROM weighed JOIN faces ON faces.id = weighed.face"
        " LEFT JOIN known ON known.id = weighed.person"
        " WHERE weighed.face = ? AND barred IS NOT 1 ORDER BY probability DESC, weighed.rowid",
        (face,),
    )
    return [Rival(*row) for row in rows]


def changes(project: Project, run: int | None = None) -> Iterator[Change]:
    """Names that became others in a run; by default in the last that solved, and since."""
    with project.snapshot() as sql:
        first, last = (last_solve(sql), 2**62) if run is None else (run, run)
        yield from (
            Change(*row)
            for row in sql.execute(
                "SELECT run, face, before, after, why FROM changes"
                " WHERE run BETWEEN ? AND ? ORDER BY id",
                (first, last),
            )
        )


def last_solve(sql: sqlite3.Connection) -> int | None:
    """The number of the last run that solved what is written to its end."""
    (run,) = sql.execute(
        "SELECT max(id) FROM runs WHERE finished IS NOT NULL"
        " AND json_extract(settings, '$.solve') != ?",
        (RECOGNISED,),
    ).fetchone()
    return None if run is None else int(run)


def read_stamps(sql: sqlite3.Connection) -> dict[int, tuple[str, str, str]]:
    """What each photo was like when it was last solved: words, faces, decisions."""
    rows = sql.execute("SELECT photo, words, faces, decisions FROM solved")
    return {photo: (words, faces, decisions) for photo, words, faces, decisions in rows}


def read_verdicts(sql: sqlite3.Connection) -> Verdicts:
    """What was last said of every face that has an embedding."""
    weighed: dict[int, list[Weighed]] = defaultdict(list)
    for face, *values in sql.execute(
        "SELECT weighed.face, name, probability, likeness, place FROM weighed"
        " JOIN comparable ON comparable.face = weighed.face"
        " LEFT JOIN people ON people.id = person ORDER BY weighed.rowid"
    ):
        weighed[face].append(Weighed(*values))
    rows = sql.execute(
        "SELECT face, name, confidence FROM labels LEFT JOIN people ON people.id = person"
    )
    return {
        face: Verdict(name, confidence, tuple(weighed[face]))
        for face, name, confidence in rows
        if face in weighed
    }


def read_embeddings(project: Project) -> Embeddings:
    """All embeddings of a project."""
    batches = list(embeddings(project))
    numbers = [int(number) for part, _ in batches for number in part]
    rows = np.concatenate([part for _, part in batches]) if batches else np.zeros((0, 0))
    return Embeddings.of(numbers, rows)


def worked_out(sql: sqlite3.Connection, photo: int) -> dict[int, str | None]:
    """Labels of the faces of a photo, but for those that were recognised without words."""
    rows = sql.execute(
        "SELECT face, name FROM labels JOIN faces ON faces.id = face"
        " LEFT JOIN people ON people.id = person LEFT JOIN runs ON runs.id = run"
        " WHERE photo = ? AND json_extract(settings, '$.solve') IS NOT ? ORDER BY face",
        (photo, RECOGNISED),
    )
    return dict(rows)


def forget(sql: sqlite3.Connection, photo: int, also: Iterable[int] = ()) -> None:
    """Take back what was worked out of the faces of a photo, and what was said of others."""
    forget_faces(sql, {*worked_out(sql, photo), *also})
    sql.execute("DELETE FROM solved WHERE photo = ?", (photo,))


def forget_faces(sql: sqlite3.Connection, faces: Iterable[int]) -> None:
    """Take back what was said of some faces."""
    numbers = [(face,) for face in faces]
    for table in ("weighed", "labels"):
        sql.executemany(f"DELETE FROM {table} WHERE face = ?", numbers)


def keep(sql: sqlite3.Connection, run: int, told: Told, verdicts: Mapping[int, Verdict]) -> None:
    """Keep what was said of the faces of a photo, in place of what was said before.

    Where nothing is written, a decided face is all that is solved; the others may have been
    recognised, and stay so.
    """
    forget(sql, told.photo, told.faces)
    keep_verdicts(sql, run, {face: verdicts[face] for face in told.faces})
    sql.execute(
        "INSERT INTO solved VALUES (?, ?, ?, ?, ?)",
        (told.photo, run, told.words, told.looks, told.decisions),
    )


def keep_verdicts(sql: sqlite3.Connection, run: int, verdicts: Mapping[int, Verdict]) -> None:
    """Keep what was said of faces of which nothing is said yet."""
    for face, verdict in verdicts.items():
        person = None if verdict.name is None else person_named(sql, verdict.name)
        values = (face, person, verdict.confidence, run)
        sql.execute("INSERT INTO labels VALUES (?, ?, ?, ?)", values)
        sql.executemany(
            "INSERT INTO weighed VALUES (?, ?, ?, ?, ?)",
            [
                (
                    face,
                    None if one.name is None else person_named(sql, one.name),
                    one.probability,
                    one.likeness,
                    one.place,
                )
                for one in verdict.weighed
            ],
        )


def keep_changes(sql: sqlite3.Connection, found: list[Change]) -> None:
    """Keep which names became others."""
    sql.executemany(
        "INSERT INTO changes (run, face, before, after, why) VALUES (?, ?, ?, ?, ?)",
        [(one.run, one.face, one.before, one.after, one.why) for one in found],
    )
