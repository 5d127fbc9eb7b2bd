"""Deletes what a project has of a person, within the transaction that forgets them.

Every function runs inside that transaction; decisions can be deleted in no other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from candidly.photos.keeping.person_traces import (
    among,
)
from candidly.photos.project.forgotten import ForgottenNames
from candidly.photos.records import Mention

# Columns that are names of one person, which are looked at as a whole, or say where files are and
# by what they were made.
_NAMES = {"name", "before", "after"}
_NOT_TEXT = {"path", "folder", "identity", "model", "version", "checksum", "checksum_before"}
_DONE_APART = {"captions", "people", "lists", "own", "forgotten", "roots", "files"}


def captions_with(
    sql: sqlite3.Connection, forgotten: ForgottenNames, people: list[int]
) -> Iterator[tuple[int, str, list[int], list[Mention | None]]]:
    """Yield captions that name the people, as they are without: mentions by their numbers."""
    for caption, text in sql.execute("SELECT id, text FROM captions").fetchall():
        rows = sql.execute(
            'SELECT id, name, start, "end", absence, person FROM mentions WHERE caption = ?',
            (caption,),
        ).fetchall()
        mentions = [Mention(name, a, b, absence=why) for _, name, a, b, why, _ in rows]
        own = [(row[2], row[3]) for row in rows if row[5] in people]
        now, kept = forgotten.redact(text, mentions, own)
        if now != text or own:
            yield caption, now, [row[0] for row in rows], kept


def redact_captions(sql: sqlite3.Connection, forgotten: ForgottenNames, people: list[int]) -> int:
    """Take people out of captions and delete their mentions; return how many captions."""
    count = 0
    for caption, text, numbers, kept in captions_with(sql, forgotten, people):
        sql.execute("UPDATE captions SET text = ? WHERE id = ?", (text, caption))
        for number, one in zip(numbers, kept, strict=True):
            if one is None:
                sql.execute("DELETE FROM mentions WHERE id = ?", (number,))
            else:
                sql.execute(
                    'UPDATE mentions SET start = ?, "end" = ?, absence = ? WHERE id = ?',
                    (one.start, one.end, one.absence, number),
                )
        count += 1
    return count


def mark_unsolved(sql: sqlite3.Connection, people: list[int], faces: list[int]) -> None:
    """Delete what photos were like when they were solved: it is a hash of names without a key."""
    here = among("person", people)
    words = " UNION ".join(
        f"SELECT photo FROM {table} JOIN captions ON captions.id = caption"
        f" JOIN files ON files.id = file WHERE {here}"
        for table in ("mentions", "given", "regions")
    )
    looks = " UNION ".join(
        f"SELECT photo FROM {table} JOIN faces ON faces.id = face WHERE {here}"
        for table in ("labels", "weighed", "exported", "decisions")
    )
    sql.execute(f"DELETE FROM solved WHERE photo IN ({words} UNION {looks})")
    sql.execute(
        "DELETE FROM solved WHERE photo IN (SELECT photo FROM faces WHERE "
        + among("id", faces)
        + ")"
    )


def delete_named(
    sql: sqlite3.Connection, table: str, column: str, forgotten: ForgottenNames, people: list[int]
) -> None:
    """Delete rows of a table about people, and those with one of their names."""
    sql.execute(f"DELETE FROM {table} WHERE " + among("person", people))
    rows = sql.execute(f"SELECT id, {column} FROM {table}").fetchall()
    gone = [(number,) for number, name in rows if forgotten.holds(name)]
    sql.executemany(f"DELETE FROM {table} WHERE id = ?", gone)


def unname_regions(sql: sqlite3.Connection, forgotten: ForgottenNames, people: list[int]) -> None:
    """Take the name from regions; that somebody drew a face there stays."""
    rows = sql.execute("SELECT id, name, person FROM regions").fetchall()
    gone = [(number,) for number, name, own in rows if own in people or forgotten.holds(name)]
    sql.executemany("UPDATE regions SET name = NULL, person = NULL WHERE id = ?", gone)


def delete_changes(sql: sqlite3.Connection, forgotten: ForgottenNames) -> int:
    """Delete names that changed from or to one of a person, and return how many."""
    rows = sql.execute("SELECT id, before, after FROM changes").fetchall()
    gone = [(number,) for number, *names in rows if any(map(forgotten.holds, names))]
    sql.executemany("DELETE FROM changes WHERE id = ?", gone)
    return len(gone)


def delete_decisions(sql: sqlite3.Connection, people: list[int]) -> int:
    """Delete decisions about a person, and what took them back."""
    here = f"{among('person', people)} OR {among('becomes', people)}"
    gone = [
        number
        for (number,) in sql.execute(
            f"WITH RECURSIVE gone (id) AS (SELECT id FROM decisions WHERE {here} UNION"
            " SELECT decisions.id FROM decisions JOIN gone ON undoes = gone.id)"
            " SELECT id FROM gone ORDER BY id DESC"
        )
    ]
    away = among("id", gone)
    # Those decided at once with one that goes begin with the first that stays.
    sql.execute(
        "UPDATE decisions SET batch = (SELECT min(other.id) FROM decisions other"
        f" WHERE other.batch = decisions.batch AND NOT {among('other.id', gone)})"
        f" WHERE {among('batch', gone)} AND NOT {away}"
    )
    sql.execute("DELETE FROM undone WHERE " + among("decision", gone))
    sql.executemany("DELETE FROM decisions WHERE id = ?", [(number,) for number in gone])
    return len(gone)


def delete_looks(sql: sqlite3.Connection, faces: list[int]) -> None:
    """Delete what faces look like, and mark them so that they are not looked at again."""
    sql.execute("DELETE FROM embeddings WHERE " + among("face", faces))
    for table in ("labels", "weighed"):
        sql.execute(f"DELETE FROM {table} WHERE " + among("face", faces))
    sql.execute("UPDATE faces SET forgotten = 1, landmarks = x'' WHERE " + among("id", faces))


def delete_recogniser(sql: sqlite3.Connection) -> None:
    """Delete what was learnt of people: everybody's faces are in its directions."""
    for table in ("learnt", "trained", "person_sums", "known_sums"):
        sql.execute(f"DELETE FROM {table}")


