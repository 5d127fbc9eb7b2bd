"""People for the page: who is doubtful, a person's faces by doubt, names to complete."""

from __future__ import annotations

import sqlite3

import numpy as np
from pydantic import BaseModel

from candidly.photos.certainty import SURE, Certainty, certainty
from candidly.photos.names.lists import key
from candidly.photos.project import Project
from candidly.photos.project.decision_log import numbers_about_name
from candidly.photos.project.face_names import decision_on, name_and_confidence
from candidly.photos.project.known_names import all_names
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


def people_rows(
    sql: sqlite3.Connection, find: str, order: str, offset: int, most: int
) -> tuple[int, list[PersonRow]]:
    """Return how many people there are, and some of them with their counts.

    Parameters
    ----------
    sql : Connection
    find : str
        Beginnings of words of the name.
    order : {"doubt", "name"}
        By the sum of what the confidences leave, or by name.
    offset, most : int
    """
    names = [name for name in all_names(sql) if _fits(name, find)]
    if order == "doubt":
        doubt = dict(
            sql.execute(
                "SELECT name, sum(1 - confidence) FROM labels JOIN known ON known.id = person"
                " WHERE NOT EXISTS (SELECT 1 FROM standing WHERE standing.face = labels.face)"
                " GROUP BY name"
            )
        )
        names.sort(key=lambda name: (-doubt.get(name, 0.0), name))
    return len(names), [_row(sql, name) for name in names[offset : offset + most]]


def _row(sql: sqlite3.Connection, name: str) -> PersonRow:
    own = [(face, confidence) for face, _, confidence in faces_of(sql, name)]
    surest = max(own, key=lambda pair: pair[1], default=(None, 0.0))[0]
    confirmed = sum(decision_on(sql, face).name == name for face, _ in own)
    sure = sum(confidence >= SURE for _, confidence in own)
    return PersonRow(name=name, faces=len(own), sure=sure, confirmed=confirmed, face=surest)


def faces_of(sql: sqlite3.Connection, name: str) -> list[tuple[int, int, float]]:
    """Return the faces that have a name now: number, photo and confidence."""
    rows = sql.execute(
        "SELECT DISTINCT face, photo FROM (SELECT face, person FROM labels WHERE person IN"
        " (SELECT id FROM known WHERE name = :name)"
        " UNION SELECT face, person FROM standing WHERE what = 'is'"
        " AND person IN (SELECT id FROM known WHERE name = :name)"
        " UNION SELECT face, person FROM exported WHERE person IN"
        " (SELECT id FROM known WHERE name = :name)"
        " UNION SELECT face, person FROM regions WHERE person IN"
        " (SELECT id FROM known WHERE name = :name)) JOIN faces ON faces.id = face"
        " WHERE photo IN (SELECT photo FROM files WHERE gone = 0) ORDER BY face",
        {"name": name},
    ).fetchall()
    found = []
    for face, photo in rows:
        now, confidence = name_and_confidence(sql, face)
        if now == name and confidence is not None:
            found.append((face, photo, confidence))
    return found


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


def complete_names(names: list[str], text: str, most: int) -> list[str]:
    """Return names that have words beginning like those of a text, the nearest first.

    Examples
    --------
    >>> complete_names(["Ann Lee", "Bob Annan", "Cas Ray"], "an", 9)
    ['Ann Lee', 'Bob Annan']
    """
    found = [name for name in names if _fits(name, text)]
    begin = key(text)
    return sorted(found, key=lambda name: (not key(name).startswith(begin), name))[:most]


def _fits(name: str, text: str) -> bool:
    words = key(name).split()
    return all(any(word.startswith(part) for word in words) for part in key(text).split())
