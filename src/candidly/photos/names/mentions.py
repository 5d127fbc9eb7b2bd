"""The people named in a text, each with the probability that the words name a person."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from candidly.photos.names.cues import add_cues
from candidly.photos.names.lexicon import PARTICLES, lexicon
from candidly.photos.names.reading import Reading, Span
from candidly.photos.names.shown import add_shown
from candidly.photos.names.span_model import SpanModel, shipped_model
from candidly.photos.names.token_tagger import COLUMNS
from candidly.photos.names.tokens import Token
from candidly.photos.records import LEAST, MOST_READ, NAMED, Mention

_AND = re.compile(r"\s*(?:and|und|y|e|et|i|n|och|og|ve|oraz|&|\+)\s*")
_COMMA = re.compile(r"\s*,\s*")
_GIVEN = COLUMNS.index("given")
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")  # soft hyphens and the like


class Entity(NamedTuple):
    """Something named that a finder found: its span, and whether it is a person."""

    start: int
    end: int
    person: bool


class Finder(Protocol):
    """Protocol of a finder of people and other named things in a text, such as ``Spacy``."""

    language: str
    """The language it reads, as "en"; "" or "xx" for any."""

    def find(self, text: str) -> list[Entity]:
        """Return the entities named in a text, in order."""
        ...


@dataclass
class _Name:
    """A name found: its tokens, its probability, and how it is written out."""

    span: Span
    share: float
    tokens: list[Token]
    text: str
    title: str = ""

    @property
    def words(self) -> list[str]:
        return self.text.split()


def find_mentions(
    text: str, *, finder: Finder | None = None, model: SpanModel | None = None
) -> list[Mention]:
    """Return the people that a text may name, with its words on their place and on absent people.

    Parameters
    ----------
    text : str
        A caption in any language that writes names with capitals; the first ``MOST_READ``
        characters are read.
    finder : Finder, optional
        A second opinion, such as :class:`~candidly.photos.names.Spacy`, on texts in its language.
    model : SpanModel, optional
        The model that says how likely words are a name; by default the one of the package.

    Returns
    -------
    list of Mention
        Those with a probability of at least ``LEAST``, in the order of the text; spans never
        overlap.

    Examples
    --------
    >>> for mention in find_mentions("Mr. Blair (L) with Bill and Hillary Clinton. Photo: Al Bee"):
    ...     if mention.probability >= 0.5:
    ...         print(mention.name, mention.start, mention.end, mention.cue)
    Blair 4 9 Cue(side='left', place=1, of=None, row=None)
    Bill Clinton 19 23 None
    Hillary Clinton 28 43 None
    >>> [(m.name, m.shown) for m in find_mentions("Ann Lee smiles. Bob Ray did not attend.")]
    [('Ann Lee', 1.0), ('Bob Ray', 0.03)]
    """
    text = beginning(text)
    cleaned, places = _without_unseen(text)
    reading = Reading(cleaned)
    model = model or shipped_model()
    said = None if finder is None else second_opinion(finder, reading)
    shares = model.shares(reading, said)
    found = _without_titles([_name(reading, span, share) for span, share in _apart(shares)])
    _share_surnames(reading, found)
    _complete(found)
    mentions = [
        Mention(
            name.text,
            places(name.tokens[0].start),
            places(name.tokens[-1].end - 1) + 1,
            probability=round(name.share, 4),
        )
        for name in found
    ]
    return place_mentions(text, mentions)


def beginning(text: str) -> str:
    """Return what is read of a text: whole words among the first ``MOST_READ`` characters."""
    if len(text) <= MOST_READ:
        return text
    words = text[: MOST_READ + 1]
    space = max(words.rfind(" "), words.rfind("\n"))
    return text[: space if space > 0 else MOST_READ]


def place_mentions(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions with what a text says of their place, and of absent people."""
    plain = [replace(mention, cue=None) for mention in mentions]
    # A word that is no name would shift the places of a list.
    sure = [mention for mention in plain if mention.probability >= NAMED]
    placed = {mention.start: mention for mention in add_cues(text, sure)}
    return add_shown(text, [placed.get(mention.start, mention) for mention in plain])


