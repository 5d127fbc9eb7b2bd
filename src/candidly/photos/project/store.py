"""Writes the faces found in a photo, its files and its captions to a project.

Every function runs inside a transaction that its caller began. Faces keep their numbers when a
photo is scanned again, so that decisions stay with them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from candidly.photos.geometry import SAME_FACE, Box, as_stored, overlap, upright
from candidly.photos.project.forgotten import ForgottenNames
from candidly.photos.project.known_names import apply_lists, bar_photos
from candidly.photos.project.project import Root
from candidly.photos.project.schema import clean_text, person_id, stored_path, timestamp
from candidly.photos.records import Caption, CaptionRecord, Face, Mention, PeopleByCaption, Proposal

SAME_REGION = 0.2  # people draw wider boxes than detectors do
METADATA = "metadata"  # stands for the model of faces that only the metadata has

# Files and photos


@dataclass(frozen=True)
class FileRecord:
    """The record of a file in a root."""

    id: int
    size: int
    mtime_ns: int
    photo: int | None
    failure: str | None
    gone: int
    beside: str | None
    model: str | None
    reading: str | None


def file_record(sql: sqlite3.Connection, root: int, path: str) -> FileRecord | None:
    """Return the record of the file at ``path`` in a root, or None."""
    row = sql.execute(
        "SELECT files.id, size, mtime_ns, photo, failure, gone, beside, photos.model, reading"
        " FROM files LEFT JOIN photos ON photos.id = photo"
        " LEFT JOIN captions ON captions.file = files.id"
        " WHERE root = ? AND path = ?",
        (root, stored_path(path)),
    ).fetchone()
    return None if row is None else FileRecord(*row)


def photo_with_identity(sql: sqlite3.Connection, identity: str) -> int | None:
    """Return the number of the photo with an identity, or None."""
    row = sql.execute("SELECT id FROM photos WHERE identity = ?", (identity,)).fetchone()
    return None if row is None else int(row[0])


def scan_state(sql: sqlite3.Connection, photo: int) -> tuple[str | None, int | None]:
    """Return the model that looked for faces in a photo, and the orientation it undid first."""
    known = "SELECT model, orientation FROM photos WHERE id = ?"
    model, orientation = sql.execute(known, (photo,)).fetchone()
    return model, orientation


def set_orientation(
    sql: sqlite3.Connection, photo: int, size: tuple[int, int], orientation: int
) -> None:
    """Record the size and orientation of a photo; known faces are turned with it."""
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
    """Return the number of the photo with an identity, which is added if there is none."""
    known = photo_with_identity(sql, identity)
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
    """Return the number of the file at ``path``: known there, moved there, or new.

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
            stored_path(path),
            *stat,
            photo,
            None if failure is None else clean_text(failure),
            beside,
        ),
    ).fetchone()
    if photo is not None:
        bar_photos(sql, photo)
    return int(file)


def _follow(sql: sqlite3.Connection, root: Root, path: str, photo: int) -> None:
    """Let ``path`` be the new place of a file of this photo that is gone from its old place."""
    taken = "SELECT 1 FROM files WHERE root = ? AND path = ?"
    if sql.execute(taken, (root.id, stored_path(path))).fetchone():
        return
    others = sql.execute(
        "SELECT files.id, roots.path, files.path FROM files JOIN roots ON roots.id = root"
        " WHERE photo = ? ORDER BY files.id",
        (photo,),
    ).fetchall()
    for other, top, below in others:
        if is_gone(Path(os.fsdecode(top), os.fsdecode(below))):
            update = "UPDATE files SET root = ?, path = ? WHERE id = ?"
            sql.execute(update, (root.id, stored_path(path), other))
            return


