"""Photos into a project: found, looked at, their captions read, one transaction a photo."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from candidly import __version__
from candidly.photos.beside import Beside
from candidly.photos.folders import below, inside, moved_or_new, stat_of
from candidly.photos.looking import Failed, Looker, Seen, reason
from candidly.photos.parts import FoundFile, Parts
from candidly.photos.project import Project, ProjectProblem, Root
from candidly.photos.project.queries import spoken_of
from candidly.photos.project.store import (
    KnownFile,
    is_gone,
    keep_faces,
    keep_file,
    keep_photo,
    known_file,
    link_regions,
    looked_at,
    photo_with,
    turn,
)
from candidly.photos.project.values import clean, stored
from candidly.photos.project.words import (
    keep_caption,
    keep_mentions,
    keep_people,
    settle_caption,
)
from candidly.photos.records import Caption, Mention
from candidly.photos.summary import Progress, Summary

BATCH = 200  # captions read again in one transaction: redoing them costs nothing


def ingest(
    project: Project,
    folder: Path,
    parts: Parts,
    *,
    since: datetime | None = None,
    only: Path | None = None,
    workers: int | None = None,
    settings: dict[str, Any] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Bring the photos of a folder into a project; what has not changed is skipped.

    Killed at any moment, it has lost at most the photo in hand: run it again.

    Parameters
    ----------
    project : Project
        Opened for writing.
    folder : Path
        Where the photos are; they are only read.
    parts : Parts
        What finds and opens pictures, reads captions and names, finds and embeds faces.
    since : datetime, optional
        Only photos changed then or later.
    only : Path, optional
        Only what is in this folder of ``folder``.
    workers : int, optional
        Threads that look at pictures; one a processor by default, at most four.
    settings : dict, optional
        Kept with the run, beside what is used here.
    on_progress : callable, optional
        Told before each photo, and at the end.

    Returns
    -------
    Summary
    """
    if not folder.is_dir():
        raise ProjectProblem(f"there is no folder {folder}; give the folder of your photos")
    only = folder.resolve() if only is None else inside(folder, only)
    folder = folder.resolve()
    run = _Run(project, parts, moved_or_new(project, folder, parts, since))
    if only == run.root.path:
        only = None
    return run.run(only, since, workers or min(4, os.cpu_count() or 1), settings or {}, on_progress)


