"""The log of decisions: only ever added to; an undo names the decision that it takes back.

A decision stands as long as no undo of it stands. An undo is a decision as well, so that it can be
undone. ``undone`` has the decisions that do not stand: it follows from the log, and is kept so that
a query need not go through all of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from candidly.photos.project.schema import timestamp

# Some decisions, the undos of these, the undos of those, and so on.
_ABOUT = """WITH RECURSIVE about (id) AS (
    SELECT id FROM decisions WHERE {}
    UNION SELECT decisions.id FROM decisions JOIN about ON undoes = about.id
    ) SELECT id FROM about"""


@dataclass(frozen=True)
class Decision:
    """A decision: what was said about a face or a name, by whom and when, and if it stands.

    ``what`` is "is", "not", "nobody", "ignore", "merge", "rename" or "undo". ``name`` is the
    person as they are called now, for "merge" and "rename" as they were called then; ``becomes``
    is the name that takes its place. ``undoes`` is the number of the decision taken back;
    ``batch`` is the first number of those that were decided at once.
    """

    number: int
    what: str
    face: int | None
    name: str | None
    becomes: str | None
    undoes: int | None
    batch: int
    by: str
    at: str
    stands: bool


def read_decisions(
    sql: sqlite3.Connection, numbers: Iterable[int] | None = None
) -> Iterator[Decision]:
    """Yield all decisions, or some, in their order."""
    query = (
        "SELECT decisions.id, what, face, CASE WHEN becomes IS NULL THEN known.name"
        ' ELSE one.name END, other.name, undoes, batch, "by", at,'
        " NOT EXISTS (SELECT 1 FROM undone WHERE decision = decisions.id) FROM decisions"
        " LEFT JOIN people one ON one.id = person LEFT JOIN known ON known.id = person"
        " LEFT JOIN people other ON other.id = becomes"
    )
    rows: Iterable[tuple[Any, ...]] = sql.execute(f"{query} ORDER BY decisions.id")
    if numbers is not None:
        rows = (
            row
            for number in sorted(set(numbers))
            for row in sql.execute(f"{query} WHERE decisions.id = ?", (number,))
        )
    for row in rows:
        yield Decision(*[*row[:9], bool(row[9])])


def add_decision(
    sql: sqlite3.Connection,
    what: str,
    by: str,
    *,
    face: int | None = None,
    person: int | None = None,
    becomes: int | None = None,
    batch: int | None = None,
) -> int:
    """Add a decision to the log, and return its number; ``batch`` is the first one of several."""
    return _add(sql, (what, face, person, becomes, None), batch, by)


def take_back(sql: sqlite3.Connection, numbers: Iterable[int], by: str) -> list[int]:
    """Take decisions back, those that stand, and return the numbers of the undos.

    The latest comes first: an undo that is taken back may leave a decision standing that is to be
    taken back as well. So none of them stands afterwards.
    """
    made: list[int] = []
    for number in sorted(set(numbers), reverse=True):
        if _stands(sql, number):
            _release(sql, number)
            batch = made[0] if made else None
            made.append(_add(sql, ("undo", None, None, None, number), batch, by))
            _follow(sql, number)
    return made


def _release(sql: sqlite3.Connection, number: int) -> None:
    """Protect a name no more that was exported as a decision said, which is now taken back.

    A name that an export had written before the decision stays.
    """
    of_face = "exported.face = decisions.face AND what = 'is'"
    of_name = "what IN ('merge', 'rename')"
    for which in (of_face, of_name):
        sql.execute(
            "DELETE FROM exported WHERE face IN (SELECT exported.face FROM decisions"
            f" JOIN exported ON {which} AND exported.at >= decisions.at"
            " JOIN known held ON held.id = exported.person"
            " JOIN known said ON said.id = coalesce(becomes, decisions.person)"
            " WHERE decisions.id = ? AND held.name = said.name)",
            (number,),
        )


def last_batch(sql: sqlite3.Connection) -> list[int]:
    """Return the decisions that were made last at once, of those that stand, without undos."""
    rows = sql.execute(
        "SELECT id FROM standing WHERE id IN (SELECT id FROM decisions WHERE batch ="
        " (SELECT batch FROM decisions WHERE id = (SELECT max(id) FROM standing)))"
    )
    return [number for (number,) in rows]


def numbers_since(sql: sqlite3.Connection, time: str) -> list[int]:
    """Return the decisions from a time on, undos included; the time as it is stored."""
    rows = sql.execute("SELECT id FROM decisions WHERE at >= ? ORDER BY id", (time,))
    return [number for (number,) in rows]


def _add(
    sql: sqlite3.Connection,
    values: tuple[str, int | None, int | None, int | None, int | None],
    batch: int | None,
    by: str,
) -> int:
    (number,) = sql.execute("SELECT coalesce(max(id), 0) + 1 FROM decisions").fetchone()
    row = (number, *values, number if batch is None else batch, by, timestamp())
    sql.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    return int(number)


def _follow(sql: sqlite3.Connection, number: int | None) -> None:
    """Store whether a decision stands, now that an undo of it changed, and what follows."""
    while number is not None:
        undone = sql.execute(
            "SELECT 1 FROM decisions WHERE undoes = ?"
            " AND NOT EXISTS (SELECT 1 FROM undone WHERE decision = decisions.id)",
            (number,),
        ).fetchone()
        if undone:
            sql.execute("INSERT OR IGNORE INTO undone VALUES (?)", (number,))
        else:
            sql.execute("DELETE FROM undone WHERE decision = ?", (number,))
        row = sql.execute("SELECT undoes FROM decisions WHERE id = ?", (number,)).fetchone()
        number = row[0]


def _stands(sql: sqlite3.Connection, number: int) -> bool:
    found = sql.execute("SELECT 1 FROM undone WHERE decision = ?", (number,)).fetchone()
    return found is None


def numbers_about_face(sql: sqlite3.Connection, face: int) -> list[int]:
    """Return the decisions about a face, and what undid them, in order."""
    rows = sql.execute(f"{_ABOUT} ORDER BY id".format("face = ?"), (face,))
    return [number for (number,) in rows]


def numbers_about_name(sql: sqlite3.Connection, name: str) -> list[int]:
    """Return the merges and renames of a person as they are called now, and what undid them."""
    own = "SELECT id FROM known WHERE name = :name"
    rows = sql.execute(
        f"{_ABOUT} ORDER BY id".format(
            f"what IN ('merge', 'rename') AND (person IN ({own}) OR becomes IN ({own}))"
        ),
        {"name": name},
    )
    return [number for (number,) in rows]
