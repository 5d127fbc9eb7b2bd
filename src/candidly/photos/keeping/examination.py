"""What is wrong with a project file, and what can still be read of it, saved into a new one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from candidly.photos.project import Project, ProjectProblem, change_tracking
from candidly.photos.project.connection import MAGIC, explained_errors, refuse_other_files
from candidly.photos.project.schema import APPLICATION, MIGRATIONS, migrate
from candidly.wording import count

MOST = 5  # faults of a kind that are told
LAST = 2**40  # beyond the number of any row


def faults(path: Path) -> list[str]:
    """Return what is wrong with a project file, in sentences; nothing where all is well.

    The file is only read. A project of an earlier version is looked at as it is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Project.open(f"{folder}/a.candidly", write=True).close()
    ...     faults(Path(folder, "a.candidly"))
    []
    """
    path = path.resolve()
    if not path.exists():
        raise ProjectProblem(f"there is no project file {path}")
    refuse_other_files(path)
    found: list[str] = []
    if os.name == "posix" and path.stat().st_mode & 0o077:
        found.append(f"others may read it; chmod 600 {path} makes it yours alone")
    try:
        with closing(_open(path)) as sql:
            for check in (_pages, _references, _tables, _undone, _places, _looks, _leftovers):
                found += check(sql)
                if check is _pages and found and "well-formed" in found[-1]:
                    break  # the other checks would only fail at the same places
    except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError) as error:
        found.append(f"it cannot be read to its end: {error}")
    return found


def _open(path: Path) -> sqlite3.Connection:
    mode = "ro" if path.with_name(path.name + "-wal").exists() else "ro&immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None)


def _pages(sql: sqlite3.Connection) -> list[str]:
    rows = [text for (text,) in sql.execute(f"PRAGMA integrity_check({MOST})")]
    return [] if rows == ["ok"] else [f"its pages are not well-formed: {' '.join(rows)[:500]}"]


def _references(sql: sqlite3.Connection) -> list[str]:
    rows = sql.execute("PRAGMA foreign_key_check").fetchall()
    kinds = sorted({(table, parent) for table, _, parent, _ in rows})
    return [
        f"{sum(row[0] == table and row[2] == parent for row in rows)} of {table} refer to "
        f"{parent} that are not there"
        for table, parent in kinds
    ]


def _tables(sql: sqlite3.Connection) -> list[str]:
    (version,) = sql.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        return ["it was written by a newer version of Candidly: pip install --upgrade candidly"]
    with closing(new_tables(version)) as fresh:
        here, there = _schema(sql), _schema(fresh)
    missing = sorted(there.keys() - here.keys())
    other = sorted(name for name in there.keys() & here.keys() if there[name] != here[name])
    return [f"{name} is missing" for name in missing] + [f"{name} is not as made" for name in other]


def new_tables(version: int) -> sqlite3.Connection:
    """Return an empty project of a version, in memory."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    migrate(fresh, MIGRATIONS[:version])
    return fresh


def _schema(sql: sqlite3.Connection) -> dict[str, str]:
    rows = sql.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {f"{kind} {name}": " ".join(text.split()) for kind, name, text in rows}


def _undone(sql: sqlite3.Connection) -> list[str]:
    """Check that ``undone`` is what follows from the log of decisions."""
    if not _has(sql, "undone"):
        return []
    undone: set[int] = set()
    undos = sql.execute(
        "SELECT id, undoes FROM decisions WHERE undoes IS NOT NULL ORDER BY id DESC"
    )
    for number, undoes in undos.fetchall():  # the latest stand, and decide about those before
        if number not in undone:
            undone.add(undoes)
    kept = {number for (number,) in sql.execute("SELECT decision FROM undone")}
    return [f"{count(len(undone ^ kept), 'undo')} and the log differ"] if undone != kept else []


def _places(sql: sqlite3.Connection) -> list[str]:
    (outside,) = sql.execute(
        'SELECT count(*) FROM mentions JOIN captions ON captions.id = caption WHERE "end" >'
        " length(text)"
    ).fetchone()
    (chains,) = sql.execute(
        "SELECT count(*) FROM people JOIN people other ON other.id = people.stands_for"
        " WHERE other.stands_for IS NOT NULL"
    ).fetchone()
    found = [f"{count(outside, 'mention')} outside of the caption"] if outside else []
    return found + ([f"{count(chains, 'alias', 'aliases')} of another alias"] if chains else [])


def _looks(sql: sqlite3.Connection) -> list[str]:
    """Check that embeddings are numbers, as many for each face of a model."""
    sizes: dict[str, set[int]] = {}
    broken = 0
    for model, vector in sql.execute(
        "SELECT model, vector FROM embeddings JOIN faces ON faces.id = face"
    ):
        sizes.setdefault(model, set()).add(len(vector))
        fits = len(vector) % 4 == 0 and len(vector) > 0
        broken += not (fits and np.isfinite(np.frombuffer(vector, dtype="<f4")).all())
    found = [f"{count(broken, 'embedding')} with what are no numbers"] if broken else []
    mixed = [model for model, own in sizes.items() if len(own) > 1]
    return found + [f"embeddings of {model} differ in length" for model in mixed]


def _leftovers(sql: sqlite3.Connection) -> list[str]:
    if not _has(sql, "own"):
        return []
    left = sql.execute("SELECT 1 FROM own WHERE name = 'unclean'").fetchone()
    again = "bytes of what was forgotten may still be in it; the same candidly forget again ends it"
    return [again] if left else []


