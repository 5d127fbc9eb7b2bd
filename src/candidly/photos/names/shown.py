"""Whether a text says that somebody it names may not be in the picture: "X did not attend".

The phrases of each kind, in four languages, are in ``data/shown.txt``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from candidly.photos.names.lexicon import blocks, fold, lexicon, word_set
from candidly.photos.names.tokens import SHORT
from candidly.photos.records import NAMED, Mention


class Kind(NamedTuple):
    """What a kind of phrase says: how likely a person is shown, against a plain mention.

    ``alone`` holds where the text names nobody else plainly: a photo with "Ann Lee did not attend"
    alone is often one of hers from the files. ``place`` says that a place in the picture ("Ann
    Lee, left") outweighs the phrase.
    """

    shown: float
    alone: float
    place: bool = True


KINDS = {
    "unpictured": Kind(0.02, 0.02),  # not pictured: X
    "absent": Kind(0.03, 0.5),  # X did not attend
    "coming": Kind(0.15, 0.5),  # before a meeting with X
    "past": Kind(0.4, 0.5),  # after a meeting with X
    "figure": Kind(0.1, 0.1, place=False),  # a statue of X
    "portrait": Kind(0.5, 0.5, place=False),  # holds a portrait of X: a face all the same
    "memory": Kind(0.15, 0.15),  # the grave of X
    "kin": Kind(0.25, 0.25, place=False),  # the wife of X
    "crowd": Kind(0.25, 0.25, place=False),  # fans of X, X's lawyer
    "topic": Kind(0.3, 0.5),  # after X said
}
_PLAIN = 0.5  # from here on somebody counts as mentioned plainly
_FIRST, _REST, _LAST_S = "\ue000", "\ue001", "\ue002"  # the letters of a name; its last, an s
_BETWEEN = r"(?:\s+|(?<=')|(?!\w))"
_REACH = 120  # characters between words that say so and the name
_SPECIAL = {
    "...": rf"(?:[^\s.;:,!?{_FIRST}{_REST}{_LAST_S}]{{1,40}}\s+){{0,6}}",
    "$": r"(?=\s*(?:[.,;:!?)\]\n]|\Z))",
    ":": r":\s*",
    ":?": r"(?::\s*)?",
}
# Words that follow a name at once: "Ann Lee's", German "Lees", and "Ann Lee fans".
_TIED = {
    "X's": rf"(?:'s|(?<={_LAST_S})')(?!\w)\s+",
    "Xs": rf"(?:(?<={_LAST_S})|s|')(?!\w)\s+",
    "X~": r"\s+",
}
# What may stand between names and what is said of them: ", who", "(Labour),", ", the mayor,".
_LINK = (
    r"(?:\s*\([^()\n]{1,40}\))?"
    r"(?P<mark>\s*[,–—-]\s*(?!whose|dessen|deren|dont|cuy[oa])"
    rf"[^,.;:()\n–—{_FIRST}]{{1,60}}[,–—]\s*"
    r"|\s*[,(]\s*|\s*[,(]?\s*(?:who|qui|quien|que)\s+|\s*,\s*(?:der|die)\s+)?"
    r"\s*(?P<all>(?:both|all|beide|alle|tous deux|toutes deux|ambos|ambas)\s+)?"
    r"(?:(?:also|however|again|reportedly|unfortunately|sadly|leider|auch|aber|jedoch"
    r"|malheureusement|aussi|tampoco|tambien|lamentablemente)\s+)?"
)
_JOINT = re.compile(
    r"(?:\s*\([^()\n]{1,40}\))?\s*(?P<comma>,)?\s*(?:(?P<and>and|und|et|y|e|or|nor|sowie|&)\s+)?"
)
_TITLES = re.compile(r"\s*(?:[^\s,;:()\[\]\"“”«»]{1,40}\s+){0,8}")
_BEFORE_NAME = word_set(
    "the a an his her their its our my ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner"
    " ein eine einen einem einer son sa ses leur leurs un une du su sus una del"
)
# "Father of the bride Bob Ray", "Frau des Jahres Ann Lee": the name is not whose father it is.
_SELF = word_set(
    "bride groom year week match jahres tages abends spiels monats annee ano mariee novia"
)
_CLAUSE = re.compile(
    r".*(?:[.;:!?\n,()–—]|\b(?:as|while|but|weil|aber|mais|pero|mientras)\b)", re.S
)
_SENTENCE = re.compile(r"(?:\A|[.;:!?\n])\s*\Z")


class _Letters(dict[int, str]):
    """Table of letters without case and diacritics, where that is one letter."""

    def __missing__(self, letter: int) -> str:
        plain = fold(chr(letter))
        self[letter] = plain if len(plain) == 1 else chr(letter).lower()
        return self[letter]


_LETTERS = _Letters({ord(mark): " " for mark in (_FIRST, _REST, _LAST_S)})


@dataclass(frozen=True)
class _Rule:
    """Phrases of a kind: words ``before`` a name, ``after`` it, or both; ``many`` for lists."""

    kind: str
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    many: bool


def add_shown(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the mentions with how likely each is shown, and the words that say so.

    Examples
    --------
    >>> two = [Mention("Ann Lee", 0, 7), Mention("Bob Ray", 34, 41)]
    >>> found = add_shown("Ann Lee poses without her husband Bob Ray.", two)
    >>> [(m.shown, m.absence) for m in found]
    [(1.0, ''), (0.03, 'without her husband')]
    """
    plain = [replace(mention, shown=1.0, absence="") for mention in mentions]
    if not plain:
        return plain
    named = [at for at, mention in enumerate(plain) if mention.probability >= NAMED]
    found = _kinds(text, plain, named)
    if len(named) < len(plain):
        # A doubtful mention may be a word that says so: "Fans of Ann Lee".
        doubtful = _kinds(text, plain, range(len(plain)))
        found |= {at: kind for at, kind in doubtful.items() if plain[at].probability < NAMED}
    others = {
        mention.name
        for at, mention in enumerate(plain)
        if mention.probability >= NAMED and (at not in found or KINDS[found[at][0]].shown >= _PLAIN)
    }
    for at, (kind, words) in found.items():
        shown = KINDS[kind].shown if others - {plain[at].name} else KINDS[kind].alone
        plain[at] = replace(plain[at], shown=shown, absence=words)
    return plain


def _kinds(
    text: str, mentions: Sequence[Mention], some: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """Return the kind that makes some mentions least likely shown, with its words, by number."""
    caption = _Caption(text, [mentions[at] for at in some])
    found: dict[int, tuple[str, str]] = {}
    for rule in _rules():
        for number, words in caption.matches(rule):
            at = some[number]
            placed = KINDS[rule.kind].place and mentions[at].cue is not None
            less = at not in found or KINDS[rule.kind].shown < KINDS[found[at][0]].shown
            if less and not placed:
                found[at] = rule.kind, words
    return found


class _Caption:
    """A text in which names are marks, so that phrases are found around any of them."""

    def __init__(self, text: str, mentions: Sequence[Mention]) -> None:
        self.text = text
        self.spans = [(mention.start, mention.end) for mention in mentions]
        self.starts = [start for start, _ in self.spans]
        letters = list(text.translate(_LETTERS))
        for start, end in self.spans:
            last_s = end - start > 1 and letters[end - 1] == "s"
            letters[start:end] = [_FIRST, *[_REST] * (end - start - 1)]
            if last_s:
                letters[end - 1] = _LAST_S
        self.flat = "".join(letters)

    def matches(self, rule: _Rule) -> Iterator[tuple[int, str]]:
        """Yield the mentions of which a rule's phrases are said, and the words."""
        if rule.before is not None:
            yield from self._after_words(rule, rule.before)
            return
        for at, (start, end) in enumerate(self.spans):
            if rule.after is not None and (hit := rule.after.match(self.flat, end)):
                owned = hit.start("said") == end
                words = self.text[start if owned else hit.start("said") : hit.end()].strip()
                link = hit.groupdict()
                many = rule.many and (link["all"] or not link["mark"])
                members = self._ending(at, sure=bool(link["all"])) if many else [at]
                yield from ((member, words) for member in members)

    def _after_words(self, rule: _Rule, before: re.Pattern[str]) -> Iterator[tuple[int, str]]:
        """Yield the mentions right after a rule's words, and the words."""
        for hit in before.finditer(self.flat):
            at = bisect_left(self.starts, hit.end())
            if at == len(self.spans) or not self._titles(hit.end(), self.starts[at]):
                continue
            end = self.starts[at]
            if rule.after is not None:
                tail = rule.after.match(self.flat, self.spans[at][1])
                if tail is None:
                    continue
                end = tail.end()
            elif self.flat.startswith("'", self.spans[at][1]):
                continue  # "without Ann Lee's help"
            words = self.text[hit.start() : end].strip()
            members = self._beginning(at, hit) if rule.many else [at]
            yield from ((member, words) for member in members)

    def _titles(self, start: int, end: int) -> bool:
        """Return whether only titles and the like stand between two places."""
        if end - start > _REACH:
            return False
        gap = self.text[start:end]
        return _TITLES.fullmatch(gap) is not None and all(map(_before_name, gap.split()))

    def _joint(self, at: int) -> re.Match[str] | None:
        """Return the comma or "and" that joins a mention to the next, if only that does."""
        end, start = self.spans[at][1], self.starts[at + 1]
        joint = _JOINT.match(self.flat, end, start)
        if not joint or not (joint["comma"] or joint["and"]):
            return None
        return joint if self._titles(joint.end(), start) else None

    def _beginning(self, at: int, hit: re.Match[str]) -> list[int]:
        """Return the mentions of a list from its first: "with A, B and C"; after a colon, all."""
        colon = hit.group().rstrip().endswith(":")
        opens = _SENTENCE.search(self.text[max(0, hit.start() - 5) : hit.start()]) is not None
        members: list[int] = [at]
        pending: list[int] = []
        while at + 1 < len(self.spans) and (joint := self._joint(at)):
            at += 1
            if colon:
                members.append(at)
            elif joint["and"]:
                # "before talks with A, and B smiles", but "with A, B, and C"
                return members if joint["comma"] and not pending else [*members, *pending, at]
            elif opens:
                break  # "Before talks with A, B smiles"
            else:
                pending.append(at)
        return members

    def _ending(self, at: int, *, sure: bool) -> list[int]:
        """Return the mentions of a list up to its last: "A, B and C did not attend".

        Unless it is ``sure`` that all are meant ("both"), the list has to begin a clause.
        """
        first = at
        while first > 0 and (joint := self._joint(first - 1)):
            if not joint["and"] and first == at:
                break  # "A, B did not attend"
            first -= 1
        start = self.starts[first]
        head = self.text[max(0, start - _REACH) : start]
        clause = _CLAUSE.match(head)
        opens = self._titles(start - len(head) + (clause.end() if clause else 0), start)
        return list(range(first, at + 1)) if opens or sure else [at]


def _before_name(word: str) -> bool:
    """Return whether a word before a name belongs to it: a title, an article, a nation."""
    plain = fold(word).removesuffix(".")
    if plain in _SELF or (word.endswith(".") and plain not in SHORT and len(plain) > 1):
        return False
    lists = lexicon()
    if plain.rsplit("-", 1)[-1] in lists.titles["leading"] or plain in _BEFORE_NAME:
        return True
    if plain in lists.words["article"]:
        return True
    return word[0].isupper() and not lists.is_small(plain, word)


# The phrases of the data file as patterns


def rules_stamp() -> str:
    """Return a stamp that changes with the phrases, those of places too, and what they say."""
    text = repr((list(blocks("shown.txt")), list(blocks("cues.txt")), KINDS))
    return blake2b(text.encode(), digest_size=4).hexdigest()


@cache
def _rules() -> tuple[_Rule, ...]:
    """Return the rules; phrases of the same kind and form are one."""
    words: dict[str, list[str]] = {}
    for head, entries in blocks("shown.txt"):
        if head:
            words.setdefault(head, []).extend(entry.strip() for entry in entries.split(","))
    forms: dict[tuple[str, ...], list[str]] = {}
    for kind in KINDS:
        for phrase in words[kind]:
            before, name, after = _parts(phrase, words)
            # Words on both sides belong together, so they are a rule of their own.
            form = (kind, name, before) if before and after else (kind, name, "", str(bool(before)))
            forms.setdefault(form, []).append(after or before)
    rules = []
    for (kind, name, before, *leads), patterns in forms.items():
        said = f"(?P<said>{'|'.join(patterns)})"
        if leads == ["True"]:
            before, said = said, ""
        link = r"\s+" if before else _LINK
        after = ("" if name in _TIED else link) + said + r"(?!\s*:)"
        rules.append(
            _Rule(
                kind,
                re.compile(rf"(?<![\w-])(?:{before})") if before else None,
                re.compile(after) if said else None,
                name == "X+",
            )
        )
    return tuple(rules)


def _parts(phrase: str, words: dict[str, list[str]]) -> tuple[str, str, str]:
    """Return the pattern before the name of a phrase, how the name stands, the pattern after."""
    tokens = phrase.split()
    at = next(at for at, token in enumerate(tokens) if token in {"X", "X+", *_TIED})
    name = tokens[at]
    before, after = _sequence(tokens[:at], words), _sequence(tokens[at + 1 :], words)
    return before, name, _TIED.get(name, "") + after


def _sequence(tokens: Sequence[str], words: dict[str, list[str]]) -> str:
    return "".join(_token(token, words) for token in tokens)


def _token(token: str, words: dict[str, list[str]]) -> str:
    """Return the pattern of a choice of words, with what may stand between it and the next."""
    if token == "!":
        return rf"(?!\s*{_any(words['UNLESS'], words)})"
    if token in _SPECIAL:
        return _SPECIAL[token]
    pattern = _any(token.removesuffix("?").split("/"), words)
    return f"{pattern}?" if token.endswith("?") else pattern


def _any(entries: Sequence[str], words: dict[str, list[str]]) -> str:
    """Return the pattern of any of some entries, the longest first."""
    found = []
    for entry in sorted(entries, key=len, reverse=True):
        if entry.isupper():
            found.append(_any(words[entry], words))
        elif " " in entry:
            found.append(_sequence(entry.split(), words))
        else:
            found.append(re.escape(entry.translate(_LETTERS)) + _BETWEEN)
    return f"(?:{'|'.join(found)})"
