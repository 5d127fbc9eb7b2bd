"""People for the page: who is doubtful, a person's faces by doubt, names to complete."""

from __future__ import annotations

import sqlite3

import numpy as np
from pydantic import BaseModel

from candidly.photos.certainty import SURE, Certainty, certainty
from candidly.photos.names.lists import key
from candidly.photos.project import Project
from candidly.photos.project.decision_log import numbers_about_name
from candidly.photos.project.face_names import decision_on
from candidly.photos.project.known_names import all_names
from candidly.photos.project.name_counts import faces_of
from candidly.photos.review.lookalikes import Lookalikes
from candidly.photos.review.photo_view import last_about
from candidly.photos.solving.likeness import two_groups

MOST_FACES = 300
"""Faces of a person that are shown: the most doubtful."""


class PersonRow(BaseModel):
    """A person in a list; counts are of faces that have the name now."""

    name: str
    faces: int
    sure: int
    confirmed: int
    face: int | None


class PersonFace(BaseModel):
    """A face of a person, with the number of the last decision about it."""

    face: int
    photo: int
    confidence: float
    certainty: Certainty
    confirmed: bool
    seen: int


class PersonView(BaseModel):
    """A person: faces by doubt, in two groups where they do not look alike.

    ``likely`` are names that are likely the same person's. ``seen`` is the number of the last
    merge or rename of the person.
    """

    name: str
    faces: int
    groups: list[list[PersonFace]]
    cosine: float | None
    likely: list[str]
    seen: int


class NameIndex:
    """Names of all people, with their words, kept until some may have come or gone."""

    def __init__(self) -> None:
        self._version: tuple[int, ...] = ()
        self._names: list[str] = []
        self._words: list[list[str]] = []

    def read(self, sql: sqlite3.Connection) -> list[str]:
        """Return all names in order; they are read again after a run, a merge or a new person."""
        version = tuple(
            sql.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]
            for table in (
                "people",
                "runs",
                "decisions WHERE what = 'merge'",
                "decisions WHERE what = 'rename'",
                "decisions WHERE what = 'undo'",
            )
        )
        if version != self._version:
            self._names = all_names(sql)
            self._words = [key(name).split() for name in self._names]
            self._version = version
        return self._names

    def finding(self, sql: sqlite3.Connection, text: str) -> list[str]:
        """Return the names that have words beginning like those of a text."""
        names, parts = self.read(sql), key(text).split()
        if not parts:
            return names
        return [
            name
            for name, words in zip(names, self._words, strict=True)
            if all(any(word.startswith(part) for word in words) for part in parts)
        ]


def people_rows(
    sql: sqlite3.Connection, known: NameIndex, find: str, order: str, offset: int, most: int
) -> tuple[int, list[PersonRow]]:
    """Return how many people there are, and some of them with their counts.

    Parameters
    ----------
    sql : Connection
    known : NameIndex
    find : str
        Beginnings of words of the name.
    order : {"doubt", "name"}
        By the sum of what the confidences leave, or by name.
    offset, most : int
    """
    names = known.finding(sql, find)
    chosen = names[offset : offset + most]
    if order == "doubt":
        few = offset + most if not find else None
        doubt = doubts(sql, few)
        if few is not None and len(doubt) < few:  # those without a label come last
            doubt = doubts(sql, None)
        listed = set(names) if find else None
        first = sorted(
            (name for name in doubt if listed is None or name in listed),
            key=lambda name: (-doubt[name], name),
        )
        if len(first) < offset + most:
            first += [name for name in names if name not in doubt]
        chosen = first[offset : offset + most]
    return len(names), [_row(sql, name) for name in chosen]


DOUBTS = (
    "SELECT name, doubt FROM label_counts CROSS JOIN known ON known.id = label_counts.person"
    " WHERE NOT barred ORDER BY doubt DESC LIMIT ?"
)
_DECIDED = (
    "SELECT name, sum(1 - confidence) FROM labels JOIN known ON known.id = person WHERE face IN"
    " (SELECT face FROM standing WHERE face IS NOT NULL) GROUP BY name"
)


