"""The parts that come with Candidly, put together for ingest. Nothing else knows them by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

from candidly import __version__
from candidly.extras import require
from candidly.photos.parts import FoundFile, OpenPicture, Parts
from candidly.photos.records import Mention


@dataclass(frozen=True)
class Choices:
    """What a user may choose about names: how many to find, and three lists in files."""

    recall: str = "precise"
    aliases: Path | None = None
    allow: Path | None = None
    never: Path | None = None


def default_parts(choices: Choices) -> Parts:
    """The parts that come with Candidly; needs the extra ``photos``."""
    # Workers share the processors already; more threads in each get in each other's way.
    require("cv2", "photos").setNumThreads(1)
    faces = import_module("candidly.photos.faces")
    captions = import_module("candidly.photos.captions")
    return Parts(
        pictures=_Pictures(),
        captions=captions.CaptionReader,
        names=_Names(choices),
        detector=faces.YuNet,
        embedder=faces.SFace,
    )


class _Pictures:
    """Files and pictures by ``candidly.photos.pictures``."""

    def __init__(self) -> None:
        self._pictures: Any = import_module("candidly.photos.pictures")

    def find(
        self, root: Path, since: datetime | None, only: Path | None
    ) -> tuple[Sequence[FoundFile], list[str]]:
        skipped: list[Any] = []
        found = self._pictures.find(root, since=since, only=only, problems=skipped)
        return found, [f"{path}: {reason}" for path, reason in skipped]

    def identify(self, path: Path) -> str | None:
        return str(self._pictures.identify(path))

    def open(self, path: Path) -> OpenPicture:
        picture: OpenPicture = self._pictures.open_picture(path)
        return picture


class _Names:
    """Names by ``candidly.photos.names``."""

    def __init__(self, choices: Choices) -> None:
        self._names: Any = import_module("candidly.photos.names")
        self._recall = choices.recall
        # Another version may read other names; so may a list that was edited.
        lists = [choices.aliases, choices.allow, choices.never]
        texts = [b"" if path is None else path.read_bytes() for path in lists]
        mark = blake2b(b"\0".join(texts), digest_size=8).hexdigest()
        self.identity = f"candidly {__version__}, {choices.recall}, lists {mark}"

    def read(self, text: str, file: str) -> list[Mention]:
        # TODO(merge): nothing for files in folders of the never list
        found: list[Mention] = self._names.find_mentions(text, recall=self._recall)
        return found

    def people(
        self, spoken: Iterable[tuple[int, int, str, str]]
    ) -> Iterable[tuple[int, str | None]]:
        # TODO(merge): names/people.py resolves, with the aliases, allow and never lists
        for number, _, name, _ in spoken:
            yield number, name
