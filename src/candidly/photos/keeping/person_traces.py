"""Who somebody is in a project: numbers, names, how they are written, and faces."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from candidly.photos.names.lists import key
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.forgotten import ForgottenNames, words_of
from candidly.photos.project.known_names import (
    current_lists,
    current_name,
    list_texts,
)


def numbers_of(sql: sqlite3.Connection, name: str) -> list[int]:
    """Return everybody in the table of people who is the person of a name now."""
    now = current_name(sql, name)
    own = {tuple(words_of(name))} | ({tuple(words_of(now))} if now is not None else set())
    rows = sql.execute(
        "SELECT people.id, people.name, known.name FROM people JOIN known USING (id)"
    )
    return [
        number
        for number, alone, known in rows
        if known == now or tuple(words_of(alone)) in own or tuple(words_of(known)) in own
    ]


def names_of(sql: sqlite3.Connection, people: list[int], name: str) -> list[str]:
    """Return all names of a person: as found, decided, and on the list of aliases."""
    found = [one for (one,) in sql.execute("SELECT name FROM people WHERE " + among("id", people))]
    now = current_name(sql, name)
    found += [name] if now is None else [now, name]
    lists = current_lists(sql)
    keys = {key(one) for one in found}
    text = list_texts(sql).get("aliases")
    for line in text.text.splitlines() if text is not None else ():
        others = [part.strip() for part in re.split("[=,]", line.partition("#")[0])]
        if any(key(other) in keys or key(lists.canonical(other)) in keys for other in others):
            found += filter(None, others)
    return list({tuple(words_of(one)): one for one in reversed(found)}.values())[::-1]


def written_as(sql: sqlite3.Connection, people: list[int]) -> list[str]:
    """Return how the person is written in captions, which may be a part of the name."""
    rows = sql.execute(
        'SELECT DISTINCT substr(text, start + 1, "end" - start) FROM mentions'
        " JOIN captions ON captions.id = caption WHERE " + among("person", people)
    )
    own = sql.execute("SELECT DISTINCT name FROM mentions WHERE " + among("person", people))
    return [text for (text,) in (*rows, *own)]


def whole_and_parts(names: Iterable[str], written: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return texts that are the person wherever they stand, and those that may be another's."""
    whole, parts = list(names), list[str]()
    known = {word for name in whole for word in words_of(name)}
    for text in written:
        words = words_of(text)
        shared = len(words) < 2 or not known.isdisjoint(words)  # "President Bush"
        (parts if shared else whole).append(text)
    return whole, parts


def is_listed(sql: sqlite3.Connection, forgotten: ForgottenNames) -> bool:
    """Return whether a name is given in metadata, or on one of the user's lists."""
    given = sql.execute("SELECT name FROM given UNION SELECT name FROM regions").fetchall()
    lists = (forgotten.without_people(kind, one.text)[1] for kind, one in list_texts(sql).items())
    return any(forgotten.holds(name) for (name,) in given) or any(lists)


def names_alike(sql: sqlite3.Connection, names: list[str], people: list[int]) -> list[str]:
    """Return other names that may be the person's: proposed as such, or longer."""
    here = among("person", people), among("likely", people)
    found = [
        name
        for (name,) in sql.execute(
            "SELECT name FROM proposals JOIN people ON people.id = iif("
            f"{here[0]}, likely, person) WHERE {here[0]} OR {here[1]}"
        )
    ]
    own = {tuple(words_of(name)) for name in names}
    for (name,) in sql.execute("SELECT name FROM people WHERE NOT " + among("id", people)):
        words = words_of(name)
        if any(tuple(words[at : at + len(one)]) == one for one in own for at in range(len(words))):
            found.append(name)
    return sorted(set(found) - set(names))


def faces_of(sql: sqlite3.Connection, people: list[int]) -> list[int]:
    """Return the faces that have the person's name, or had it by whatever said so."""
    found = set()
    for table in ("labels", "exported", "regions", "export_names"):
        rows = sql.execute(
            f"SELECT face FROM {table} WHERE face IS NOT NULL AND " + among("person", people)
        )
        found |= {face for (face,) in rows}
    named = {name for (name,) in sql.execute("SELECT name FROM known WHERE " + among("id", people))}
    rows = sql.execute("SELECT face FROM standing WHERE what = 'is' AND " + among("person", people))
    found |= {face for (face,) in rows}
    # A face that somebody decided to be another stays, whatever it was taken for.
    return sorted(face for face in found if name_and_confidence(sql, face)[0] in (None, *named))


def count_rows(sql: sqlite3.Connection, table: str, people: list[int]) -> int:
    """Return how many rows of a table are about people."""
    rows = sql.execute(f"SELECT count(*) FROM {table} WHERE " + among("person", people))
    return int(rows.fetchone()[0])


def among(column: str, numbers: Iterable[int]) -> str:
    """Return a condition; numbers are our own, and may be more than SQLite takes as values."""
    return f"coalesce({column} IN ({','.join(map(str, map(int, numbers)))}), 0)"
