"""Which photos are solved: everything together, or what is new and the photos that it concerns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from candidly.photos.project.queries import in_batches
from candidly.photos.solving.known import has_known
from candidly.photos.solving.photo_entries import PhotoEntries
from candidly.photos.solving.problem import (
    OTHER_MODEL,
    DecidedFace,
    decided_faces,
    each_problem,
)
from candidly.photos.solving.statistics import comparable_model
from candidly.photos.solving.store import BATCH, photos_naming, read_stamps

ENOUGH_NEW = 0.25
"""Fraction of new photos, of those solved so far, from which everything is solved together."""
WELL_KNOWN = 10
"""Number of photos of a person from which one more hardly changes what is known."""

Stamp = tuple[str, str, str]


@dataclass
class Work:
    """What a solve has to do.

    Attributes
    ----------
    full : bool
        Whether everything is solved together.
    photos : PhotoEntries
        Photos to solve.
    due : set of int
        Those of them that are new, or about which something changed.
    decided : set of int
        Those of them that were solved before, and in which something was decided since.
    looked_at : set of int or None
        Photos about which it is known now whether they changed; None for all.
    silent : list of int
        Photos with labels about which nothing is written any more.
    gone : list of int
        Photos that are not there any more, or not to be named: their labels count no more.
    known : bool
        Whether there are sums over the faces of everybody to compare with.
    """

    full: bool
    photos: PhotoEntries
    due: set[int] = field(default_factory=set)
    decided: set[int] = field(default_factory=set)
    looked_at: set[int] | None = None
    silent: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    known: bool = False


def choose_photos(
    sql: sqlite3.Connection, likely: Mapping[str, str], *, full: bool, cues: bool, few: int
) -> Work:
    """Return what to solve.

    Parameters
    ----------
    sql : Connection
    likely : mapping of str to str
        Likely spellings of names.
    full, cues : bool
        As in ``solve``.
    few : int
        Number of faces with embeddings up to which everything is solved together.
    """
    (faces,) = sql.execute("SELECT count(*) FROM embeddings").fetchone()
    (solved,) = sql.execute("SELECT count(*) FROM solved").fetchone()
    (touched,) = sql.execute("SELECT count(*) FROM touched").fetchone()
    known = has_known(sql, comparable_model(sql)) and _same_cues(sql, cues)
    together = faces <= few or touched > ENOUGH_NEW * solved
    if full or together or not known:
        everything = PhotoEntries(each_problem(sql, cues=cues))
        due, decided = _due_of(sql, everything)
        silent, gone = _no_problem(sql, everything.photos.tolist(), None)
        if full or (due and (faces <= few or not known or len(due) > ENOUGH_NEW * solved)):
            return Work(True, everything, due, decided, None, silent, gone)
        looked_at = None
    else:
        looked_at = {photo for (photo,) in sql.execute("SELECT photo FROM touched")}
        some = PhotoEntries(each_problem(sql, looked_at, cues=cues))
        due, decided = _due_of(sql, some)
        silent, gone = _no_problem(sql, some.photos.tolist(), looked_at)
    if not due:
        return Work(False, PhotoEntries(()), set(), set(), looked_at, silent, gone, known)
    chosen = due | _affected(sql, due, likely, cues)
    photos = PhotoEntries(each_problem(sql, chosen, cues=cues))
    return Work(False, photos, due, decided, looked_at, silent, gone, known)


def _same_cues(sql: sqlite3.Connection, cues: bool) -> bool:
    """Return whether the sums that are kept are of a solve that used cues likewise."""
    row = sql.execute(
        "SELECT json_extract(settings, '$.cues') FROM known_sums JOIN runs ON runs.id = run"
    ).fetchone()
    return row is not None and bool(row[0]) == cues


def _due_of(sql: sqlite3.Connection, photos: PhotoEntries) -> tuple[set[int], set[int]]:
    """Return the photos whose stamps differ from those of the last solve, and those decided."""
    due, decided = set(), set()
    for start in range(0, len(photos), BATCH):
        some = photos.photos[start : start + BATCH].tolist()
        before = read_stamps(sql, some)
        for photo, stamp in zip(some, photos.stamps[start : start + BATCH].tolist(), strict=True):
            now = tuple(one.decode().strip() for one in stamp)
            if before.get(photo) != now:
                due.add(photo)
            if photo in before and before[photo][2] != now[2]:
                decided.add(photo)
    return due, decided


def _no_problem(
    sql: sqlite3.Connection, problems: Collection[int], asked: Collection[int] | None
) -> tuple[list[int], list[int]]:
    """Return solved photos that are no problem any more: those present, and the others.

    Photos of another detector or embedder are none of these: their names stay as they are.
    """
    if asked is None:
        left = {photo for (photo,) in sql.execute("SELECT photo FROM solved")} - set(problems)
    else:
        left = set(read_stamps(sql, asked)) - set(problems)
    silent, gone = [], []
    for some in in_batches(sorted(left), BATCH):
        for photo, present, other in sql.execute(
            "SELECT photo, EXISTS (SELECT 1 FROM files WHERE files.photo = solved.photo AND"
            f" gone = 0), photo IN ({OTHER_MODEL})"
            " FROM solved WHERE photo IN (SELECT value FROM json_each(?)) ORDER BY photo",
            (json.dumps(some),),
        ).fetchall():
            gone.append(photo)
            if present and not other:
                silent.append(photo)
    return silent, gone


def _affected(
    sql: sqlite3.Connection, due: set[int], likely: Mapping[str, str], cues: bool
) -> set[int]:
    """Return photos with people of the new photos who are not well known, in any spelling.

    One more face of such a person may settle an old one, and a decision one of anybody in its
    photo. They start from their earlier labels.
    """
    spelled: set[str] = set()
    always: set[str] = set()
    before = read_stamps(sql, due)
    for problem in each_problem(sql, due, cues=cues):
        own = {*problem.names, *(likely[name] for name in problem.names if name in likely)}
        spelled |= own
        if problem.photo in before and before[problem.photo][2] != problem.decisions:
            always |= {*own, *filter(None, problem.bound.values())}
    back: dict[str, set[str]] = {}
    for name, right in likely.items():
        back.setdefault(right, set()).add(name)
    # A photo is concerned where a name in it, or its likely spelling, is such a person's.
    asked = spelled | always
    asked |= {name for right in asked for name in back.get(right, ())}
    naming = photos_naming(sql, asked)
    people = always | {name for name in spelled if len(naming[name]) < WELL_KNOWN}
    found = {photo for name in people for photo in naming[name]}
    found |= {photo for right in people for name in back.get(right, ()) for photo in naming[name]}
    return found - due


def decided_about(sql: sqlite3.Connection, names: Iterable[str], cues: bool) -> list[DecidedFace]:
    """Return the faces of the project of which it is known whether they are one of the names."""
    wanted = set(names)
    ids = [number for number, name in sql.execute("SELECT id, name FROM known") if name in wanted]
    if sql.execute(
        "SELECT NOT EXISTS (SELECT 1 FROM standing WHERE face IS NOT NULL) AND NOT EXISTS"
        " (SELECT 1 FROM exported) AND NOT EXISTS (SELECT 1 FROM regions WHERE face IS NOT NULL)"
    ).fetchone()[0]:
        return []
    photos: set[int] = set()
    for some in in_batches(ids, BATCH):
        for table in ("standing", "exported", "regions"):
            rows = sql.execute(
                f"SELECT photo FROM {table} JOIN faces ON faces.id = face"
                " WHERE person IN (SELECT value FROM json_each(?))",
                (json.dumps(some),),
            )
            photos |= {photo for (photo,) in rows}
    for own in photos_naming(sql, wanted).values():
        photos |= own
    with_decisions = set()
    for some in in_batches(sorted(photos), BATCH):
        rows = sql.execute(
            "SELECT DISTINCT photo FROM faces WHERE photo IN (SELECT value FROM json_each(?))"
            " AND (id IN (SELECT face FROM standing) OR id IN (SELECT face FROM exported)"
            " OR id IN (SELECT face FROM regions))",
            (json.dumps(some),),
        )
        with_decisions |= {photo for (photo,) in rows}
    found = decided_faces(each_problem(sql, with_decisions, cues=cues))
    return [one for one in found if one.name in wanted]
