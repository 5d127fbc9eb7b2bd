"""Reading a project: lists are streamed, so that memory does not grow with the collection."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import Certainty, certainty
from candidly.photos.geometry import Box
from candidly.photos.project.project import Project
from candidly.photos.records import NAMED, CaptionRecord, Cue, Mention, Proposal

# The first present file of each photo, in the order of their paths.
_SHOWN = """FROM files JOIN roots ON roots.id = files.root JOIN photos ON photos.id = files.photo
    WHERE files.gone = 0 AND NOT EXISTS (SELECT 1 FROM files other
        WHERE other.photo = files.photo AND other.gone = 0 AND other.id < files.id)
    ORDER BY files.root, files.path"""

_CANDIDATES = f"""SELECT people.name FROM (
    SELECT person, 0 AS kind, given.id AS place FROM given
        JOIN captions ON captions.id = caption JOIN files ON files.id = file
        WHERE photo = :photo AND gone = 0
    UNION ALL SELECT person, 0, regions.id FROM regions
        JOIN captions ON captions.id = caption JOIN files ON files.id = file
        WHERE photo = :photo AND gone = 0
    UNION ALL SELECT person, 1, mentions.id FROM mentions
        JOIN captions ON captions.id = caption JOIN files ON files.id = file
        WHERE photo = :photo AND gone = 0 AND probability >= {NAMED}
    ) JOIN people ON people.id = person GROUP BY people.id ORDER BY min(kind), min(place)"""

# People who are named somewhere, or have a face: the others are doubtful.
_NAMED_PEOPLE = f"""SELECT person FROM mentions WHERE probability >= {NAMED}
    UNION SELECT person FROM given UNION SELECT person FROM regions
    UNION SELECT person FROM labels UNION SELECT person FROM decisions"""


@dataclass(frozen=True)
class PhotoMention:
    """A name that is written about a photo, also a doubtful one.

    ``probability`` is how likely the words name a person, and ``shown`` how likely that person is
    in the picture, against somebody mentioned plainly. ``start`` and ``end`` are places in the
    photo's caption; a name of a list or of the metadata has none.
    """

    name: str
    probability: float = 1.0
    shown: float = 1.0
    start: int | None = None
    end: int | None = None
    cue: Cue | None = None


BETWEEN = "\n\n"  # of several captions of a photo


@dataclass(frozen=True)
class FaceRow:
    """A face in a list; ``candidates`` are names, without nobody, and without doubtful ones.

    ``certainty`` is "sure", "likely" or "unknown"; nobody is unknown, unless somebody decided it.
    """

    id: int
    file: str
    root: Path
    box: Box
    score: float
    quality: float
    name: str | None
    confidence: float | None
    certainty: Certainty
    candidates: tuple[str, ...]
    mentions: tuple[PhotoMention, ...] = ()


@dataclass(frozen=True)
class PhotoRow:
    """A photo in a list; a photo that could not be read has a failure."""

    file: str
    root: Path
    width: int | None
    height: int | None
    faces: int
    candidates: tuple[str, ...]
    caption: str
    failure: str | None
    mentions: tuple[PhotoMention, ...] = ()


@dataclass(frozen=True)
class FaceDecision:
    """The decision about a face: a name, nobody, or to ignore it; and who it is not."""

    name: str | None = None
    nobody: bool = False
    refused: frozenset[str] = frozenset()
    ignored: bool = False


def combine_decisions(decisions: Iterable[tuple[str, str | None]]) -> FaceDecision:
    """Return several decisions as one, given in their order: later ones win.

    Examples
    --------
    >>> combine_decisions([("is", "Ann"), ("not", "Bob"), ("is", "Bob")]).name
    'Bob'
    """
    result = FaceDecision()
    for what, name in decisions:
        match what:
            case "is" if name is not None:
                result = FaceDecision(name, refused=result.refused - {name})
            case "not" if name is not None:
                stays = None if result.name == name else result.name
                refused = result.refused | {name}
                result = FaceDecision(stays, result.nobody, refused, result.ignored)
            case "nobody":
                result = FaceDecision(nobody=True, refused=result.refused)
            case "ignore":
                result = FaceDecision(refused=result.refused, ignored=True)
            case "undecided":
                result = FaceDecision()
    return result


def faces(project: Project) -> Iterator[FaceRow]:
    """Yield all faces, by file, from left to right, in one snapshot."""
    with project.snapshot() as sql:
        for photo, root, file in sql.execute(f"SELECT photo, roots.path, files.path {_SHOWN}"):
            rows = sql.execute(
                "SELECT id, x, y, w, h, score, quality FROM faces WHERE photo = ? ORDER BY x, id",
                (photo,),
            ).fetchall()
            names = (candidates(sql, photo), photo_mentions(sql, photo)) if rows else ()
            where = os.fsdecode(file), Path(os.fsdecode(root))
            for number, x, y, w, h, score, quality in rows:
                box, label = Box(x, y, w, h), name_and_confidence(sql, number)
                nobody = label[0] is None and decision_on(sql, number).nobody
                sure = certainty(*label, decided=nobody)
                yield FaceRow(number, *where, box, score, quality, *label, sure, *names)


def photos(project: Project) -> Iterator[PhotoRow]:
    """Yield all photos by file, and after them the files that could not be read."""
    with project.snapshot() as sql:
        shown = f"SELECT photo, roots.path, files.path, width, height, failure {_SHOWN}"
        for photo, root, file, width, height, failure in sql.execute(shown):
            (found,) = sql.execute(
                "SELECT count(*) FROM faces WHERE photo = ?", (photo,)
            ).fetchone()
            yield PhotoRow(
                os.fsdecode(file),
                Path(os.fsdecode(root)),
                width,
                height,
                found,
                candidates(sql, photo),
                BETWEEN.join(captions(sql, photo)),
                failure,
                photo_mentions(sql, photo),
            )
        unread = (
            "SELECT roots.path, files.path, failure FROM files JOIN roots ON roots.id = root"
            " WHERE gone = 0 AND photo IS NULL ORDER BY root, files.path"
        )
        for root, file, failure in sql.execute(unread):
            top = Path(os.fsdecode(root))
            yield PhotoRow(os.fsdecode(file), top, None, None, 0, (), "", failure)


def candidates(sql: sqlite3.Connection, photo: int) -> tuple[str, ...]:
    """Return the names that may be in a photo: given names first, then those in the text.

    Doubtful names are left out.
    """
    return tuple(name for (name,) in sql.execute(_CANDIDATES, {"photo": photo}))


def photo_mentions(sql: sqlite3.Connection, photo: int) -> tuple[PhotoMention, ...]:
    """Return the names that are written about a photo: those of lists first, then by place."""
    where = (
        "JOIN captions ON captions.id = caption JOIN files ON files.id = file"
        " JOIN people ON people.id = person WHERE photo = :photo AND gone = 0"
    )
    own = {"photo": photo}
    found = [
        PhotoMention(name)
        for table in ("given", "regions")
        for (name,) in sql.execute(
            f"SELECT people.name FROM {table} {where} ORDER BY {table}.id", own
        )
    ]
    starts, at = {}, 0
    for text in captions(sql, photo):
        starts[text] = at
        at += len(text) + len(BETWEEN)
    for text, name, probability, shown, start, end, side, place, of, row in sql.execute(
        'SELECT text, people.name, probability, shown, start, "end", side, place, "of", "row"'
        f" FROM mentions {where} ORDER BY captions.id, start",
        own,
    ):
        cue = None if side is None else Cue(side, place, of, row)
        first = starts[text]
        found.append(PhotoMention(name, probability, shown, first + start, first + end, cue))
    return tuple(dict.fromkeys(found))  # copies often say the same


def captions(sql: sqlite3.Connection, photo: int) -> tuple[str, ...]:
    """Return the captions of a photo; copies may have different ones."""
    rows = sql.execute(
        "SELECT text FROM captions JOIN files ON files.id = file"
        " WHERE photo = ? AND gone = 0 AND text != '' GROUP BY text ORDER BY min(captions.id)",
        (photo,),
    )
    return tuple(text for (text,) in rows)


def decisions(sql: sqlite3.Connection, face: int) -> list[tuple[str, str | None]]:
    """Return all decisions about a face in their order, with the current names of people."""
    return sql.execute(
        "SELECT what, name FROM decisions LEFT JOIN known ON known.id = person"
        " WHERE face = ? ORDER BY decisions.id",
        (face,),
    ).fetchall()


def decision_on(sql: sqlite3.Connection, face: int) -> FaceDecision:
    """Return the decision about a face."""
    return combine_decisions(decisions(sql, face))


def metadata_names(sql: sqlite3.Connection, face: int) -> tuple[str, ...]:
    """Return the names that the metadata gives to a face."""
    rows = sql.execute(
        "SELECT people.name FROM regions JOIN people ON people.id = person"
        " JOIN captions ON captions.id = caption JOIN files ON files.id = file"
        " WHERE face = ? AND gone = 0 ORDER BY regions.id",
        (face,),
    )
    return tuple(name for (name,) in rows)


def name_and_confidence(sql: sqlite3.Connection, face: int) -> tuple[str | None, float | None]:
    """Return the name of a face (None for nobody) and its confidence (None if not yet named).

    The name is the one decided, else exported, else in the metadata, else a label, provided that
    the person may be named and no other face of the photo was decided to be that person since.
    """
    decision = decision_on(sql, face)
    if decision.name is not None or decision.nobody:
        return decision.name, 1.0
    if decision.ignored:
        return None, None
    for name in (*exported_names(sql, face), *metadata_names(sql, face)):
        if name not in decision.refused:
            return name, 1.0
    row = sql.execute(
        "SELECT name, confidence, barred FROM labels LEFT JOIN known ON known.id = person"
        " WHERE face = ?",
        (face,),
    ).fetchone()
    if row is None or row[0] in decision.refused or row[2] or _taken(sql, face, row[0]):
        return None, None
    return row[0], row[1]


def _taken(sql: sqlite3.Connection, face: int, name: str | None) -> bool:
    """Return whether another face of the photo was decided to have a name meanwhile."""
    others = sql.execute(
        "SELECT DISTINCT face FROM decisions JOIN faces ON faces.id = face"
        " WHERE photo = (SELECT photo FROM faces WHERE id = :face) AND face != :face",
        {"face": face},
    ).fetchall()
    return name is not None and any(decision_on(sql, other).name == name for (other,) in others)


def exported_names(sql: sqlite3.Connection, face: int) -> tuple[str, ...]:
    """Return the names that a face was exported with, without people who may not be named."""
    rows = sql.execute(
        "SELECT name FROM exported JOIN known ON known.id = person WHERE face = ? AND NOT barred",
        (face,),
    )
    return tuple(name for (name,) in rows)


def file_of(sql: sqlite3.Connection, face: int) -> str:
    """Return a file that shows a face, from its photo root: one that exists, if any does."""
    row = sql.execute(
        "SELECT path FROM files JOIN faces ON faces.photo = files.photo WHERE faces.id = ?"
        " ORDER BY gone, files.id LIMIT 1",
        (face,),
    ).fetchone()
    return "" if row is None else os.fsdecode(row[0])


def embeddings(
    project: Project, batch: int = 4096
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Yield numbers and embeddings of all faces, by the last model used, in batches."""
    with project.snapshot() as sql:
        rows = sql.execute("SELECT face, vector FROM comparable ORDER BY face")
        while found := rows.fetchmany(batch):
            numbers = np.array([number for number, _ in found], dtype=np.int64)
            vectors = np.frombuffer(b"".join(vector for _, vector in found), dtype="<f4")
            yield numbers, vectors.reshape(len(found), -1).astype(np.float32, copy=False)


