"""Forgets a person, or all faces: nothing is left of them in the project file, also not as bytes.

Everything is deleted in one transaction, so that a process that is killed has forgotten all or
nothing. Then the file is written anew without what was deleted. Until that is done the project
says so, and the same command again finishes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from candidly.photos.keeping.deletion import (
    captions_with,
    delete_changes,
    delete_decisions,
    delete_looks,
    delete_named,
    delete_recogniser,
    delete_references,
    mark_unsolved,
    redact_all_texts,
    redact_captions,
    unname_regions,
)
from candidly.photos.keeping.person_traces import (
    among,
    count_rows,
    faces_of,
    is_listed,
    names_alike,
    names_of,
    numbers_of,
    whole_and_parts,
    written_as,
)
from candidly.photos.keeping.remaining_files import (
    copies_of,
    exported_files,
    paths_with,
    reports_with,
)
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.connection import explained_errors
from candidly.photos.project.forgotten import UNNAMED, ForgottenNames, words_of
from candidly.photos.project.known_names import (
    apply_lists,
    close_names,
    list_texts,
)


@dataclass
class Forgotten:
    """What was forgotten, or would be; and where it is still, outside of the project.

    Attributes
    ----------
    names : list of str
        All names of the person; empty where all faces are forgotten.
    captions, mentions, faces, decisions, changes : int
        Captions redacted, mentions, faces whose looks go, decisions and changed names deleted.
    recogniser : bool
        Whether the people learnt go; ``candidly train`` learns the others again.
    alike : list of str
        Other names like it, which stay.
    exports : list of str
        Files that were exported with the name.
    files : list of str
        Photos that have the name in their path, which stays.
    reports : list of Path
        Reports in the project's folder with the name; they are deleted.
    pages : list of Path
        Reports in the current folder with the name, which stay.
    copies : list of Path
        Backups of the project beside it, which stay.
    unclean : str
        Why the bytes are not gone from the file yet; empty where they are.
    """

    names: list[str] = field(default_factory=list)
    captions: int = 0
    mentions: int = 0
    faces: int = 0
    decisions: int = 0
    changes: int = 0
    recogniser: bool = False
    alike: list[str] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    reports: list[Path] = field(default_factory=list)
    pages: list[Path] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    unclean: str = ""


class _OnlyLookingError(Exception):
    """Ends a transaction whose changes were only to be counted."""


def forget_person(project: Project, name: str, *, dry_run: bool = False) -> Forgotten:
    """Delete everything about a person from a project, and say where else the name is.

    The person is not named again by later runs: the name stays as a keyed hash alone.

    Parameters
    ----------
    project : Project
        Opened for writing.
    name : str
        Any name of the person; case and diacritics do not count.
    dry_run : bool
        Change nothing, and return what would go.

    Raises
    ------
    ProjectProblem
        Where nobody in the project has the name.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.photos import Project
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/a.candidly", write=True) as project:
    ...         forget_person(project, "Ann Lee")
    Traceback (most recent call last):
    candidly.photos.project.connection.ProjectProblem: nobody is called 'Ann Lee' in this ...
    """
    if not words_of(name) or words_of(name) == words_of(UNNAMED):
        raise ProjectProblem(f"{name!r} is no name; candidly people lists everybody")
    return _run(project, dry_run, lambda sql: _forget_person(sql, project.path, name))


def forget_faces(project: Project, *, dry_run: bool = False) -> Forgotten:
    """Delete what all faces look like from a project; captions, names and decisions stay.

    The next run of ``candidly name`` looks at the photos again.

    Parameters
    ----------
    project : Project
        Opened for writing.
    dry_run : bool
        Change nothing, and return what would go.
    """
    return _run(project, dry_run, lambda sql: _forget_faces(sql, project.path))


def _run(
    project: Project, dry_run: bool, forget: Callable[[sqlite3.Connection], Forgotten]
) -> Forgotten:
    project.connection.execute("PRAGMA secure_delete = ON")
    done = Forgotten()
    try:
        with project.transaction() as sql:
            sql.execute("INSERT OR REPLACE INTO own VALUES ('forgetting', 1)")
            done = forget(sql)
            sql.execute("DELETE FROM own WHERE name = 'forgetting'")
            sql.execute("INSERT OR REPLACE INTO own VALUES ('unclean', 1)")
            if dry_run:
                raise _OnlyLookingError
    except _OnlyLookingError:
        return done
    for page in done.reports:
        page.unlink(missing_ok=True)
    done.unclean = clean(project)
    return done


def clean(project: Project) -> str:
    """Write the file anew without what was deleted, and return why it could not be done, or "".

    Deleted rows leave their bytes in free pages and in the log; both are gone afterwards.
    """
    sql = project.connection
    with explained_errors(project.path):
        sql.execute("PRAGMA temp_store = MEMORY")  # no copy in a folder of temporary files
        sql.execute("VACUUM")
        busy, *_ = sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            return (
                "another program reads the project, so that the bytes are still in "
                f"{project.path}-wal; end it, and run the same command again"
            )
        sql.execute("DELETE FROM own WHERE name = 'unclean'")
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ""


def is_unclean(sql: sqlite3.Connection) -> bool:
    """Return whether the bytes of what was forgotten may still be in the file."""
    return sql.execute("SELECT 1 FROM own WHERE name = 'unclean'").fetchone() is not None


def _forget_person(sql: sqlite3.Connection, path: Path, name: str) -> Forgotten:
    people = numbers_of(sql, name)
    names = names_of(sql, people, name)
    forgotten = ForgottenNames.of(sql, names, ())
    written = list(captions_with(sql, forgotten, people))
    if not people and not written and not is_listed(sql, forgotten):
        if ForgottenNames.read(sql).holds(name):
            return _elsewhere(Forgotten([name]), sql, path, forgotten)
        close = " or ".join(map(repr, close_names(sql, name)))
        meant = f"; did you mean {close}?" if close else "; candidly people lists everybody"
        raise ProjectProblem(f"nobody is called {name!r} in this project{meant}")
    forgotten = ForgottenNames.of(sql, *whole_and_parts(names, written_as(sql, people)))
    done = Forgotten(names)
    done.alike = [one for one in names_alike(sql, names, people) if not forgotten.holds(one)]
    done.exports = exported_files(sql, people)
    faces = faces_of(sql, people)
    done.faces = len(faces)
    done.mentions = count_rows(sql, "mentions", people) + count_rows(sql, "given", people)
    done.recogniser = sql.execute("SELECT 1 FROM trained").fetchone() is not None

    mark_unsolved(sql, people, faces)
    done.captions = redact_captions(sql, forgotten, people)
    for table in ("given", "mentions"):
        delete_named(sql, table, "name", forgotten, people)
    unname_regions(sql, forgotten, people)
    done.changes = delete_changes(sql, forgotten)
    done.decisions = delete_decisions(sql, people)
    delete_looks(sql, faces)
    delete_recogniser(sql)
    delete_references(sql, people)
    sql.execute("UPDATE people SET stands_for = NULL WHERE " + among("stands_for", people))
    sql.execute("DELETE FROM people WHERE " + among("id", people))
    for kind, text in list_texts(sql).items():
        kept, _ = forgotten.without_people(kind, text.text)
        sql.execute("UPDATE lists SET text = ? WHERE kind = ? AND text != ?", (kept, kind, kept))
    redact_all_texts(sql, forgotten)
    forgotten.keep(sql)
    apply_lists(sql)
    done.files = paths_with(sql, forgotten)
    return _elsewhere(done, sql, path, forgotten)


def _forget_faces(sql: sqlite3.Connection, path: Path) -> Forgotten:
    (faces,) = sql.execute("SELECT count(*) FROM embeddings").fetchone()
    learnt = sql.execute("SELECT 1 FROM trained").fetchone() is not None
    sql.execute("DELETE FROM embeddings")
    sql.execute("DELETE FROM weighed")
    sql.execute("DELETE FROM populations")
    sql.execute("DELETE FROM solved")
    delete_recogniser(sql)
    sql.execute("UPDATE faces SET landmarks = x''")
    sql.execute("UPDATE photos SET model = NULL")
    return _elsewhere(Forgotten(faces=faces, recogniser=learnt), sql, path, None)


def _elsewhere(
    done: Forgotten, sql: sqlite3.Connection, project: Path, forgotten: ForgottenNames | None
) -> Forgotten:
    """Add reports and copies, of a name or of all faces."""
    done.reports, done.copies = reports_with(project.parent, forgotten), copies_of(sql, project)
    if Path.cwd() != project.parent:
        done.pages = reports_with(Path.cwd(), forgotten)
    return done
