"""The tables of a project file, their migrations, and how single values are stored.

A *file* is a place in a root where a picture was found; a *photo* is a picture, whatever it is
called and however many copies of it there are. Faces belong to photos, captions to files: a copy
with another caption adds names, and a file that moves keeps its photo.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from candidly.photos.project import change_tracking
from candidly.photos.project.forgotten import ForgottenNameError, ForgottenNames

APPLICATION = 0x43414E44  # "CAND", so that no other program's database is taken for a project

# One tuple of statements per version. A released one is never edited: add the next.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE roots (
            id INTEGER PRIMARY KEY,
            path NOT NULL UNIQUE
        )""",
        # model: what looked for faces; null while nothing has
        # orientation: EXIF's that was undone before looking; null where that is not known
        """CREATE TABLE photos (
            id INTEGER PRIMARY KEY,
            identity TEXT NOT NULL UNIQUE,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            model TEXT,
            orientation INTEGER
        )""",
        # path: relative to the root, with /; bytes where it is not UTF-8
        # beside: what lay beside the picture when its caption was read
        """CREATE TABLE files (
            id INTEGER PRIMARY KEY,
            root INTEGER NOT NULL REFERENCES roots,
            path NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            photo INTEGER REFERENCES photos,
            failure TEXT,
            gone INTEGER NOT NULL DEFAULT 0,
            beside TEXT,
            UNIQUE (root, path),
            CHECK (photo IS NOT NULL OR failure IS NOT NULL)
        )""",
        "CREATE INDEX files_of_photo ON files (photo)",
        # stands_for: who it is by the user's aliases; barred: not to be named, by other lists
        """CREATE TABLE people (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            stands_for INTEGER REFERENCES people,
            barred INTEGER NOT NULL DEFAULT 0
        )""",
        "CREATE INDEX people_of_other_names ON people (stands_for)",
        # people by the name that they have now: what was said of them before an alias was given
        # is said of them still
        # (not a join: SQLite would go through everybody to look one up)
        """CREATE VIEW known AS SELECT id, barred, coalesce(
            (SELECT name FROM people other WHERE other.id = people.stands_for), name
            ) AS name FROM people""",
        # reading: the settings that its names were read with
        """CREATE TABLE captions (
            id INTEGER PRIMARY KEY,
            file INTEGER NOT NULL UNIQUE REFERENCES files ON DELETE CASCADE,
            text TEXT NOT NULL,
            origin TEXT NOT NULL,
            language TEXT,
            reading TEXT NOT NULL
        )""",
        # name: as the text alone has it; person: who it is in this collection
        # shown: how likely to be in the picture, against somebody mentioned plainly; absence: the
        # words that say so
        # found: 0 where only the whole collection shows that a person is named here
        """CREATE TABLE mentions (
            id INTEGER PRIMARY KEY,
            caption INTEGER NOT NULL REFERENCES captions ON DELETE CASCADE,
            name TEXT NOT NULL,
            start INTEGER NOT NULL CHECK (start >= 0),
            "end" INTEGER NOT NULL CHECK ("end" >= start),
            side TEXT,
            place INTEGER,
            "of" INTEGER,
            shown REAL NOT NULL DEFAULT 1 CHECK (shown BETWEEN 0 AND 1),
            absence TEXT NOT NULL DEFAULT '',
            person INTEGER REFERENCES people,
            found INTEGER NOT NULL DEFAULT 1
        )""",
        "CREATE INDEX mentions_of_caption ON mentions (caption, start)",
        "CREATE INDEX mentions_of_person ON mentions (person)",
        """CREATE TABLE given (
            id INTEGER PRIMARY KEY,
            caption INTEGER NOT NULL REFERENCES captions ON DELETE CASCADE,
            name TEXT NOT NULL,
            person INTEGER REFERENCES people
        )""",
        "CREATE INDEX given_of_caption ON given (caption, name)",
        "CREATE INDEX given_of_person ON given (person)",
        # the user's lists of names, as given last
        """CREATE TABLE lists (
            kind TEXT PRIMARY KEY CHECK (kind IN ('aliases', 'allow', 'never')),
            text TEXT NOT NULL
        ) WITHOUT ROWID""",
        # spellings that are likely one person's; nothing is merged by them
        """CREATE TABLE proposals (
            person INTEGER NOT NULL REFERENCES people ON DELETE CASCADE,
            likely INTEGER NOT NULL REFERENCES people ON DELETE CASCADE,
            why TEXT NOT NULL,
            PRIMARY KEY (person, likely)
        ) WITHOUT ROWID""",
        "CREATE INDEX proposals_of_likely ON proposals (likely)",
        """CREATE TABLE faces (
            id INTEGER PRIMARY KEY,
            photo INTEGER NOT NULL REFERENCES photos,
            x REAL NOT NULL, y REAL NOT NULL, w REAL NOT NULL, h REAL NOT NULL,
            score REAL NOT NULL,
            quality REAL NOT NULL,
            landmarks BLOB NOT NULL,
            model TEXT NOT NULL
        )""",
        "CREATE INDEX faces_of_photo ON faces (photo)",
        # x, y, w, h: in parts of the upright picture's size
        """CREATE TABLE regions (
            id INTEGER PRIMARY KEY,
            caption INTEGER NOT NULL REFERENCES captions ON DELETE CASCADE,
            name TEXT,
            x REAL NOT NULL, y REAL NOT NULL, w REAL NOT NULL, h REAL NOT NULL,
            person INTEGER REFERENCES people,
            face INTEGER REFERENCES faces ON DELETE SET NULL
        )""",
        "CREATE INDEX regions_of_caption ON regions (caption, name)",
        "CREATE INDEX regions_of_person ON regions (person)",
        "CREATE INDEX regions_of_face ON regions (face)",
        """CREATE TABLE embeddings (
            face INTEGER PRIMARY KEY REFERENCES faces ON DELETE CASCADE,
            vector BLOB NOT NULL
        )""",
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            version TEXT NOT NULL,
            settings TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            counts TEXT
        )""",
        # what went wrong in a run, and doubts about its result as a whole
        """CREATE TABLE problems (
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES runs,
            text TEXT NOT NULL,
            doubt INTEGER NOT NULL DEFAULT 0
        )""",
        # embeddings of the model last used: those of two models are never compared
        """CREATE VIEW comparable AS SELECT face, vector FROM embeddings
            JOIN faces ON faces.id = face WHERE model = coalesce((
                SELECT json_extract(settings, '$.model') FROM runs
                WHERE json_extract(settings, '$.model') IS NOT NULL ORDER BY id DESC LIMIT 1
            ), model)""",
        # labels of a method; decisions of people take precedence
        """CREATE TABLE labels (
            face INTEGER PRIMARY KEY REFERENCES faces ON DELETE CASCADE,
            person INTEGER REFERENCES people,
            confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
            run INTEGER REFERENCES runs
        )""",
        "CREATE INDEX labels_of_person ON labels (person)",
        # the candidates of a face as they were last weighed; person: null for nobody
        # likeness: log likelihood ratio against anybody; place: log odds by place and size
        """CREATE TABLE weighed (
            face INTEGER NOT NULL REFERENCES faces ON DELETE CASCADE,
            person INTEGER REFERENCES people ON DELETE CASCADE,
            probability REAL NOT NULL CHECK (probability BETWEEN 0 AND 1),
            likeness REAL NOT NULL,
            place REAL NOT NULL
        )""",
        "CREATE INDEX weighed_of_face ON weighed (face)",
        "CREATE INDEX weighed_of_person ON weighed (person)",
        # what a photo was like when it was last solved: only what differs is solved again
        """CREATE TABLE solved (
            photo INTEGER PRIMARY KEY REFERENCES photos ON DELETE CASCADE,
            run INTEGER NOT NULL REFERENCES runs,
            words TEXT NOT NULL,
            faces TEXT NOT NULL,
            decisions TEXT NOT NULL
        )""",
        # names that became others in a run, as text: people come and go
        """CREATE TABLE changes (
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES runs,
            face INTEGER NOT NULL REFERENCES faces ON DELETE CASCADE,
            before TEXT,
            after TEXT,
            why TEXT NOT NULL
        )""",
        "CREATE INDEX changes_of_run ON changes (run)",
        "CREATE INDEX changes_of_face ON changes (face)",
        # names that were given out of the project; they stay until somebody decides otherwise
        """CREATE TABLE exported (
            face INTEGER PRIMARY KEY REFERENCES faces,
            person INTEGER NOT NULL REFERENCES people,
            at TEXT NOT NULL
        )""",
        "CREATE INDEX exported_of_person ON exported (person)",
        """CREATE TABLE decisions (
            id INTEGER PRIMARY KEY,
            face INTEGER NOT NULL REFERENCES faces,
            what TEXT NOT NULL
                CHECK (what IN ('is', 'not', 'nobody', 'ignore', 'undecided')),
            person INTEGER REFERENCES people,
            "by" TEXT NOT NULL,
            at TEXT NOT NULL,
            CHECK ((what IN ('is', 'not')) = (person IS NOT NULL))
        )""",
        "CREATE INDEX decisions_of_face ON decisions (face)",
        "CREATE INDEX decisions_of_person ON decisions (person)",
        """CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are never deleted; add a later one'); END""",
        """CREATE TRIGGER decisions_are_not_edited BEFORE UPDATE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are never changed; add a later one'); END""",
        # what recognises people in photos without captions: one row, its arrays little-endian f8
        """CREATE TABLE trained (
            run INTEGER PRIMARY KEY REFERENCES runs,
            model TEXT NOT NULL,
            power REAL NOT NULL,
            odds REAL NOT NULL,
            most REAL NOT NULL,
            centre BLOB NOT NULL,
            basis BLOB NOT NULL,
            "between" BLOB NOT NULL
        )""",
        # how faces of a detector and embedder vary, as the user gave it: the bytes of the file
        """CREATE TABLE populations (
            model TEXT PRIMARY KEY,
            data BLOB NOT NULL
        ) WITHOUT ROWID""",
        # people learnt: how many faces, and their sum; one who is named no more goes
        """CREATE TABLE learnt (
            person INTEGER PRIMARY KEY REFERENCES people ON DELETE CASCADE,
            faces REAL NOT NULL CHECK (faces > 0),
            total BLOB NOT NULL
        )""",
    ),
    (
        # probability: how likely the words name a person; alone: the same by this text alone
        """ALTER TABLE mentions ADD COLUMN
            probability REAL NOT NULL DEFAULT 1 CHECK (probability BETWEEN 0 AND 1)""",
        "ALTER TABLE mentions ADD COLUMN alone REAL NOT NULL DEFAULT 1",
        # row: "front", "middle" or "back", where people are counted within a row
        'ALTER TABLE mentions ADD COLUMN "row" TEXT',
    ),
    (
        # decisions about names, too, and each undo names the decision that it takes back
        "DROP TRIGGER decisions_stay",
        "DROP TRIGGER decisions_are_not_edited",
        "DROP INDEX decisions_of_face",
        "DROP INDEX decisions_of_person",
        "ALTER TABLE decisions RENAME TO earlier_decisions",
        # becomes: the name that takes the place of person's; batch: the first of those decided at
        # once
        """CREATE TABLE decisions (
            id INTEGER PRIMARY KEY,
            what TEXT NOT NULL
                CHECK (what IN ('is', 'not', 'nobody', 'ignore', 'merge', 'rename', 'undo')),
            face INTEGER REFERENCES faces,
            person INTEGER REFERENCES people,
            becomes INTEGER REFERENCES people,
            undoes INTEGER REFERENCES decisions CHECK (undoes < id),
            batch INTEGER NOT NULL REFERENCES decisions CHECK (batch <= id),
            "by" TEXT NOT NULL,
            at TEXT NOT NULL,
            CHECK ((what IN ('is', 'not', 'nobody', 'ignore')) = (face IS NOT NULL)),
            CHECK ((what IN ('is', 'not', 'merge', 'rename')) = (person IS NOT NULL)),
            CHECK ((what IN ('merge', 'rename')) = (becomes IS NOT NULL)),
            CHECK ((what = 'undo') = (undoes IS NOT NULL))
        )""",
        "CREATE INDEX decisions_of_face ON decisions (face)",
        "CREATE INDEX decisions_of_person ON decisions (person)",
        "CREATE INDEX decisions_of_new_name ON decisions (becomes)",
        "CREATE INDEX decisions_that_undo ON decisions (undoes)",
        "CREATE INDEX decisions_of_batch ON decisions (batch)",
        "CREATE INDEX decisions_of_a_kind ON decisions (what)",
        """INSERT INTO decisions SELECT id, what, face, person, NULL, NULL, id, "by", at
            FROM earlier_decisions WHERE what != 'undecided'""",
        # "undecided" took back everything earlier about a face
        """INSERT INTO decisions SELECT
            (SELECT max(id) FROM earlier_decisions) + row_number() OVER (ORDER BY number),
            'undo', NULL, NULL, NULL, number,
            (SELECT max(id) FROM earlier_decisions) + row_number() OVER (ORDER BY number),
            "by", at FROM (
                SELECT said.id AS number, min(back.id), back."by", back.at
                FROM earlier_decisions said JOIN earlier_decisions back
                ON back.face = said.face AND back.id > said.id AND back.what = 'undecided'
                WHERE said.what != 'undecided' GROUP BY said.id)""",
        "DROP TABLE earlier_decisions",
        """CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are never deleted; undo them'); END""",
        """CREATE TRIGGER decisions_are_not_edited BEFORE UPDATE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are never changed; undo them'); END""",
        # which decisions are taken back now: follows from the undos, of which some are undone
        """CREATE TABLE undone (
            decision INTEGER PRIMARY KEY REFERENCES decisions
        )""",
        "INSERT INTO undone SELECT undoes FROM decisions WHERE undoes IS NOT NULL",
        """CREATE VIEW standing AS SELECT id, what, face, person, becomes, "by", at FROM decisions
            WHERE what != 'undo'
            AND NOT EXISTS (SELECT 1 FROM undone WHERE decision = decisions.id)""",
        # looks: whether faces are alike, where names are not likely two spellings of one
        "ALTER TABLE proposals ADD COLUMN looks INTEGER NOT NULL DEFAULT 0",
    ),
    (
        # names written out of the project; folder: absolute; finished: null if it was interrupted
        # undone: when it was taken back, as far as files were still as written
        """CREATE TABLE exports (
            id INTEGER PRIMARY KEY,
            folder NOT NULL,
            settings TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            undone TEXT
        )""",
        # recorded before a file is written, deleted when it is taken back
        # path: absolute, bytes where it is not UTF-8; checksum: SHA-256 of what was written
        # photo: null for a table of many photos; embedded: whether it is a copy of the photo
        # existed: whether a file was there before; before: its content, or of a copy its XMP;
        # null where there was none, or where it was forgotten
        """CREATE TABLE export_files (
            id INTEGER PRIMARY KEY,
            export INTEGER NOT NULL REFERENCES exports ON DELETE CASCADE,
            path NOT NULL,
            photo INTEGER REFERENCES photos ON DELETE SET NULL,
            embedded INTEGER NOT NULL DEFAULT 0,
            checksum TEXT NOT NULL,
            existed INTEGER NOT NULL,
            checksum_before TEXT,
            before BLOB,
            UNIQUE (export, path)
        )""",
        "CREATE INDEX export_files_of_path ON export_files (path)",
        "CREATE INDEX export_files_of_photo ON export_files (photo)",
        # names that a file has by an export; person: as the name was written then
        """CREATE TABLE export_names (
            file INTEGER NOT NULL REFERENCES export_files ON DELETE CASCADE,
            face INTEGER NOT NULL REFERENCES faces ON DELETE CASCADE,
            person INTEGER NOT NULL REFERENCES people,
            PRIMARY KEY (file, face)
        ) WITHOUT ROWID""",
        "CREATE INDEX export_names_of_face ON export_names (face)",
        "CREATE INDEX export_names_of_person ON export_names (person)",
        # a sample of the names that nobody had confirmed; pilot: how many of the first answers
        # only choose what to promise
        """CREATE TABLE audits (
            id INTEGER PRIMARY KEY,
            seed INTEGER NOT NULL,
            pilot INTEGER NOT NULL,
            at TEXT NOT NULL
        )""",
        # all names that may be asked about, in random order; answers are decisions
        # mentions: how many photos mention the person; unsure: the person asked could not tell
        """CREATE TABLE audited (
            audit INTEGER NOT NULL REFERENCES audits ON DELETE CASCADE,
            place INTEGER NOT NULL,
            face INTEGER NOT NULL REFERENCES faces ON DELETE CASCADE,
            person INTEGER NOT NULL REFERENCES people,
            confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
            mentions INTEGER NOT NULL,
            unsure INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (audit, place)
        ) WITHOUT ROWID""",
        "CREATE INDEX audited_faces ON audited (face)",
        "CREATE INDEX audited_people ON audited (person)",
    ),
    (
        # what is of this project alone: "project", which copies share, and "key", by which
        # forgotten names are hashed; "forgetting" is there only within the one transaction that
        # may delete decisions, "unclean" until the bytes of what was forgotten are gone
        "CREATE TABLE own (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
        "INSERT INTO own VALUES ('project', randomblob(16)), ('key', randomblob(32))",
        # names that are never stored again, as keyed hashes; words: how many a name has, 0 for
        # several written as one; part: 1 for words of a name which others may have as well
        """CREATE TABLE forgotten (
            hash BLOB PRIMARY KEY,
            words INTEGER NOT NULL,
            part INTEGER NOT NULL
        ) WITHOUT ROWID""",
        # faces of people who were forgotten: they are never embedded again
        "ALTER TABLE faces ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0",
        # photos of folders in which nobody is to be named
        "ALTER TABLE photos ADD COLUMN barred INTEGER NOT NULL DEFAULT 0",
        "DROP TRIGGER decisions_stay",
        "DROP TRIGGER decisions_are_not_edited",
        """CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
            WHEN NOT EXISTS (SELECT 1 FROM own WHERE name = 'forgetting')
            BEGIN SELECT RAISE(ABORT, 'decisions are never deleted; undo them'); END""",
        """CREATE TRIGGER decisions_are_not_edited BEFORE UPDATE ON decisions
            WHEN NOT EXISTS (SELECT 1 FROM own WHERE name = 'forgetting')
            BEGIN SELECT RAISE(ABORT, 'decisions are never changed; undo them'); END""",
    ),
    (
        # faces that a person drew: no detector takes them away
        """CREATE TABLE drawn (
            face INTEGER PRIMARY KEY REFERENCES faces ON DELETE CASCADE,
            "by" TEXT NOT NULL,
            at TEXT NOT NULL
        )""",
        # the least sure first, without sorting everything
        "CREATE INDEX labels_by_confidence ON labels (confidence)",
    ),
    change_tracking.STATEMENTS,
)


