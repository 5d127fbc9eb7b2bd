"""Labels, their candidates and the names that changed, as they are stored in a project."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from candidly.photos.names import Lists
from candidly.photos.project import Project
from candidly.photos.project.queries import file_of, in_batches
from candidly.photos.project.schema import person_id
from candidly.photos.records import NAMED
from candidly.photos.solving.labels import (
    CandidateScore,
    FaceLabel,
    LabelArrays,
    LabelRecord,
    ScoreRecord,
)
from candidly.photos.solving.photo_entries import PhotoEntries

RECOGNISED = "known people"
"""The ``solve`` setting of runs that name photos without captions."""
BATCH = 5000
"""Faces or people that are asked for at a time."""
_NAMED = "SELECT id, name FROM known WHERE NOT barred"
BARRED = "by the lists given they are not to be named, or nobody is in this folder"


@dataclass(frozen=True)
class NameChange:
    """A face whose name changed in a run (None for nobody); ``file`` shows the face."""

    run: int
    face: int
    before: str | None
    after: str | None
    why: str
    file: str = ""


# Reading


def candidate_scores(sql: sqlite3.Connection, face: int) -> list[CandidateScore]:
    """Return the candidates of a face as they were last scored, most likely first."""
    rows = sql.execute(
        "SELECT name, probability, likeness, place, (SELECT labels.face FROM labels"
        " JOIN faces other ON other.id = labels.face WHERE labels.person = weighed.person"
        " AND other.photo = faces.photo AND other.id != faces.id LIMIT 1)"
        " FROM weighed JOIN faces ON faces.id = weighed.face"
        " LEFT JOIN known ON known.id = weighed.person"
        " WHERE weighed.face = ? AND barred IS NOT 1 ORDER BY probability DESC, weighed.rowid",
        (face,),
    )
    return [CandidateScore(*row) for row in rows]


def changes(project: Project, run: int | None = None) -> Iterator[NameChange]:
    """Yield names that changed in a run; by default in the last that solved, and since."""
    with project.snapshot() as sql:
        first, last = (last_solve(sql), 2**62) if run is None else (run, run)
        rows = sql.execute(
            "SELECT run, face, before, after, why FROM changes"
            " WHERE run BETWEEN ? AND ? ORDER BY id",
            (first, last),
        )
        for number, face, before, after, why in rows:
            yield NameChange(number, face, before, after, why, file_of(sql, face))


def last_solve(sql: sqlite3.Connection) -> int | None:
    """Return the number of the last run that solved captioned photos to its end."""
    (run,) = sql.execute(
        "SELECT max(id) FROM runs WHERE finished IS NOT NULL"
        " AND json_extract(settings, '$.solve') != ?",
        (RECOGNISED,),
    ).fetchone()
    return None if run is None else int(run)


def read_stamps(
    sql: sqlite3.Connection, photos: Iterable[int] | None = None
) -> dict[int, tuple[str, str, str]]:
    """Return the stamps of each photo when it was last solved: words, faces, decisions."""
    if photos is None:
        rows = sql.execute("SELECT photo, words, faces, decisions FROM solved")
        return {photo: (words, faces, decisions) for photo, words, faces, decisions in rows}
    found: dict[int, tuple[str, str, str]] = {}
    for some in in_batches(photos, BATCH):
        rows = sql.execute(
            "SELECT photo, words, faces, decisions FROM solved"
            " WHERE photo IN (SELECT value FROM json_each(?))",
            (json.dumps(some),),
        )
        found |= {photo: (words, faces, decisions) for photo, words, faces, decisions in rows}
    return found


def read_labels(sql: sqlite3.Connection) -> dict[int, FaceLabel]:
    """Return the last label of every face that has an embedding."""
    scores: dict[int, list[CandidateScore]] = defaultdict(list)
    for face, *values in sql.execute(
        "SELECT weighed.face, name, probability, likeness, place FROM weighed"
        " JOIN comparable ON comparable.face = weighed.face"
        " LEFT JOIN known ON known.id = person ORDER BY weighed.rowid"
    ):
        scores[face].append(CandidateScore(*values))
    rows = sql.execute(
        "SELECT face, name, confidence FROM labels LEFT JOIN known ON known.id = person"
    )
    return {
        face: FaceLabel(name, confidence, tuple(scores[face]))
        for face, name, confidence in rows
        if face in scores
    }


def read_label_arrays(sql: sqlite3.Connection, faces: Iterable[int]) -> LabelArrays:
    """Return the last labels of those faces that have one and an embedding, as arrays."""
    numbers, chosen, sure, counts = [], [], [], []
    name, values = [], []
    place: dict[str, int] = {}

    def of(who: str | None) -> int:
        return -1 if who is None else place.setdefault(who, len(place))

    for some in in_batches(faces, BATCH):
        asked = json.dumps(some)
        scores: dict[int, list[tuple[int, float, float, float]]] = defaultdict(list)
        for face, who, *score in sql.execute(
            "SELECT weighed.face, name, probability, likeness, place FROM weighed"
            " JOIN embeddings ON embeddings.face = weighed.face"
            " LEFT JOIN known ON known.id = person"
            " WHERE weighed.face IN (SELECT value FROM json_each(?)) ORDER BY weighed.rowid",
            (asked,),
        ):
            scores[face].append((of(who), *score))
        for face, who, confidence in sql.execute(
            "SELECT face, name, confidence FROM labels LEFT JOIN known ON known.id = person"
            " WHERE face IN (SELECT value FROM json_each(?)) ORDER BY face",
            (asked,),
        ):
            if face in scores:
                numbers.append(face)
                chosen.append(of(who))
                sure.append(confidence)
                counts.append(len(scores[face]))
                name += [one[0] for one in scores[face]]
                values += [one[1:] for one in scores[face]]
    if not numbers:
        return LabelArrays.none()
    columns = np.array(values, dtype=float).T
    return LabelArrays(
        list(place),
        np.array(numbers, dtype=np.int64),
        np.array(chosen, dtype=np.int64),
        np.array(sure, dtype=float),
        np.append(0, np.cumsum(counts)),
        np.array(name, dtype=np.int32),
        *columns,
    )


def photos_naming(
    sql: sqlite3.Connection, names: Iterable[str], *, sure: bool = False
) -> dict[str, set[int]]:
    """Return the photos with faces that mention each of some names, in text or in a list.

    ``sure`` leaves out doubtful mentions.
    """
    wanted = set(names)
    ids = {number: name for number, name in sql.execute(_NAMED) if name in wanted}
    found: dict[str, set[int]] = {name: set() for name in wanted}
    for some in in_batches(ids, BATCH):
        for table in ("mentions", "given", "regions"):
            enough = f" AND probability >= {NAMED}" if sure and table == "mentions" else ""
            for number, photo in sql.execute(
                f"SELECT person, photo FROM {table} JOIN captions ON captions.id = caption"
                " JOIN files ON files.id = file"
                f" WHERE person IN (SELECT value FROM json_each(?)) AND gone = 0{enough}"
                " AND EXISTS (SELECT 1 FROM faces WHERE faces.photo = files.photo)",
                (json.dumps(some),),
            ):
                found[ids[number]].add(photo)
    return found


def surest_labels(
    sql: sqlite3.Connection, names: Iterable[str], without: set[int]
) -> dict[str, float]:
    """Return the largest confidence of each name on faces of solved photos, without some faces."""
    most: dict[str, float] = {}
    for name, face, confidence in _labels_of(sql, names):
        if face not in without:
            most[name] = max(confidence, most.get(name, 0.0))
    return most


def faces_labelled(sql: sqlite3.Connection, names: Iterable[str], without: set[int]) -> list[int]:
    """Return the faces of solved photos with one of the names, without some faces."""
    return sorted({face for _, face, _ in _labels_of(sql, names)} - without)


def _labels_of(sql: sqlite3.Connection, names: Iterable[str]) -> Iterator[tuple[str, int, float]]:
    """Yield name, face and confidence of the labels of people in solved photos that count."""
    wanted = set(names)
    ids = {n: name for n, name in sql.execute("SELECT id, name FROM known") if name in wanted}
    for some in in_batches(ids, BATCH):
        for person, face, confidence in sql.execute(
            "SELECT person, face, confidence FROM labels JOIN faces ON faces.id = face"
            " JOIN solved ON solved.photo = faces.photo"
            " WHERE person IN (SELECT value FROM json_each(?)) AND counted",
            (json.dumps(some),),
        ):
            yield ids[person], face, confidence


def solved_names(sql: sqlite3.Connection, photo: int) -> dict[int, str | None]:
    """Return the names of the faces of a photo, except those recognised without captions."""
    rows = sql.execute(
        "SELECT face, name FROM labels JOIN faces ON faces.id = face"
        " LEFT JOIN known ON known.id = person LEFT JOIN runs ON runs.id = run"
        " WHERE photo = ? AND json_extract(settings, '$.solve') IS NOT ? ORDER BY face",
        (photo, RECOGNISED),
    )
    return dict(rows)


# Writing


def forget_photo(sql: sqlite3.Connection, photo: int, also: Iterable[int] = ()) -> None:
    """Delete the labels that were solved in a photo, and those of other faces given."""
    forget_faces(sql, {*solved_names(sql, photo), *also})
    sql.execute("DELETE FROM solved WHERE photo = ?", (photo,))


def forget_faces(sql: sqlite3.Connection, faces: Iterable[int]) -> None:
    """Delete the labels of some faces."""
    numbers = [(face,) for face in faces]
    for table in ("weighed", "labels"):
        sql.executemany(f"DELETE FROM {table} WHERE face = ?", numbers)


def keep_photo_labels(
    sql: sqlite3.Connection, run: int, photos: PhotoEntries, part: slice, labels: LabelArrays
) -> None:
    """Store the labels of the faces of some photos, whose earlier labels are deleted already."""
    faces = photos.faces[photos.photo_first[part.start] : photos.photo_first[part.stop]]
    _insert(sql, run, *labels.records(faces))
    sql.executemany(
        "INSERT INTO solved (photo, run, words, faces, decisions, counted)"
        " VALUES (?, ?, ?, ?, ?, 1)",
        [
            (photo, run, *(one.decode() for one in stamp))
            for photo, stamp in zip(
                photos.photos[part].tolist(), photos.stamps[part].tolist(), strict=True
            )
        ],
    )


def keep_labels(sql: sqlite3.Connection, run: int, labels: Mapping[int, FaceLabel]) -> None:
    """Store labels of faces that have none."""
    _insert(
        sql,
        run,
        [(face, one.name, one.confidence) for face, one in labels.items()],
        [
            (face, one.name, one.probability, one.likeness, one.place)
            for face, label in labels.items()
            for one in label.scores
        ],
    )


def _insert(
    sql: sqlite3.Connection, run: int, labels: list[LabelRecord], scores: list[ScoreRecord]
) -> None:
    names = {one[1] for one in labels if one[1] is not None}
    names |= {one[1] for one in scores if one[1] is not None}
    number: dict[str | None, int | None] = {None: None}
    number |= {name: person_id(sql, name) for name in sorted(names)}
    sql.executemany(
        "INSERT INTO labels VALUES (?, ?, ?, ?)",
        [(face, number[name], confidence, run) for face, name, confidence in labels],
    )
    sql.executemany(
        "INSERT INTO weighed VALUES (?, ?, ?, ?, ?)",
        [(face, number[name], *values) for face, name, *values in scores],
    )


def keep_changes(sql: sqlite3.Connection, found: Iterable[NameChange]) -> list[NameChange]:
    """Store which names changed, and return them with their files."""
    found = [replace(one, file=file_of(sql, one.face)) for one in found]
    sql.executemany(
        "INSERT INTO changes (run, face, before, after, why) VALUES (?, ?, ?, ?, ?)",
        [(one.run, one.face, one.before, one.after, one.why) for one in found],
    )
    return found


def withdraw_barred_names(sql: sqlite3.Connection, run: int, lists: Lists) -> list[NameChange]:
    """Delete recognised names that the user's lists bar, and return what changed.

    In a photo with a caption, only people who may be named are candidates.
    """
    rows = sql.execute(
        "SELECT face, name, barred, path FROM labels JOIN known ON known.id = person"
        " JOIN faces ON faces.id = face JOIN files ON files.photo = faces.photo AND gone = 0"
        " WHERE run IN (SELECT id FROM runs WHERE json_extract(settings, '$.solve') = ?)"
        " ORDER BY face",
        (RECOGNISED,),
    ).fetchall()
    withdrawn = {
        face: name
        for face, name, barred, path in rows
        if barred or not lists.permits_folder(os.fsdecode(path))
    }
    forget_faces(sql, withdrawn)
    return [NameChange(run, face, name, None, BARRED) for face, name in withdrawn.items()]
