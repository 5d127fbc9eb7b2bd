"""A photo as the page shows it: its faces with their candidates, and what is written."""

from __future__ import annotations

import os
import sqlite3

from pydantic import BaseModel

from candidly.photos.certainty import Certainty, certainty
from candidly.photos.explaining.face_choice import faces_from_left
from candidly.photos.project import Project
from candidly.photos.project.decision_log import numbers_about_face
from candidly.photos.project.face_names import (
    decision_on,
    exported_names,
    in_barred_photo,
    metadata_names,
    name_and_confidence,
)
from candidly.photos.project.queries import (
    PhotoMention,
    candidates,
    caption_pieces,
    photo_mentions,
)
from candidly.photos.review.lookalikes import Lookalikes
from candidly.photos.review.questions import is_poor
from candidly.photos.solving import candidate_scores

MOST = 9
"""Candidates of a face: one per key."""


class CandidateView(BaseModel):
    """A name that a face may have: how likely, or how alike a face of somebody not mentioned is.

    ``taken`` is the place of another face of the photo that has the name already.
    """

    name: str
    probability: float | None = None
    cosine: float | None = None
    taken: int | None = None


class FaceView(BaseModel):
    """A face of a photo.

    ``place`` counts from the left; the box is in parts of the picture's size. ``decided`` is what
    a person said last ("" for nothing), ``refused`` who it is not. ``seen`` is the number of the
    last decision about it, which a new decision has to name.
    """

    face: int
    place: int
    x: float
    y: float
    w: float
    h: float
    name: str | None
    confidence: float | None
    certainty: Certainty
    decided: str
    refused: list[str]
    poor: bool
    drawn: bool
    nobody: float | None
    candidates: list[CandidateView]
    seen: int


class Piece(BaseModel):
    """A piece of a text; one that names somebody has the name, and how likely it is one."""

    text: str
    name: str | None = None
    probability: float | None = None


class PhotoView(BaseModel):
    """A photo: where it is, its size, its faces, and what is written about it."""

    photo: int
    file: str
    folder: str
    width: int
    height: int
    gone: bool
    faces: list[FaceView]
    caption: list[Piece]
    listed: list[str]


def photo_view(project: Project, photo: int, alike: Lookalikes) -> PhotoView | None:
    """Return a photo, or None where there is none."""
    with project.snapshot() as sql:
        row = sql.execute(
            "SELECT width, height, path, gone FROM photos JOIN files ON files.photo = photos.id"
            " WHERE photos.id = ? ORDER BY gone, files.id LIMIT 1",
            (photo,),
        ).fetchone()
        if row is None:
            return None
        width, height, path, gone = row
        order = faces_from_left(sql, photo)
        near = alike.people(sql, order)
        written = candidates(sql, photo)
        faces = [
            _face(sql, face, place, (width, height), near.get(face, []), written)
            for place, face in enumerate(order, 1)
        ]
        _mark_taken(faces)
        file, mentions = shown(os.fsdecode(path)), photo_mentions(sql, photo)
        return PhotoView(
            photo=photo,
            file=file,
            folder=file.rpartition("/")[0],
            width=width,
            height=height,
            gone=bool(gone),
            faces=faces,
            caption=[_piece(*one) for one in caption_pieces(sql, photo)],
            listed=list(dict.fromkeys(one.name for one in mentions if one.start is None)),
        )


def shown(text: str) -> str:
    """Return a text that can be sent: bytes of file names that are not UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def _face(
    sql: sqlite3.Connection,
    face: int,
    place: int,
    size: tuple[int, int],
    near: list[tuple[str, float]],
    written: tuple[str, ...],
) -> FaceView:
    x, y, w, h, quality, drawn = sql.execute(
        "SELECT x, y, w, h, quality, EXISTS (SELECT 1 FROM drawn WHERE face = id) FROM faces"
        " WHERE id = ?",
        (face,),
    ).fetchone()
    name, confidence = name_and_confidence(sql, face)
    decision = decision_on(sql, face)
    decided = "nobody" if decision.nobody else "ignore" if decision.ignored else ""
    decided = "is" if decision.name is not None else decided
    scores = [one for one in candidate_scores(sql, face) if one.name not in decision.refused]
    ranked = {
        one.name: CandidateView(name=one.name, probability=one.probability)
        for one in scores
        if one.name is not None
    }
    for other, cosine in near:
        if other not in decision.refused and other not in ranked:
            ranked[other] = CandidateView(name=other, cosine=cosine)
    for other in written:
        if other not in decision.refused and other not in ranked:
            ranked[other] = CandidateView(name=other)
    if in_barred_photo(sql, face):
        ranked = {}
    nobody = next((one.probability for one in scores if one.name is None), None)
    return FaceView(
        face=face,
        place=place,
        x=x / size[0],
        y=y / size[1],
        w=w / size[0],
        h=h / size[1],
        name=name,
        confidence=confidence,
        certainty=certainty(name, confidence, decided=decision.nobody),
        decided=decided,
        refused=sorted(decision.refused),
        poor=is_poor(quality) and not drawn,
        drawn=bool(drawn),
        nobody=nobody,
        candidates=list(ranked.values())[:MOST],
        seen=last_about(sql, face),
    )


def last_about(sql: sqlite3.Connection, face: int) -> int:
    """Return the number of the last decision about a face, or of an undo of one; 0 for none."""
    return max(numbers_about_face(sql, face), default=0)


def bound_name(sql: sqlite3.Connection, face: int) -> str | None:
    """Return the name that a face has by a decision, by what was given out, or by metadata."""
    decision = decision_on(sql, face)
    if decision.name is not None or decision.nobody or decision.ignored:
        return decision.name
    known = (*exported_names(sql, face), *metadata_names(sql, face))
    return next((name for name in known if name not in decision.refused), None)


def _mark_taken(faces: list[FaceView]) -> None:
    for face in faces:
        for one in face.candidates:
            one.taken = next(
                (
                    other.place
                    for other in faces
                    if other is not face and other.name == one.name and other.confidence == 1
                ),
                None,
            )


def _piece(text: str, mention: PhotoMention | None) -> Piece:
    if mention is None:
        return Piece(text=text)
    return Piece(text=text, name=mention.name, probability=mention.probability)
