"""What ingest is put together from; `defaults` has the parts that come with Candidly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from candidly.photos.faces.protocols import Detector, Embedder, Pixels
from candidly.photos.records import Caption, Mention, Settled, Spoken


class FoundFile(Protocol):
    """A picture file: where it is, how large, and when it was last changed."""

    @property
    def path(self) -> Path:
        """The whole path."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def mtime_ns(self) -> int:
        """Nanoseconds, as the file system tells."""


class OpenPicture(Protocol):
    """A picture, upright; ``identity`` is of its image data alone."""

    @property
    def pixels(self) -> Pixels:
        """Height x width x 3, RGB."""

    @property
    def identity(self) -> str:
        """The same for the same image data, whatever is written about it."""

    @property
    def width(self) -> int:
        """Of the upright picture."""

    @property
    def height(self) -> int:
        """Of the upright picture."""

    @property
    def orientation(self) -> int:
        """EXIF's, from 1 to 8, which was undone."""


class Pictures(Protocol):
    """Finds and opens pictures; may be called from several threads."""

    def find(
        self, root: Path, since: datetime | None, only: Path | None
    ) -> tuple[Sequence[FoundFile], list[str]]:
        """Picture files below a folder, newest first, and what could not be looked at."""

    def identify(self, path: Path) -> tuple[str, int] | None:
        """Identity and orientation without opening the picture; None where that is no faster."""

    def open(self, path: Path) -> OpenPicture:
        """A picture; any exception says what is wrong with the file."""


class Captions(Protocol):
    """Reads what is written about the photos of a root."""

    @property
    def problems(self) -> Sequence[object]:
        """What could not be read, each with ``str()``; grows while reading."""

    def read(self, path: Path) -> Caption:
        """What is written about a photo; an empty text where nothing is."""


class Names(Protocol):
    """Reads names in texts, and says who they are in a collection."""

    @property
    def identity(self) -> str:
        """Changes whenever its answers could."""

    def read(self, text: str, file: str) -> list[Mention]:
        """Who is named in the text about a file (its path in the root, with /)."""

    def people(self, captions: Sequence[Spoken]) -> Settled:
        """Who the people of a collection are, now that all its captions are known."""


@dataclass(frozen=True)
class Parts:
    """What ingest is put together from.

    ``detector`` and ``embedder`` are called once a worker thread: OpenCV's models keep state.
    """

    pictures: Pictures
    captions: Callable[[Path], Captions]
    names: Names
    detector: Callable[[], Detector]
    embedder: Callable[[], Embedder]
