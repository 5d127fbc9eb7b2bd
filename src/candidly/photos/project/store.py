"""Writing what was found in one photo. Every function runs inside a transaction of its caller's.

Faces keep their numbers when a photo is looked at again, so that decisions stay with them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from candidly.photos.project.project import Root
from candidly.photos.project.values import clean, stored
from candidly.photos.records import Box, Face, overlap
from candidly.photos.turning import as_stored, upright

SAME_FACE = 0.4  # overlap (intersection over union) from which two boxes are one face
SAME_REGION = 0.2  # people draw wider boxes than detectors do
METADATA = "metadata"  # the model of faces that only the metadata knows


@dataclass(frozen=True)
class KnownFile:
    """What the project knows of a file in a root."""

    id: int
    size: int
    mtime_ns: int
    photo: int | None
    failure: str | None
    gone: int
    beside: str | None
    model: str | None
    reading: str | None


def known_file(sql: sqlite3.Connection, root: int, path: str) -> KnownFile | None:
    """What the project knows of the file at ``path`` in a root."""
    row = sql.execute(
        "SELECT files.id, size, mtime_ns, photo, failure, gone, beside, photos.model, reading"
        " FROM files LEFT JOIN photos ON photos.id = photo"
        " LEFT JOIN captions ON captions.file = files.id"
        " WHERE root = ? AND path = ?",
        (root, stored(path)),
    ).fetchone()
    return None if row is None else KnownFile(*row)


def photo_with(sql: sqlite3.Connection, identity: str) -> int | None:
    """The number of the photo with an identity."""
    row = sql.execute("SELECT id FROM photos WHERE identity = ?", (identity,)).fetchone()
    return None if row is None else int(row[0])


def looked_at(sql: sqlite3.Connection, photo: int) -> tuple[str | None, int | None]:
    """What looked for faces in a photo, and the orientation that was undone before."""
    known = "SELECT model, orientation FROM photos WHERE id = ?"
    model, orientation = sql.execute(known, (photo,)).fetchone()
    return model, orientation


def turn(sql: sqlite3.Connection, photo: int, size: tuple[int, int], orientation: int) -> None:
    """Take note of a photo's orientation; faces known in another one turn with it."""
    width, height, before = sql.execute(
        "SELECT width, height, orientation FROM photos WHERE id = ?", (photo,)
    ).fetchone()
    if before not in (None, orientation):
        rows = sql.execute("SELECT id, x, y, w, h FROM faces WHERE photo = ?", (photo,)).fetchall()
        for number, x, y, w, h in rows:
            part = as_stored(Box(x / width, y / height, w / width, h / height), before)
            part = upright(part, orientation)
            box = (part.x * size[0], part.y * size[1], part.w * size[0], part.h * size[1])
            sql.execute("UPDATE faces SET x = ?, y = ?, w = ?, h = ? WHERE id = ?", (*box, number))
    sql.execute(
        "UPDATE photos SET width = ?, height = ?, orientation = ? WHERE id = ?",
        (*size, orientation, photo),
    )


def keep_photo(sql: sqlite3.Connection, identity: str, width: int, height: int) -> int:
    """The number of the photo with an identity, made where there is none."""
    known = photo_with(sql, identity)
    if known is not None:
        return known
    (made,) = sql.execute(
        "INSERT INTO photos (identity, width, height) VALUES (?, ?, ?) RETURNING id",
        (identity, width, height),
    ).fetchone()
    return int(made)


def keep_file(
    sql: sqlite3.Connection,
    root: Root,
    path: str,
    stat: tuple[int, int],
    photo: int | None,
    *,
    failure: str | None = None,
    beside: str | None = None,
) -> int:
    """The number of the file at ``path``: one known there, one that moved there, or a new one.

    A file that fails keeps the photo that it last showed.
    """
    if photo is not None:
        _follow(sql, root, path, photo)
    (file,) = sql.execute(
        "INSERT INTO files (root, path, size, mtime_ns, photo, failure, beside)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (root, path) DO UPDATE SET size = excluded.size,"
        " mtime_ns = excluded.mtime_ns, photo = coalesce(excluded.photo, photo),"
        " failure = excluded.failure, beside = excluded.beside, gone = 0 RETURNING id",
        (
            root.id,
            stored(path),
            *stat,
            photo,
            None if failure is None else clean(failure),
            beside,
        ),
    ).fetchone()
    return int(file)


def _follow(sql: sqlite3.Connection, root: Root, path: str, photo: int) -> None:
    """Where a file of this photo is gone from its place, the one at ``path`` is that file."""
    taken = "SELECT 1 FROM files WHERE root = ? AND path = ?"
    if sql.execute(taken, (root.id, stored(path))).fetchone():
        return
    others = sql.execute(
        "SELECT files.id, roots.path, files.path FROM files JOIN roots ON roots.id = root"
        " WHERE photo = ? ORDER BY files.id",
        (photo,),
    ).fetchall()
    for other, top, below in others:
        if is_gone(Path(os.fsdecode(top), os.fsdecode(below))):
            update = "UPDATE files SET root = ?, path = ? WHERE id = ?"
            sql.execute(update, (root.id, stored(path), other))
            return