def is_gone(path: Path) -> bool:
    """Return whether a path no longer exists."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # without permission to look, nothing is known about the file
    return False


# Faces


def keep_faces(sql: sqlite3.Connection, photo: int, faces: Sequence[Face], model: str) -> list[int]:
    """Store the faces that a model found in a photo, and return their numbers.

    A face that overlaps one found before takes its number. A face that is no longer found is
    deleted, unless there is a decision about it.
    """
    rows = sql.execute("SELECT id, x, y, w, h FROM faces WHERE photo = ?", (photo,)).fetchall()
    before = {row[0]: Box(*row[1:]) for row in rows}
    same = _matched([face.box for face in faces], before)
    kept = []
    for place, face in enumerate(faces):
        values = (*_stored(face), model)
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
    # Nothing is stored of the looks of somebody who was forgotten.
    gone = "SELECT id FROM faces WHERE photo = ? AND forgotten"
    sql.execute(f"DELETE FROM embeddings WHERE face IN ({gone})", (photo,))
    sql.execute("UPDATE faces SET landmarks = x'' WHERE photo = ? AND forgotten", (photo,))
    # What a person drew stays as it is, as long as its embedding is of this model.
    known = (
        "SELECT id FROM faces WHERE photo = ? AND model != ?"
        " AND NOT (model = ? AND id IN (SELECT face FROM drawn))"
    )
    for (number,) in sql.execute(known, (photo, METADATA, model)).fetchall():
        if number in kept:
            continue
        # Embeddings of two models must not be compared.
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
    """Delete a face, unless somebody drew or decided it, or it was exported or forgotten."""
    sql.execute(
        "DELETE FROM faces WHERE id = ? AND NOT forgotten AND id NOT IN"
        " (SELECT face FROM decisions WHERE face IS NOT NULL UNION SELECT face FROM exported"
        " UNION SELECT face FROM drawn)",
        (number,),
    )


def draw_face(sql: sqlite3.Connection, photo: int, face: Face, model: str, by: str) -> int:
    """Store a face that somebody drew, embedded by a model, and return its number."""
    (number,) = sql.execute(
        "INSERT INTO faces (photo, x, y, w, h, score, quality, landmarks, model)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (photo, *_stored(face), model),
    ).fetchone()
    _keep_embedding(sql, number, face)
    sql.execute("INSERT INTO drawn VALUES (?, ?, ?)", (number, by, timestamp()))
    return int(number)


def _stored(face: Face) -> tuple[float | bytes, ...]:
    """Return box, score, quality and landmarks of a face as they are stored."""
    marks = np.asarray(face.landmarks, dtype="<f4").tobytes()
    return (*map(float, face.box), float(face.score), float(face.quality), marks)


def link_regions(sql: sqlite3.Connection, photo: int) -> None:
    """Link each region of the metadata to the face that it overlaps most.

    A region where no face was found becomes a face without an embedding, since a person drew
    it. Such a face is deleted with its region.
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
    """Return the earlier face of each box, by index: best overlaps first, each face once."""
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


# Captions and the people named in them


def keep_caption(
    sql: sqlite3.Connection, file: int, caption: Caption, mentions: Sequence[Mention], reading: str
) -> int:
    """Store the caption of a file, replacing an earlier one, and return its number.

    People who were forgotten are not named in what is stored.
    """
    forgotten = ForgottenNames.read(sql)
    caption, mentions = _without(forgotten, caption, mentions)
    sql.execute("DELETE FROM captions WHERE file = ?", (file,))
    (number,) = sql.execute(
        "INSERT INTO captions (file, text, origin, language, reading) VALUES (?, ?, ?, ?, ?)"
        " RETURNING id",
        (file, clean_text(caption.text), caption.origin, caption.language, reading),
    ).fetchone()
    keep_mentions(sql, number, mentions, reading)
    for name in caption.given:
        sql.execute(
            "INSERT INTO given (caption, name, person) VALUES (?, ?, ?)",
            (number, clean_text(name), person_id(sql, name)),
        )
    for region in caption.regions:
        person = None if region.name is None else person_id(sql, region.name)
        sql.execute(
            "INSERT INTO regions (caption, name, x, y, w, h, person) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                None if region.name is None else clean_text(region.name),
                *map(float, (region.x, region.y, region.w, region.h)),
                person,
            ),
        )
    return int(number)


def _without(
    forgotten: ForgottenNames, caption: Caption, mentions: Sequence[Mention]
) -> tuple[Caption, list[Mention]]:
    """Return a caption and its mentions without people who were forgotten."""
    text, kept = forgotten.redact(clean_text(caption.text), mentions)
    given = tuple(name for name in caption.given if not forgotten.holds(name))
    regions = tuple(
        replace(region, name=None) if forgotten.holds(region.name) else region
        for region in caption.regions
    )
    caption = replace(caption, text=text, given=given, regions=regions)
    return caption, [one for one in kept if one is not None]