def doubts(sql: sqlite3.Connection, most: int | None) -> dict[str, float]:
    """Return the sums of what confidences leave, of undecided faces, for the most doubtful people.

    They are of some people more than asked for, whom decisions may have moved down.
    """
    decided = dict(sql.execute(_DECIDED))
    found: dict[str, float] = {}
    limit = -1 if most is None else most + len(decided)
    for name, doubt in sql.execute(DOUBTS, (limit,)):
        found[name] = found.get(name, 0.0) + doubt
    return {name: max(own - decided.get(name, 0.0), 0.0) for name, own in found.items()}


def _row(sql: sqlite3.Connection, name: str) -> PersonRow:
    own = [(face, confidence) for face, _, confidence in faces_of(sql, name)]
    surest = max(own, key=lambda pair: pair[1], default=(None, 0.0))[0]
    confirmed = sum(decision_on(sql, face).name == name for face, _ in own)
    sure = sum(confidence >= SURE for _, confidence in own)
    return PersonRow(name=name, faces=len(own), sure=sure, confirmed=confirmed, face=surest)


def person_view(project: Project, name: str, alike: Lookalikes) -> PersonView:
    """Return a person who is known by this name now."""
    with project.snapshot() as sql:
        own = sorted(faces_of(sql, name), key=lambda one: (one[2], one[0]))
        shown = [_person_face(sql, *one, name) for one in own[:MOST_FACES]]
        sides, cosine = _two_sides(shown, alike)
        rows = sql.execute(
            "SELECT DISTINCT one.name, other.name FROM proposals"
            " JOIN known one ON one.id = person JOIN known other ON other.id = likely"
            " WHERE one.name != other.name AND ? IN (one.name, other.name)",
            (name,),
        )
        likely = sorted({other for pair in rows for other in pair} - {name})
        return PersonView(
            name=name,
            faces=len(own),
            groups=sides,
            cosine=cosine,
            likely=likely,
            seen=last_about_name(sql, name),
        )


def last_about_name(sql: sqlite3.Connection, name: str) -> int:
    """Return the number of the last merge or rename of a person, or undo of one; 0 for none."""
    return max(numbers_about_name(sql, name), default=0)


def _person_face(
    sql: sqlite3.Connection, face: int, photo: int, confidence: float, name: str
) -> PersonFace:
    return PersonFace(
        face=face,
        photo=photo,
        confidence=confidence,
        certainty=certainty(name, confidence),
        confirmed=decision_on(sql, face).name == name,
        seen=last_about(sql, face),
    )


def _two_sides(
    faces: list[PersonFace], alike: Lookalikes
) -> tuple[list[list[PersonFace]], float | None]:
    """Return faces in two groups with their mean cosine, or in one where they look alike."""
    judged = [one for one in faces if one.certainty != "unknown"]
    rows = alike.index.vectors([one.face for one in judged])
    split = two_groups(np.array(list(rows.values()))) if len(rows) > 1 else None
    if split is None:
        return [faces], None
    side, cosine = split
    first = {face for face, is_first in zip(rows, side, strict=True) if is_first}
    other = set(rows) - first
    smaller = min(first, other, key=len)
    return [
        [one for one in faces if one.face not in smaller],
        [one for one in faces if one.face in smaller],
    ], cosine


def complete_names(found: list[str], text: str, most: int) -> list[str]:
    """Return names that were found by a text, those first that begin with it.

    Examples
    --------
    >>> complete_names(["Bob Annan", "Ann Lee"], "an", 9)
    ['Ann Lee', 'Bob Annan']
    """
    begin = key(text)
    return sorted(found, key=lambda name: (not key(name).startswith(begin), name))[:most]