def is_gone(path: Path) -> bool:
    """Whether nothing is at a place any more."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # no permission to look is no news of the file
    return False


def keep_faces(sql: sqlite3.Connection, photo: int, faces: Sequence[Face], model: str) -> list[int]:
    """Keep the faces that a model found in a photo; returns their numbers.

    One that overlaps a face found before takes its number. What is found no more goes, unless
    somebody decided about it.
    """
    rows = sql.execute("SELECT id, x, y, w, h FROM faces WHERE photo = ?", (photo,)).fetchall()
    before = {row[0]: Box(*row[1:]) for row in rows}
    same = _matched([face.box for face in faces], before)
    kept = []
    for place, face in enumerate(faces):
        values = (
            *map(float, face.box),
            float(face.score),
            float(face.quality),
            np.asarray(face.landmarks, dtype="<f4").tobytes(),
            model,
        )
        if place in same:
            number = same[place]
            sql.execute(
                "UPDATE faces SET x = ?, y = ?, w = ?, h = ?, score = ?, quality = ?,"
                " landmarks = ?, model = ? WHERE id = ?",
                (*values, number),
            )
        else:
            (number,) = sql.execute(
                "INSERT INTO faces (photo, x, y, w, h, score, quality, landmarks, model)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (photo, *values),
            ).fetchone()
        _keep_embedding(sql, number, face)
        kept.append(int(number))
    known = "SELECT id FROM faces WHERE photo = ? AND model != ?"
    for (number,) in sql.execute(known, (photo, METADATA)).fetchall():
        if number in kept:
            continue
        # An embedding of another model would be compared with those of this one.
        sql.execute("DELETE FROM embeddings WHERE face = ?", (number,))
        _drop_face(sql, number)
    sql.execute("UPDATE photos SET model = ? WHERE id = ?", (model, photo))
    return kept


def _keep_embedding(sql: sqlite3.Connection, number: int, face: Face) -> None:
    if face.embedding is None:
        sql.execute("DELETE FROM embeddings WHERE face = ?", (number,))
        return
    vector = np.asarray(face.embedding, dtype="<f4")
    if not np.isfinite(vector).all():
        raise ValueError("the embedding of a face has values that are not finite")
    sql.execute(
        "INSERT INTO embeddings (face, vector) VALUES (?, ?)"
        " ON CONFLICT (face) DO UPDATE SET vector = excluded.vector",
        (number, vector.tobytes()),
    )


def _drop_face(sql: sqlite3.Connection, number: int) -> None:
    """Forget a face, unless somebody decided about it or its name was given out."""
    sql.execute(
        "DELETE FROM faces WHERE id = ? AND id NOT IN"
        " (SELECT face FROM decisions UNION SELECT face FROM exported)",
        (number,),
    )


def link_regions(sql: sqlite3.Connection, photo: int) -> None:
    """Say which face each region of the metadata is.

    A region where no face was found becomes a face of its own, without an embedding: somebody
    drew it. It goes with its region.
    """
    width, height = sql.execute(
        "SELECT width, height FROM photos WHERE id = ?", (photo,)
    ).fetchone()
    rows = sql.execute("SELECT id, x, y, w, h, model FROM faces WHERE photo = ?", (photo,))
    faces, drawn = {}, set()
    for number, x, y, w, h, model in rows.fetchall():
        faces[number] = Box(x, y, w, h)
        if model == METADATA:
            drawn.add(number)
    regions = sql.execute(
        "SELECT regions.id, x, y, w, h FROM regions JOIN captions ON captions.id = caption"
        " JOIN files ON files.id = file WHERE photo = ? ORDER BY regions.id",
        (photo,),
    ).fetchall()
    boxes = [Box(x * width, y * height, w * width, h * height) for _, x, y, w, h in regions]
    # A copy of the photo may bring the same region again: one face may be several regions.
    for (region, *_), box in zip(regions, boxes, strict=True):
        best = max(faces, key=lambda number: overlap(box, faces[number]), default=None)
        if best is None or overlap(box, faces[best]) < SAME_REGION:
            (best,) = sql.execute(
                "INSERT INTO faces (photo, x, y, w, h, score, quality, landmarks, model)"
                " VALUES (?, ?, ?, ?, ?, 1, 0, x'', ?) RETURNING id",
                (photo, *box, METADATA),
            ).fetchone()
            faces[best] = box
        drawn.discard(best)
        sql.execute("UPDATE regions SET face = ? WHERE id = ?", (best, region))
    for number in drawn:
        _drop_face(sql, number)


def _matched(boxes: Sequence[Box], before: dict[int, Box]) -> dict[int, int]:
    """The face that each box was before, by place: the best overlaps first, each face once."""
    pairs = sorted(
        (
            (overlap(box, old), place, number)
            for place, box in enumerate(boxes)
            for number, old in before.items()
        ),
        reverse=True,
    )
    found: dict[int, int] = {}
    for value, place, number in pairs:
        if value >= SAME_FACE and place not in found and number not in found.values():
            found[place] = number
    return found