def mention_model_stamp() -> str:
    """Return a text that changes with the model: another one may find other people."""
    return shipped_model().stamp


def _without_unseen(text: str) -> tuple[str, _Places]:
    """Return the text without letters that nobody sees, and where its letters were."""
    gaps = [match.start() for match in _UNSEEN.finditer(text)]
    return (_UNSEEN.sub("", text) if gaps else text), _Places(gaps)


class _Places:
    """Places in a text before letters were removed from it."""

    def __init__(self, gaps: Sequence[int]) -> None:
        # A letter at ``place`` has moved by as many gaps as lie before it.
        self._starts = [gap - at for at, gap in enumerate(gaps)]

    def __call__(self, place: int) -> int:
        return place + bisect_right(self._starts, place)


def _apart(shares: dict[Span, float]) -> list[tuple[Span, float]]:
    """Return names that do not overlap, the likeliest first chosen, in the order of the text."""
    taken: set[int] = set()
    found = []
    for span, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        words = range(span[0], span[1] + 1)
        if share < LEAST:
            break
        if taken.isdisjoint(words):
            taken.update(words)
            found.append((span, share))
    return sorted(found)


def _name(reading: Reading, span: Span, share: float) -> _Name:
    """Return a name as it is written out: no nickname, no capitals only, surname last."""
    tokens = reading.tokens[span[0] : span[1] + 1]
    comma = reading.turned.get(span)
    if comma is not None:
        cut = comma - span[0] + 1
        ordered = [*tokens[cut + 1 :], *tokens[:cut]]
    else:
        ordered = _without_nickname(tokens)
    words = [_spelled(token) for token in ordered if token.kind != "mark"]
    name = _Name(span, share, tokens, "")
    name.title = _title(reading, span)
    if name.title == "royal" and comma is None and _reigns(reading, span):
        words.insert(0, _spelled(reading.tokens[span[0] - 1]))
        name.tokens = reading.tokens[span[0] - 1 : span[1] + 1]
    name.text = _written(words)
    return name


def _without_titles(found: list[_Name]) -> list[_Name]:
    """Return the names without those that the next one has as its title: "Queen" of Queen Rania."""
    starts = [name.tokens[0].start for name in found[1:]]
    kept = [
        name for name, start in zip(found, starts, strict=False) if name.tokens[-1].end <= start
    ]
    return kept + found[-1:]


def _written(words: Sequence[str]) -> str:
    """Return words with blanks between, but none after d' and the like."""
    text = " ".join(words)
    return re.sub(r"(?<=\b[dl]['’]) ", "", text).rstrip(".")


def _without_nickname(tokens: list[Token]) -> list[Token]:
    """Return the tokens outside quotes and brackets."""
    marks = [at for at, token in enumerate(tokens) if token.kind == "mark" and token.text != ","]
    if len(marks) < 2:
        return tokens
    return tokens[: marks[0]] + tokens[marks[-1] + 1 :]


def _title(reading: Reading, span: Span) -> str:
    """Return the kind of title right before a name: "royal", "kin", "plain", "other" or ""."""
    at = span[0] - 1
    if at < 0 or not reading.tokens[span[0]].joined or reading.tokens[span[0]].first:
        return ""
    titles = lexicon().titles
    kinds = (kind for kind in ("royal", "kin", "plain") if reading.tokens[at].fold in titles[kind])
    return next(kinds, "other" if reading.tokens[at].fold in titles["any"] else "")


def _reigns(reading: Reading, span: Span) -> bool:
    """Return whether a title is part of a name: Queen Rania has no other."""
    if reading.tokens[span[0] - 1].kind != "cap":
        return False
    kinds = [reading.kinds[at] for at in range(span[0], span[1] + 1)]
    alone = len(kinds) == 1 or all("g" in kind or kind == "x" for kind in kinds)
    peer = reading.tokens[span[0] - 1].fold in {"lord", "lady", "baroness"} and len(kinds) > 1
    return alone and len(kinds) <= 3 and not peer


