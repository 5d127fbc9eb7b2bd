"""Labels, their candidates and the names that changed, as they are stored in a project."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from candidly.photos.names import Lists
from candidly.photos.project import Project
from candidly.photos.project.queries import embeddings, file_of
from candidly.photos.project.schema import person_id
from candidly.photos.solving.labelling import CandidateScore, Embeddings, FaceLabel, FaceLabels
from candidly.photos.solving.problem import PhotoProblem

RECOGNISED = "known people"
"""The ``solve`` setting of runs that name photos without captions."""
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


def read_stamps(sql: sqlite3.Connection) -> dict[int, tuple[str, str, str]]:
    """Return the stamps of each photo when it was last solved: words, faces, decisions."""
    rows = sql.execute("SELECT photo, words, faces, decisions FROM solved")
    return {photo: (words, faces, decisions) for photo, words, faces, decisions in rows}


def read_labels(sql: sqlite3.Connection) -> FaceLabels:
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


def read_embeddings(project: Project) -> Embeddings:
    """Return all embeddings of a project."""
    batches = list(embeddings(project))
    numbers = [int(number) for part, _ in batches for number in part]
    rows = np.concatenate([part for _, part in batches]) if batches else np.zeros((0, 0))
    return Embeddings.of(numbers, rows)


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
    sql: sqlite3.Connection, run: int, photo: PhotoProblem, labels: Mapping[int, FaceLabel]
) -> None:
    """Store the labels of the faces of a photo, instead of earlier ones.

    In a photo without a caption only decided faces are solved; the labels of others may have
    been recognised, and stay.
    """
    forget_photo(sql, photo.photo, photo.faces)
    keep_labels(sql, run, {face: labels[face] for face in photo.faces})
    sql.execute("INSERT INTO solved VALUES (?, ?, ?, ?, ?)", (photo.photo, run, *photo.stamp))


def keep_labels(sql: sqlite3.Connection, run: int, labels: Mapping[int, FaceLabel]) -> None:
    """Store labels of faces that have none."""
    for face, label in labels.items():
        person = None if label.name is None else person_id(sql, label.name)
        values = (face, person, label.confidence, run)
        sql.execute("INSERT INTO labels VALUES (?, ?, ?, ?)", values)
        sql.executemany(
            "INSERT INTO weighed VALUES (?, ?, ?, ?, ?)",
            [
                (
                    face,
                    None if one.name is None else person_id(sql, one.name),
                    one.probability,
                    one.likeness,
                    one.place,
                )
                for one in label.scores
            ],
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
        " JOIN runs ON runs.id = run JOIN faces ON faces.id = face"
        " JOIN files ON files.photo = faces.photo AND gone = 0"
        " WHERE json_extract(settings, '$.solve') = ? ORDER BY face",
        (RECOGNISED,),
    ).fetchall()
    withdrawn = {
        face: name
        for face, name, barred, path in rows
        if barred or not lists.permits_folder(os.fsdecode(path))
    }
    forget_faces(sql, withdrawn)
    return [NameChange(run, face, name, None, BARRED) for face, name in withdrawn.items()]
