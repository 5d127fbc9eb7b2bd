"""Copies of a project, made while it may be written to, checked, and never over another file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from candidly.locking import Lock, LockHeldError
from candidly.photos import private
from candidly.photos.keeping.examination import faults
from candidly.photos.keeping.forgetting import forget_person
from candidly.photos.keeping.remaining_files import project_mark
from candidly.photos.project import Project, ProjectProblem, default_project
from candidly.photos.project.connection import explained_errors, lock_of
from candidly.photos.project.forgotten import ForgottenNames, words_of

PAGES = 2000  # copied at once
PathLike = str | os.PathLike[str]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Restored:
    """A project that was restored, what was there before, and names forgotten again."""

    path: Path
    before: Path | None
    forgotten: int


def backup(
    project: PathLike | None = None,
    target: PathLike | None = None,
    *,
    on_page: Progress | None = None,
) -> Path:
    """Copy a project to a new file, check the copy, and return where it is.

    It may be written to meanwhile: the copy is of one moment.

    Parameters
    ----------
    project : path or None
        The project file; None for the one used last.
    target : path or None
        The copy; None for one beside the project, with the time in its name. A file that exists
        is never replaced.
    on_page : callable, optional
        Called with the number of pages copied, and their total number.

    Raises
    ------
    ProjectProblem
        Where it cannot be written, or where the project is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.photos import Project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Project.open(f"{folder}/a.candidly", write=True).close()
    ...     backup(f"{folder}/a.candidly", f"{folder}/copy.candidly").name
    'copy.candidly'
    """
    with Project.open(project) as opened:
        place = _beside(opened.path, "backup") if target is None else Path(target).resolve()
        if target is not None:
            _refuse_among(opened, place)
        with _unfinished(place) as made:
            _copy(opened.connection, made, opened.path, on_page)
            _move(made, place)
    return place


def restore(
    copy: PathLike,
    project: PathLike | None = None,
    *,
    force: bool = False,
    on_page: Progress | None = None,
) -> Restored:
    """Put a copy of a project in its place, and return what was done.

    What was there is kept beside it. People who were forgotten in it since the copy was made are
    forgotten again.

    Parameters
    ----------
    copy : path
        A file that ``backup`` made, or any project file; it is only read.
    project : path or None
        Where to put it; None for the project used last.
    force : bool
        Whether to replace a project that is there.
    on_page : callable, optional
        Called with the number of pages copied, and their total number.
    """
    source, place = Path(copy).resolve(), _place(project)
    if source == place:
        raise ProjectProblem(f"{source} is the project itself; give the backup to restore")
    if place.exists() and not force:
        raise ProjectProblem(
            f"{place} is there already; --force replaces it, and keeps it beside as it is now"
        )
    with _unfinished(place) as made:
        with Project.open(source) as opened:
            if not place.exists():
                _refuse_among(opened, place)
            _copy(opened.connection, made, source, on_page)
        if not place.exists():
            _move(made, place)
            return Restored(place, None, 0)
        with _locked(place):
            again = _forget_again(place, made)
            before = _put_aside(place)
            made.replace(place)
    return Restored(place, before, again)


def _refuse_among(project: Project, place: Path) -> None:
    for root in project.roots():
        if place.is_relative_to(root.path):
            raise ProjectProblem(
                f"{place} would lie among the photos in {root.path}, where nothing is written; "
                "choose another place"
            )


def _place(project: PathLike | None) -> Path:
    return (default_project() if project is None else Path(project)).resolve()


def _beside(path: Path, what: str) -> Path:
    """Return a name for a copy beside a project, with the time in it, that is not taken."""
    time = datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (
        f"{path.stem}-{what}-{time}{end}{path.suffix}"
        for end in ("", *map("-{}".format, range(2, 99)))
    )
    return next(place for name in names if not (place := path.with_name(name)).exists())


@contextmanager
def _unfinished(place: Path) -> Iterator[Path]:
    """Yield a new file in the folder of another; it is deleted unless it was moved."""
    made = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        private.make_folder(place.parent)
        private.make_file(made)
    except OSError as error:
        raise ProjectProblem(
            f"{place.parent} cannot be written to ({error.strerror}); choose another place"
        ) from error
    try:
        yield made
    finally:
        for end in ("", "-journal", "-wal", "-shm", ".lock"):
            made.with_name(made.name + end).unlink(missing_ok=True)


def _move(made: Path, place: Path) -> None:
    """Give a file its name; one that has it already stays."""
    try:
        os.link(made, place)
    except FileExistsError as error:
        raise ProjectProblem(f"{place} is there already; choose another name") from error
    except OSError:  # a file system without links
        if place.exists():
            raise ProjectProblem(f"{place} is there already; choose another name") from None
        made.rename(place)


def _copy(source: sqlite3.Connection, made: Path, of: Path, on_page: Progress | None) -> None:
    """Copy a project into an empty file, as one file without a log, and check it."""
    with explained_errors(of):
        with closing(sqlite3.connect(made, isolation_level=None)) as copy:

            def report(_: int, remaining: int, total: int) -> None:
                if on_page is not None:
                    on_page(total - remaining, total)

            source.backup(copy, pages=PAGES, progress=report)
            copy.execute("PRAGMA journal_mode = DELETE")
        found = faults(made)
    if found:
        raise ProjectProblem(
            f"the copy of {of} is damaged, so it is not kept: {found[0]}; candidly doctor "
            "--project FILE says whether the project is"
        )
    with made.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    try:
        lock = Lock(lock_of(place))
    except LockHeldError as held:
        raise ProjectProblem(
            f"{place} is being written to ({held}); wait until that is done, or end candidly "
            "review if it is open on it"
        ) from held
    try:
        yield
    finally:
        lock.release()


def _put_aside(place: Path) -> Path:
    """Give a project another name, of which a copy takes the place."""
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(place)) as sql:
        # What is in the log goes into the file; one that is damaged stays as it is.
        sql.execute("PRAGMA journal_mode = DELETE")
    aside = _beside(place, "before-restore")
    _move_log(place, aside)
    try:
        os.link(place, aside)
    except OSError:
        place.rename(aside)
    return aside


def _move_log(place: Path, aside: Path) -> None:
    """Move what is left of a log with its project, so that the copy is not read with it."""
    for end in ("-wal", "-journal"):
        if (log := place.with_name(place.name + end)).exists():
            log.rename(aside.with_name(aside.name + end))
    place.with_name(place.name + "-shm").unlink(missing_ok=True)


def _forget_again(place: Path, made: Path) -> int:
    """Forget in a copy who was forgotten in the project since, and return how many names."""
    if project_mark(place) is None or project_mark(place) != project_mark(made):
        return 0
    try:
        with Project.open(place) as now:
            rows = now.connection.execute("SELECT hash, words, part FROM forgotten").fetchall()
    except (ProjectProblem, sqlite3.DatabaseError):
        return 0  # damaged: who was forgotten in it is lost with it
    with Project.open(made, write=True) as old:
        with old.transaction() as sql:
            sql.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", rows)
            names = _names_of(sql, ForgottenNames.read(sql))
        for name in names:
            forget_person(old, name)
        old.connection.execute("PRAGMA journal_mode = DELETE")
    return len(names)


def _names_of(sql: sqlite3.Connection, forgotten: ForgottenNames) -> list[str]:
    """Return names in a copy that are forgotten by now, as it writes them."""
    people = [name for (name,) in sql.execute("SELECT name FROM people") if forgotten.holds(name)]
    written = [
        text[start:end]
        for (text,) in sql.execute("SELECT text FROM captions")
        for start, end in forgotten.spans(text)
    ]
    return list({tuple(words_of(name)): name for name in (*people, *written)}.values())
