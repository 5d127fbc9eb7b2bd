"""Ingests a folder of photos into a project, with one transaction per photo."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from candidly import __version__
from candidly.photos.ingesting.photo_files import (
    SidecarStamps,
    find_root,
    folder_inside,
    relative_path,
    size_and_time,
)
from candidly.photos.ingesting.scanning import (
    PictureScan,
    PictureScanner,
    ScanFailure,
    count_workers,
    failure_reason,
)
from candidly.photos.parts import FoundFile, IngestParts
from candidly.photos.project import Project, ProjectProblem, Root, store
from candidly.photos.project.queries import caption_records
from candidly.photos.project.schema import clean_text, stored_path
from candidly.photos.records import Caption, Mention, StageProgress

BATCH = 200  # captions read again in one transaction: redoing them costs nothing


@dataclass
class IngestSummary:
    """Result of a run of ingest: how many files, faces and captions, and what failed.

    Of the ``found`` files some were ``unchanged``, some ``recognised`` (moved, copied, or with
    other metadata), the others ``new``; ``captions`` were read, ``faces`` found; files known
    before are ``gone``. ``failed`` has file and reason, ``problems`` what else went wrong.

    Examples
    --------
    >>> IngestSummary(found=2, new=1, failed=[("a.jpg", "it is empty")]).counts["failed"]
    1
    """

    found: int = 0
    unchanged: int = 0
    recognised: int = 0
    new: int = 0
    captions: int = 0
    faces: int = 0
    gone: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __add__(self, other: IngestSummary) -> IngestSummary:
        both = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return IngestSummary(*(one + more for one, more in both))

    @property
    def counts(self) -> dict[str, int]:
        """Return all results as numbers."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: v if isinstance(v, int) else len(v) for name, v in values.items()}


def ingest_folder(
    project: Project,
    folder: Path,
    parts: IngestParts,
    *,
    since: datetime | None = None,
    only: Path | None = None,
    n_jobs: int | None = None,
    settings: dict[str, Any] | None = None,
    on_progress: Callable[[StageProgress], None] | None = None,
) -> IngestSummary:
    """Ingest the photos of a folder into a project; what has not changed is skipped.

    If it is killed, at most the current photo is lost: run it again.

    Parameters
    ----------
    project : Project
        Opened for writing.
    folder : Path
        Folder of the photos; they are only read.
    parts : IngestParts
        Parts that find and open pictures, read captions and names, find and embed faces.
    since : datetime, optional
        Only photos changed then or later.
    only : Path, optional
        Only what is in this folder of ``folder``.
    n_jobs : int, optional
        Threads that scan pictures; one per processor by default, at most four.
    settings : dict, optional
        Stored with the run, in addition to the settings used here.
    on_progress : callable, optional
        Called before each photo, and at the end.

    Returns
    -------
    IngestSummary
    """
    if not folder.is_dir():
        raise ProjectProblem(f"there is no folder {folder}; give the folder of your photos")
    only = folder.resolve() if only is None else folder_inside(folder, only)
    folder = folder.resolve()
    run = _FolderRun(project, parts, find_root(project, folder, parts, since))
    if only == run.root.path:
        only = None
    return run.run(only, since, count_workers(n_jobs), settings or {}, on_progress)


