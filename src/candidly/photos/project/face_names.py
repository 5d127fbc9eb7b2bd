"""The name that a face has now, by decisions, by what was given out, by metadata and by labels."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class FaceDecision:
    """The decision about a face: a name, nobody, or to ignore it; and who it is not."""

    name: str | None = None
    nobody: bool = False
    refused: frozenset[str] = frozenset()
    ignored: bool = False


def combine_decisions(decisions: Iterable[tuple[str, str | None]]) -> FaceDecision:
    """Return several decisions as one, given in their order: later ones win.

    Examples
    --------
    >>> combine_decisions([("is", "Ann"), ("not", "Bob"), ("is", "Bob")]).name
    'Bob'
    """
    result = FaceDecision()
    for what, name in decisions:
        match what:
            case "is" if name is not None:
                result = FaceDecision(name, refused=result.refused - {name})
            case "not" if name is not None:
                stays = None if result.name == name else result.name
                refused = result.refused | {name}
                result = FaceDecision(stays, result.nobody, refused, result.ignored)
            case "nobody":
                result = FaceDecision(nobody=True, refused=result.refused)
            case "ignore":
                result = FaceDecision(refused=result.refused, ignored=True)
    return result


# What was decided, and about whom; somebody who is not to be named is nobody.
DECIDED = "CASE WHEN what = 'is' AND barred THEN 'nobody' ELSE what END, iif(barred, NULL, name)"


def decisions(sql: sqlite3.Connection, face: int) -> list[tuple[str, str | None]]:
    """Return what stands decided about a face, in order, with the current names of people.

    Somebody who is not to be named is nobody.
    """
    return sql.execute(
        f"SELECT {DECIDED} FROM standing LEFT JOIN known ON known.id = person"
        " WHERE face = ? ORDER BY standing.id",
        (face,),
    ).fetchall()


def decision_on(sql: sqlite3.Connection, face: int) -> FaceDecision:
    """Return the decision about a face."""
    return combine_decisions(decisions(sql, face))


def metadata_names(sql: sqlite3.Connection, face: int) -> tuple[str, ...]:
    """Return the names that the metadata gives to a face."""
    rows = sql.execute(
        "SELECT known.name FROM regions JOIN known ON known.id = person"
        " JOIN captions ON captions.id = caption JOIN files ON files.id = file"
        " WHERE face = ? AND gone = 0 AND NOT barred ORDER BY regions.id",
        (face,),
    )
    return tuple(name for (name,) in rows)


def name_and_confidence(sql: sqlite3.Connection, face: int) -> tuple[str | None, float | None]:
    """Return the name of a face (None for nobody) and its confidence (None if not yet named).

    The name is the one decided, else exported, else in the metadata, else a label, provided that
    the person may be named and no other face of the photo was decided to be that person since.
    In a photo of a folder where nobody is to be named, there is none.
    """
    if in_barred_photo(sql, face):
        return None, None
    decision = decision_on(sql, face)
    if decision.name is not None or decision.nobody:
        return decision.name, 1.0
    if decision.ignored:
        return None, None
    for name in (*exported_names(sql, face), *metadata_names(sql, face)):
        if name not in decision.refused:
            return name, 1.0
    row = sql.execute(
        "SELECT name, confidence, barred FROM labels LEFT JOIN known ON known.id = person"
        " WHERE face = ?",
        (face,),
    ).fetchone()
    if row is None or row[0] in decision.refused or row[2] or _taken(sql, face, row[0]):
        return None, None
    return row[0], row[1]


def in_barred_photo(sql: sqlite3.Connection, face: int) -> bool:
    """Return whether nobody is to be named in the photo of a face, by the folder that it is in."""
    row = sql.execute(
        "SELECT barred FROM faces JOIN photos ON photos.id = photo WHERE faces.id = ?", (face,)
    ).fetchone()
    return row is not None and bool(row[0])


def _taken(sql: sqlite3.Connection, face: int, name: str | None) -> bool:
    """Return whether another face of the photo was decided to have a name meanwhile."""
    return name is not None and bool(_others_decided(sql, face, name))


def decided_twice(sql: sqlite3.Connection, face: int) -> list[int]:
    """Return the other faces of the photo that are decided to be the person that a face is."""
    name = decision_on(sql, face).name
    return [] if name is None else _others_decided(sql, face, name)


def _others_decided(sql: sqlite3.Connection, face: int, name: str) -> list[int]:
    others = sql.execute(
        "SELECT DISTINCT face FROM standing JOIN faces ON faces.id = face"
        " WHERE photo = (SELECT photo FROM faces WHERE id = :face) AND face != :face",
        {"face": face},
    ).fetchall()
    return [other for (other,) in others if decision_on(sql, other).name == name]


def exported_names(sql: sqlite3.Connection, face: int) -> tuple[str, ...]:
    """Return the names that a face was exported with, without people who may not be named."""
    rows = sql.execute(
        "SELECT name FROM exported JOIN known ON known.id = person WHERE face = ? AND NOT barred",
        (face,),
    )
    return tuple(name for (name,) in rows)
