"""Forgets a person, or all faces: nothing is left of them in the project file, also not as bytes.

Everything is deleted in one transaction, so that a process that is killed has forgotten all or
nothing. Then the file is written anew without what was deleted. Until that is done the project
says so, and the same command again finishes it.
"""

from __future__ import annotations

import html
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from candidly.photos.names.lists import key
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.connection import explained_errors
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.forgotten import UNNAMED, ForgottenNames, words_of
from candidly.photos.project.known_names import (
    apply_lists,
    close_names,
    current_lists,
    current_name,
    list_texts,
)
from candidly.photos.project.schema import APPLICATION
from candidly.photos.records import Mention
from candidly.photos.reporting.report_file import OURS

# Columns that are names of one person, which are looked at as a whole, or say where files are and
# by what they were made.
_NAMES = {"name", "before", "after"}
_NOT_TEXT = {"path", "folder", "identity", "model", "version", "checksum", "checksum_before"}
_DONE_APART = {"captions", "people", "lists", "own", "forgotten", "roots", "files"}


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


# A person


def _forget_person(sql: sqlite3.Connection, path: Path, name: str) -> Forgotten:
    people = _numbers(sql, name)
    names = _names(sql, people, name)
    forgotten = ForgottenNames.of(sql, names, ())
    written = list(_captions(sql, forgotten, people))
    if not people and not written and not _is_listed(sql, forgotten):
        if ForgottenNames.read(sql).holds(name):
            return _elsewhere(Forgotten([name]), sql, path, forgotten)
        close = " or ".join(map(repr, close_names(sql, name)))
        meant = f"; did you mean {close}?" if close else "; candidly people lists everybody"
        raise ProjectProblem(f"nobody is called {name!r} in this project{meant}")
    forgotten = ForgottenNames.of(sql, *_whole_and_parts(names, _written(sql, people)))
    done = Forgotten(names)
    done.alike = [one for one in _alike(sql, names, people) if not forgotten.holds(one)]
    done.exports = _exports(sql, people)
    faces = _faces(sql, people)
    done.faces = len(faces)
    done.mentions = _count(sql, "mentions", people) + _count(sql, "given", people)
    done.recogniser = sql.execute("SELECT 1 FROM trained").fetchone() is not None

    _mark_unsolved(sql, people, faces)
    done.captions = _redact_captions(sql, forgotten, people)
    for table in ("given", "mentions"):
        _delete_named(sql, table, "name", forgotten, people)
    _forget_regions(sql, forgotten, people)
    done.changes = _delete_changes(sql, forgotten)
    done.decisions = _delete_decisions(sql, people)
    _forget_looks(sql, faces)
    _delete_recogniser(sql)
    _delete_references(sql, people)
    sql.execute("UPDATE people SET stands_for = NULL WHERE " + _among("stands_for", people))
    sql.execute("DELETE FROM people WHERE " + _among("id", people))
    for kind, text in list_texts(sql).items():
        kept, _ = forgotten.without_people(kind, text.text)
        sql.execute("UPDATE lists SET text = ? WHERE kind = ? AND text != ?", (kept, kind, kept))
    _redact_all_texts(sql, forgotten)
    forgotten.keep(sql)
    apply_lists(sql)
    done.files = _paths(sql, forgotten)
    return _elsewhere(done, sql, path, forgotten)


def _numbers(sql: sqlite3.Connection, name: str) -> list[int]:
    """Return everybody in the table of people who is the person of a name now."""
    now = current_name(sql, name)
    own = {tuple(words_of(name))} | ({tuple(words_of(now))} if now is not None else set())
    rows = sql.execute(
        "SELECT people.id, people.name, known.name FROM people JOIN known USING (id)"
    )
    return [
        number
        for number, alone, known in rows
        if known == now or tuple(words_of(alone)) in own or tuple(words_of(known)) in own
    ]


def _names(sql: sqlite3.Connection, people: list[int], name: str) -> list[str]:
    """Return all names of a person: as found, decided, and on the list of aliases."""
    found = [one for (one,) in sql.execute("SELECT name FROM people WHERE " + _among("id", people))]
    now = current_name(sql, name)
    found += [name] if now is None else [now, name]
    lists = current_lists(sql)
    keys = {key(one) for one in found}
    text = list_texts(sql).get("aliases")
    for line in text.text.splitlines() if text is not None else ():
        others = [part.strip() for part in re.split("[=,]", line.partition("#")[0])]
        if any(key(other) in keys or key(lists.canonical(other)) in keys for other in others):
            found += filter(None, others)
    return list({tuple(words_of(one)): one for one in reversed(found)}.values())[::-1]


