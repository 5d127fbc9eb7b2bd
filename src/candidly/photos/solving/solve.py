"""Solve a project: everything, or what is new against the people known so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from candidly.photos.project import Project
from candidly.photos.project.queries import decisions
from candidly.photos.remembering import remembered
from candidly.photos.solving.barred import take_back
from candidly.photos.solving.changes import DECIDED, GONE, LOOKS, News, Stamps, changed, here
from candidly.photos.solving.daily import ENOUGH_NEW, beside
from candidly.photos.solving.labelling import Embeddings, Verdicts, label
from candidly.photos.solving.problem import Told, likely_spellings, read_told
from candidly.photos.solving.stored import (
    Change,
    forget,
    keep,
    keep_changes,
    read_embeddings,
    read_stamps,
    read_verdicts,
    worked_out,
)


@dataclass
class Solved:
    """What a solve did: photos and faces solved, those named, names that became others.

    ``kept`` are names that were given out of the project and stay, though nothing in the photo
    says so any more.
    """

    run: int
    full: bool
    photos: int = 0
    faces: int = 0
    named: int = 0
    changes: list[Change] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """All of it as numbers."""
        numbers = {name: getattr(self, name) for name in ("photos", "faces", "named")}
        return {**numbers, "changes": len(self.changes), "kept": len(self.kept)}


def solve(
    project: Project,
    *,
    full: bool = False,
    cues: bool = True,
    settings: Mapping[str, Any] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Solved:
    """Name the faces of a project.

    What is new, and photos of people in it who are little known, is compared with the people
    known so far.
    Where nothing was solved yet, or much is new, everything is solved together.

    Parameters
    ----------
    project : Project
        Opened for writing.
    full : bool
        Solve everything together.
    cues : bool
        Use what captions say of places in the picture.
    settings : dict, optional
        Kept with the run.
    on_step : callable, optional
        Told how many steps are done, and of how many at most.

    Returns
    -------
    Solved
    """
    from candidly import __version__

    with project.snapshot() as sql:
        told = read_told(sql, cues=cues)
        likely = likely_spellings(sql)
        stamps, before = read_stamps(sql), read_verdicts(sql)
        present = {photo for (photo,) in sql.execute("SELECT photo FROM files WHERE gone = 0")}
    due = {photo for photo, one in told.items() if stamps.get(photo) != stamp_of(one)}
    full = full or len(due) > ENOUGH_NEW * len(told.keys() & stamps.keys())
    here = {face for one in told.values() for face in one.faces}
    known = {face: verdict for face, verdict in before.items() if face in here}
    chosen = set(told) if full else due | beside(due, told)
    photos = [told[photo] for photo in sorted(chosen)]
    run = project.begin_run(
        __version__, {**(settings or {}), "solve": "full" if full else "new", "cues": cues}
    )
    again = {face for photo in chosen - due for face in told[photo].faces} if not full else set()
    now = _label(photos, read_embeddings(project), likely, None if full else known, again, on_step)
    done = Solved(run, full, len(photos), len(now))
    done.named = sum(verdict.name is not None for verdict in now.values())
    done.kept = _kept(project, photos)
    silent = (stamps.keys() & present) - told.keys()  # nothing is written about them any more
    _write(project, done, photos, now, stamps, due, silent)
    project.end_run(run, done.counts, done.kept)
    return done


def stamp_of(told: Told) -> tuple[str, str, str]:
    """What tells whether a photo has to be solved again."""
    return told.words, told.looks, told.decisions


def _label(
    photos: list[Told],
    embeddings: Embeddings,
    likely: Mapping[str, str],
    known: Verdicts | None,
    again: Iterable[int],
    on_step: Callable[[int, int], None] | None,
) -> Verdicts:
    """Label, and then again with likely spellings, which count where a face bears them out.

    Somebody whose name is misspelt once is known from other photos under another name, so that
    the face is like somebody who is not mentioned: nobody, but for this.
    """
    found = label(photos, embeddings, known, again, on_step)
    doubtful = {
        told.photo: told.respelled(_meant(told, likely)) for told in photos if _meant(told, likely)
    }
    other = label(doubtful.values(), embeddings, {**(known or {}), **found})
    own = {told.photo: told for told in photos}
    for photo, told in doubtful.items():
        meant = set(told.names) - set(own[photo].names)
        if any(
            best.name in meant and best.likeness > 0
            for best in (other[face].weighed[0] for face in told.faces)
        ):
            found |= {face: other[face] for face in told.faces}
    return found


def _meant(told: Told, likely: Mapping[str, str]) -> dict[str, str]:
    """Names of a photo that are likely spellings of somebody who is not mentioned there."""
    return {
        name: likely[name]
        for name in told.names
        if name in likely and likely[name] not in told.names
    }


def _kept(project: Project, photos: list[Told]) -> list[str]:
    """Names that stay as they were exported or decided, though other things speak against it."""
    with project.snapshot() as sql:
        exported = dict(
            sql.execute("SELECT face, name FROM exported JOIN known ON known.id = person")
        )
        barred = {name for (name,) in sql.execute("SELECT name FROM people WHERE barred = 1")}
    decided = [
        f"face {face} stays {name}, as somebody decided, though a list says not to name them: "
        "decide otherwise to change that"
        for told in photos
        for face, name in told.bound.items()
        if name in barred
    ]
    return decided + [
        f"face {face} stays {exported[face]}, as it was exported, though nothing written about "
        "the photo names them now: decide about it to change that"
        for told in photos
        for face in told.faces
        if told.bound.get(face) is not None
        and told.bound[face] == exported.get(face)
        and exported[face] not in told.names
    ]


def _write(
    project: Project,
    done: Solved,
    photos: list[Told],
    now: Verdicts,
    stamps: Stamps,
    due: set[int],
    silent: set[int],
) -> None:
    by_photo = {told.photo: told for told in photos}
    lists = remembered(project).lists()
    with project.transaction() as sql:
        labels = dict(
            sql.execute("SELECT face, name FROM labels LEFT JOIN people ON people.id = person")
        )
        news = News([by_photo[photo] for photo in due], stamps)
        done.changes = changed(done.run, photos, labels, now, stamps, news, full=done.full)
        for photo in silent:
            done.changes += [
                Change(done.run, face, name, None, DECIDED if decisions(sql, face) else GONE)
                for face, name in worked_out(sql, photo).items()
                if name is not None
            ]
            forget(sql, photo)
        for told in photos:
            done.changes += [
                Change(done.run, face, name, None, here(told, stamps.get(told.photo)) or LOOKS)
                for face, name in worked_out(sql, told.photo).items()
                if name is not None and face not in told.faces
            ]
            keep(sql, done.run, told, now)
        done.changes += take_back(sql, done.run, lists)
        keep_changes(sql, done.changes)
