"""Names of people as they are now: by the user's lists, and by decisions that merge or rename.

Who somebody is stands in ``people.stands_for``, whether they may be named in ``people.barred``;
the view ``known`` reads both, so that what was said under an earlier name counts for the new one.
"""

from __future__ import annotations

import difflib
import sqlite3

from candidly.photos.names.lists import Lists, Text, key, read_lists
from candidly.photos.project.connection import ProjectProblem
from candidly.photos.project.schema import clean_text, person_id
from candidly.photos.records import NAMED

CLOSE = 3  # names that are suggested at most

# People who are named somewhere, or have a face: the others are doubtful.
NAMED_PEOPLE = f"""SELECT person FROM mentions WHERE probability >= {NAMED}
    UNION SELECT person FROM given UNION SELECT person FROM regions
    UNION SELECT person FROM labels UNION SELECT person FROM standing"""


def list_texts(sql: sqlite3.Connection) -> dict[str, Text]:
    """Return the user's lists of names by their kind, as given last."""
    rows = sql.execute("SELECT kind, text FROM lists")
    return {kind: Text(text, f"the --{kind} list kept here") for kind, text in rows}


def current_lists(sql: sqlite3.Connection) -> Lists:
    """Return the user's lists, followed by the names that were merged or renamed."""
    return read_lists(**list_texts(sql)).following(renamed(sql))


def renamed(sql: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the names that were merged or renamed, and what they became, in order."""
    return sql.execute(
        "SELECT one.name, other.name FROM standing JOIN people one ON one.id = person"
        " JOIN people other ON other.id = becomes ORDER BY standing.id"
    ).fetchall()


def apply_lists(sql: sqlite3.Connection, person: int | None = None) -> None:
    """Store who everybody is, or one, and if they may be named, by lists and decisions so far.

    Names found before, and decisions, follow at once.
    """
    lists = current_lists(sql)
    for number, name, *before in sql.execute(
        "SELECT id, name, stands_for, barred FROM people WHERE id = coalesce(?, id)", (person,)
    ).fetchall():
        own = lists.canonical(name)
        now = [None if own == name else person_id(sql, own), int(not lists.permits(name))]
        if now != before:
            sql.execute("UPDATE people SET stands_for = ?, barred = ? WHERE id = ?", (*now, number))


def current_name(sql: sqlite3.Connection, name: str) -> str | None:
    """Return the name that somebody has now, or None where nobody is known by this one.

    Case and diacritics do not count where nobody is written in just this way.
    """
    exact = sql.execute(
        "SELECT known.name FROM people JOIN known USING (id) WHERE people.name = ?",
        (clean_text(name),),
    ).fetchone()
    if exact is not None:
        return str(exact[0])
    rows = sql.execute("SELECT people.name, known.name FROM people JOIN known USING (id)")
    sought = key(name)
    return next((now for own, now in rows if key(own) == sought), None)


def known_name(
    sql: sqlite3.Connection, name: str, otherwise: str = "candidly people lists everybody"
) -> str:
    """Return the name that somebody has now.

    Raises
    ------
    ProjectProblem
        Where nobody is known by the name: the message has names like it, and what to do otherwise.
    """
    found = current_name(sql, name)
    if found is not None:
        return found
    close = " or ".join(map(repr, close_names(sql, name)))
    meant = f"did you mean {close}? If not, " if close else ""
    raise ProjectProblem(f"nobody is called {name!r} in this project; {meant}{otherwise}")


def all_names(sql: sqlite3.Connection) -> list[str]:
    """Return the names of all people who may be named, without doubtful ones, in order."""
    rows = sql.execute(
        f"SELECT DISTINCT name FROM known WHERE id IN ({NAMED_PEOPLE}) AND NOT barred ORDER BY name"
    )
    return [name for (name,) in rows]


def close_names(sql: sqlite3.Connection, name: str) -> list[str]:
    """Return the names that are written most like a name, other than itself; often none."""
    spelled = {key(other): other for other in all_names(sql) if other != name}
    close = difflib.get_close_matches(key(name), list(spelled), CLOSE)
    # Somebody may be meant by a part of the name.
    parts = [own for own in spelled if set(key(name).split()) & set(own.split())]
    return [spelled[own] for own in dict.fromkeys([*close, *parts])][:CLOSE]
