"""What was decided, by day and person, and how far it is: decisions made, estimated accuracy."""

from __future__ import annotations

import sqlite3

from pydantic import BaseModel

from candidly.photos.explaining.face_choice import face_label
from candidly.photos.project.decision_log import Decision, read_decisions
from candidly.photos.review.photo_view import shown

PER_PAGE = 100


class DecisionView(BaseModel):
    """A decision: what was said about which face or name, by whom and when, and if it stands.

    ``undoes`` is what an undo took back.
    """

    number: int
    what: str
    face: int | None
    photo: int | None
    label: str | None
    name: str | None
    becomes: str | None
    undoes: int | None
    batch: int
    by: str
    at: str
    stands: bool


class ReviewEffort(BaseModel):
    """How far a project is.

    ``accuracy`` is the mean of the confidences, with decided faces as certain: the share of names,
    or of nobody, that are expected to be right. ``sure`` counts names that need no look.
    """

    decisions: int
    faces: int
    decided: int
    sure: int
    accuracy: float | None


def decision_view(sql: sqlite3.Connection, one: Decision) -> DecisionView:
    """Return a decision as the page shows it."""
    photo = label = None
    if one.face is not None:
        (photo,) = sql.execute("SELECT photo FROM faces WHERE id = ?", (one.face,)).fetchone()
        label = shown(face_label(sql, one.face))
    return DecisionView(
        number=one.number,
        what=one.what,
        face=one.face,
        photo=photo,
        label=label,
        name=one.name,
        becomes=one.becomes,
        undoes=one.undoes,
        batch=one.batch,
        by=one.by,
        at=one.at,
        stands=one.stands,
    )


def decisions_page(
    sql: sqlite3.Connection, day: str, person: str, before: int, most: int = PER_PAGE
) -> list[DecisionView]:
    """Return decisions, the last first.

    Parameters
    ----------
    sql : Connection
    day : str
        Only of this day (UTC), as 2026-05-01; "" for any.
    person : str
        Only about this person; "" for anybody.
    before : int
        Only those with a smaller number.
    most : int
    """
    own = "SELECT id FROM known WHERE name = :person"
    rows = sql.execute(
        "SELECT id FROM decisions WHERE id < :before"
        " AND (:day = '' OR substr(at, 1, 10) = :day)"
        f" AND (:person = '' OR person IN ({own}) OR becomes IN ({own})"
        " OR undoes IN (SELECT id FROM decisions"
        f" WHERE person IN ({own}) OR becomes IN ({own})))"
        " ORDER BY id DESC LIMIT :most",
        {"before": before, "day": day, "person": person, "most": most},
    )
    numbers = [number for (number,) in rows]
    found = {one.number: decision_view(sql, one) for one in read_decisions(sql, numbers)}
    return [found[number] for number in numbers]


def days(sql: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the days (UTC) on which something was decided, the last first, and how much."""
    return sql.execute(
        "SELECT substr(at, 1, 10) AS day, count(*) FROM decisions GROUP BY day ORDER BY day DESC"
    ).fetchall()


def effort(sql: sqlite3.Connection) -> ReviewEffort:
    """Return how far a project is."""
    (decisions,) = sql.execute("SELECT count(*) FROM standing").fetchone()
    (decided,) = sql.execute(
        "SELECT count(DISTINCT face) FROM standing WHERE what IN ('is', 'nobody')"
    ).fetchone()
    counts = [
        sql.execute(query).fetchone()
        for query in (
            "SELECT coalesce(sum(faces), 0), coalesce(sum(faces - doubt), 0),"
            " coalesce(sum(iif(person = 0, 0, sure)), 0) FROM label_counts",
            "SELECT count(*), coalesce(sum(confidence), 0),"
            " coalesce(sum(person IS NOT NULL AND confidence >= 0.95), 0) FROM labels WHERE face IN"
            " (SELECT face FROM standing WHERE face IS NOT NULL AND what != 'not')",
        )
    ]
    faces, total, sure = (every - said for every, said in zip(*counts, strict=True))
    every = faces + decided
    return ReviewEffort(
        decisions=decisions,
        faces=every,
        decided=decided,
        sure=sure,
        accuracy=(total + decided) / every if every else None,
    )
