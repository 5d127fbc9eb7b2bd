"""People named in a text, by rules: no model, any language with capitals."""

from __future__ import annotations

import re
from itertools import pairwise

from candidly.photos.names.labels import NAME, label, noun_like
from candidly.photos.names.lexicon import lexicon
from candidly.photos.names.masks import find_masks
from candidly.photos.names.runs import Item
from candidly.photos.names.tokens import Token, tokenize
from candidly.photos.names.verdicts import Text
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


def read(text: str, *, generous: bool = False) -> list[Item]:
    """Return the people named in a text, in order; ``generous`` takes what is less sure, too."""
    read_text = Text(text, generous=generous)
    items = read_text.items
    _turn_round(read_text)
    _listed(read_text)
    _repeated(items)
    if generous:
        for item in items:
            if item.verdict == "maybe" and not _everyday(item):
                item.verdict = "weak"
    found = [item for item in items if item.verdict in {"yes", "weak"}]
    _share_surnames(found, text)
    _complete(found)
    return found


def _turn_round(text: Text) -> None:
    """Read a catalogue's surnames first: "SMITH, John", "Müller, Otto (1844-1910)"."""
    by_first = {item.first: item for item in text.items}
    for item in text.items:
        # The MEDEF of "du MEDEF, Ernest Dupont" heads nothing.
        heads = item.tokens[0].first or text.tokens[item.first - 1].kind == "mark"
        loud = heads and item.words[:1] == item.tokens and item.words[0].capitals
        if len(item.tokens) != 1 or item.title or not item.words or not (loud or _heads(item)):
            continue
        given = by_first.get(item.last + 2) or by_first.get(item.last + 3)
        if (
            given is None
            or (given.title and not loud)
            or given.labels[0] not in {"given", "initial"}
        ):
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


def _heads(item: Item) -> bool:
    """Whether a word that may be a surname opens a sentence."""
    return item.tokens[0].first and item.labels[0] in {"unknown", "given"}


def _everyday(item: Item) -> bool:
    """Whether a lone word opens a sentence, or is a German noun: too common even to be generous."""
    word = item.words[0]
    if len(item.words) > 1:
        return False
    return (
        item.language == "de"
        or (word.first and noun_like(word.fold, item.language))
        or len(word.text) < 3
    )


def _listed(text: Text) -> None:
    """Take a doubtful name where it is listed beside a sure one: "Tony Blair and Zico"."""
    pending = [item for item in text.items if item.verdict != "no"]
    for order in (pending, pending[::-1]):
        for left, right in pairwise(order):
            low, high = sorted((left, right), key=lambda item: item.start)
            if left.verdict in {"yes", "weak"} and right.verdict == "maybe":
                gap = text.text[low.end : _outer(text, high)]
                if low.sentence == high.sentence and _JOIN.fullmatch(gap):
                    right.verdict = "weak"


def _outer(text: Text, item: Item) -> int:
    """Where an item starts with the titles before it."""
    at = item.first
    titles = lexicon().titles["leading"]
    while at > 0 and text.tokens[at].joined and text.tokens[at - 1].fold in titles:
        at -= 1
    return min(text.tokens[at].start, item.start)


def _repeated(items: list[Item]) -> None:
    """Take a lone word that is part of a full name in the same text: Annan, Kofi Annan."""
    parts = {
        word.fold
        for item in items
        if item.verdict in {"yes", "weak"} and len(item.words) > 1
        for word in (item.words[0], item.words[-1])
    }
    for item in items:
        if item.verdict == "maybe" and len(item.words) == 1 and item.words[0].fold in parts:
            item.verdict = "weak"


def _share_surnames(found: list[Item], text: str) -> None:
    """Give "Bill" of "Bill and Hillary Clinton" the surname; "A, B and C D" too."""
    for at in range(len(found) - 1, 0, -1):
        last = found[at]
        if len(last.words) < 2 or last.title in {"royal", "plain"}:
            continue
        if not _AND.fullmatch(text[found[at - 1].end : last.start]):
            continue
        back = at - 1
        while back >= 0 and _lone_given(found[back]):
            if back < at - 1 and not _COMMA.fullmatch(
                text[found[back].end : found[back + 1].start]
            ):
                break
            found[back].surname = surname(last)
            back -= 1


def _lone_given(item: Item) -> bool:
    """Whether an item is one given name, without a title and without a surname yet."""
    alone = len(item.words) == 1 and item.labels[0] == "given" and not item.surname
    return alone and item.title in {"", "small"} and not item.tokens[-1].owned


def surname(item: Item) -> str:
    """What a name has after its given names and initials: "de Villepin", "Clinton"."""
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
    rest = Item(kept or [tokens[-1]], ["unknown"] * max(1, len(kept)), 0, 0, item.language)
    return rest.name()


def _complete(found: list[Item]) -> None:
    """Give a lone surname or given name the full name that the same text has, where it is one."""
    fulls: dict[str, set[str]] = {}
    for item in found:
        if len(item.words) > 1 or item.surname or item.kept_title:
            name = item.name()
            keys = {item.words[0].fold, item.words[-1].fold}
            if item.surname:
                keys = {item.words[0].fold}
            for key in keys:
                fulls.setdefault(key, set()).add(name)
    for item in found:
        if len(item.words) == 1 and not item.surname and not item.kept_title:
            names = fulls.get(item.words[0].fold, set())
            if len(names) == 1 and item.title != "kin":
                item.full = next(iter(names))


def clean(text: str, spans: list[tuple[int, int]], *, generous: bool) -> list[Mention]:
    """Return what somebody else found, without titles and possessives, outside credits.

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
        while tokens and (tokens[0].kind == "mark" or _drops(tokens[0])):
            tokens = tokens[1:]
        while tokens and (tokens[-1].kind in {"mark", "num"} or tokens[-1].kind == "low"):
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
        item = Item(tokens, ["unknown"] * len(tokens), 0, 0, "en")
        mentions.append(Mention(item.name(), start + tokens[0].start, start + tokens[-1].end))
    return mentions


def _drops(token: Token) -> bool:
    lists = lexicon()
    return (
        token.fold in lists.titles["any"]
        or token.fold in lists.words["nation"]
        or token.kind == "low"
    )
