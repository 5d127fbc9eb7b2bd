"""Explanation of a face's name, or of none: captions, similar faces, and other candidates."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from candidly.photos.explaining.face_choice import faces_from_left
from candidly.photos.explaining.similarity import SimilarFace, similar_faces
from candidly.photos.project import Project
from candidly.photos.project.queries import (
    candidates,
    decision_on,
    exported_names,
    file_of,
    metadata_names,
    name_and_confidence,
    percent,
)
from candidly.photos.solving import CandidateScore, candidate_scores
from candidly.photos.solving.problem import likely_spellings
from candidly.photos.solving.store import RECOGNISED as WITHOUT_WORDS

DECIDED, METADATA = "somebody decided it", "the metadata of the photo names this face"
EXPORTED = "the name was given out of the project, and stays"
CAPTION, RECOGNISED = "worked out from captions", "recognised: nothing is written about the photo"
OPEN = "nothing was said of it yet: candidly name works it out"
IGNORED = "somebody decided that it is not a face to ask about"
DIRECT = (DECIDED, METADATA, EXPORTED, IGNORED)
PLACED = 0.05  # log odds of place and size from which they are mentioned


@dataclass(frozen=True)
class NameSpan:
    """A name in a text, from ``start`` to ``end``; ``evidence`` if it is the face's name.

    ``absence`` are words of the text that say that the person may not be shown, if any, and
    ``shown`` is how likely the person then is shown, against somebody mentioned plainly.
    """

    start: int
    end: int
    name: str | None
    cue: str | None
    evidence: bool
    shown: float = 1.0
    absence: str = ""


@dataclass(frozen=True)
class Passage:
    """A text about the photo, and the names in it."""

    file: str
    origin: str
    text: str
    spans: tuple[NameSpan, ...]


@dataclass(frozen=True)
class DecisionRecord:
    """A decision of a user about the face, and when it was made."""

    what: str
    name: str | None
    by: str
    at: str


@dataclass(frozen=True)
class Alternative:
    """Another candidate (None for nobody): its probability, and why it was not chosen."""

    name: str | None
    probability: float | None
    because: str


@dataclass(frozen=True)
class Explanation:
    """Everything known about how a face got its name; ``source`` says where it came from.

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
    alike: tuple[SimilarFace, ...]
    others: tuple[Alternative, ...]
    decisions: tuple[DecisionRecord, ...]
    model: str
    run: dict[str, Any] | None


def explain(project: Project, face: int) -> Explanation:
    """Return the explanation of a face's name, or of why it has none.

    Parameters
    ----------
    project : Project
    face : int
        Number of the face; see ``find_face``.
    """
    with project.snapshot() as sql:
        photo, model = sql.execute(
            "SELECT photo, model FROM faces WHERE id = ?", (face,)
        ).fetchone()
        name, confidence = name_and_confidence(sql, face)
        scores = candidate_scores(sql, face)
        source = _source(sql, face, name, open_=confidence is None)
        near = () if name is None else tuple(similar_faces(sql, face, name))
        order = faces_from_left(sql, photo)
        passages, given = _passages(sql, photo, name), _given(sql, photo)
        absent = _absences(passages, given)
        said = [absent[name]] if name in absent else []
        return Explanation(
            face,
            file_of(sql, face),
            order.index(face) + 1,
            len(order),
            name,
            confidence,
            source,
            tuple([] if source in DIRECT else [*reasons(name, scores, near), *said]),
            tuple(passages),
            tuple(given),
            near,
            tuple(_alternatives(sql, face, photo, name, scores, absent)),
            tuple(_decisions(sql, face)),
            model,
            _run(sql, face),
        )


def _source(sql: sqlite3.Connection, face: int, name: str | None, *, open_: bool) -> str:
    decision = decision_on(sql, face)
    if decision.ignored:
        return IGNORED
    if decision.nobody or decision.name is not None:
        return DECIDED
    if name is not None and name in metadata_names(sql, face):
        return METADATA
    if name in exported_names(sql, face):
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
            NameSpan(
                start,
                end,
                who,
                _cue(*cue),
                name is not None and name in (who, likely.get(who)),
                shown,
                absence,
            )
            for start, end, who, shown, absence, *cue in sql.execute(
                'SELECT start, "end", people.name, shown, absence, side, place, "of" FROM mentions'
                " LEFT JOIN people ON people.id = person WHERE caption = ?"
                " ORDER BY start, mentions.id",
                (caption,),
            )
        ]
        # Copies of a photo often say the same.
        found.setdefault(text, Passage(os.fsdecode(path), origin, text, tuple(spans)))
    return list(found.values())


def _absences(passages: Iterable[Passage], given: Sequence[str]) -> dict[str | None, str]:
    """Return what the texts say of people who may not be shown, unless named plainly as well."""
    most: dict[str | None, NameSpan] = {}
    for span in (span for passage in passages for span in passage.spans):
        if span.name not in most or span.shown > most[span.name].shown:
            most[span.name] = span
    return {
        name: f'the text says that {name} may not be shown: "{span.absence}"'
        for name, span in most.items()
        if name is not None and span.absence and name not in given
    }


