"""Lists of names stay with a project: a run that was not told of them keeps to them, too."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from candidly.photos.choices import Choices
from candidly.photos.names import Text
from candidly.photos.names.lists import Lists
from candidly.photos.project import Project
from candidly.photos.project.values import clean, person_named


def remembered(project: Project) -> Choices:
    """The lists given last, as choices."""
    with project.snapshot() as sql:
        rows = sql.execute("SELECT kind, text FROM lists").fetchall()
    kept = {kind: Text(text, f"the --{kind} list kept here") for kind, text in rows}
    return Choices(aliases=kept.get("aliases"), allow=kept.get("allow"), never=kept.get("never"))


def remember(project: Project, choices: Choices) -> Choices:
    """Keep the lists that are given; return the choices with those given before for the others.

    An empty list takes the place of one given before.
    """
    before = remembered(project)
    rows = [(kind, clean(text.text)) for kind, text in choices.texts().items() if text is not None]
    used = replace(
        choices,
        aliases=choices.aliases or before.aliases,
        allow=choices.allow or before.allow,
        never=choices.never or before.never,
    )
    with project.transaction() as sql:
        sql.executemany("INSERT OR REPLACE INTO lists VALUES (?, ?)", rows)
        _apply(sql, used.lists())
    return used


def _apply(sql: sqlite3.Connection, lists: Lists) -> None:
    """Say of everybody known so far who they are by the lists, and whether they may be named.

    Names that were found before, and what somebody decided, follow at once.
    """
    for number, name, *before in sql.execute(
        "SELECT id, name, stands_for, barred FROM people"
    ).fetchall():
        own = lists.canonical(name)
        now = [None if own == name else person_named(sql, own), int(not lists.permits(name))]
        if now != before:
            sql.execute("UPDATE people SET stands_for = ?, barred = ? WHERE id = ?", (*now, number))