def _written(sql: sqlite3.Connection, people: list[int]) -> list[str]:
    """Return how the person is written in captions, which may be a part of the name."""
    rows = sql.execute(
        'SELECT DISTINCT substr(text, start + 1, "end" - start) FROM mentions'
        " JOIN captions ON captions.id = caption WHERE " + _among("person", people)
    )
    own = sql.execute("SELECT DISTINCT name FROM mentions WHERE " + _among("person", people))
    return [text for (text,) in (*rows, *own)]


def _whole_and_parts(names: Iterable[str], written: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return texts that are the person wherever they stand, and those that may be another's."""
    whole, parts = list(names), list[str]()
    known = {word for name in whole for word in words_of(name)}
    for text in written:
        words = words_of(text)
        short = len(words) < 2 or set(words) < known
        (parts if short else whole).append(text)
    return whole, parts


def _captions(
    sql: sqlite3.Connection, forgotten: ForgottenNames, people: list[int]
) -> Iterator[tuple[int, str, list[int], list[Mention | None]]]:
    """Yield captions that name the people, as they are without: mentions by their numbers."""
    for caption, text in sql.execute("SELECT id, text FROM captions").fetchall():
        rows = sql.execute(
            'SELECT id, name, start, "end", absence, person FROM mentions WHERE caption = ?',
            (caption,),
        ).fetchall()
        mentions = [Mention(name, a, b, absence=why) for _, name, a, b, why, _ in rows]
        own = [(row[2], row[3]) for row in rows if row[5] in people]
        now, kept = forgotten.redact(text, mentions, own)
        if now != text or own:
            yield caption, now, [row[0] for row in rows], kept


def _redact_captions(sql: sqlite3.Connection, forgotten: ForgottenNames, people: list[int]) -> int:
    count = 0
    for caption, text, numbers, kept in _captions(sql, forgotten, people):
        sql.execute("UPDATE captions SET text = ? WHERE id = ?", (text, caption))
        for number, one in zip(numbers, kept, strict=True):
            if one is None:
                sql.execute("DELETE FROM mentions WHERE id = ?", (number,))
            else:
                sql.execute(
                    'UPDATE mentions SET start = ?, "end" = ?, absence = ? WHERE id = ?',
                    (one.start, one.end, one.absence, number),
                )
        count += 1
    return count


def _is_listed(sql: sqlite3.Connection, forgotten: ForgottenNames) -> bool:
    """Return whether a name is given in metadata, or on one of the user's lists."""
    given = sql.execute("SELECT name FROM given UNION SELECT name FROM regions").fetchall()
    lists = (forgotten.without_people(kind, one.text)[1] for kind, one in list_texts(sql).items())
    return any(forgotten.holds(name) for (name,) in given) or any(lists)


def _alike(sql: sqlite3.Connection, names: list[str], people: list[int]) -> list[str]:
    """Return other names that may be the person's: proposed as such, or longer."""
    here = _among("person", people), _among("likely", people)
    found = [
        name
        for (name,) in sql.execute(
            "SELECT name FROM proposals JOIN people ON people.id = iif("
            f"{here[0]}, likely, person) WHERE {here[0]} OR {here[1]}"
        )
    ]
    own = {tuple(words_of(name)) for name in names}
    for (name,) in sql.execute("SELECT name FROM people WHERE NOT " + _among("id", people)):
        words = words_of(name)
        if any(tuple(words[at : at + len(one)]) == one for one in own for at in range(len(words))):
            found.append(name)
    return sorted(set(found) - set(names))


def _faces(sql: sqlite3.Connection, people: list[int]) -> list[int]:
    """Return the faces that have the person's name, or had it by whatever said so."""
    found = set()
    for table in ("labels", "exported", "regions", "export_names"):
        rows = sql.execute(
            f"SELECT face FROM {table} WHERE face IS NOT NULL AND " + _among("person", people)
        )
        found |= {face for (face,) in rows}
    named = {
        name for (name,) in sql.execute("SELECT name FROM known WHERE " + _among("id", people))
    }
    # A face that somebody decided to be another stays, whatever it was taken for.
    kept = {face for face in found if name_and_confidence(sql, face)[0] in (None, *named)}
    decided = sql.execute(
        "SELECT face FROM standing WHERE what = 'is' AND " + _among("person", people)
    )
    return sorted(kept | {face for (face,) in decided})


def _mark_unsolved(sql: sqlite3.Connection, people: list[int], faces: list[int]) -> None:
    """Delete what photos were like when they were solved: it is a hash of names without a key."""
    here = _among("person", people)
    words = " UNION ".join(
        f"SELECT photo FROM {table} JOIN captions ON captions.id = caption"
        f" JOIN files ON files.id = file WHERE {here}"
        for table in ("mentions", "given", "regions")
    )
    looks = " UNION ".join(
        f"SELECT photo FROM {table} JOIN faces ON faces.id = face WHERE {here}"
        for table in ("labels", "weighed", "exported", "decisions")
    )
    sql.execute(f"DELETE FROM solved WHERE photo IN ({words} UNION {looks})")
    sql.execute(
        "DELETE FROM solved WHERE photo IN (SELECT photo FROM faces WHERE "
        + _among("id", faces)
        + ")"
    )


def _delete_named(
    sql: sqlite3.Connection, table: str, column: str, forgotten: ForgottenNames, people: list[int]
) -> None:
    sql.execute(f"DELETE FROM {table} WHERE " + _among("person", people))
    rows = sql.execute(f"SELECT id, {column} FROM {table}").fetchall()
    gone = [(number,) for number, name in rows if forgotten.holds(name)]
    sql.executemany(f"DELETE FROM {table} WHERE id = ?", gone)


def _forget_regions(sql: sqlite3.Connection, forgotten: ForgottenNames, people: list[int]) -> None:
    """Take the name from regions; that somebody drew a face there stays."""
    rows = sql.execute("SELECT id, name, person FROM regions").fetchall()
    gone = [(number,) for number, name, own in rows if own in people or forgotten.holds(name)]
    sql.executemany("UPDATE regions SET name = NULL, person = NULL WHERE id = ?", gone)


def _delete_changes(sql: sqlite3.Connection, forgotten: ForgottenNames) -> int:
    rows = sql.execute("SELECT id, before, after FROM changes").fetchall()
    gone = [(number,) for number, *names in rows if any(map(forgotten.holds, names))]
    sql.executemany("DELETE FROM changes WHERE id = ?", gone)
    return len(gone)


def _delete_decisions(sql: sqlite3.Connection, people: list[int]) -> int:
    """Delete decisions about a person, and what took them back."""
    here = f"{_among('person', people)} OR {_among('becomes', people)}"
    gone = [
        number
        for (number,) in sql.execute(
            f"WITH RECURSIVE gone (id) AS (SELECT id FROM decisions WHERE {here} UNION"
            " SELECT decisions.id FROM decisions JOIN gone ON undoes = gone.id)"
            " SELECT id FROM gone ORDER BY id DESC"
        )
    ]
    away = _among("id", gone)
    # Those decided at once with one that goes begin with the first that stays.
    sql.execute(
        "UPDATE decisions SET batch = (SELECT min(other.id) FROM decisions other"
        f" WHERE other.batch = decisions.batch AND NOT {_among('other.id', gone)})"
        f" WHERE {_among('batch', gone)} AND NOT {away}"
    )
    sql.execute("DELETE FROM undone WHERE " + _among("decision", gone))
    sql.executemany("DELETE FROM decisions WHERE id = ?", [(number,) for number in gone])
    return len(gone)


def _forget_looks(sql: sqlite3.Connection, faces: list[int]) -> None:
    sql.execute("DELETE FROM embeddings WHERE " + _among("face", faces))
    for table in ("labels", "weighed"):
        sql.execute(f"DELETE FROM {table} WHERE " + _among("face", faces))
    sql.execute("UPDATE faces SET forgotten = 1, landmarks = x'' WHERE " + _among("id", faces))


def _delete_recogniser(sql: sqlite3.Connection) -> None:
    """Delete what was learnt of people: everybody's faces are in its directions."""
    sql.execute("DELETE FROM learnt")
    sql.execute("DELETE FROM trained")


def _delete_references(sql: sqlite3.Connection, people: list[int]) -> None:
    """Delete what else refers to people, in whatever table it is."""
    for table in _tables(sql):
        for _, _, other, column, *_ in sql.execute(
            f'PRAGMA foreign_key_list("{table}")'
        ).fetchall():
            if other == "people" and table not in ("people", "decisions", "regions"):
                sql.execute(f'DELETE FROM "{table}" WHERE ' + _among(f'"{column}"', people))


# All faces


def _forget_faces(sql: sqlite3.Connection, path: Path) -> Forgotten:
    (faces,) = sql.execute("SELECT count(*) FROM embeddings").fetchone()
    learnt = sql.execute("SELECT 1 FROM trained").fetchone() is not None
    sql.execute("DELETE FROM embeddings")
    sql.execute("DELETE FROM weighed")
    sql.execute("DELETE FROM populations")
    sql.execute("DELETE FROM solved")
    _delete_recogniser(sql)
    sql.execute("UPDATE faces SET landmarks = x''")
    sql.execute("UPDATE photos SET model = NULL")
    return _elsewhere(Forgotten(faces=faces, recogniser=learnt), sql, path, None)


# Everywhere


def _tables(sql: sqlite3.Connection) -> list[str]:
    rows = sql.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in rows.fetchall()]


