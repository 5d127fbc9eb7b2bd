"""What a user may choose of the parts that come with Candidly."""

from __future__ import annotations

from dataclasses import dataclass

from candidly.photos.names.lists import Lists, Text, read_lists


@dataclass(frozen=True)
class Choices:
    """Of names how many to find, a spaCy pipeline and three lists; other model files.

    ``detector`` and ``embedder`` are FILE or FILE#sha256=DIGITS.
    """

    recall: str = "precise"
    spacy: str | None = None
    aliases: Text | None = None
    allow: Text | None = None
    never: Text | None = None
    detector: str | None = None
    embedder: str | None = None

    def settings(self) -> dict[str, str | None]:
        """All of it as text, to be kept with a run."""
        said = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value.source if isinstance(value, Text) else value for name, value in said.items()
        }

    def texts(self) -> dict[str, Text | None]:
        """The lists by their kind."""
        return {"aliases": self.aliases, "allow": self.allow, "never": self.never}

    def lists(self) -> Lists:
        """What the lists say."""
        return read_lists(**self.texts())
