"""Small collections named end to end: folders with some photos, each picture looked at once."""

from __future__ import annotations

import csv
import pickle
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.photos.collection_draws import times_shown
from benchmarks.photos.sure_names import JudgedFace
from candidly.demo.album import compare
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, default_parts, ingest_folder
from candidly.photos.parts import Detector, Embedder, IngestParts, Pixels
from candidly.photos.project import Project
from candidly.photos.project.queries import faces
from candidly.photos.records import Face
from candidly.photos.solving import solve

Record = dict[str, Any]
Answers = dict[tuple[str, Box], tuple[str | None, float]]


@dataclass
class SeenPictures:
    """Faces and embeddings of pictures seen before, by the content of the picture.

    Parameters
    ----------
    file : path, optional
        Where they are kept from one run to the next; read it only if you wrote it.
    """

    file: Path | None = None
    found: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.file is not None and self.file.is_file():
            self.found = pickle.loads(self.file.read_bytes())

    def keep(self) -> None:
        """Write what was seen to the file, if there is one."""
        if self.file is not None:
            self.file.write_bytes(pickle.dumps(self.found))

    @cached_property
    def parts(self) -> IngestParts:
        """The parts of ingest that are supplied, with a memory."""
        parts = default_parts(Choices())
        return replace(
            parts,
            detector=lambda: RememberingDetector(parts.detector(), self.found),
            embedder=lambda: RememberingEmbedder(parts.embedder(), self.found),
        )


class RememberingDetector:
    """A detector that looks at each picture once."""

    def __init__(self, detector: Detector, found: dict[str, Any]) -> None:
        self._detector, self._found, self.identity = detector, found, detector.identity

    def detect(self, pixels: Pixels) -> list[Face]:
        """Return the faces of a picture."""
        key = _key(self.identity, pixels)
        if key not in self._found:
            self._found[key] = self._detector.detect(pixels)
        return list(self._found[key])


class RememberingEmbedder:
    """An embedder that looks at the faces of each picture once."""

    def __init__(self, embedder: Embedder, found: dict[str, Any]) -> None:
        self._embedder, self._found, self.identity = embedder, found, embedder.identity

    def embed(self, pixels: Pixels, faces: Sequence[Face]) -> NDArray[np.float32]:
        """Return one row per face."""
        key = _key(f"{self.identity} {[face.box for face in faces]}", pixels)
        if key not in self._found:
            self._found[key] = self._embedder.embed(pixels, faces)
        return np.array(self._found[key])


def _key(what: str, pixels: Pixels) -> str:
    mark = blake2b(f"{what} {pixels.shape} ".encode(), digest_size=16)
    mark.update(np.ascontiguousarray(pixels).data)
    return mark.hexdigest()


@dataclass(frozen=True)
class SmallAlbum:
    """A folder into which some photos of a collection are put, and its project.

    Parameters
    ----------
    source : path
        The folder that has all photos.
    captions : dict of str to str
        Captions of all photos by file; a record's own ``caption`` comes first.
    place : path
        An empty folder.
    seen : SeenPictures
    """

    source: Path
    captions: dict[str, str]
    place: Path
    seen: SeenPictures

    def name(self, records: Sequence[Record], *, full: bool = False) -> None:
        """Put photos there with their captions, beside those there already, and name faces."""
        photos = self.place / "album"
        photos.mkdir(parents=True, exist_ok=True)
        table = photos / "captions.csv"
        before = read_captions(table) if table.is_file() else {}
        for record in records:
            shutil.copyfile(self.source / record["file"], photos / record["file"])
            before[record["file"]] = record.get("caption") or self.captions[record["file"]]
        with table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("file", "caption"), *before.items()])
        with Project.open(self._project, write=True) as project:
            ingest_folder(project, photos, self.seen.parts)
            solve(project, full=full)

    def judge(self, records: Sequence[Record]) -> list[JudgedFace]:
        """Return every face of the photos compared with the truth about them."""
        with Project.open(self._project) as project:
            compared = compare(project, list(records))
        facts = [
            (face["name"] is not None, times)
            for face, times in zip(
                (face for record in records for face in record["faces"]),
                times_shown(records),
                strict=True,
            )
        ]
        true = iter(facts)  # faces of the truth come in its order
        return [
            JudgedFace(
                one.right,
                one.named,
                one.confidence,
                one.true,
                *(next(true) if one.true else (False, 0)),
            )
            for one in compared
        ]

    def answers(self) -> Answers:
        """Return name and confidence of every face, by file and box."""
        with Project.open(self._project) as project:
            return {
                (Path(face.file).name, face.box): (face.name, face.confidence or 0)
                for face in faces(project)
            }

    @property
    def _project(self) -> Path:
        return self.place / "album.candidly"


def read_captions(file: Path) -> dict[str, str]:
    """Return the captions of a table by file."""
    with file.open(newline="", encoding="utf-8") as rows:
        return {row["file"]: row["caption"] for row in csv.DictReader(rows)}


def count_same(daily: Answers, full: Answers) -> dict[str, int]:
    """Return how many faces have the same name day by day as solved together.

    ``denied`` are those that are nobody by 99% day by day, and surely somebody together.
    """
    both = [(daily.get(face, (None, 0.0)), answer) for face, answer in full.items()]
    return {
        "faces": len(both),
        "same": sum(one[0] == other[0] for one, other in both),
        "denied": sum(
            one[0] is None and one[1] >= 0.99 and other[0] is not None and other[1] >= 0.95
            for one, other in both
        ),
    }
