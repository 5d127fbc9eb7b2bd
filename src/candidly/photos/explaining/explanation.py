"""Explanation of a face's name, or of none: captions, similar faces, and other candidates."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from candidly.photos.certainty import Certainty, certainty, percent
from candidly.photos.explaining.attribution import (
    CAPTION,
    DecisionRecord,
    decision_records,
    label_run,
    name_source,
)
from candidly.photos.explaining.evidence import (
    Alternative,
    alternatives,
    reasons,
    rival_not_mentioned,
)
from candidly.photos.explaining.face_choice import faces_from_left
from candidly.photos.explaining.similarity import SimilarFace, similar_faces
from candidly.photos.project import Project
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.queries import file_of
from candidly.photos.records import NAMED
from candidly.photos.solving import candidate_scores
from candidly.photos.solving.likeness import has_known_cosines
from candidly.photos.solving.problem import likely_spellings

SURE_NAME = 0.9
"""Probability from which it is not said that words are only probably a name."""


@dataclass(frozen=True)
class NameSpan:
    """A name in a text, from ``start`` to ``end``; ``evidence`` if it is the face's name.

    ``absence`` are words of the text that say that the person may not be shown, if any, and
    ``shown`` is how likely the person then is shown, against somebody mentioned plainly.
    ``probability`` is how likely the words name this person, ``fits`` how many people they fit:
    a surname alone may fit several.
    """

    start: int
    end: int
    name: str | None
    cue: str | None
    evidence: bool
    shown: float = 1.0
    absence: str = ""
    probability: float = 1.0
    fits: int = 1

    @property
    def likely_name(self) -> str:
        """How likely the words are a name, in words; "" where that is hardly in doubt."""
        if self.probability >= SURE_NAME:
            return ""
        if self.fits > 1:
            return f"one of {self.fits} people whom the words fit"
        how = "probably" if self.probability >= NAMED else "perhaps"
        return f"{how} a name: {percent(self.probability)}"


@dataclass(frozen=True)
class Passage:
    """A text about the photo, and the names in it."""

    file: str
    origin: str
    text: str
    spans: tuple[NameSpan, ...]


@dataclass(frozen=True)
class Explanation:
    """Everything known about how a face got its name; ``source`` says where it came from.

    ``place`` is its place from the left among ``of`` faces. ``certainty`` is "sure", "likely" or
    "unknown". ``lookalike`` is a sure face of somebody who is not mentioned, where it is more
    similar than those of the person named.
    """

    face: int
    file: str
    place: int
    of: int
    name: str | None
    confidence: float | None
    certainty: Certainty
    source: str
    reasons: tuple[str, ...]
    passages: tuple[Passage, ...]
    given: tuple[str, ...]
    alike: tuple[SimilarFace, ...]
    lookalike: SimilarFace | None
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
        source = name_source(sql, face, name, confidence)
        scores = candidate_scores(sql, face)
        near = () if name is None else tuple(similar_faces(sql, face, name))
        judged = has_known_cosines(model)
        rival = None
        if source.text == CAPTION:
            rival = rival_not_mentioned(sql, face, photo, name, scores, near, judged)
        order = faces_from_left(sql, photo)
        passages, given = _passages(sql, photo, name), _given(sql, photo)
        against = _doubts(passages, given)
        said = [against[name]] if name in against else []
        return Explanation(
            face,
            file_of(sql, face),
            order.index(face) + 1,
            len(order),
            name,
            confidence,
            certainty(name, confidence, decided=source.direct and confidence is not None),
            source.text,
            tuple([] if source.direct else [*reasons(name, scores, near, rival, judged), *said]),
            tuple(passages),
            tuple(given),
            near,
            rival,
            tuple(alternatives(sql, face, photo, name, scores, source, against)),
            tuple(decision_records(sql, face)),
            model,
            label_run(sql, face),
        )


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
                probability,
            )
            for start, end, who, shown, absence, probability, *cue in sql.execute(
                'SELECT start, "end", known.name, shown, absence, probability,'
                ' side, place, "of", "row"'
                " FROM mentions LEFT JOIN known ON known.id = person WHERE caption = ?"
                " ORDER BY start, mentions.id",
                (caption,),
            )
        ]
        spans = _with_fits(spans)
        # Copies of a photo often say the same.
        found.setdefault(text, Passage(os.fsdecode(path), origin, text, tuple(spans)))
    return list(found.values())


def _with_fits(spans: Sequence[NameSpan]) -> list[NameSpan]:
    """Return spans in order, with how many people the same words fit; evidence comes first."""
    doubtful = Counter(span.start for span in spans if span.probability < NAMED)
    spans = [
        replace(span, fits=doubtful[span.start]) if span.probability < NAMED else span
        for span in spans
    ]
    return sorted(spans, key=lambda span: (span.start, not span.evidence))


def _doubts(passages: Iterable[Passage], given: Sequence[str]) -> dict[str | None, str]:
    """Return which names may be no person's or not shown, unless they are named plainly as well."""
    most: dict[str | None, NameSpan] = {}
    for span in (span for passage in passages for span in passage.spans):
        if span.name not in most or _weight(span) > _weight(most[span.name]):
            most[span.name] = span
    doubts = {name: _doubt(span) for name, span in most.items() if name not in given}
    return {name: doubt for name, doubt in doubts.items() if name is not None and doubt}


def _weight(span: NameSpan) -> float:
    return span.shown * span.probability


def _doubt(span: NameSpan) -> str:
    """Return what makes it doubtful that a name in a text is of somebody shown, if anything.

    Examples
    --------
    >>> _doubt(NameSpan(0, 6, "Zendee", None, True, probability=0.62))
    '"Zendee" is probably a name: 62%'
    >>> _doubt(NameSpan(0, 6, "Zendee", None, True, probability=0.3))
    '"Zendee" is perhaps a name: 30%'
    >>> _doubt(NameSpan(0, 4, "Ann Ray", None, True, probability=0.39, fits=2))
    '"Ann Ray" is one of 2 people whom the words fit'
    """
    said = [f'"{span.name}" is {span.likely_name}'] if span.likely_name else []
    if span.absence:
        said.append(f'the text says that {span.name} may not be shown: "{span.absence}"')
    return "; ".join(said)


def _cue(side: str | None, place: int | None, of: int | None, row: str | None) -> str | None:
    """Return a place in words.

    Examples
    --------
    >>> _cue("left", 2, 3, None), _cue("right", 1, None, "back")
    ('2 from left of 3', '1 from right, back row')
    """
    if side is None:
        return None
    counted = f"{place} from {side}" + ("" if of is None else f" of {of}")
    return counted if row is None else f"{counted}, {row} row"


def _given(sql: sqlite3.Connection, photo: int) -> list[str]:
    """Return names that were listed for the photo, or drawn in it."""
    where = "JOIN captions ON captions.id = caption JOIN files ON files.id = file"
    rows = sql.execute(
        f"SELECT known.name FROM given {where} JOIN known ON known.id = person"
        " WHERE photo = :photo AND gone = 0 UNION"
        f" SELECT known.name FROM regions {where} JOIN known ON known.id = person"
        " WHERE photo = :photo AND gone = 0",
        {"photo": photo},
    )
    return [name for (name,) in rows]