def caption_records(project: Project, caption: int | None = None) -> list[CaptionRecord]:
    """Return every caption, or one: its text, the people read in it, and given names."""
    one = "" if caption is None else "AND caption = :caption"
    which = "gone = 0" if caption is None else "captions.id = :caption"
    own = {"caption": caption}
    with project.snapshot() as sql:
        rows = sql.execute(
            "SELECT captions.id, path, text FROM captions JOIN files ON files.id = file"
            f" WHERE {which} ORDER BY captions.id",
            own,
        ).fetchall()
        read: dict[int, list[Mention]] = defaultdict(list)
        for number, name, start, end, side, place, of, row, *shown in sql.execute(
            'SELECT caption, name, start, "end", side, place, "of", "row", shown, absence, alone'
            f" FROM mentions WHERE found = 1 {one} ORDER BY caption, start",
            own,
        ):
            cue = None if side is None else Cue(side, place, of, row)
            read[number].append(Mention(name, start, end, cue, *shown))
        given: dict[int, list[str]] = defaultdict(list)
        for number, name in sql.execute(
            f"SELECT caption, name FROM given WHERE name IS NOT NULL {one}"
            f" UNION SELECT caption, name FROM regions WHERE name IS NOT NULL {one}",
            own,
        ):
            given[number].append(name)
        return [
            CaptionRecord(
                number, os.fsdecode(path), text, tuple(read[number]), tuple(given[number])
            )
            for number, path, text in rows
        ]


def proposals(project: Project) -> Iterator[Proposal]:
    """Yield pairs of names that likely belong to one person, the rarer first, none doubtful."""
    with project.snapshot() as sql:
        rows = sql.execute(
            "SELECT one.name, other.name, why FROM proposals"
            " JOIN people one ON one.id = person JOIN people other ON other.id = likely"
            f" WHERE one.id IN ({_NAMED_PEOPLE}) AND other.id IN ({_NAMED_PEOPLE})"
            " ORDER BY one.name, other.name"
        )
        for row in rows:
            yield Proposal(*row)


def failures(sql: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the files that could not be read, with the reason."""
    rows = sql.execute(
        "SELECT path, failure FROM files WHERE failure IS NOT NULL AND gone = 0 ORDER BY root, path"
    )
    return [(os.fsdecode(path), failure) for path, failure in rows]
