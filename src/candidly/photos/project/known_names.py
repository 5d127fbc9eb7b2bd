"""Names of people as they are now: by the user's lists, and by decisions that merge or rename.

Who somebody is stands in ``people.stands_for``, whether they may be named in ``people.barred``;
the view ``known`` reads both, so that what was said under an earlier name counts for the new one.
"""

from __future__ import annotations

import difflib
import os
import sqlite3

from candidly.photos.names.lists import Lists, Text, key, read_lists
from candidly.photos.project.connection import ProjectProblem
from candidly.photos.project.forgotten import ForgottenNames
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
    lists, forgotten = current_lists(sql), ForgottenNames.read(sql)
    for number, name, *before in sql.execute(
        "SELECT id, name, stands_for, barred FROM people WHERE id = coalesce(?, id)", (person,)
    ).fetchall():
        own = lists.canonical(name)
        barred = not lists.permits(name) or forgotten.holds(name)
        now = [None if own == name else person_id(sql, own), int(barred)]
        if now != before:
            sql.execute("UPDATE people SET stands_for = ?, barred = ? WHERE id = ?", (*now, number))
    if person is None:
        bar_photos(sql)


def bar_photos(sql: sqlite3.Connection, photo: int | None = None) -> None:
    """Store which photos, or one, lie in a folder whose photos get no names."""
    never = list_texts(sql).get("never")
    folders = read_lists(never=never).folders if never is not None else ()
    if not folders:
        one = "" if photo is None else "AND id = :photo"
        sql.execute(f"UPDATE photos SET barred = 0 WHERE barred {one}", {"photo": photo})
        return
    lists = Lists(folders=folders)
    one = "" if photo is None else "AND photo = :photo"
    rows = sql.execute(
        f"SELECT photo, path FROM files WHERE gone = 0 AND photo IS NOT NULL {one}",
        {"photo": photo},
    )
    barred: dict[int, bool] = {}
    for number, path in rows.fetchall():
        barred[number] = barred.get(number, False) or not lists.permits_folder(os.fsdecode(path))
    sql.executemany(
        "UPDATE photos SET barred = ? WHERE id = ? AND barred != ?",
        [(own, number, own) for number, own in barred.items()],
    )


def refuse_barred(sql: sqlite3.Connection, face: int, person: int) -> None:
    """Raise ``ProjectProblem`` where a person, or anybody in a photo, is not to be named."""
    (barred,) = sql.execute("SELECT barred FROM people WHERE id = ?", (person,)).fetchone()
    if barred:
        raise ProjectProblem(
            "this person is not to be named, by the lists kept in the project; candidly name "
            "--never FILE, or --allow FILE, with another list changes that"
        )
    row = sql.execute(
        "SELECT photos.barred FROM faces JOIN photos ON photos.id = photo WHERE faces.id = ?",
        (face,),
    ).fetchone()
    if row is not None and row[0]:
        raise ProjectProblem(
            "nobody is to be named in the folder of this photo, by the --never list kept in the "
            "project; candidly name --never FILE with another list changes that"
        )


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
    somewhere = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} WHERE {table}.person = known.id{enough})"
        for table, enough in (
            ("labels", ""),
            ("mentions", f" AND probability >= {NAMED}"),
            ("given", ""),
            ("regions", ""),
            ("standing", ""),
        )
    )
    rows = sql.execute(
        f"SELECT DISTINCT name FROM known WHERE NOT barred AND ({somewhere}) ORDER BY name"
    )
    return [name for (name,) in rows]


def close_names(sql: sqlite3.Connection, name: str) -> list[str]:
    """Return the names that are written most like a name, other than itself; often none."""
    spelled = {key(other): other for other in all_names(sql) if other != name}
    close = difflib.get_close_matches(key(name), list(spelled), CLOSE)
    # Somebody may be meant by a part of the name.
    parts = [own for own in spelled if set(key(name).split()) & set(own.split())]
    return [spelled[own] for own in dict.fromkeys([*close, *parts])][:CLOSE]