class _FolderRun:
    """State of one run of ingest over one root."""

    def __init__(self, project: Project, parts: IngestParts, root: Root) -> None:
        self.project, self.parts, self.root = project, parts, root
        self.sql = project.connection
        self.summary = IngestSummary()
        self.model = parts.model()
        self.captions = parts.captions(root.path)
        self.sidecars = SidecarStamps(root.path)
        self.words_changed = False

    def run(
        self,
        only: Path | None,
        since: datetime | None,
        workers: int,
        settings: dict[str, Any],
        on_progress: Callable[[StageProgress], None] | None,
    ) -> IngestSummary:
        names = self.parts.names.identity
        report = on_progress or (lambda _: None)
        unfinished = self._people_are_due(names)
        number = self.project.begin_run(
            __version__,
            {
                **settings,
                "root": str(stored_path(self.root.path)),
                "only": None if only is None else str(stored_path(only)),
                "since": None if since is None else since.isoformat(),
                "model": self.model,
                "names": names,
            },
        )
        files, problems = self.parts.pictures.find(self.root.path, since, only)
        self.summary.found = len(files)
        self.summary.problems += problems
        new = self._go_over(files, names)
        self._scan(new, names, workers, report)
        if since is None:
            self._mark_gone(files, only)
        if unfinished or self.summary.gone or self.words_changed:
            self._keep_people()
        self.summary.problems += [" ".join(str(p).split()) for p in self.captions.problems]
        self.project.end_run(number, self.summary.counts, self.summary.problems)
        return self.summary

    def _people_are_due(self, names: str) -> bool:
        """Return whether people have to be stored: the last run was killed, or read other names."""
        row = self.sql.execute(
            "SELECT finished, json_extract(settings, '$.names') AS names FROM runs"
            " WHERE names IS NOT NULL ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return row is not None and (row[0] is None or row[1] != names)

    # Known files

    def _go_over(self, files: Sequence[FoundFile], names: str) -> list[FoundFile]:
        """Read captions again where they may have changed; return the files to scan."""
        new: list[FoundFile] = []
        again: list[tuple[FoundFile, store.FileRecord]] = []
        for file in files:
            known = store.file_record(self.sql, self.root.id, self._path(file))
            if (
                known is None
                or known.failure is not None
                or (known.size, known.mtime_ns) != size_and_time(file)
                or known.model != self.model
            ):
                new.append(file)
                continue
            self.summary.unchanged += 1
            same = known.beside == self.sidecars.stamp(file.path) and known.reading == names
            if known.gone or not same:
                again.append((file, known))
        for start in range(0, len(again), BATCH):
            self._read_again(again[start : start + BATCH], names)
        return new

    def _read_again(self, batch: Sequence[tuple[FoundFile, store.FileRecord]], names: str) -> None:
        with self.project.transaction():
            for file, known in batch:
                try:
                    with self.project.attempt():
                        self._read_one_again(file, known, names)
                except (sqlite3.OperationalError, ImportError):
                    raise  # such errors are not about this caption
                except Exception as problem:  # one bad caption must not end the run
                    self.summary.problems.append(f"{self._path(file)}: {failure_reason(problem)}")

    def _read_one_again(self, file: FoundFile, known: store.FileRecord, names: str) -> None:
        beside: str | None = self.sidecars.stamp(file.path)
        if known.beside != beside or known.reading is None:
            caption, mentions, beside = self._words(file)
            self._keep_people_at_once(
                store.keep_caption(self.sql, known.id, caption, mentions, names)
            )
        elif known.reading != names:
            number, text = self.sql.execute(
                "SELECT id, text FROM captions WHERE file = ?", (known.id,)
            ).fetchone()
            mentions = self.parts.names.read(text, self._path(file))
            self.summary.captions += bool(text)
            store.keep_mentions(self.sql, number, mentions, names)
            self._keep_people_at_once(number)
        self.sql.execute("UPDATE files SET beside = ?, gone = 0 WHERE id = ?", (beside, known.id))
        if known.photo is not None:
            store.link_regions(self.sql, known.photo)
        self.words_changed = True

    def _words(self, file: FoundFile) -> tuple[Caption, list[Mention], str | None]:
        """Return the caption, the people named, and the stamp of the files beside the photo.

        Without a stamp a caption is read again the next time. A caption with a problem gets
        none, so that the problem is reported until it is gone.
        """
        stamp, problems = self.sidecars.stamp(file.path), len(self.captions.problems)
        caption = self.captions.read(file.path)
        self.summary.captions += bool(caption.text or caption.given or caption.regions)
        mentions = self.parts.names.read(clean_text(caption.text), self._path(file))
        return caption, mentions, stamp if len(self.captions.problems) == problems else None

    # New files

    def _scan(
        self,
        files: Sequence[FoundFile],
        names: str,
        workers: int,
        report: Callable[[StageProgress], None],
    ) -> None:
        query = "SELECT identity, orientation FROM photos WHERE model = ?"
        known = set(self.sql.execute(query, (self.model,)))
        scanner = PictureScanner(self.parts, known, workers)
        done = -1

        def wait(file: FoundFile, seconds: float) -> None:
            report(StageProgress("ingest", done + 1, len(files), self._path(file), seconds))

        for done, (file, found) in enumerate(scanner.scan(files, wait)):
            report(StageProgress("ingest", done, len(files), self._path(file)))
            if self._keep(file, found, names) and isinstance(found, PictureScan):
                known.add((found.identity, found.orientation))
        report(StageProgress("ingest", len(files), len(files)))

    def _keep(self, file: FoundFile, found: PictureScan | ScanFailure, names: str) -> bool:
        """Store one photo, or why it failed; return whether it was stored."""
        if isinstance(found, PictureScan):
            try:
                self._keep_scan(file, found, names)
                return True
            except (ProjectProblem, ImportError):
                raise  # such errors are not about this photo
            except Exception as problem:  # what cannot be stored is a failure of this photo
                found = ScanFailure(failure_reason(problem))
        path = self._path(file)
        with self.project.transaction() as sql:
            store.keep_file(sql, self.root, path, size_and_time(file), None, failure=found.reason)
        self.summary.failed.append((path, found.reason))
        return False

    def _keep_scan(self, file: FoundFile, found: PictureScan, names: str) -> None:
        """Store everything about one photo in one transaction."""
        caption, mentions, beside = self._words(file)
        path, faces = self._path(file), 0
        with self.project.transaction() as sql:
            photo = known = store.photo_with_identity(sql, found.identity)
            if photo is None:
                if found.size is None:
                    raise RuntimeError(f"{path} is known by its identity, and not in the project")
                photo = store.keep_photo(sql, found.identity, *found.size)
            # A copy may have been stored just before.
            state = (self.model, found.orientation)
            if found.faces is not None and store.scan_state(sql, photo) != state:
                if found.size is not None:
                    store.set_orientation(sql, photo, found.size, found.orientation)
                faces = len(store.keep_faces(sql, photo, found.faces, self.model))
            number = store.keep_file(
                sql, self.root, path, size_and_time(file), photo, beside=beside
            )
            self._keep_people_at_once(store.keep_caption(sql, number, caption, mentions, names))
            store.link_regions(sql, photo)
        self.summary.new += known is None
        self.summary.recognised += known is not None
        self.words_changed = True
        self.summary.faces += faces

    # The end of a run

    def _mark_gone(self, files: Sequence[FoundFile], only: Path | None) -> None:
        """Mark files that no longer exist; everything known about them stays."""
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
            if store.is_gone(whole):
                gone.append((number,))
        if gone:
            with self.project.transaction() as sql:
                sql.executemany("UPDATE files SET gone = 1 WHERE id = ?", gone)
        self.summary.gone = len(gone)

    def _keep_people_at_once(self, caption: int) -> None:
        """Apply the user's lists at once, so that a barred person is never named, even briefly."""
        (record,) = caption_records(self.project, caption)
        store.keep_people_of_caption(self.sql, record, self.parts.names.people([record]))

    def _keep_people(self) -> None:
        """Store who each mention is, now that all mentions are known."""
        captions = caption_records(self.project)
        people = self.parts.names.people(captions)
        with self.project.transaction() as sql:
            store.keep_people(sql, captions, people)

    def _path(self, file: FoundFile) -> str:
        return relative_path(self.root.path, file.path)
