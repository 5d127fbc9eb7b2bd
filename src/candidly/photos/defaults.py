"""The parts that come with Candidly, put together for ingest. Nothing else knows them by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path

from candidly import __version__
from candidly.extras import installed, require
from candidly.photos import pictures
from candidly.photos.captions import CaptionReader
from candidly.photos.choices import Choices
from candidly.photos.faces import OnnxEmbedder, SFace, YuNet
from candidly.photos.faces.protocols import Detector, Embedder
from candidly.photos.names import Spacy, find_mentions, resolve
from candidly.photos.parts import FoundFile, OpenPicture, Parts
from candidly.photos.records import Mention, Settled, Spoken

ANY = "any"  # the first spaCy pipeline that is installed


def default_parts(choices: Choices) -> Parts:
    """The parts that come with Candidly; needs the extra ``photos``."""
    # Workers share the processors already; more threads in each get in each other's way.
    require("cv2", "photos").setNumThreads(1)
    return Parts(
        pictures=_Pictures(),
        captions=CaptionReader,
        names=_Names(choices),
        detector=partial(_detector, choices.detector),
        embedder=partial(_embedder, choices.embedder),
    )


def _detector(said: str | None) -> Detector:
    model, sha256 = _file(said)
    return YuNet(model, sha256=sha256)


def _embedder(said: str | None) -> Embedder:
    """SFace, also from another file that is called so; else a model of another kind."""
    model, sha256 = _file(said)
    if model is None or "sface" in Path(model).name.lower():
        return SFace(model, sha256=sha256)
    return OnnxEmbedder(model, sha256=sha256)


def _file(said: str | None) -> tuple[str | None, str | None]:
    """A model file, and its checksum where one was said."""
    model, _, sha256 = (said or "").partition("#sha256=")
    return model or None, sha256 or None


class _Pictures:
    """Files and pictures by ``candidly.photos.pictures``."""

    def find(
        self, root: Path, since: datetime | None, only: Path | None
    ) -> tuple[Sequence[FoundFile], list[str]]:
        skipped: list[pictures.SkippedFile] = []
        found = pictures.find(root, since=since, only=only, problems=skipped)
        return found, [f"{path}: {reason}" for path, reason in skipped]

    def identify(self, path: Path) -> tuple[str, int] | None:
        return pictures.identify(path), pictures.orientation(path)

    def open(self, path: Path) -> OpenPicture:
        return pictures.open_picture(path)


class _Names:
    """Names by ``candidly.photos.names``."""

    def __init__(self, choices: Choices) -> None:
        self._recall = choices.recall
        self._finder = _finder(choices)
        self._lists = choices.lists()
        # Another version may read other names; so may a list that was edited.
        texts = [text.text if text else "" for text in choices.texts().values()]
        mark = blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()
        by = "rules" if self._finder is None else f"rules and {self._finder.identity}"
        self.identity = f"candidly {__version__}, {choices.recall}, {by}, lists {mark}"

    def read(self, text: str, file: str) -> list[Mention]:
        if not self._lists.permits_folder(file):
            return []
        return find_mentions(text, recall=self._recall, finder=self._finder)

    def people(self, captions: Sequence[Spoken]) -> Settled:
        allowed = [
            spoken if self._lists.permits_folder(spoken.file) else Spoken(spoken.caption, "", "")
            for spoken in captions
        ]
        texts = [(spoken.text, spoken.mentions) for spoken in allowed]
        # A name given in full tells who a surname in a text is.
        given = dict.fromkeys(name for spoken in allowed for name in spoken.given)
        texts += [(name, (Mention(name, 0, len(name)),)) for name in given]
        found = resolve(texts, lists=self._lists)
        # Names given are taken as they are, but for what the user's lists say.
        canonical = {
            name: self._lists.canonical(name) for name in given if self._lists.permits(name)
        }
        return Settled(
            found.mentions[: len(captions)],
            [
                {name: canonical.get(name) if own.given else None for name in spoken.given}
                for spoken, own in zip(captions, allowed, strict=True)
            ],
            found.proposals,
        )


def _finder(choices: Choices) -> Spacy | None:
    """The pipeline that was asked for; for a high recall one that happens to be there."""
    if choices.spacy is not None:
        return Spacy(None if choices.spacy == ANY else choices.spacy)
    if choices.recall == "high" and installed("names") and Spacy.installed():
        return Spacy()
    return None
