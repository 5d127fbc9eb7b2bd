"""Names that were forgotten: known only by keyed hashes, and taken out of all that is stored.

A text is compared by its words, without case, diacritics and marks: as many in a row as a name has
are hashed with the key of the project. Where a name was, ``UNNAMED`` stands: a list of people from
left to right still has as many.
"""

from __future__ import annotations

import html
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Self

from candidly.photos.names.lexicon import fold
from candidly.photos.records import Mention

UNNAMED = "unnamed person"
"""Stands in a stored text where a name was."""
JOINED = 0
"""Number of words of a name that is written as one."""
NOBODY_ELSE = "[forgotten]"  # an allow list without anybody would allow everybody
# Scripts without blanks have a word per character; a mark on a letter belongs to it.
_ALONE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_ALONE}]|(?:[^\W_{_ALONE}][\u0300-\u036f]*)+")

Span = tuple[int, int]


class ForgottenNameError(ValueError):
    """Raised where a name would be stored that was forgotten; the message does not have it."""

    def __init__(self) -> None:
        super().__init__(
            "this person was forgotten in this project (candidly forget), and is not named again"
        )


def words_of(text: str) -> list[str]:
    """Return the words of a text as names are compared by them.

    Examples
    --------
    >>> words_of("J.-K. O'Núñez's")
    ['j', 'k', 'o', 'nunez', 's']
    """
    return [fold(found[0]) for found in _WORD.finditer(text)]


def spellings(name: str) -> set[tuple[int, str]]:
    """Return how a name is written, with the number of words: also last name first.

    ``JOINED`` words are one that is several.

    Examples
    --------
    >>> sorted(spellings("J. K. Lee"))
    [(0, 'jklee'), (2, 'jk lee'), (2, 'lee jk'), (3, 'j k lee'), (3, 'lee j k')]
    """
    found = set()
    own = words_of(name)
    first = next((at for at, word in enumerate(own) if len(word) > 1), 0)
    for words in (own, ["".join(own[:first]), *own[first:]] if first > 1 else own):
        for order in (words, [*words[-1:], *words[:-1]]):
            found.add((len(order), " ".join(order)))
    return found | ({(JOINED, "".join(own))} if len(own) > 1 else set())


