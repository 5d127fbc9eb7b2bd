"""The people named in a text: by rules and, where one is given, by a finder such as spaCy.

The rules need no model and read any language that writes names with capitals.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import NamedTuple, Protocol

from candidly.photos.names.cues import add_cues
from candidly.photos.names.labels import NAME, label, noun_like
from candidly.photos.names.lexicon import lexicon
from candidly.photos.names.name_candidates import NameCandidate
from candidly.photos.names.shown import add_shown
from candidly.photos.names.tokens import Token, find_masks, languages, tokenize
from candidly.photos.names.verdicts import TextAnalysis
from candidly.photos.records import Mention

_JOIN = re.compile(
    r"\s*(?:\([^()\n]{1,20}\)\s*)?(?:,|;|/|&|\+)?\s*"
    r"(?:and|und|y|e|et|u\.|or|&|\+|with|mit|con|avec|sowie|i|och|og|ve|oraz|met|med|n)?\s*",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:and|und|y|e|et|i|n|och|og|ve|oraz|&|\+)\s*")
_SURNAME_FIRST = re.compile(r",\s|\s\(")
_CLOSED = re.compile(
    r"\)?(?P<dates>\s?[(,]\s?(?:[*†]|geb\.?|born|b\.|n[ée]e?\.?|c(?:a|irca)?\.)?\s?\d)|\)?\s*(?:[,;.(\n]|$)"
)
_COMMA = re.compile(r"\s*,\s*")


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


def find_mentions(text: str, *, finder: Finder | None = None) -> list[Mention]:
    """Return the people named in a text, with what it says of their place and of absent people.

    Parameters
    ----------
    text : str
        A caption in any language that writes names with capitals.
    finder : Finder, optional
        A second opinion, such as :class:`~candidly.photos.names.Spacy`. It is asked
        about texts in its language, for full names that the rules miss.

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
    >>> [(m.name, m.shown) for m in find_mentions("Ann Lee smiles. Bob Ray did not attend.")]
    [('Ann Lee', 1.0), ('Bob Ray', 0.03)]
    """
    found = named_by_rules(text)
    if finder is not None and not _reads(finder, text):
        finder = None
    mentions = [Mention(item.name(), item.start, item.end) for item in found]
    if finder is not None:
        entities = finder.find(text)
        mentions = _merged(text, mentions, entities, generous=False)
    return add_shown(text, add_cues(text, mentions))


def mention_model_stamp() -> str:
    """Return what changes with the way in which names are found: texts are then read again."""
    return "rules"


def _reads(finder: Finder, text: str) -> bool:
    """Return whether a text is in a finder's language: German nouns look like names to others."""
    if finder.language in {"", "xx"}:
        return True
    tokens = tokenize(text, [])
    known = languages(tokens)
    spoken = Counter(known[token.sentence] for token in tokens)
    return not spoken or spoken.most_common(1)[0][0] == finder.language


def _merged(
    text: str, mentions: list[Mention], entities: list[Entity], *, generous: bool
) -> list[Mention]:
    """Return the mentions, with the finder's people where the rules have nobody."""
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
    extra = _cleaned(text, [(entity.start, entity.end) for entity in free], generous=generous)
    return sorted([*mentions, *extra], key=lambda mention: mention.start)


def named_by_rules(text: str, *, generous: bool = False) -> list[NameCandidate]:
    """Return the people named in a text, in order; ``generous`` takes what is less sure, too."""
    analysis = TextAnalysis(text, generous=generous)
    items = analysis.candidates
    _turn_round(analysis)
    _listed(analysis)
    _repeated(items)
    for item in items if generous else ():
        if item.verdict == "maybe" and not _everyday(item):
            item.verdict = "weak"
    found = [item for item in items if item.verdict in {"yes", "weak"}]
    _share_surnames(found, text)
    _complete(found)
    return found


def _turn_round(text: TextAnalysis) -> None:
    """Turn round a catalogue's names: "SMITH, John", "Müller, Otto (1844-1910)"."""
    by_first = {item.first: item for item in text.candidates}
    for item in text.candidates:
        # The MEDEF of "du MEDEF, Ernest Dupont" is not such a surname.
        heads = item.tokens[0].first or text.tokens[item.first - 1].kind == "mark"
        loud = heads and item.words[:1] == item.tokens and item.words[0].capitals
        opens = item.tokens[0].first and item.labels[0] in {"unknown", "given"}
        if len(item.tokens) != 1 or item.title or not item.words or not (loud or opens):
            continue
        given = by_first.get(item.last + 2) or by_first.get(item.last + 3)
        if given is None or (given.title and not loud):
            continue
        if given.labels[0] not in {"given", "initial"}:
            continue
        gap = text.text[item.end : _outer(text, given)]
        if any(token.capitals for token in given.words) or not _SURNAME_FIRST.fullmatch(gap):
            continue
        if not (set(given.labels) <= {"given", "initial", "particle"} or loud):
            continue
        closed = _CLOSED.match(text.text, given.end)
        if not closed or (not loud and not closed["dates"]):
            continue
        given.surname, given.verdict, item.verdict = surname(item), "yes", "no"
        given.kept_title = None


def _everyday(item: NameCandidate) -> bool:
    """Return whether a lone word is too common even to be generous, as German nouns are."""
    word = item.words[0]
    noun = word.first and noun_like(word.fold, item.language)
    return len(item.words) == 1 and (item.language == "de" or noun or len(word.text) < 3)


