"""Reading a project: lists are streamed, so that memory does not grow with the collection."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import Certainty, certainty
from candidly.photos.geometry import Box
from candidly.photos.project.face_names import decision_on, name_and_confidence
from candidly.photos.project.known_names import NAMED_PEOPLE, known_name
from candidly.photos.project.name_counts import faces_of
from candidly.photos.project.project import Project
from candidly.photos.records import NAMED, CaptionRecord, Cue, Mention, Proposal

Item = TypeVar("Item")

# The first present file of each photo, in the order of their paths.
_SHOWN = """FROM files JOIN roots ON roots.id = files.root JOIN photos ON photos.id = files.photo
    WHERE files.gone = 0 AND NOT EXISTS (SELECT 1 FROM files other
        WHERE other.photo = files.photo AND other.gone = 0 AND other.id < files.id)
    ORDER BY files.root, files.path"""

_CANDIDATES = f"""SELECT known.name FROM (
    SELECT person, 0 AS kind, given.id AS place FROM given
        JOIN captions ON captions.id = caption JOIN files ON files.id = file
        WHERE photo = :photo AND gone = 0
    UNION ALL SELECT person, 0, regions.id FROM regions
        JOIN captions ON captions.id = caption JOIN files ON files.id = file
        WHERE photo = :photo AND gone = 0
    UNION ALL SELECT person, 1, mentions.id FROM mentions
        JOIN captions ON captions.id = caption JOIN files ON files.id = file
        WHERE photo = :photo AND gone = 0 AND probability >= {NAMED}
    ) JOIN known ON known.id = person WHERE NOT barred
    GROUP BY known.name ORDER BY min(kind), min(place)"""


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


def photos(project: Project, people: Sequence[str] = ()) -> Iterator[PhotoRow]:
    """Yield all photos by file, and after them the files that could not be read.

    With ``people``, only photos that show all of them, surely or likely.
    """
    with project.snapshot() as sql:
        chosen = [_photos_showing(sql, known_name(sql, name)) for name in people]
        among = json.dumps(sorted(set.intersection(*chosen))) if chosen else "[]"
        which = " AND files.photo IN (SELECT value FROM json_each(:among))" if chosen else ""
        shown = "SELECT photo, roots.path, files.path, width, height, failure " + _SHOWN.replace(
            "WHERE files.gone = 0", f"WHERE files.gone = 0{which}"
        )
        for photo, root, file, width, height, failure in sql.execute(shown, {"among": among}):
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
        if people:
            return
        unread = (
            "SELECT roots.path, files.path, failure FROM files JOIN roots ON roots.id = root"
            " WHERE gone = 0 AND photo IS NULL ORDER BY root, files.path"
        )
        for root, file, failure in sql.execute(unread):
            top = Path(os.fsdecode(root))
            yield PhotoRow(os.fsdecode(file), top, None, None, 0, (), "", failure)


def _photos_showing(sql: sqlite3.Connection, name: str) -> set[int]:
    """Return the photos with a face that surely or likely is a person."""
    return {
        photo
        for _, photo, confidence in faces_of(sql, name)
        if certainty(name, confidence) != "unknown"
    }


def candidates(sql: sqlite3.Connection, photo: int) -> tuple[str, ...]:
    """Return the names that may be in a photo: given names first, then those in the text.

    Doubtful names are left out.
    """
    return tuple(name for (name,) in sql.execute(_CANDIDATES, {"photo": photo}))


def photo_mentions(sql: sqlite3.Connection, photo: int) -> tuple[PhotoMention, ...]:
    """Return the names that are written about a photo: those of lists first, then by place."""
    where = (
        "JOIN captions ON captions.id = caption JOIN files ON files.id = file"
        " JOIN known ON known.id = person WHERE photo = :photo AND gone = 0 AND NOT barred"
    )
    own = {"photo": photo}
    found = [
        PhotoMention(name)
        for table in ("given", "regions")
        for (name,) in sql.execute(
            f"SELECT known.name FROM {table} {where} ORDER BY {table}.id", own
        )
    ]
    starts, at = {}, 0
    for text in captions(sql, photo):
        starts[text] = at
        at += len(text) + len(BETWEEN)
    for text, name, probability, shown, start, end, side, place, of, row in sql.execute(
        'SELECT text, known.name, probability, shown, start, "end", side, place, "of", "row"'
        f" FROM mentions {where} ORDER BY captions.id, start",
        own,
    ):
        cue = None if side is None else Cue(side, place, of, row)
        first = starts[text]
        found.append(PhotoMention(name, probability, shown, first + start, first + end, cue))
    return tuple(dict.fromkeys(found))  # copies often say the same


def caption_pieces(
    sql: sqlite3.Connection, photo: int
) -> Iterator[tuple[str, PhotoMention | None]]:
    """Yield the captions of a photo in pieces, each name with its mention.

    Of mentions that overlap the first counts.
    """
    text, at = BETWEEN.join(captions(sql, photo)), 0
    for one in photo_mentions(sql, photo):
        if one.start is None or one.end is None or one.start < at or one.end <= one.start:
            continue
        if one.start > at:
            yield text[at : one.start], None
        yield text[one.start : one.end], one
        at = one.end
    if at < len(text):
        yield text[at:], None


def captions(sql: sqlite3.Connection, photo: int) -> tuple[str, ...]:
    """Return the captions of a photo; copies may have different ones."""
    rows = sql.execute(
        "SELECT text FROM captions JOIN files ON files.id = file"
        " WHERE photo = ? AND gone = 0 AND text != '' GROUP BY text ORDER BY min(captions.id)",
        (photo,),
    )
    return tuple(text for (text,) in rows)


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
            "SELECT DISTINCT one.name, other.name, why FROM proposals"
            " JOIN known one ON one.id = person JOIN known other ON other.id = likely"
            f" WHERE one.id IN ({NAMED_PEOPLE}) AND other.id IN ({NAMED_PEOPLE})"
            " AND one.name != other.name"
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


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of at most ``size``.

    Examples
    --------
    >>> list(in_batches(range(5), 2))
    [[0, 1], [2, 3], [4]]
    """
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
