"""A face that no detector found: embedded like the others, by the models of the project."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.photos.faces.alignment import PLACES, SIDE
from candidly.photos.geometry import Box, overlap
from candidly.photos.ingesting import Choices
from candidly.photos.ingesting.choices import default_parts
from candidly.photos.pictures import Picture
from candidly.photos.project import ProjectProblem
from candidly.photos.records import Face

AROUND = 1.0
"""Part of the box that is looked at on each side of it for landmarks."""
SAME = 0.2
"""Overlap from which a face that is found there is the one that was drawn."""
UNDETECTED = 0.1
"""Quality of a face whose landmarks nobody found."""


class FaceEmbedder:
    """The models of a project, loaded at the first box that is drawn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[str, Any, Any] | None = None

    def embedded(self, picture: Picture, box: Box, model: str, settings: dict[str, Any]) -> Face:
        """Return a face in a box, with landmarks where the detector finds them in it.

        Parameters
        ----------
        picture : Picture
        box : Box
            In the picture, of which a huge one has fewer pixels here.
        model : str
            The detector and embedder of the project's faces.
        settings : dict
            Of the run that used them, with the files of models.
        """
        with self._lock:  # models keep state
            detector, embedder = self._models(model, settings)
            pixels, here = picture.pixels, picture.reduced(box)
            face = _found(detector, pixels, here) or _assumed(here)
            (vector,) = embedder.embed(pixels, [face])
            landmarks = face.landmarks * np.array([box.w / here.w, box.h / here.h])
            return replace(
                face,
                box=box,
                landmarks=landmarks.astype(np.float32),
                embedding=np.asarray(vector, dtype=np.float32),
            )

    def _models(self, model: str, settings: dict[str, Any]) -> tuple[Any, Any]:
        if self._loaded is None or self._loaded[0] != model:
            chosen = {name: settings.get(name) for name in ("detector", "embedder")}
            parts = default_parts(Choices(**chosen))
            if parts.model() != model:
                raise ProjectProblem(
                    f"the faces of this project are of {model}, and those here would be of "
                    f"{parts.model()}; candidly ingest looks at all photos with the same models"
                )
            self._loaded = model, parts.detector(), parts.embedder()
        return self._loaded[1:]


def project_models(sql: sqlite3.Connection) -> tuple[str, dict[str, Any]]:
    """Return the detector and embedder of the last run, and its settings."""
    row = sql.execute(
        "SELECT settings FROM runs WHERE json_extract(settings, '$.model') IS NOT NULL"
        " ORDER BY id DESC LIMIT 1"
    ).fetchone()
    if row is None:
        raise ProjectProblem("no photo was looked at yet; candidly ingest PHOTOS does it")
    settings = json.loads(row[0])
    return str(settings["model"]), settings


def _found(detector: Any, pixels: NDArray[np.uint8], box: Box) -> Face | None:
    """Return the face that the detector finds around a box."""
    height, width = pixels.shape[:2]
    left, top = max(0, int(box.x - AROUND * box.w)), max(0, int(box.y - AROUND * box.h))
    right = min(width, int(box.x + (1 + AROUND) * box.w) + 1)
    bottom = min(height, int(box.y + (1 + AROUND) * box.h) + 1)
    part = np.ascontiguousarray(pixels[top:bottom, left:right])
    if not part.size:
        return None
    found = [
        replace(
            face,
            box=Box(face.box.x + left, face.box.y + top, face.box.w, face.box.h),
            landmarks=face.landmarks + np.array([left, top], dtype=np.float32),
        )
        for face in detector.detect(part)
    ]
    best = max(found, key=lambda face: overlap(face.box, box), default=None)
    return None if best is None or overlap(best.box, box) < SAME else best


def _assumed(box: Box) -> Face:
    """Return a face whose landmarks lie where they do in a face from the front."""
    scale = max(box.w, box.h) / SIDE
    middle = np.array([box.x + box.w / 2, box.y + box.h / 2])
    landmarks = ((PLACES - SIDE / 2) * scale + middle).astype(np.float32)
    return Face(box, 0.0, landmarks, UNDETECTED)
