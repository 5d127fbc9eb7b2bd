"""Names written out of a project: into copies of photos, sidecars and tables."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from candidly.photos.captions import CaptionReader
from candidly.photos.captions.metadata import XmlProblem
from candidly.photos.exporting.exiftool import ExifTool, ExifToolProblem, has_exiftool
from candidly.photos.exporting.export_records import (
    PreparedFile,
    begin_export,
    end_export,
    last_record,
    record_files,
    recorded_names,
    was_written,
)
from candidly.photos.exporting.name_tables import TableRow, to_csv, to_json
from candidly.photos.exporting.photo_names import merge_names
from candidly.photos.exporting.targets import (
    FileProblem,
    PhotoFile,
    Sidecar,
    folders_of,
    photo_files,
    read_photo,
    sidecar_beside,
    sidecar_name,
    single_packet,
    stored_names,
)
from candidly.photos.exporting.whole_files import checksum, content, write_whole
from candidly.photos.names.lists import key
from candidly.photos.pictures.formats import FormatError, Metadata, image_data, kind_of, metadata_of
from candidly.photos.project import Project, ProjectProblem, open_project
from candidly.photos.project.named_faces import NamedFace, named_faces

BATCH = 32  # files that are prepared, recorded and written together
JPEG = "JPEG"


@dataclass(frozen=True)
class ExportTargets:
    """Where names are written.

    Attributes
    ----------
    folder : Path or None
        Folder for copies of JPEG photos, and for sidecars; never among the photos.
    beside : bool
        Write sidecars beside the photos instead.
    sidecar : "adobe", "digikam" or None
        Sidecars for all photos, ``a.xmp`` or ``a.jpg.xmp``. None embeds names into copies of JPEG
        photos where ExifTool is installed, and otherwise takes the kind that is there already, or
        digiKam's.
    csv, json : Path or None
        Tables to write.
    """

    folder: Path | None = None
    beside: bool = False
    sidecar: Sidecar | None = None
    csv: Path | None = None
    json: Path | None = None


@dataclass
class ExportSummary:
    """Result of an export.

    Attributes
    ----------
    number : int or None
        Number of the export; None where nothing was written.
    names, confirmed : int
        Names of faces written, and how many of these somebody had confirmed.
    files : dict of Path to tuple of str
        Files written (or, of a dry run, to be written) with the names they have now.
    unchanged : int
        Files that were already as they should be.
    skipped : list of (str, str)
        Files for which nothing was written, and why.
    remarks : list of (str, str)
        Files that were written in another way than usual, and why.
    """

    number: int | None = None
    names: int = 0
    confirmed: int = 0
    files: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)


def export(
    project: Project | str | os.PathLike[str] | None,
    targets: ExportTargets,
    *,
    faces: Collection[int] | None = None,
    only: Sequence[str] = (),
    since: datetime | None = None,
    dry_run: bool = False,
    max_error: float | None = None,
    on_file: Callable[[int, int], None] | None = None,
) -> ExportSummary:
    """Write names into copies of photos, sidecars and tables.

    Photos are only read. What other programs wrote into a sidecar stays. Each file is written as a
    whole or not at all, and recorded first, so that ``undo_export`` takes it back.

    Parameters
    ----------
    project : Project or path, optional
        A project opened for writing, or its file; None for the one in the user's data folder.
    targets : ExportTargets
        Where to write.
    faces : collection of int, optional
        Faces whose names are written besides the confirmed ones; None for all that are sure, or
        were exported before.
    only : sequence of str
        Only people, or files, that one of these patterns fits ("Ann Lee", "Ann*", "2024/*").
    since : datetime, optional
        Only photos changed then or later.
    dry_run : bool
        Write nothing, and return what would be written.
    max_error : float, optional
        Share of wrong names that was promised, for the record.
    on_file : callable, optional
        Called with the number of photos done, and their total number.

    Returns
    -------
    ExportSummary

    Raises
    ------
    ProjectProblem
        Where a target cannot be used, or the disk is full: files written until then are whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/a.candidly", write=True) as project:
    ...         export(project, ExportTargets(Path(folder, "out"))).names
    0
    """
    with open_project(project, write=not dry_run) as opened, ExifTool() as tool:
        run = _Export(opened, targets, tool, dry_run=dry_run)
        run.check()
        with opened.snapshot() as sql:
            chosen = _chosen(named_faces(sql), faces)
            files = photo_files(sql, None if since is None else round(since.timestamp() * 1e9))
            run.plan(sql, files, chosen, only)
        run.write({"max_error": max_error}, on_file)
        return run.summary


def _chosen(named: Iterator[NamedFace], faces: Collection[int] | None) -> list[NamedFace]:
    """Return the faces whose name is written: confirmed, and sure or among those given.

    Without such a choice, a name that was written before stays, also where it is not sure any more.
    """
    if faces is None:
        return [one for one in named if one.confirmed or one.exported or one.certainty == "sure"]
    faces = set(faces)
    return [one for one in named if one.confirmed or one.face in faces]


@dataclass(frozen=True)
class _Task:
    """A file of a photo, the names to write, and where its copy or sidecar goes."""

    file: PhotoFile
    faces: tuple[NamedFace, ...]
    copy: Path | None
    sidecar: Path


class _Export:
    """One export: planned in a snapshot, written in batches."""

    def __init__(
        self, project: Project, targets: ExportTargets, tool: ExifTool, *, dry_run: bool
    ) -> None:
        self.project, self.targets, self.tool, self.dry_run = project, targets, tool, dry_run
        self.summary = ExportSummary()
        self._tasks: list[_Task] = []
        self._rows: list[TableRow] = []
        self._written: set[int] = set()

    # Before anything is written

    def check(self) -> None:
        """Refuse targets that cannot be used, before any work."""
        targets = self.targets
        if not (targets.folder or targets.beside or targets.csv or targets.json):
            raise ProjectProblem(
                "say where to write: a folder, --beside for sidecars beside the photos, --csv FILE "
                "or --json FILE"
            )
        if targets.folder and targets.beside:
            raise ProjectProblem("a folder and --beside are two places; choose one")
        for path in (targets.folder, targets.csv, targets.json):
            if path is not None:
                self._check_place(path)
        for path in (targets.csv, targets.json):
            if path is not None:
                self._check_table(path)

    def _check_place(self, path: Path) -> None:
        whole = path.resolve()
        for root in self.project.roots():
            if whole.is_relative_to(root.path):
                raise ProjectProblem(
                    f"{path} lies among the photos in {root.path}, where nothing is written unless "
                    "you say --beside; choose another place"
                )
            if path == self.targets.folder and root.path.is_relative_to(whole):
                raise ProjectProblem(
                    f"{path} holds the photos in {root.path}; choose a folder of its own"
                )

    def _check_table(self, path: Path) -> None:
        if path.is_dir():
            raise ProjectProblem(f"{path} is a folder; choose a file")
        there = content(path)
        if there is not None and not self._is_ours(path.resolve(), there):
            raise ProjectProblem(
                f"{path} is there already, and no export wrote it as it is now; choose another name"
            )

    def _is_ours(self, path: Path, there: bytes) -> bool:
        with self.project.snapshot() as sql:
            return was_written(sql, path, checksum(there))

    # What to write

    def plan(
        self,
        sql: sqlite3.Connection,
        files: Sequence[PhotoFile],
        chosen: Sequence[NamedFace],
        only: Sequence[str],
    ) -> None:
        """Choose the files to write, and the names in each."""
        by_photo: dict[int, list[NamedFace]] = defaultdict(list)
        for one in chosen:
            by_photo[one.photo].append(one)
        roots = [root.path for root in self.project.roots()]
        folders = folders_of(roots, self._folder()) if self.targets.folder else {}
        used: set[str] = set()
        for file in files:
            faces = by_photo.get(file.photo, [])
            wanted = [one for one in faces if not only or _fits(one, file, only, used)]
            place = file.place if not folders else folders[file.root] / file.path
            embeds = bool(folders) and self.targets.sidecar is None and has_exiftool()
            task = _Task(file, tuple(wanted), place if embeds else None, self._sidecar(file, place))
            records = [last_record(sql, path) for path in (task.copy, task.sidecar) if path]
            known = [one for one in records if one is not None]
            before = {face for one in known for face in recorded_names(sql, one).items()}
            if only:
                # A name that another export wrote stays, as long as it is right.
                stay = {one for one in faces if (one.face, one.name) in before}
                kept = tuple(one for one in faces if one in wanted or one in stay)
                if wanted:
                    self._tasks.append(_Task(file, kept, task.copy, task.sidecar))
            elif wanted or known:  # of somebody forgotten a record has no name, but a file may
                self._tasks.append(task)
        missing = [pattern for pattern in only if pattern not in used]
        if missing:
            raise ProjectProblem(
                f"no name to write, and no file with one, fits --only {missing[0]!r}; candidly "
                "people lists everybody, and * stands for any letters"
            )

    def _folder(self) -> Path:
        assert self.targets.folder is not None
        return self.targets.folder.resolve()

    def _sidecar(self, file: PhotoFile, place: Path) -> Path:
        kind = self.targets.sidecar
        if kind is None:
            there = sidecar_beside(file.place, None)
            adobe = there is not None and there == sidecar_name(file.place, "adobe")
            kind = "adobe" if adobe else "digikam"
        return sidecar_name(place, kind)

    # Writing

    def write(
        self, settings: dict[str, float | None], on_file: Callable[[int, int], None] | None
    ) -> None:
        """Write what was planned; a file that is as it should be is left alone."""
        readers: dict[Path, CaptionReader] = {}
        taken: dict[Path, str] = {}
        batch: list[PreparedFile] = []
        for done, task in enumerate(self._tasks, 1):
            if on_file is not None:
                on_file(done, len(self._tasks))
            try:
                found = read_photo(task.file)
                batch += self._prepared(task, found, taken)
            except (FileProblem, OSError) as problem:
                why = problem.strerror if isinstance(problem, OSError) else None
                self.summary.skipped.append((task.file.path, why or str(problem)))
                continue
            if task.faces:
                reader = readers.setdefault(task.file.root, CaptionReader(task.file.root))
                columns = reader.columns(task.file.place) if self._has_tables() else {}
                names = stored_names(task.file, found, task.faces)
                self._rows.append(TableRow(str(task.file.place), names, columns))
                self._count(task.faces)
            if len(batch) >= BATCH:
                self._flush(batch, settings)
        self._flush([*batch, *self._tables()], settings)
        if self.summary.number is not None:
            with self.project.transaction() as sql:
                end_export(sql, self.summary.number)

    def _count(self, faces: Sequence[NamedFace]) -> None:
        new = [one for one in faces if one.face not in self._written]  # a photo may have copies
        self._written |= {one.face for one in new}
        self.summary.names += len(new)
        self.summary.confirmed += sum(one.confirmed for one in new)

    def _has_tables(self) -> bool:
        return bool(self.targets.csv or self.targets.json)

    def _prepared(
        self, task: _Task, found: Metadata, taken: dict[Path, str]
    ) -> Iterator[PreparedFile]:
        """Yield what to write for a photo: a copy where that is possible, else a sidecar."""
        if not (self.targets.folder or self.targets.beside):
            return
        why = None
        if task.copy is not None and _kind(task.file.place) == JPEG:
            try:
                made = self._copy(task, found)
                if made is not None:
                    yield made
                return
            except (XmlProblem, ExifToolProblem, FormatError) as problem:
                why = f"names are in {task.sidecar.name}, not in a copy: {problem}"
        if taken.setdefault(task.sidecar, task.file.path) != task.file.path:
            raise FileProblem(
                f"{task.sidecar.name} is for {taken[task.sidecar]}; --sidecar digikam gives each "
                "file its own"
            )
        made = self._side(task, found)
        if why is not None:
            self.summary.remarks.append((task.file.path, why))
        if made is not None:
            yield made

    def _copy(self, task: _Task, found: Metadata) -> PreparedFile | None:
        assert task.copy is not None
        there = content(task.copy)
        if there is not None and not self._is_ours(task.copy, there):
            raise FileProblem(f"{task.copy} is there already, and no export wrote it as it is now")
        if not task.faces and there is None:
            return None
        packet, remark = merge_names(
            single_packet(found), stored_names(task.file, found, task.faces)
        )
        data = self.tool.embed(task.file.place, packet)
        if _picture(data) != _picture(task.file.place.read_bytes()):
            raise ExifToolProblem("the picture would have changed")
        if remark is not None:
            self.summary.remarks.append((task.file.path, remark))
        old = None if there is None else _packet(there)
        return self._made(task.copy, data, task.faces, task.file.photo, there, old, embedded=True)

    def _side(self, task: _Task, found: Metadata) -> PreparedFile | None:
        there = content(task.sidecar)
        if not task.faces and there is None:
            return None
        base = there
        if base is None:
            beside = sidecar_beside(task.file.place, self.targets.sidecar)
            base = None if beside is None else content(beside)
        try:
            data, remark = merge_names(base, stored_names(task.file, found, task.faces))
        except XmlProblem as problem:
            raise FileProblem(f"the sidecar there cannot be added to: {problem}") from problem
        if remark is not None:
            self.summary.remarks.append((task.file.path, remark))
        return self._made(task.sidecar, data, task.faces, task.file.photo, there, there)

    def _tables(self) -> Iterator[PreparedFile]:
        faces = [one for task in self._tasks for one in task.faces if one.face in self._written]
        for path, write in ((self.targets.csv, to_csv), (self.targets.json, to_json)):
            if path is not None:
                there, data = content(path.resolve()), write(self._rows)
                made = self._made(path.resolve(), data, faces, None, there, there)
                if made is not None:
                    yield made

    def _made(
        self,
        path: Path,
        data: bytes,
        faces: Sequence[NamedFace],
        photo: int | None,
        there: bytes | None,
        before: bytes | None,
        *,
        embedded: bool = False,
    ) -> PreparedFile | None:
        """Return a file to write; None where it is there and recorded already."""
        if data == there and (self.dry_run or self._is_ours(path, there)):
            self.summary.unchanged += 1
            return None
        if self.dry_run:
            self.summary.files[path] = tuple(dict.fromkeys(one.name for one in faces))
            return None
        names = {one.face: one.name for one in faces}
        was = None if there is None else checksum(there)
        known = (there is not None, was, before)
        return PreparedFile(path, data, checksum(data), names, photo, embedded, *known)

    def _flush(self, batch: list[PreparedFile], settings: dict[str, float | None]) -> None:
        """Record files and then write them."""
        if batch:
            with self.project.transaction() as sql:
                if self.summary.number is None:
                    folder = None if self.targets.folder is None else self._folder()
                    self.summary.number = begin_export(sql, folder, settings)
                record_files(sql, self.summary.number, batch)
        for file in batch:
            try:
                write_whole(file.path, file.data)
            except OSError as error:
                raise ProjectProblem(
                    f"{file.path} cannot be written ({error.strerror}); what is written is whole, "
                    "and the same command again continues"
                ) from error
            self.summary.files[file.path] = tuple(dict.fromkeys(file.names.values()))
        batch.clear()


def _fits(face: NamedFace, file: PhotoFile, only: Sequence[str], used: set[str]) -> bool:
    """Return whether a pattern fits a name or a file, and note those that do."""
    own = [
        pattern
        for pattern in only
        if fnmatchcase(key(face.name), key(pattern))
        or face.name == pattern
        or fnmatchcase(file.path, pattern)
    ]
    used.update(own)
    return bool(own)


def _kind(path: Path) -> str | None:
    with path.open("rb") as file:
        return kind_of(file.read(12))


def _picture(data: bytes) -> str:
    """Return a hash of what decides the pixels of a JPEG."""
    found = sha256()
    for part in image_data(JPEG, data):
        found.update(part)
    return found.hexdigest()


def _packet(data: bytes) -> bytes | None:
    found = metadata_of(BytesIO(data))
    return found.xmp[0] if found is not None and found.xmp else None