def _cue(side: str | None, place: int | None, of: int | None) -> str | None:
    """Return a place in words.

    Examples
    --------
    >>> _cue("left", 2, 3)
    '2 from left of 3'
    """
    if side is None:
        return None
    return f"{place} from {side}" + ("" if of is None else f" of {of}")


def _given(sql: sqlite3.Connection, photo: int) -> list[str]:
    """Return names that were listed for the photo, or drawn in it."""
    where = "JOIN captions ON captions.id = caption JOIN files ON files.id = file"
    rows = sql.execute(
        f"SELECT people.name FROM given {where} JOIN people ON people.id = person"
        " WHERE photo = :photo AND gone = 0 UNION"
        f" SELECT people.name FROM regions {where} JOIN people ON people.id = person"
        " WHERE photo = :photo AND gone = 0",
        {"photo": photo},
    )
    return [name for (name,) in rows]


def _decisions(sql: sqlite3.Connection, face: int) -> list[DecisionRecord]:
    rows = sql.execute(
        'SELECT what, name, "by", at FROM decisions LEFT JOIN people ON people.id = person'
        " WHERE face = ? ORDER BY decisions.id",
        (face,),
    )
    return [DecisionRecord(*row) for row in rows]


def _run(sql: sqlite3.Connection, face: int) -> dict[str, Any] | None:
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


# Evidence for an answer, and against the others


def reasons(
    name: str | None, scores: Sequence[CandidateScore], near: Sequence[SimilarFace]
) -> list[str]:
    """Return the reasons for a name, or for nobody.

    Examples
    --------
    >>> scores = [CandidateScore("Ann", 0.8, 0.0, 0.4), CandidateScore(None, 0.2, 0.0, 0.0)]
    >>> reasons("Ann", scores, [])
    ['no other face of Ann is known to compare it with: by elimination', 'its place or size ...']
    """
    own = next((one for one in scores if one.name == name), None)
    if own is None:
        return []
    if name is None:
        if len(scores) == 1:
            return ["nobody is named who could be it"]
        if own.likeness > 0:
            return ["it looks more like somebody known who is not mentioned"]
        return ["nobody named fits better"]
    found = []
    if own.likeness > 0:
        most = f", at most {near[0].cosine:.2f} (cosine)" if near else ""
        found.append(f"it looks like other faces of {name}{most}")
    elif own.likeness == 0:
        found.append(f"no other face of {name} is known to compare it with: by elimination")
    else:
        found.append(f"it does not look like other faces of {name}, but nobody else fits better")
    if own.place > PLACED:
        found.append("its place or size in the picture speaks for it")
    return found


def _alternatives(
    sql: sqlite3.Connection,
    face: int,
    photo: int,
    name: str | None,
    scores: Sequence[CandidateScore],
    absent: Mapping[str | None, str],
) -> list[Alternative]:
    """Return the other candidates of a face, the likeliest first, and why each was not chosen."""
    refused = decision_on(sql, face).refused
    own = next((one for one in scores if one.name == name), None)
    found = [
        Alternative(one.name, one.probability, _because(sql, one, own, name, refused, absent))
        for one in scores
        if one.name != name
    ]
    there = {one.name for one in scores} | {name}
    for other in candidates(sql, photo):
        if other not in there:
            found.append(Alternative(other, None, _unweighed(sql, photo, face, other, refused)))
    return found


def _because(
    sql: sqlite3.Connection,
    one: CandidateScore,
    own: CandidateScore | None,
    name: str | None,
    refused: frozenset[str],
    absent: Mapping[str | None, str],
) -> str:
    if one.name is None:
        return "somebody decided otherwise" if own is None else f"{name} is likelier"
    if one.name in refused:
        return f"somebody decided that it is not {one.name}"
    parts = [absent[one.name]] if one.name in absent else []
    if one.taken_by is not None:
        sure = name_and_confidence(sql, one.taken_by)[1]
        parts.append(
            f"taken: face {one.taken_by} is {one.name}"
            + ("" if sure is None else f", {percent(sure)}")
        )
    if one.likeness < 0:
        parts.append(f"dissimilar: it does not look like other faces of {one.name}")
    elif one.likeness == 0:
        parts.append(f"no other face of {one.name} is known to compare it with")
    elif own is not None and one.likeness < own.likeness:
        parts.append("less like it" if name is None else f"less like it than {name}")
    if one.place < -PLACED:
        parts.append("elsewhere: by place or size in the picture it is another face")
    return "; ".join(parts) or "not more likely"


def _unweighed(
    sql: sqlite3.Connection, photo: int, face: int, other: str, refused: frozenset[str]
) -> str:
    """Return why a mentioned person was not a candidate."""
    if other in refused:
        return f"somebody decided that it is not {other}"
    for number in faces_from_left(sql, photo):
        if number != face and name_and_confidence(sql, number)[0] == other:
            return f"taken: face {number} is {other}"
    return "not weighed: named since the last run, or taken for another spelling"
