"""The people named in a text, by rules and, where one is given, by a finder such as spaCy."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from candidly.photos.names import rules
from candidly.photos.names.cues import add_cues
from candidly.photos.names.tokens import languages, tokenize
from candidly.photos.records import Mention

RECALLS = ("precise", "high")


class Entity(NamedTuple):
    """Something that a finder found: its span, and whether it is a person."""

    start: int
    end: int
    person: bool


class Finder(Protocol):
    """Finds people and other named things in a text, as ``candidly.photos.names.Spacy`` does."""

    language: str
    """The language it reads, as "en"; "" or "xx" for any."""

    def find(self, text: str) -> list[Entity]:
        """Return what is named in a text, in order."""
        ...


def find_mentions(
    text: str, *, recall: str = "precise", finder: Finder | None = None
) -> list[Mention]:
    """Find the people named in a text, where they stand, and what it says of their place.

    Parameters
    ----------
    text : str
        A caption in any language that writes names with capitals.
    recall : {"precise", "high"}
        "high" takes what is less sure, too: a name that was missed cannot be recovered, a false
        one usually matches no face.
    finder : Finder, optional
        A second opinion, such as :class:`~candidly.photos.names.Spacy`. With "precise" it is
        asked about texts in its language, for full names that the rules miss. With
        "high" its people are all taken, in any language.

    Returns
    -------
    list of Mention
        In the order of the text; spans never overlap.

    Examples
    --------
    >>> for mention in find_mentions("Mr. Blair (L) with Bill and Hillary Clinton. Photo: Al Bee"):
    ...     print(mention.name, mention.start, mention.end, mention.cue)
    Blair 4 9 Cue(side='left', place=1, of=None)
    Bill Clinton 19 23 None
    Hillary Clinton 28 43 None
    """
    if recall not in RECALLS:
        raise ValueError(f"recall is {recall!r}; it is one of {', '.join(RECALLS)}")
    generous = recall == "high"
    found = rules.read(text, generous=generous)
    if finder is not None and not generous and not _reads(finder, text):
        finder = None
    mentions = [Mention(item.name(), item.start, item.end) for item in found]
    if finder is not None:
        entities = finder.find(text)
        mentions = _merged(text, mentions, entities, generous=generous)
    return add_cues(text, mentions)


def _reads(finder: Finder, text: str) -> bool:
    """Whether a text is in a finder's language; an English one finds people in German nouns."""
    if finder.language in {"", "xx"}:
        return True
    tokens = tokenize(text, [])
    known = languages(tokens)
    spoken = Counter(known[token.sentence] for token in tokens)
    return not spoken or spoken.most_common(1)[0][0] == finder.language


def _merged(
    text: str, mentions: list[Mention], entities: list[Entity], *, generous: bool
) -> list[Mention]:
    """Add the finder's people where the rules have nobody, cleaned as the rules would."""
    taken = sorted((mention.start, mention.end) for mention in mentions)
    free = []
    at = 0
    for entity in sorted(entity for entity in entities if entity.person):
        while at < len(taken) and taken[at][1] <= entity.start:
            at += 1
        if at == len(taken) or taken[at][0] >= entity.end:
            free.append(entity)
    if not free:
        return mentions
    extra = rules.clean(text, [(entity.start, entity.end) for entity in free], generous=generous)
    return sorted([*mentions, *extra], key=lambda mention: mention.start)