def _spelled(token: Token) -> str:
    """Return a word without capitals only: O'Neill, al-Assad, McCartney, van."""
    word = token.text
    if token.kind == "low":
        return word if token.fold in PARTICLES else word[:1].upper() + word[1:]
    short = len(word) == 3 and not re.search("[AEIOUYÄÖÜÉÈÁÍÓÚ]", word)
    if not token.capitals or "." in word or short or re.fullmatch("[IVX]+", word):
        return word
    if token.fold in PARTICLES:
        return word.lower()
    parts = re.split(r"([-'’])", word)
    done = [part[:1].upper() + part[1:].lower() for part in parts]
    if parts[0].casefold() in {"al", "el"} and len(parts) > 1:
        done[0] = done[0].lower()
    return re.sub(r"^(Mc)([a-z])", lambda m: m[1] + m[2].upper(), "".join(done))


def _share_surnames(reading: Reading, found: list[_Name]) -> None:
    """Give "Bill" of "Bill and Hillary Clinton" the surname; "A, B and C D" too."""

    def between(left: _Name, right: _Name) -> str:
        return reading.text[left.tokens[-1].end : right.tokens[0].start]

    for at in range(len(found) - 1, 0, -1):
        last = found[at]
        if len(last.words) < 2 or last.title in {"royal", "plain"} or last.span in reading.turned:
            continue
        if not _AND.fullmatch(between(found[at - 1], last)):
            continue
        back = at - 1
        while back >= 0 and _lone_given(reading, found[back]):
            if back < at - 1 and not _COMMA.fullmatch(between(found[back], found[back + 1])):
                break
            found[back].text += " " + _surname(last.words)
            back -= 1


def _lone_given(reading: Reading, name: _Name) -> bool:
    """Return whether a name is one given name, without a title."""
    if name.span[0] != name.span[1] or name.title not in {"", "other"} or name.tokens[-1].owned:
        return False
    at = name.span[0]
    given = "g" in reading.kinds[at] or reading.tags[at, _GIVEN] > 0
    return given and len(name.words) == 1


def _surname(words: Sequence[str]) -> str:
    """Return what a name has after its given names and initials.

    Examples
    --------
    >>> _surname("Dominique de Villepin".split()), _surname("Hillary R. Clinton Jr".split())
    ('de Villepin', 'Clinton')
    """
    rest = [word for word in words if word not in {"Jr", "Sr", "II", "III", "IV"}]
    at = len(rest) - 1
    while at > 1 and rest[at - 1].casefold() in PARTICLES:
        at -= 1
    return " ".join(rest[at:])


def _complete(found: list[_Name]) -> None:
    """Give a lone surname or given name the only full name that the same text has for it."""
    fulls: dict[str, set[str]] = {}
    for name in found:
        if len(name.words) > 1 and name.share >= NAMED:
            for word in (name.words[0], name.words[-1]):
                fulls.setdefault(word.casefold(), set()).add(name.text)
    for name in found:
        if len(name.words) == 1 and name.title != "kin":
            known = fulls.get(name.text.casefold(), set())
            if len(known) == 1:
                (name.text,) = known


def second_opinion(finder: Finder, reading: Reading) -> dict[Span, str]:
    """Return what a finder says of each possible name, as a feature."""
    if finder.language not in {"", "xx"}:
        spoken = [reading.languages[token.sentence] for token in reading.tokens]
        if not spoken or max(set(spoken), key=spoken.count) != finder.language:
            return {}
    owner: dict[int, Entity] = {}
    entities, at = finder.find(reading.text), 0
    for number, token in enumerate(reading.tokens):
        while at < len(entities) and entities[at].end <= token.start:
            at += 1
        if at < len(entities) and entities[at].start < token.end:
            owner[number] = entities[at]
    return {span: f"finder says {_said(span, owner)}" for span in reading.spans}


def _said(span: Span, owner: Mapping[int, Entity]) -> str:
    """Return what a finder says of a possible name, by the entity that has each token."""
    first, last = owner.get(span[0]), owner.get(span[1])
    if first is None and last is None:
        return "nothing"
    if first is None or last is None or not (first.person and last.person):
        return "other"
    # It may have a title before the name.
    whole = first is last and owner.get(span[1] + 1) is not last
    return "person" if whole else "part of a person"