def _redact_all_texts(sql: sqlite3.Connection, forgotten: ForgottenNames) -> None:
    """Take the name out of every other text, and files with it that were kept to be put back."""
    for table in set(_tables(sql)) - _DONE_APART:
        columns = sql.execute(f'PRAGMA table_info("{table}")').fetchall()
        own = [f'"{row[1]}"' for row in columns if row[5]] or ["rowid"]
        where = " AND ".join(f"{one} = ?" for one in own)
        for column in (row[1] for row in columns if row[1] not in _NOT_TEXT):
            rows = sql.execute(
                f'SELECT {", ".join(own)}, "{column}" FROM "{table}"'
                f" WHERE typeof(\"{column}\") IN ('text', 'blob')"
            ).fetchall()
            for *number, value in rows:
                now = _redacted(forgotten, value, column)
                if now != value:
                    sql.execute(
                        f'UPDATE "{table}" SET "{column}" = ? WHERE {where}', (now, *number)
                    )


def _redacted(forgotten: ForgottenNames, value: str | bytes, column: str) -> str | bytes | None:
    if isinstance(value, str):
        return value if column in _NAMES else forgotten.redacted(value)
    if column != "before":  # the content of a file; other bytes are numbers
        return value
    text = html.unescape(value.decode("utf-8", "replace"))
    return None if forgotten.spans(text) else value


