"""A text read word by word: its tokens with their languages, lists and tags, and possible names."""

from __future__ import annotations

import re
from functools import cached_property

from candidly.photos.names.lexicon import PARTICLES, lexicon
from candidly.photos.names.token_tagger import Odds, tag
from candidly.photos.names.tokens import Token, german_genitives, languages, tokenize

LONGEST = 7
"""Largest number of words after the first in a name."""
SUFFIX = re.compile(r"(?:Jr|Sr|Jnr|Snr|JR|SR)\.?|(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_JOINING = PARTICLES - {"y", "e", "i"}
_PAIRED = {'"': '"', "“": "”", "(": ")", "[": "]", "'": "'", "‘": "’", "„": "“", "«": "»"}
_NICKNAME = 3  # words between quotes within a name, at most

Span = tuple[int, int]
"""Numbers of the first and the last token of a possible name."""


class Reading:
    """The tokens of a text, with what the word lists and the tagger say of each.

    Parameters
    ----------
    text : str

    Attributes
    ----------
    tokens : list of Token
    languages : dict of int to str
        Language of each sentence.
    spoken : list of str
        Language of each token.
    kinds : list of str
        Lists that each token is on, see ``Lexicon.kinds_of``; "x" is Jr. or III.
    case : dict of int to str
        Sentences whose capitals say little: "loud" (ALL OF THEM), "title" (One Per Word) or
        "small" (none).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.languages = languages(self.tokens)
        german_genitives(self.tokens, self.languages)
        self.spoken = [self.languages[token.sentence] for token in self.tokens]
        lists = lexicon()
        self.kinds = [
            lists.kinds_of(token.fold, language)
            for token, language in zip(self.tokens, self.spoken, strict=True)
        ]
        for at, token in enumerate(self.tokens):
            if at and SUFFIX.fullmatch(token.text) and self._ends_name(at - 1):
                self.kinds[at] = "x"
        self._small = not any(token.kind == "cap" for token in self.tokens)
        self.case = self._cases()

    def _ends_name(self, at: int) -> bool:
        """Return whether a token, or the one before a comma, has a capital."""
        at -= self.tokens[at].text == "," and at > 0
        return self.tokens[at].kind == "cap"

    @cached_property
    def tags(self) -> Odds:
        """Log odds of the tagger, one row per token."""
        return tag([token.text for token in self.tokens], self.spoken)

    def _cases(self) -> dict[int, str]:
        words: dict[int, list[Token]] = {}
        for token in self.tokens:
            if token.kind in {"cap", "inner", "low"} and len(token.text) > 1:
                words.setdefault(token.sentence, []).append(token)
        found = {}
        for sentence, own in words.items():
            loud = sum(token.text.isupper() for token in own)
            every = sum(token.kind == "cap" for token in own)
            if loud >= 2 and loud >= 0.8 * len(own):
                found[sentence] = "loud"
            elif len(own) >= 5 and every >= 0.75 * len(own):
                found[sentence] = "title"
            elif self._small:
                found[sentence] = "small"
        return found

    def is_capital(self, at: int) -> bool:
        """Return whether a token may be a word of a name, by how it is written."""
        token = self.tokens[at]
        if token.kind in {"cap", "inner"}:
            return True
        return self._small and token.kind == "low" and len(token.text) > 1

    @cached_property
    def spans(self) -> list[Span]:
        """Possible names, in order: capitalised words with particles and nicknames between."""
        found = []
        for first in range(len(self.tokens)):
            if not self.is_capital(first):
                continue
            last: int | None = first
            while last is not None and last - first <= LONGEST:
                found.append((first, last))
                last = self._next(last)
        found += self.turned
        return sorted(found)

    def _next(self, at: int) -> int | None:
        """Return the next word of a name after a token, if there may be one."""
        tokens = self.tokens
        if tokens[at].owned:
            return None
        after = at + 1
        while after < len(tokens) and after - at <= 3 and self._joins(after):
            after += 1
        if after == at + 1:
            after = self._past_nickname(after)
            if (
                after + 1 < len(tokens)
                and tokens[after].text == ","
                and self.kinds[after + 1] == "x"
            ):
                return after + 1
        if after >= len(tokens) or tokens[after].first or not tokens[after].joined:
            return None
        return after if self.is_capital(after) else None

    def _joins(self, at: int) -> bool:
        """Return whether a token is a particle within a name: van, de la."""
        token = self.tokens[at]
        small = token.kind == "low" and token.fold in _JOINING
        return small and token.joined and not token.first

    def _past_nickname(self, at: int) -> int:
        """Return the token after a nickname in quotes or brackets, or the same without one."""
        tokens = self.tokens
        if at >= len(tokens) or tokens[at].text not in _PAIRED:
            return at
        end = at + 1
        while end < len(tokens) and end - at <= _NICKNAME and tokens[end].kind == "cap":
            end += 1
        closed = end + 1 < len(tokens) and tokens[end].text == _PAIRED[tokens[at].text]
        # (L) and (AP) are no nicknames.
        named = closed and end > at + 1 and len(tokens[at + 1].text) > 2
        return end + 1 if named and tokens[end + 1].kind == "cap" else at

    @cached_property
    def turned(self) -> dict[Span, int]:
        """Possible names with the surname first and a comma, and the last token of the surname."""
        tokens, found = self.tokens, {}
        for comma in range(1, len(tokens) - 1):
            if tokens[comma].text != "," or tokens[comma + 1].first or not tokens[comma + 1].joined:
                continue
            for first in range(max(0, comma - 3), comma):
                if not self._opens(first) or not self._is_run(first, comma - 1):
                    continue
                last: int | None = comma + 1 if self.is_capital(comma + 1) else None
                while last is not None and last - comma <= 4:
                    if self.kinds[last] != "x":
                        found[first, last] = comma - 1
                    last = self._next(last)
        return found

    def _opens(self, at: int) -> bool:
        """Return whether a token stands at a beginning, or after a mark or a number."""
        token = self.tokens[at]
        return at == 0 or token.first or self.tokens[at - 1].kind in {"mark", "num"}

    def _is_run(self, first: int, last: int) -> bool:
        """Return whether one name may go from a token to another."""
        at: int | None = first
        while at is not None and at < last and self.is_capital(at):
            at = self._next(at)
        return at == last and self.is_capital(last)