class _Run:
    """One run over one root."""

    def __init__(self, project: Project, parts: Parts, root: Root) -> None:
        self.project, self.parts, self.root = project, parts, root
        self.sql = project.connection
        self.summary = Summary()
        self.model = f"{parts.detector().identity}; {parts.embedder().identity}"
        self.captions = parts.captions(root.path)
        self.beside = Beside(root.path)
        self.words_changed = False

    def run(
        self,
        only: Path | None,
        since: datetime | None,
        workers: int,
        settings: dict[str, Any],
        on_progress: Callable[[Progress], None] | None,
    ) -> Summary:
        names = self.parts.names.identity
        tell = on_progress or (lambda _: None)
        unfinished = self._people_are_due(names)
        number = self.project.begin_run(
            __version__,
            {
                **settings,
                "root": str(stored(self.root.path)),
                "only": None if only is None else str(stored(only)),
                "since": None if since is None else since.isoformat(),
                "model": self.model,
                "names": names,
            },
        )
        files, problems = self.parts.pictures.find(self.root.path, since, only)
        self.summary.found = len(files)
        self.summary.problems += problems
        new = self._go_over(files, names)
        self._look_at(new, names, workers, tell)
        if since is None:
            self._note_gone(files, only)
        if unfinished or self.summary.gone or self.words_changed:
            self._settle_people()
        self.summary.problems += [" ".join(str(p).split()) for p in self.captions.problems]
        self.project.end_run(number, self.summary.counts, self.summary.problems)
        return self.summary

    def _people_are_due(self, names: str) -> bool:
        """Whether the last run was killed before it said who is who, or said it differently."""
        row = self.sql.execute(
            "SELECT finished, json_extract(settings, '$.names') AS names FROM runs"
            " WHERE names IS NOT NULL ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return row is not None and (row[0] is None or row[1] != names)

    # What is known already

    def _go_over(self, files: Sequence[FoundFile], names: str) -> list[FoundFile]:
        """Read captions again where they may have changed; return the files to look at."""
        new: list[FoundFile] = []
        again: list[tuple[FoundFile, KnownFile]] = []
        for file in files:
            known = known_file(self.sql, self.root.id, self._path(file))
            if (
                known is None
                or known.failure is not None
                or (known.size, known.mtime_ns) != stat_of(file)
                or known.model != self.model
            ):
                new.append(file)
                continue
            self.summary.unchanged += 1
            same = known.beside == self.beside.stamp(file.path) and known.reading == names
            if known.gone or not same:
                again.append((file, known))
        for start in range(0, len(again), BATCH):
            self._read_again(again[start : start + BATCH], names)
        return new

    def _read_again(self, batch: Sequence[tuple[FoundFile, KnownFile]], names: str) -> None:
        with self.project.transaction():
            for file, known in batch:
                try:
                    with self.project.attempt():
                        self._read_one_again(file, known, names)
                except (sqlite3.OperationalError, ImportError):
                    raise  # these are not of this caption
                except Exception as problem:  # one bad caption must not end the run
                    self.summary.problems.append(f"{self._path(file)}: {reason(problem)}")

    def _read_one_again(self, file: FoundFile, known: KnownFile, names: str) -> None:
        beside: str | None = self.beside.stamp(file.path)
        if known.beside != beside or known.reading is None:
            caption, mentions, beside = self._words(file)
            self._settle_alone(keep_caption(self.sql, known.id, caption, mentions, names))
        elif known.reading != names:
            number, text = self.sql.execute(
                "SELECT id, text FROM captions WHERE file = ?", (known.id,)
            ).fetchone()
            mentions = self.parts.names.read(text, self._path(file))
            self.summary.captions += bool(text)
            keep_mentions(self.sql, number, mentions, names)
            self._settle_alone(number)
        self.sql.execute("UPDATE files SET beside = ?, gone = 0 WHERE id = ?", (beside, known.id))
        if known.photo is not None:
            link_regions(self.sql, known.photo)
        self.words_changed = True

    def _words(self, file: FoundFile) -> tuple[Caption, list[Mention], str | None]:
        """What is written, who is named, and the stamp of what lies beside the photo.

        Without a stamp a caption is read again the next time: one that had a problem is, so
        that the problem is told until it is gone.
        """
        stamp, problems = self.beside.stamp(file.path), len(self.captions.problems)
        caption = self.captions.read(file.path)
        self.summary.captions += bool(caption.text or caption.given or caption.regions)
        mentions = self.parts.names.read(clean(caption.text), self._path(file))
        return caption, mentions, stamp if len(self.captions.problems) == problems else None

    # What is new

    def _look_at(
        self,
        files: Sequence[FoundFile],
        names: str,
        workers: int,
        tell: Callable[[Progress], None],
    ) -> None:
        known = "SELECT identity, orientation FROM photos WHERE model = ?"
        seen = set(self.sql.execute(known, (self.model,)))
        looker = Looker(self.parts, seen, workers)
        for done, (file, found) in enumerate(looker.look(files)):
            tell(Progress(done, len(files), self._path(file)))
            if self._keep(file, found, names) and isinstance(found, Seen):
                seen.add((found.identity, found.orientation))
        tell(Progress(len(files), len(files), ""))

    def _keep(self, file: FoundFile, found: Seen | Failed, names: str) -> bool:
        """Keep one photo, or why it failed; tells which."""
        if isinstance(found, Seen):
            try:
                self._keep_seen(file, found, names)
                return True
            except (ProjectProblem, ImportError):
                raise  # these are not of this photo
            except Exception as problem:  # what cannot be kept is a failure of this photo
                found = Failed(reason(problem))
        path = self._path(file)
        with self.project.transaction() as sql:
            keep_file(sql, self.root, path, stat_of(file), None, failure=found.reason)
        self.summary.failed.append((path, found.reason))
        return False

    def _keep_seen(self, file: FoundFile, found: Seen, names: str) -> None:
        """All that is kept of one photo, at once."""
        caption, mentions, beside = self._words(file)
        path, faces = self._path(file), 0
        with self.project.transaction() as sql:
            photo = known = photo_with(sql, found.identity)
            if photo is None:
                if found.size is None:
                    raise RuntimeError(f"{path} is known by its identity, and not in the project")
                photo = keep_photo(sql, found.identity, *found.size)
            # A copy may have come just before.
            looked = (self.model, found.orientation)
            if found.faces is not None and looked_at(sql, photo) != looked:
                if found.size is not None:
                    turn(sql, photo, found.size, found.orientation)
                faces = len(keep_faces(sql, photo, found.faces, self.model))
            number = keep_file(sql, self.root, path, stat_of(file), photo, beside=beside)
            self._settle_alone(keep_caption(sql, number, caption, mentions, names))
            link_regions(sql, photo)
        self.summary.new += known is None
        self.summary.recognised += known is not None
        self.words_changed = True
        self.summary.faces += faces

    # What is left to do at the end

    def _note_gone(self, files: Sequence[FoundFile], only: Path | None) -> None:
        """Mark files that are no longer there; all that is known of them stays."""
        there = {self._path(file) for file in files}
        rows = self.sql.execute(
            "SELECT id, path FROM files WHERE root = ? AND gone = 0", (self.root.id,)
        )
        gone = []
        for number, path in rows:
            name = os.fsdecode(path)
            whole = self.root.path / name
            if name in there or not (only is None or whole.is_relative_to(only)):
                continue
            if is_gone(whole):
                gone.append((number,))
        if gone:
            with self.project.transaction() as sql:
                sql.executemany("UPDATE files SET gone = 1 WHERE id = ?", gone)
        self.summary.gone = len(gone)

    def _settle_alone(self, caption: int) -> None:
        """Apply the user's lists at once: who is never to be named is not, not even for a while."""
        (spoken,) = spoken_of(self.project, caption)
        settle_caption(self.sql, spoken, self.parts.names.people([spoken]))

    def _settle_people(self) -> None:
        """Say who each mention is, now that all are known."""
        captions = spoken_of(self.project)
        settled = self.parts.names.people(captions)
        with self.project.transaction() as sql:
            keep_people(sql, captions, settled)

    def _path(self, file: FoundFile) -> str:
        return below(self.root.path, file.path)
