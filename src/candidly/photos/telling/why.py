"""Why a face has its name, or none: what is written, whom it is like, who else it might be."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass
from typing import Any

from candidly.photos.project import Project
from candidly.photos.project.queries import decided, file_of, given_out, in_metadata, named
from candidly.photos.solving import rivals
from candidly.photos.solving.problem import likely_spellings
from candidly.photos.solving.stored import RECOGNISED as WITHOUT_WORDS
from candidly.photos.telling.likeness import Alike, alike
from candidly.photos.telling.reasons import Other, others, reasons
from candidly.photos.telling.which import from_left


@dataclass(frozen=True)
class Span:
    """Somebody named in a text, from ``start`` to ``end``; ``evidence`` where it is the face's."""

    start: int
    end: int
    name: str | None
    cue: str | None
    evidence: bool


@dataclass(frozen=True)
class Passage:
    """What is written about the photo, and who is named there."""

    file: str
    origin: str
    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Decided:
    """What somebody said of the face."""

    what: str
    name: str | None
    by: str
    at: str


@dataclass(frozen=True)
class Why:
    """All that is known of how a face got its name; ``source`` says from what.

    ``place`` is its place from the left among ``of`` faces.
    """

    face: int
    file: str
    place: int
    of: int
    name: str | None
    confidence: float | None
    source: str
    reasons: tuple[str, ...]
    passages: tuple[Passage, ...]
    given: tuple[str, ...]
    alike: tuple[Alike, ...]
    others: tuple[Other, ...]
    decisions: tuple[Decided, ...]
    model: str
    run: dict[str, Any] | None


def why(project: Project, face: int) -> Why:
    """Say why a face has its name, or none.

    Parameters
    ----------
    project : Project
    face : int
        Its number; see ``find_face``.
    """
    with project.snapshot() as sql:
        photo, model = sql.execute(
            "SELECT photo, model FROM faces WHERE id = ?", (face,)
        ).fetchone()
        name, confidence = named(sql, face)
        weighed = rivals(sql, face)
        source = _source(sql, face, name, open_=confidence is None)
        near = () if name is None else tuple(alike(sql, face, name))
        order = from_left(sql, photo)
        return Why(
            face,
            file_of(sql, face),
            order.index(face) + 1,
            len(order),
            name,
            confidence,
            source,
            tuple([] if source in DIRECT else reasons(name, weighed, near)),
            tuple(_passages(sql, photo, name)),
            tuple(_given(sql, photo)),
            near,
            tuple(others(sql, face, photo, name, weighed)),
            tuple(_decisions(sql, face)),
            model,
            _run(sql, face),
        )


DECIDED, METADATA = "somebody decided it", "the metadata of the photo names this face"
EXPORTED = "the name was given out of the project, and stays"
CAPTION, RECOGNISED = "worked out from captions", "recognised: nothing is written about the photo"
OPEN = "nothing was said of it yet: candidly name works it out"
IGNORED = "somebody decided that it is not a face to ask about"
DIRECT = (DECIDED, METADATA, EXPORTED, IGNORED)


def _source(sql: sqlite3.Connection, face: int, name: str | None, *, open_: bool) -> str:
    answer = decided(sql, face)
    if answer.ignored:
        return IGNORED
    if answer.nobody or answer.name is not None:
        return DECIDED
    if name is not None and name in in_metadata(sql, face):
        return METADATA
    if name in given_out(sql, face):
        return EXPORTED
    if open_:
        return OPEN
    run = _run(sql, face)
    return RECOGNISED if run is not None and run["solve"] == WITHOUT_WORDS else CAPTION


def _passages(sql: sqlite3.Connection, photo: int, name: str | None) -> list[Passage]:
    likely = likely_spellings(sql)
    rows = sql.execute(
        "SELECT captions.id, path, origin, text FROM captions JOIN files ON files.id = file"
        " WHERE photo = ? AND gone = 0 AND text != '' ORDER BY captions.id",
        (photo,),
    ).fetchall()
    found: dict[str, Passage] = {}
    for caption, path, origin, text in rows:
        spans = [
            Span(start, end, who, _cue(*cue), name is not None and name in (who, likely.get(who)))
            for start, end, who, *cue in sql.execute(
                'SELECT start, "end", people.name, side, place, "of" FROM mentions'
                " LEFT JOIN people ON people.id = person WHERE caption = ?"
                " ORDER BY start, mentions.id",
                (caption,),
            )
        ]
        # Copies of a photo often say the same.
        found.setdefault(text, Passage(os.fsdecode(path), origin, text, tuple(spans)))
    return list(found.values())


def _cue(side: str | None, place: int | None, of: int | None) -> str | None:
    """A place in words.

    Examples
    --------
    >>> _cue("left", 2, 3)
    '2 from left of 3'
    """
    if side is None:
        return None
    return f"{place} from {side}" + ("" if of is None else f" of {of}")


def _given(sql: sqlite3.Connection, photo: int) -> list[str]:
    """Names that were listed for the photo, or drawn in it."""
    where = "JOIN captions ON captions.id = caption JOIN files ON files.id = file"
    rows = sql.execute(
        f"SELECT people.name FROM given {where} JOIN people ON people.id = person"
        " WHERE photo = :photo AND gone = 0 UNION"
        f" SELECT people.name FROM regions {where} JOIN people ON people.id = person"
        " WHERE photo = :photo AND gone = 0",
        {"photo": photo},
    )
    return [name for (name,) in rows]


def _decisions(sql: sqlite3.Connection, face: int) -> list[Decided]:
    rows = sql.execute(
        'SELECT what, name, "by", at FROM decisions LEFT JOIN people ON people.id = person'
        " WHERE face = ? ORDER BY decisions.id",
        (face,),
    )
    return [Decided(*row) for row in rows]


def _run(sql: sqlite3.Connection, face: int) -> dict[str, Any] | None:
    """The run that the label is of."""
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
