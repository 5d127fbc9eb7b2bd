"""What a user may choose of the parts that come with Candidly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Choices:
    """Of names how many to find, a spaCy pipeline and three lists; other model files.

    ``detector`` and ``embedder`` are FILE or FILE#sha256=DIGITS.
    """

    recall: str = "precise"
    spacy: str | None = None
    aliases: Path | None = None
    allow: Path | None = None
    never: Path | None = None
    detector: str | None = None
    embedder: str | None = None

    def settings(self) -> dict[str, str | None]:
        """All of it as text, to be kept with a run."""
        return {name: None if value is None else str(value) for name, value in vars(self).items()}