@dataclass(frozen=True)
class ForgottenNames:
    """Names by their hashes: ``whole`` ones, and ``parts`` of names, each by number of words."""

    key: bytes
    whole: dict[int, set[bytes]]
    parts: dict[int, set[bytes]]

    @classmethod
    def read(cls, sql: sqlite3.Connection) -> Self:
        """Return the names that were forgotten in a project."""
        found: tuple[dict[int, set[bytes]], ...] = (defaultdict(set), defaultdict(set))
        for digest, words, part in sql.execute("SELECT hash, words, part FROM forgotten"):
            found[part][words].add(digest)
        return cls(_key(sql) if any(found) else b"", *found)

    @classmethod
    def of(cls, sql: sqlite3.Connection, whole: Iterable[str], parts: Iterable[str]) -> Self:
        """Return names as if they were forgotten, in every spelling, and parts of names."""
        made = cls(_key(sql), defaultdict(set), defaultdict(set))
        for name in whole:
            for size, text in spellings(name):
                made.whole[size].add(made._hash(text))
        for part in map(words_of, parts):
            if part:
                made.parts[len(part)].add(made._hash(" ".join(part)))
        return made

    def keep(self, sql: sqlite3.Connection) -> None:
        """Store the hashes, in addition to those that are there."""
        for part, known in enumerate((self.whole, self.parts)):
            rows = [(digest, words, part) for words, own in known.items() for digest in own]
            sql.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?)", rows)

    def __bool__(self) -> bool:
        return bool(self.whole)

    def holds(self, name: str | None) -> bool:
        """Return whether a name was forgotten."""
        words = words_of(name or "")
        return any(self._has(self.whole, words, size) for size in {len(words), JOINED})

    def spans(self, text: str) -> list[Span]:
        """Return where names are written in a text, the longest of those that overlap."""
        if not self:
            return []
        found = list(_WORD.finditer(text))
        folded = [fold(one[0]) for one in found]
        spans: list[Span] = []
        taken: set[int] = set()
        for size in sorted(self.whole, reverse=True):
            length = size or 1
            for at in range(len(found) - length + 1):
                run = range(at, at + length)
                if size == 1 and found[at][0].islower() and len(found) > 1:
                    continue  # "rose" in a sentence is a flower, whoever Rose was
                if taken.isdisjoint(run) and self._has(self.whole, folded[at : at + length], size):
                    taken.update(run)
                    spans.append((found[at].start(), found[at + length - 1].end()))
        return sorted(spans)

    def in_file(self, data: bytes) -> bool:
        """Return whether a name is written in the content of a file, also as XML has it."""
        return bool(self) and bool(self.spans(html.unescape(data.decode("utf-8", "replace"))))

    def redacted(self, text: str) -> str:
        """Return a text with ``UNNAMED`` in place of names."""
        return _cut(text, self.spans(text)) if self else text

    def redact(
        self, text: str, mentions: Sequence[Mention], also: Iterable[Span] = ()
    ) -> tuple[str, list[Mention | None]]:
        """Return a text without the names, and its mentions in their new places.

        A mention that goes is None. What is within the names of others stays: "Ann Lee Ray", and
        "Bob Lee, Ann Ray" where Ann Lee is forgotten.

        Parameters
        ----------
        text : str
        mentions : sequence of Mention
        also : iterable of (int, int)
            Further places that are written about those people.
        """
        if not self:
            return text, list(mentions)
        cuts = set(also)
        goes = [self._goes(text, one) for one in mentions]
        cuts |= {(one.start, one.end) for one, gone in zip(mentions, goes, strict=True) if gone}
        stay = [(m.start, m.end) for m, gone in zip(mentions, goes, strict=True) if not gone]
        cuts |= {
            (start, end)
            for start, end in self.spans(text)
            if all(b <= start or end <= a or start <= a <= b <= end for a, b in stay)
        }
        merged = _merged(cuts)
        kept: list[Mention | None] = []
        for one, gone in zip(mentions, goes, strict=True):
            if gone or any(a < one.end and one.start < b for a, b in merged):
                kept.append(None)
                continue
            shift = sum(len(UNNAMED) - (b - a) for a, b in merged if b <= one.start)
            start, end = one.start + shift, one.end + shift
            kept.append(replace(one, start=start, end=end, absence=self.redacted(one.absence)))
        return _cut(text, merged), kept

    def without_people(self, kind: str, text: str) -> tuple[str, list[str]]:
        """Return one of the user's lists without forgotten people, and their other names."""
        kept, others = [], []
        for line in text.splitlines():
            entry, mark, comment = line.partition("#")
            names = [part.strip() for part in re.split("[=,]", entry)]
            names = names if kind == "aliases" else [entry.strip()]
            if any(self.holds(name) for name in names):
                others += [name for name in names if name]
                kept += [NOBODY_ELSE] if kind == "allow" else []
            else:
                kept.append(f"{entry}{mark}{self.redacted(comment)}")
        return "\n".join(kept) + "\n" * text.endswith("\n") if others or self else text, others

    def _goes(self, text: str, mention: Mention) -> bool:
        if self.holds(mention.name):
            return True
        # A part of a name that nothing in the text completes to somebody else's.
        written = words_of(text[mention.start : mention.end])
        return words_of(mention.name) == written and self._has(self.parts, written, len(written))

    def _has(self, known: dict[int, set[bytes]], words: Sequence[str], size: int) -> bool:
        text = (" " if size else "").join(words)
        return bool(words) and size in known and self._hash(text) in known[size]

    def _hash(self, text: str) -> bytes:
        return blake2b(text.encode(), key=self.key, digest_size=16).digest()


def _key(sql: sqlite3.Connection) -> bytes:
    return bytes(sql.execute("SELECT value FROM own WHERE name = 'key'").fetchone()[0])


def _merged(cuts: Collection[Span]) -> list[Span]:
    """Return places without overlaps, in order."""
    merged: list[Span] = []
    for start, end in sorted(cuts):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _cut(text: str, spans: Sequence[Span]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + UNNAMED + text[end:]
    return text
