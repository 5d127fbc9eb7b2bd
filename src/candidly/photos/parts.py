"""Protocols of the parts of ingest; ``ingesting.choices`` has the parts that are supplied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from candidly.photos.records import Caption, CaptionRecord, Face, Mention, PeopleByCaption

Pixels = NDArray[np.uint8]


class FoundFile(Protocol):
    """A picture file: its path, its size, and when it was last changed."""

    @property
    def path(self) -> Path:
        """Full path."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    @property
    def mtime_ns(self) -> int:
        """Time of the last change in nanoseconds."""


class OpenPicture(Protocol):
    """A picture, upright; ``identity`` depends on its image data alone."""

    @property
    def pixels(self) -> Pixels:
        """Height x width x 3, RGB."""

    @property
    def identity(self) -> str:
        """Equal for equal image data, whatever the metadata."""

    @property
    def width(self) -> int:
        """Width of the upright picture."""

    @property
    def height(self) -> int:
        """Height of the upright picture."""

    @property
    def orientation(self) -> int:
        """EXIF's orientation, from 1 to 8, which was undone."""


class Pictures(Protocol):
    """Finder and reader of pictures; may be called from several threads."""

    def find(
        self, root: Path, since: datetime | None, only: Path | None
    ) -> tuple[Sequence[FoundFile], list[str]]:
        """Return picture files below a folder, newest first, and what could not be read."""

    def identify(self, path: Path) -> tuple[str, int] | None:
        """Return identity and orientation without decoding; None where that is no faster."""

    def open(self, path: Path) -> OpenPicture:
        """Open a picture and return it; any exception says what is wrong with the file."""


class Captions(Protocol):
    """Reader of the captions of the photos of a root."""

    @property
    def problems(self) -> Sequence[object]:
        """Problems found so far, each with ``str()``; grows while reading."""

    def read(self, path: Path) -> Caption:
        """Return the caption of a photo; an empty text where there is none."""


class Names(Protocol):
    """Reader of names in texts, which also resolves who they are in a collection."""

    @property
    def identity(self) -> str:
        """Changes whenever its answers could."""

    def read(self, text: str, file: str) -> list[Mention]:
        """Return the people named in the text about a file (its path in the root, with /)."""

    def people(self, captions: Sequence[CaptionRecord]) -> PeopleByCaption:
        """Return who the people of a collection are, now that all its captions are known."""


class Detector(Protocol):
    """Face detector. ``identity`` changes whenever its answers could."""

    @property
    def identity(self) -> str:
        """Model and settings, in one line."""

    def detect(self, pixels: Pixels) -> list[Face]:
        """Return the faces of an upright RGB or grey picture, from left to right."""


class Embedder(Protocol):
    """Face embedder. Vectors of two embedders are never compared."""

    @property
    def identity(self) -> str:
        """Model and settings, in one line."""

    def embed(self, pixels: Pixels, faces: Sequence[Face]) -> NDArray[np.float32]:
        """Return one row of norm 1 per face; no faces give no rows."""


@dataclass(frozen=True)
class IngestParts:
    """The parts of ingest.

    ``detector`` and ``embedder`` are called once per worker thread: OpenCV's models keep state.
    """

    pictures: Pictures
    captions: Callable[[Path], Captions]
    names: Names
    detector: Callable[[], Detector]
    embedder: Callable[[], Embedder]

    def model(self) -> str:
        """Return detector and embedder in one line, as faces are stored with them."""
        return f"{self.detector().identity}; {self.embedder().identity}"