def _has(sql: sqlite3.Connection, table: str) -> bool:
    row = sql.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return row is not None


# What can still be read


def salvage(path: Path, target: Path) -> dict[str, int]:
    """Save what can be read of a damaged project into a new file, and return rows by table.

    The damaged file is not changed. Rows that refer to others which are lost go as well.

    Parameters
    ----------
    path : Path
        The damaged project.
    target : Path
        The new file, which must not exist.
    """
    path, target = path.resolve(), target.resolve()
    if target.exists():
        raise ProjectProblem(f"{target} is there already; choose another name")
    with path.open("rb") as file:
        head = file.read(100)
    if not head.startswith(MAGIC) or head[68:72] != APPLICATION.to_bytes(4, "big"):
        raise ProjectProblem(_LOST.format(path))
    try:
        return _salvage(path, target)
    except BaseException:
        for end in ("", "-wal", "-shm", ".lock"):
            target.with_name(target.name + end).unlink(missing_ok=True)
        raise


def _salvage(path: Path, target: Path) -> dict[str, int]:
    saved: dict[str, int] = {}
    with explained_errors(path), Project.open(target, write=True) as made:
        into = made.connection
        into.execute("PRAGMA foreign_keys = OFF")
        with closing(_open(path)) as sql, made.transaction():
            sql.text_factory = lambda data: data.decode("utf-8", "replace")
            # Without it SQLite reads nothing of a file that is too short, or has a broken table.
            sql.execute("PRAGMA writable_schema = ON")
            if not _readable(sql):
                raise ProjectProblem(_LOST.format(path))
            into.execute("INSERT OR REPLACE INTO own VALUES ('forgetting', 1)")
            names = [name for (name,) in into.execute(_NAMES).fetchall()]
            for table in names:
                _copy_rows(sql, into, table)
            _drop_dangling(into, names)
            into.execute("DELETE FROM own WHERE name = 'forgetting'")
            # What follows from the rest is counted again, and everything is looked at once more.
            for statement in change_tracking.COUNTED_AGAIN:
                into.execute(statement)
            for table in names:
                (saved[table],) = into.execute(f'SELECT count(*) FROM "{table}"').fetchone()
    return {table: rows for table, rows in saved.items() if rows}


def _readable(sql: sqlite3.Connection) -> bool:
    """Return whether it is known where tables are; single ones may be broken."""
    try:
        return _has(sql, "photos")
    except sqlite3.DatabaseError:
        return False


_LOST = (
    "nothing can be read of {}: the pages are lost that say where the others are; "
    "candidly project restore takes a backup"
)
_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def _copy_rows(sql: sqlite3.Connection, into: sqlite3.Connection, table: str) -> None:
    try:
        here = [row[1] for row in sql.execute(f'PRAGMA table_info("{table}")')]
    except sqlite3.DatabaseError:
        return
    known = {row[1] for row in into.execute(f'PRAGMA table_info("{table}")')}
    columns = [name for name in here if name in known]
    if not columns:
        return
    listed = ", ".join(f'"{name}"' for name in columns)
    places = ", ".join("?" * len(columns))
    for row in _rows(sql, table, listed):
        with suppress(sqlite3.IntegrityError):  # a value that cannot be
            into.execute(f'INSERT OR REPLACE INTO "{table}" ({listed}) VALUES ({places})', row)


def _rows(sql: sqlite3.Connection, table: str, listed: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows that can be read; those on broken pages are jumped over."""
    try:
        sql.execute(f'SELECT rowid FROM "{table}" LIMIT 0')
    except sqlite3.DatabaseError:  # a table without numbers, or an unreadable one
        with suppress(sqlite3.DatabaseError):
            yield from sql.execute(f'SELECT {listed} FROM "{table}"')
        return
    at, step = -1, 1
    while at < LAST:
        query = f'SELECT rowid, {listed} FROM "{table}" WHERE rowid > ? ORDER BY rowid'
        try:
            for number, *row in sql.execute(query, (at,)):
                at, step = number, 1
                yield tuple(row)
            return
        except sqlite3.DatabaseError:
            at, step = at + step, 2 * step


def _drop_dangling(sql: sqlite3.Connection, tables: list[str]) -> None:
    """Delete rows, or their references, to what is not there."""
    while True:
        before = sql.total_changes
        for table in tables:
            optional = {
                row[1] for row in sql.execute(f'PRAGMA table_info("{table}")') if not row[3]
            }
            keys = sql.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
            for _, _, parent, column, to, *_ in keys:
                own = to or _number(sql, parent)
                where = (
                    f'"{column}" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "{parent}" other'
                    f' WHERE other."{own}" = "{table}"."{column}")'
                )
                try:
                    if column not in optional:
                        raise sqlite3.IntegrityError
                    sql.execute(f'UPDATE "{table}" SET "{column}" = NULL WHERE {where}')
                except sqlite3.IntegrityError:
                    sql.execute(f'DELETE FROM "{table}" WHERE {where}')
        if sql.total_changes == before:
            return


def _number(sql: sqlite3.Connection, table: str) -> str:
    rows = sql.execute(f'PRAGMA table_info("{table}")')
    return next(str(row[1]) for row in rows if row[5])
