"""Writing what is said about photos. Every function runs inside a transaction of its caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from candidly.photos.project.values import clean, person_named
from candidly.photos.records import Caption, Mention


def keep_caption(
    sql: sqlite3.Connection,
    file: int,
    caption: Caption,
    mentions: Sequence[Mention],
    reading: str,
) -> None:
    """Keep what is written about a file, in place of what was written before."""
    sql.execute("DELETE FROM captions WHERE file = ?", (file,))
    (number,) = sql.execute(
        "INSERT INTO captions (file, text, origin, language, reading) VALUES (?, ?, ?, ?, ?)"
        " RETURNING id",
        (file, clean(caption.text), caption.origin, caption.language, reading),
    ).fetchone()
    keep_mentions(sql, number, mentions, reading)
    for name in caption.given:
        sql.execute(
            "INSERT INTO given (caption, name, person) VALUES (?, ?, ?)",
            (number, clean(name), person_named(sql, name)),
        )
    for region in caption.regions:
        person = None if region.name is None else person_named(sql, region.name)
        sql.execute(
            "INSERT INTO regions (caption, name, x, y, w, h, person) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                None if region.name is None else clean(region.name),
                *map(float, (region.x, region.y, region.w, region.h)),
                person,
            ),
        )


def keep_mentions(
    sql: sqlite3.Connection, caption: int, mentions: Sequence[Mention], reading: str
) -> None:
    """Keep who is named in a caption, in place of who was read there before."""
    sql.execute("DELETE FROM mentions WHERE caption = ?", (caption,))
    for mention in mentions:
        cue = mention.cue
        place = (None, None, None) if cue is None else (cue.side, cue.place, cue.of)
        sql.execute(
            'INSERT INTO mentions (caption, name, start, "end", side, place, "of", person)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                caption,
                clean(mention.name),
                mention.start,
                mention.end,
                *place,
                person_named(sql, mention.name),
            ),
        )
    sql.execute("UPDATE captions SET reading = ? WHERE id = ?", (reading, caption))


def keep_people(sql: sqlite3.Connection, found: Iterable[tuple[int, str | None]]) -> None:
    """Keep who each mention is in this collection (None: not to be named), by its number.

    People whom nothing points at any more go.
    """
    for mention, name in found:
        person = None if name is None else person_named(sql, name)
        sql.execute(
            "UPDATE mentions SET person = ? WHERE id = ? AND person IS NOT ?",
            (person, mention, person),
        )
    used = " UNION ".join(
        f"SELECT person FROM {table} WHERE person IS NOT NULL"
        for table in ("mentions", "given", "regions", "labels", "decisions")
    )
    sql.execute(f"DELETE FROM people WHERE id NOT IN ({used})")