def keep_mentions(
    sql: sqlite3.Connection, caption: int, mentions: Sequence[Mention], reading: str
) -> None:
    """Store the people named in a caption, replacing earlier ones."""
    sql.execute("DELETE FROM mentions WHERE caption = ?", (caption,))
    forgotten = ForgottenNames.read(sql)
    for mention in mentions:
        if forgotten.holds(mention.name):
            continue
        _keep_mention(sql, caption, mention, found=True)
    sql.execute("UPDATE captions SET reading = ? WHERE id = ?", (reading, caption))


def _keep_mention(sql: sqlite3.Connection, caption: int, mention: Mention, *, found: bool) -> None:
    cue = mention.cue
    place = (None,) * 4 if cue is None else (cue.side, cue.place, cue.of, cue.row)
    sql.execute(
        'INSERT INTO mentions (caption, name, start, "end", side, place, "of", "row", shown,'
        " absence, probability, alone, person, found)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            caption,
            clean_text(mention.name),
            mention.start,
            mention.end,
            *place,
            mention.shown,
            clean_text(mention.absence),
            mention.probability,
            mention.probability,
            person_id(sql, mention.name),
            found,
        ),
    )


def keep_people(
    sql: sqlite3.Connection, captions: Sequence[CaptionRecord], people: PeopleByCaption
) -> None:
    """Store the people named in each caption of a collection; mentions as read stay as evidence.

    People to whom nothing refers any more are deleted.
    """
    sql.execute("DELETE FROM mentions WHERE found = 0")
    for index, caption in enumerate(captions):
        keep_people_of_caption(sql, caption, people, index)
    used = " UNION ".join(
        f"SELECT person FROM {table} WHERE person IS NOT NULL"
        for table in (
            "mentions",
            "given",
            "regions",
            "labels",
            "decisions",
            "exported",
            "export_names",
            "audited",
        )
    )
    for column, table in (("stands_for", "people"), ("becomes", "decisions")):
        used += f" UNION SELECT {column} FROM {table} WHERE {column} IS NOT NULL"
    sql.execute(f"DELETE FROM people WHERE id NOT IN ({used})")
    _keep_proposals(sql, people.proposals)
    apply_lists(sql)


def keep_people_of_caption(
    sql: sqlite3.Connection, caption: CaptionRecord, people: PeopleByCaption, index: int = 0
) -> None:
    """Store the people named in one caption, which is the ``index``-th in ``people``."""
    forgotten = ForgottenNames.read(sql)
    mentions = [one for one in people.mentions[index] if not forgotten.holds(one.name)]
    given = {
        name: None if forgotten.holds(own) else own for name, own in people.given[index].items()
    }
    read = {(mention.start, mention.end) for mention in caption.mentions}
    known: dict[tuple[int, int], Mention] = {}
    added: list[Mention] = []
    for mention in mentions:  # the same words may fit several people: the first is what they say
        place = (mention.start, mention.end)
        if place in read and place not in known:
            known[place] = mention
        else:
            added.append(mention)
    for start, end in read:
        one = known.get((start, end))
        person = None if one is None else person_id(sql, one.name)
        likely = None if one is None else one.probability
        sql.execute(
            "UPDATE mentions SET person = :person, probability = coalesce(:likely, probability)"
            ' WHERE caption = :caption AND start = :start AND "end" = :end AND found = 1'
            " AND (person IS NOT :person OR probability != :likely)",
            {"person": person, "likely": likely, "caption": caption.id, "start": start, "end": end},
        )
    for mention in added:
        _keep_mention(sql, caption.id, mention, found=False)
    for name, own in given.items():
        person = None if own is None else person_id(sql, own)
        for table in ("given", "regions"):
            sql.execute(
                f"UPDATE {table} SET person = ? WHERE caption = ? AND name = ? AND person IS NOT ?",
                (person, caption.id, clean_text(name), person),
            )


def _keep_proposals(sql: sqlite3.Connection, proposals: Sequence[Proposal]) -> None:
    number = dict(sql.execute("SELECT name, id FROM people"))
    sql.execute("DELETE FROM proposals")
    for found in proposals:
        person, likely = number.get(clean_text(found.name)), number.get(clean_text(found.likely))
        if None not in (person, likely):  # people who may not be named are not proposed
            sql.execute("INSERT INTO proposals VALUES (?, ?, ?, 0)", (person, likely, found.why))