def _listed(text: TextAnalysis) -> None:
    """Accept a doubtful name that is listed beside a sure one: "Tony Blair and Zico"."""
    pending = [item for item in text.candidates if item.verdict != "no"]
    for order in (pending, pending[::-1]):
        for left, right in pairwise(order):
            low, high = sorted((left, right), key=lambda item: item.start)
            if left.verdict in {"yes", "weak"} and right.verdict == "maybe":
                gap = text.text[low.end : _outer(text, high)]
                if low.sentence == high.sentence and _JOIN.fullmatch(gap):
                    right.verdict = "weak"


def _outer(text: TextAnalysis, item: NameCandidate) -> int:
    """Return where a candidate starts with the titles before it."""
    at = item.first
    titles = lexicon().titles["leading"]
    while at > 0 and text.tokens[at].joined and text.tokens[at - 1].fold in titles:
        at -= 1
    return min(text.tokens[at].start, item.start)


def _repeated(items: list[NameCandidate]) -> None:
    """Accept a lone word that is part of a full name in the same text: Annan, Kofi Annan."""
    parts = {
        word.fold
        for item in items
        if item.verdict in {"yes", "weak"} and len(item.words) > 1
        for word in (item.words[0], item.words[-1])
    }
    for item in items:
        if item.verdict == "maybe" and len(item.words) == 1 and item.words[0].fold in parts:
            item.verdict = "weak"


def _share_surnames(found: list[NameCandidate], text: str) -> None:
    """Give "Bill" of "Bill and Hillary Clinton" the surname; "A, B and C D" too."""
    for at in range(len(found) - 1, 0, -1):
        last = found[at]
        if len(last.words) < 2 or last.title in {"royal", "plain"}:
            continue
        if not _AND.fullmatch(text[found[at - 1].end : last.start]):
            continue
        back = at - 1
        while back >= 0 and _lone_given(found[back]):
            comma = _COMMA.fullmatch(text[found[back].end : found[back + 1].start])
            if back < at - 1 and not comma:
                break
            found[back].surname = surname(last)
            back -= 1


def _lone_given(item: NameCandidate) -> bool:
    """Return whether a candidate is one given name, without a title and a surname yet."""
    alone = len(item.words) == 1 and item.labels[0] == "given" and not item.surname
    return alone and item.title in {"", "small"} and not item.tokens[-1].owned


def surname(item: NameCandidate) -> str:
    """Return what a name has after its given names and initials: "de Villepin", "Clinton"."""
    tokens, labels = item.tokens, item.labels
    # S. Robson Walton: the word after the initial is a given name.
    start = 2 if labels[0] == "initial" and labels[1:].count("unknown") > 1 else 1
    at = next(
        (i for i in range(start, len(tokens)) if labels[i] not in {"given", "initial", "nickname"}),
        len(tokens) - 1,
    )
    kept = [
        t
        for t, kind in zip(tokens[at:], labels[at:], strict=True)
        if kind not in {"suffix", "nickname"}
    ]
    rest = NameCandidate(kept or [tokens[-1]], ["unknown"] * max(1, len(kept)), 0, 0, item.language)
    return rest.name()


def _complete(found: list[NameCandidate]) -> None:
    """Give a lone surname or given name the only full name that the same text has for it."""
    fulls: dict[str, set[str]] = {}
    for item in found:
        if len(item.words) > 1 or item.surname or item.kept_title:
            last = item.words[0 if item.surname else -1]
            for key in {item.words[0].fold, last.fold}:
                fulls.setdefault(key, set()).add(item.name())
    for item in found:
        if len(item.words) == 1 and not item.surname and not item.kept_title:
            names = fulls.get(item.words[0].fold, set())
            if len(names) == 1 and item.title != "kin":
                item.full = next(iter(names))


def _cleaned(text: str, spans: list[tuple[int, int]], *, generous: bool) -> list[Mention]:
    """Return what a finder found, without titles and possessives, outside credits.

    Unless ``generous``, only names of two words and more: a lone word is what finders get wrong.
    """
    masks = find_masks(text)
    mentions, at = [], 0
    for start, end in sorted(spans):
        while at < len(masks) and masks[at][1] <= start:
            at += 1
        if at < len(masks) and masks[at][0] < end:
            continue
        tokens = tokenize(text[start:end], [])
        while tokens and _drops(tokens[0]):
            tokens = tokens[1:]
        while tokens and tokens[-1].kind in {"mark", "num", "low"}:
            tokens = tokens[:-1]
        words = [token for token in tokens if token.kind in {"cap", "inner"}]
        if not words or len(words) > 6 or any(token.kind in {"mark", "num"} for token in tokens):
            continue
        labels = label(tokens, "en")
        if "body" in labels or not NAME.intersection(labels):
            continue
        if all(lexicon().is_small(token.fold, token.text) for token in words):
            continue
        if len(words) < (1 if generous else 2):
            continue
        item = NameCandidate(tokens, ["unknown"] * len(tokens), 0, 0, "en")
        mentions.append(Mention(item.name(), start + tokens[0].start, start + tokens[-1].end))
    return mentions


def _drops(token: Token) -> bool:
    """Return whether a token before a name is no part of it: a title, a nation, a small word."""
    titles, nations = lexicon().titles["any"], lexicon().words["nation"]
    return token.kind in {"mark", "low"} or token.fold in titles or token.fold in nations