def _exports(sql: sqlite3.Connection, people: list[int]) -> list[str]:
    rows = sql.execute(
        "SELECT DISTINCT path FROM export_files JOIN export_names ON export_names.file ="
        f" export_files.id WHERE {_among('person', people)} ORDER BY path"
    )
    return [os.fsdecode(path) for (path,) in rows]


def _paths(sql: sqlite3.Connection, forgotten: ForgottenNames) -> list[str]:
    rows = sql.execute("SELECT path FROM files WHERE gone = 0 UNION SELECT path FROM roots")
    return [text for (path,) in rows if forgotten.spans(text := os.fsdecode(path))]


def _elsewhere(
    done: Forgotten, sql: sqlite3.Connection, project: Path, forgotten: ForgottenNames | None
) -> Forgotten:
    """Add reports and copies, of a name or of all faces."""
    done.reports, done.copies = _reports(project.parent, forgotten), _copies(sql, project)
    if Path.cwd() != project.parent:
        done.pages = _reports(Path.cwd(), forgotten)
    return done


def _reports(folder: Path, forgotten: ForgottenNames | None) -> list[Path]:
    """Return the reports in a folder: those with a name, or all."""
    found = []
    for path in sorted(folder.glob("*.html")):
        data = path.read_bytes()
        if OURS not in data[:2048]:
            continue
        text = re.sub(rb"base64,[A-Za-z0-9+/=]+", b"", data).decode("utf-8", "replace")
        words = html.unescape(re.sub("<[^>]*>", " ", text)) + " " + html.unescape(text)
        if forgotten is None or forgotten.spans(words):
            found.append(path)
    return found


def _copies(sql: sqlite3.Connection, project: Path) -> list[Path]:
    """Return the copies of a project in its folder."""
    own = sql.execute("SELECT value FROM own WHERE name = 'project'").fetchone()
    found = []
    for path in sorted(project.parent.iterdir()):
        if path == project or not path.is_file() or project_mark(path) != own[0]:
            continue
        found.append(path)
    return found


def project_mark(path: Path) -> bytes | None:
    """Return what all copies of a project share, or None where a file is no project."""
    with path.open("rb") as file:
        head = file.read(100)
    if int.from_bytes(head[68:72], "big") != APPLICATION:
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as other:
            row: Any = other.execute("SELECT value FROM own WHERE name = 'project'").fetchone()
            return None if row is None else bytes(row[0])
    except sqlite3.DatabaseError:
        return None


def _count(sql: sqlite3.Connection, table: str, people: list[int]) -> int:
    rows = sql.execute(f"SELECT count(*) FROM {table} WHERE " + _among("person", people))
    return int(rows.fetchone()[0])


def _among(column: str, numbers: Iterable[int]) -> str:
    """Return a condition; numbers are our own, and may be more than SQLite takes as values."""
    return f"coalesce({column} IN ({','.join(map(str, map(int, numbers)))}), 0)"
