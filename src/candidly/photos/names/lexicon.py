"""Candidly's word lists: given names of many languages, and words that only look like names.

A word is looked up folded: without case and diacritics.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

# The list of everyday small words per language.
SMALL_WORDS = {"en": "common", "de": "german", "es": "spanish", "fr": "french"}
PARTICLES = frozenset(
    "van von der den de del della dello degli delle di da dal do dos das du des la le lo"
    " los las el al bin ibn ben bint binti abu ould ter ten te zu zur zum vom af av y i d'"
    " l' dell' 't op e".split()
)
"""Small words within names."""
_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "’": "'", "‘": "'"}
)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Return the text without case and diacritics, as names are compared.

    Examples
    --------
    >>> fold("José Núñez-Ørsted")
    'jose nunez-orsted'
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c)).translate(_LETTERS)


def word_set(words: str) -> frozenset[str]:
    """Return words with blanks between as a set."""
    return frozenset(words.split())


def blocks(name: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, entries) of a list; a block "kind: a, b" goes on with indented lines."""
    text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for block in re.sub(r"\n +", " ", lines).splitlines():
        head, colon, rest = block.partition(": ")
        yield (head, rest) if colon and head.isalpha() else ("", block)


def _read(name: str) -> dict[str, frozenset[str]]:
    """Return the entries of a list by kind."""
    kinds: dict[str, set[str]] = {}
    for kind, entries in blocks(name):
        folded = {fold(entry.strip()).removesuffix(".") for entry in entries.split(",")}
        kinds.setdefault(kind, set()).update(folded - {""})
    return {kind: frozenset(entries) for kind, entries in kinds.items()}


def _words(name: str) -> frozenset[str]:
    """Return the words of a list with blanks between."""
    return word_set(" ".join(fold(block) for _, block in blocks(name)))


def _spelled(*names: str) -> frozenset[str]:
    """Return the entries with diacritics as they are written."""
    entries = (entry for name in names for _, block in blocks(name) for entry in block.split(","))
    spelled = (entry.strip().casefold().removesuffix(".") for entry in entries)
    return frozenset(entry for entry in spelled if not entry.isascii())


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The word lists, ready to look up."""

    given: frozenset[str]
    doubtful: frozenset[str]
    titles: dict[str, frozenset[str]]
    places: frozenset[str]
    bodies: frozenset[str]
    words: dict[str, frozenset[str]]
    spelled: frozenset[str]
    kinds: dict[str, tuple[tuple[str, frozenset[str]], ...]]

    def is_given(self, word: str) -> bool:
        """Return whether a folded word, or the first part of a hyphened one, is a given name."""
        if word in self.given:
            return True
        parts = word.split("-")
        return len(parts) > 1 and parts[0] in self.given

    @lru_cache(maxsize=65536)  # noqa: B019 - there is one lexicon
    def kinds_of(self, word: str, language: str) -> str:
        """Return the lists that a folded word is on in a language, one letter each.

        Examples
        --------
        >>> lexicon().kinds_of("sydney", "en"), lexicon().kinds_of("xyz", "en")
        ('gp', '')
        >>> lexicon().kinds_of("rue", "fr"), lexicon().kinds_of("rue", "en")
        ('b', '')
        """
        found = "g" if self.is_given(word) else ""
        return found + "".join(letter for letter, words in self.kinds[language] if word in words)

    def is_nobody(self, word: str) -> bool:
        """Return whether a folded word is a place, an organisation, a day, a nation or the like."""
        return word in self.places or word in self.bodies or word in self.words["nobody"]

    def is_title(self, word: str, text: str) -> bool:
        """Return whether a folded word is a title as it is written: "maire" is, "Máire" is not."""
        spelled = text.isascii() or text.casefold().removesuffix(".") in self.spelled
        return word in self.titles["any"] and spelled

    def is_small(self, word: str, text: str) -> bool:
        """Return whether a folded word is an everyday one as written: "low" is, "Löw" is not."""
        if word not in self.words["function"]:
            return False
        return text.isascii() or text.casefold() in self.spelled


def _without_others(lists: dict[str, frozenset[str]], language: str) -> frozenset[str]:
    """Return the entries of a list in a language, without the blocks of the other languages."""
    own = SMALL_WORDS[language]
    others = {"any", "leading", "before", *SMALL_WORDS.values()} - {own}
    return frozenset().union(*(lists[kind] for kind in lists if kind not in others))


@cache
def lexicon() -> Lexicon:
    """Return the word lists, read once, on first use."""
    titles, words, bodies = _read("titles.txt"), _read("words.txt"), _read("bodies.txt")
    places = _read("places.txt")[""]
    building = frozenset().union(*bodies.values())
    given = _words("given.txt")
    words["nation"] |= {word + "s" for word in words["nation"] if word.endswith(("n", "i", "k"))}
    nobody = ("calendar", "nation", "event", "team", "agency", "common")
    words["nobody"] = frozenset().union(*(words[kind] for kind in nobody))
    words["function"] = words["common"] | words["german"] | words["spanish"] | words["french"]
    titles["any"] = frozenset().union(*(titles[kind] for kind in titles if kind != "before"))
    titles["leading"] = titles["any"] | titles["before"]
    return Lexicon(
        given=given,
        doubtful=_words("doubtful.txt") | (given & places),
        titles=titles,
        places=frozenset(entry for entry in places if " " not in entry),
        bodies=frozenset(entry for entry in building if " " not in entry),
        words=words,
        spelled=_spelled("words.txt", "titles.txt"),
        kinds={
            language: (
                ("t", _without_others(titles, language)),
                ("p", places),
                ("b", _without_others(bodies, language)),
                ("c", words["calendar"]),
                ("n", words["nation"]),
                ("e", words["event"]),
                ("a", words["agency"]),
                ("m", words["team"]),
                ("f", words[small]),
                ("l", words["locative"]),
                ("k", titles["kin"]),
            )
            for language, small in SMALL_WORDS.items()
        },
    )