def delete_references(sql: sqlite3.Connection, people: list[int]) -> None:
    """Delete what else refers to people, in whatever table it is."""
    for table in _tables(sql):
        for _, _, other, column, *_ in sql.execute(
            f'PRAGMA foreign_key_list("{table}")'
        ).fetchall():
            if other == "people" and table not in ("people", "decisions", "regions"):
                sql.execute(f'DELETE FROM "{table}" WHERE ' + among(f'"{column}"', people))


def redact_all_texts(sql: sqlite3.Connection, forgotten: ForgottenNames) -> None:
    """Take the name out of every other text, and files with it that were kept to be put back."""
    for table in set(_tables(sql)) - _DONE_APART:
        columns = sql.execute(f'PRAGMA table_info("{table}")').fetchall()
        own = [f'"{row[1]}"' for row in columns if row[5]] or ["rowid"]
        where = " AND ".join(f"{one} = ?" for one in own)
        for column in (row[1] for row in columns if row[1] not in _NOT_TEXT):
            rows = sql.execute(
                f'SELECT {", ".join(own)}, "{column}" FROM "{table}"'
                f" WHERE typeof(\"{column}\") IN ('text', 'blob')"
            ).fetchall()
            for *number, value in rows:
                now = _redacted(forgotten, value, column)
                if now != value:
                    sql.execute(
                        f'UPDATE "{table}" SET "{column}" = ? WHERE {where}', (now, *number)
                    )


def _redacted(forgotten: ForgottenNames, value: str | bytes, column: str) -> str | bytes | None:
    if isinstance(value, str):
        return value if column in _NAMES else forgotten.redacted(value)
    if column != "before":  # the content of a file; other bytes are numbers
        return value
    return None if forgotten.in_file(value) else value


def _tables(sql: sqlite3.Connection) -> list[str]:
    rows = sql.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in rows.fetchall()]