class NewerVersionError(Exception):
    """Raised for a project file that a later version of the program wrote."""


class ForeignDatabaseError(Exception):
    """Raised for a database that is not a project file."""


def version_of(
    connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS
) -> int:
    """Return the version of a file, 0 for an empty one; raise if it cannot be read here."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION and (tables or version):
        raise ForeignDatabaseError
    if version > len(migrations):
        raise NewerVersionError(version, len(migrations))
    return int(version)


def migrate(
    connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS
) -> None:
    """Migrate a file to the newest version: all steps or none."""
    if version_of(connection, migrations) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in migrations[version_of(connection, migrations) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# Values


def person_id(sql: sqlite3.Connection, name: str) -> int:
    """Return the number of the person with a name, who is added if there is none.

    Raises
    ------
    ForgottenNameError
        Where the person was forgotten.
    """
    name = clean_text(name)
    row = sql.execute("SELECT id FROM people WHERE name = ?", (name,)).fetchone()
    if row is None:
        if ForgottenNames.read(sql).holds(name):
            raise ForgottenNameError
        made = "INSERT INTO people (name) VALUES (?) RETURNING id"
        row = sql.execute(made, (name,)).fetchone()
    return int(row[0])


def stored_path(path: Path | str) -> str | bytes:
    """Return a path as it is stored: text, or bytes where the path is not valid UTF-8."""
    text = path.as_posix() if isinstance(path, Path) else path
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def clean_text(text: str) -> str:
    """Return a text that can be stored: half a surrogate pair becomes "?", positions stay."""
    return text.encode("utf-8", "replace").decode()


def timestamp() -> str:
    """Return the current time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
