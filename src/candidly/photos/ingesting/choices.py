"""A user's choices, stored in the project, and the parts of ingest that follow from them.

No other module refers to the parts that come with Candidly by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path

from candidly import __version__
from candidly.extras import require
from candidly.photos import pictures
from candidly.photos.captions import CaptionReader
from candidly.photos.faces import OnnxEmbedder, SFace, YuNet
from candidly.photos.names import (
    Lists,
    Spacy,
    Text,
    find_mentions,
    mention_model_stamp,
    read_lists,
    resolve,
)
from candidly.photos.names.shown import rules_stamp
from candidly.photos.parts import Detector, Embedder, FoundFile, IngestParts, OpenPicture
from candidly.photos.project import Project
from candidly.photos.project.forgotten import ForgottenNames
from candidly.photos.project.known_names import apply_lists, list_texts
from candidly.photos.project.schema import clean_text
from candidly.photos.records import CaptionRecord, Mention, PeopleByCaption

ANY = "any"  # the first spaCy pipeline that is installed


@dataclass(frozen=True)
class Choices:
    """A user's choices: a second reader of names, lists of names, other models and their faces.

    Parameters
    ----------
    spacy : str, optional
        A spaCy pipeline that is asked for names too; "any" for the first that is installed.
    aliases, allow, never : Text, optional
        Lists of names; ``Text.of(path)`` reads a file. A list stays with the project until
        another is given.
    detector, embedder : str, optional
        Model files, as FILE or FILE#sha256=DIGITS.
    population : path, optional
        How faces of this detector and embedder vary: a file that ``learn_population`` wrote. It
        stays with the project until another is given.

    Examples
    --------
    >>> Choices(never=Text("Ann Lee", "never.txt")).lists().permits("Ann Lee")
    False
    """

    spacy: str | None = None
    aliases: Text | None = None
    allow: Text | None = None
    never: Text | None = None
    detector: str | None = None
    embedder: str | None = None
    population: str | Path | None = None

    def settings(self) -> dict[str, str | None]:
        """Return all choices as text, to be stored with a run."""
        chosen = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value.source if isinstance(value, Text) else value and str(value)
            for name, value in chosen.items()
        }

    def texts(self) -> dict[str, Text | None]:
        """Return the lists by their kind, as text."""
        return {"aliases": self.aliases, "allow": self.allow, "never": self.never}

    def lists(self) -> Lists:
        """Return the lists, read."""
        return read_lists(**self.texts())


# In the project


def store_choices(project: Project, choices: Choices) -> Choices:
    """Store the lists that are given; return the choices with stored lists for the others.

    An empty list replaces one given before. People who were forgotten are left out of a list, and
    their other names in it are forgotten with them.
    """
    with project.transaction() as sql:
        before, forgotten = list_texts(sql), ForgottenNames.read(sql)
        given = dict(choices.texts())
        for kind, text in given.items():
            if text is not None and forgotten:
                kept, others = forgotten.without_people(kind, clean_text(text.text))
                ForgottenNames.of(sql, others, ()).keep(sql)
                given[kind] = text._replace(text=kept)
        choices = replace(
            choices, aliases=given["aliases"], allow=given["allow"], never=given["never"]
        )
        rows = [
            (kind, clean_text(text.text))
            for kind, text in choices.texts().items()
            if text is not None
        ]
        sql.executemany("INSERT OR REPLACE INTO lists VALUES (?, ?)", rows)
        apply_lists(sql)
    return replace(
        choices,
        aliases=choices.aliases or before.get("aliases"),
        allow=choices.allow or before.get("allow"),
        never=choices.never or before.get("never"),
    )


# The parts


def default_parts(choices: Choices) -> IngestParts:
    """Return the parts that come with Candidly; needs the extra ``photos``."""
    # Workers share the processors already; more threads in each would slow them down.
    require("cv2", "photos").setNumThreads(1)
    return IngestParts(
        pictures=_PictureFiles(),
        captions=CaptionReader,
        names=_CaptionNames(choices),
        detector=partial(_detector, choices.detector),
        embedder=partial(_embedder, choices.embedder),
    )


def _detector(file: str | None) -> Detector:
    model, sha256 = _model_file(file)
    return YuNet(model, sha256=sha256)


def _embedder(file: str | None) -> Embedder:
    """Return SFace, also from another file of that name; else a model of another kind."""
    model, sha256 = _model_file(file)
    if model is None or "sface" in Path(model).name.lower():
        return SFace(model, sha256=sha256)
    return OnnxEmbedder(model, sha256=sha256)


def _model_file(text: str | None) -> tuple[str | None, str | None]:
    """Return a model file, and its checksum where one was given."""
    model, _, sha256 = (text or "").partition("#sha256=")
    return model or None, sha256 or None


class _PictureFiles:
    """Part of ingest that finds and opens pictures, by ``candidly.photos.pictures``."""

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


class _CaptionNames:
    """Part of ingest that reads names, by ``candidly.photos.names``."""

    def __init__(self, choices: Choices) -> None:
        self._finder = _finder(choices)
        self._lists = choices.lists()
        # Another version, or an edited list, may read other names.
        texts = [text.text if text else "" for text in choices.texts().values()]
        mark = blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()
        rules = f"{mention_model_stamp()} {rules_stamp()}"
        by = rules if self._finder is None else f"{rules} and {self._finder.identity}"
        self.identity = f"candidly {__version__}, {by}, lists {mark}"

    def read(self, text: str, file: str) -> list[Mention]:
        if not self._lists.permits_folder(file):
            return []
        return find_mentions(text, finder=self._finder)

    def people(self, captions: Sequence[CaptionRecord]) -> PeopleByCaption:
        allowed = [
            one if self._lists.permits_folder(one.file) else CaptionRecord(one.id, "", "")
            for one in captions
        ]
        texts = [(one.text, one.mentions) for one in allowed]
        # A full name identifies a surname in a text.
        given = dict.fromkeys(name for one in allowed for name in one.given)
        texts += [(name, (Mention(name, 0, len(name)),)) for name in given]
        found = resolve(texts, lists=self._lists)
        # Given names are used as they are, except where the user's lists say otherwise.
        canonical = {
            name: self._lists.canonical(name) for name in given if self._lists.permits(name)
        }
        return PeopleByCaption(
            found.mentions[: len(captions)],
            [
                {name: canonical.get(name) if own.given else None for name in one.given}
                for one, own in zip(captions, allowed, strict=True)
            ],
            found.proposals,
        )


def _finder(choices: Choices) -> Spacy | None:
    """Return the requested pipeline, if any."""
    if choices.spacy is None:
        return None
    return Spacy(None if choices.spacy == ANY else choices.spacy)
