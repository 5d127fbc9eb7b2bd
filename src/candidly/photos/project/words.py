"""Writing what is said about photos. Every function runs inside a transaction of its caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from candidly.photos.project.values import clean, person_named
from candidly.photos.records import Caption, Mention, Proposal, Settled, Spoken


def keep_caption(
    sql: sqlite3.Connection,
    file: int,
    caption: Caption,
    mentions: Sequence[Mention],
    reading: str,
) -> int:
    """Keep what is written about a file, in place of what was there; returns its number."""
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
    return int(number)


def keep_mentions(
    sql: sqlite3.Connection, caption: int, mentions: Sequence[Mention], reading: str
) -> None:
    """Keep who is named in a caption, in place of who was read there before."""
    sql.execute("DELETE FROM mentions WHERE caption = ?", (caption,))
    for mention in mentions:
        _keep_mention(sql, caption, mention, found=True)
    sql.execute("UPDATE captions SET reading = ? WHERE id = ?", (reading, caption))


def _keep_mention(sql: sqlite3.Connection, caption: int, mention: Mention, *, found: bool) -> None:
    cue = mention.cue
    place = (None, None, None) if cue is None else (cue.side, cue.place, cue.of)
    sql.execute(
        'INSERT INTO mentions (caption, name, start, "end", side, place, "of", person, found)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            caption,
            clean(mention.name),
            mention.start,
            mention.end,
            *place,
            person_named(sql, mention.name),
            found,
        ),
    )


def keep_people(sql: sqlite3.Connection, captions: Sequence[Spoken], settled: Settled) -> None:
    """Keep who is named in each caption of a collection; what was read there stays as evidence.

    People whom nothing points at any more go.
    """
    sql.execute("DELETE FROM mentions WHERE found = 0")
    for number, spoken in enumerate(captions):
        settle_caption(sql, spoken, settled, number)
    used = " UNION ".join(
        f"SELECT person FROM {table} WHERE person IS NOT NULL"
        for table in ("mentions", "given", "regions", "labels", "decisions", "exported")
    )
    used += " UNION SELECT stands_for FROM people WHERE stands_for IS NOT NULL"
    sql.execute(f"DELETE FROM people WHERE id NOT IN ({used})")
    _keep_proposals(sql, settled.proposals)


def settle_caption(
    sql: sqlite3.Connection, spoken: Spoken, settled: Settled, number: int = 0
) -> None:
    """Keep who is named in one caption, the ``number``-th of those that were settled."""
    mentions, given = settled.mentions[number], settled.given[number]
    read = {(mention.start, mention.end) for mention in spoken.mentions}
    known = {(mention.start, mention.end): mention.name for mention in mentions}
    for start, end in read:
        name = known.get((start, end))
        person = None if name is None else person_named(sql, name)
        sql.execute(
            "UPDATE mentions SET person = ?"
            ' WHERE caption = ? AND start = ? AND "end" = ? AND person IS NOT ?',
            (person, spoken.caption, start, end, person),
        )
    for mention in mentions:
        if (mention.start, mention.end) not in read:
            _keep_mention(sql, spoken.caption, mention, found=False)
    for name, own in given.items():
        person = None if own is None else person_named(sql, own)
        for table in ("given", "regions"):
            sql.execute(
                f"UPDATE {table} SET person = ? WHERE caption = ? AND name = ? AND person IS NOT ?",
                (person, spoken.caption, clean(name), person),
            )


def _keep_proposals(sql: sqlite3.Connection, proposals: Sequence[Proposal]) -> None:
    number = dict(sql.execute("SELECT name, id FROM people"))
    sql.execute("DELETE FROM proposals")
    for found in proposals:
        person, likely = number.get(clean(found.name)), number.get(clean(found.likely))
        if None not in (person, likely):  # who is not to be named is no one to propose
            sql.execute("INSERT INTO proposals VALUES (?, ?, ?)", (person, likely, found.why))
