"""Where the name of a face comes from: who decided it, what names it, or which run found it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from candidly.photos.project.face_names import (
    decision_on,
    exported_names,
    in_barred_photo,
    metadata_names,
)
from candidly.photos.project.queries import candidates, captions
from candidly.photos.solving.store import RECOGNISED as WITHOUT_WORDS

CAPTION, RECOGNISED = "worked out from captions", "recognised: nothing is written about the photo"
OPEN = "nothing was said of it yet: candidly name works it out"
BARRED = "nobody is to be named in the folder of this photo, by the --never list"
WORDLESS = (
    "nothing is written about the photo: candidly name --no-captions recognises people whom "
    "candidly train learnt"
)


@dataclass(frozen=True)
class DecisionRecord:
    """A decision of a user about the face that stands, and when it was made."""

    number: int
    what: str
    name: str | None
    by: str
    at: str


@dataclass(frozen=True)
class NameSource:
    """Where a name comes from, in words; ``direct`` if it was not worked out."""

    text: str
    direct: bool


def decision_records(sql: sqlite3.Connection, face: int) -> list[DecisionRecord]:
    """Return what stands decided about a face, in order, with the current names of people."""
    rows = sql.execute(
        'SELECT standing.id, what, name, "by", at FROM standing'
        " LEFT JOIN known ON known.id = person WHERE face = ? ORDER BY standing.id",
        (face,),
    )
    return [DecisionRecord(*row) for row in rows]


def name_source(
    sql: sqlite3.Connection, face: int, name: str | None, confidence: float | None
) -> NameSource:
    """Return where the name of a face comes from, or that it has none."""
    if in_barred_photo(sql, face):
        return NameSource(BARRED, True)
    decision, records = decision_on(sql, face), decision_records(sql, face)
    if decision.ignored:
        who, when = _decider(records, "ignore")
        return NameSource(f"{who} decided on {when} that it is not a face to ask about", True)
    if decision.nobody or decision.name is not None:
        who, when = _decider(records, "nobody" if decision.nobody else "is")
        return NameSource(f"{who} decided it on {when}", True)
    if name is not None and name in exported_names(sql, face):
        (at,) = sql.execute("SELECT at FROM exported WHERE face = ?", (face,)).fetchone()
        return NameSource(f"the name was given out of the project on {at[:10]}, and stays", True)
    if name is not None and name in metadata_names(sql, face):
        return NameSource(_metadata(sql, face, name), True)
    if confidence is None:
        (photo,) = sql.execute("SELECT photo FROM faces WHERE id = ?", (face,)).fetchone()
        written = candidates(sql, photo) or captions(sql, photo)
        return NameSource(OPEN if written else WORDLESS, False)
    run = label_run(sql, face)
    recognised = run is not None and run["solve"] == WITHOUT_WORDS
    return NameSource(RECOGNISED if recognised else CAPTION, False)


def who_refused(sql: sqlite3.Connection, face: int, name: str) -> str:
    """Return a sentence on who decided that a face is not a person."""
    records = [one for one in decision_records(sql, face) if one.name == name]
    return f"{_decider(records, 'not')[0]} decided that it is not {name}"


def who_gave(sql: sqlite3.Connection, face: int) -> str | None:
    """Return the one who decided the name of a face, or None."""
    if decision_on(sql, face).name is None:
        return None
    return _decider(decision_records(sql, face), "is")[0]


def label_run(sql: sqlite3.Connection, face: int) -> dict[str, Any] | None:
    """Return the run that gave the label."""
    row = sql.execute(
        "SELECT runs.id, version, settings, finished FROM labels JOIN runs ON runs.id = run"
        " WHERE face = ?",
        (face,),
    ).fetchone()
    if row is None:
        return None
    number, version, settings, finished = row
    known = json.loads(settings)
    return {
        "run": number,
        "version": version,
        "finished": finished,
        "solve": known.get("solve"),
        "cues": known.get("cues"),
    }


def _decider(records: Sequence[DecisionRecord], what: str) -> tuple[str, str]:
    """Return who made the last decision of a kind, and the day."""
    last = [one for one in records if one.what == what][-1]
    return last.by, last.at[:10]


def _metadata(sql: sqlite3.Connection, face: int, name: str) -> str:
    """Return which metadata names a face."""
    path, origin = sql.execute(
        "SELECT path, origin FROM regions JOIN captions ON captions.id = caption"
        " JOIN files ON files.id = file JOIN known ON known.id = person"
        " WHERE face = ? AND gone = 0 AND known.name = ? ORDER BY regions.id",
        (face, name),
    ).fetchone()
    return f"the metadata of {os.fsdecode(path)} ({origin}) names this face"
