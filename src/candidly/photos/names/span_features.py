"""What speaks for and against a possible name: its words, its neighbours, and how it is written.

Features are named numbers. Those of the first word start with "first", those of the last with
"last", those of all words together with "span", and those of a name with the surname first with
"turned".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from candidly.photos.names.lexicon import lexicon, word_set
from candidly.photos.names.reading import Reading, Span
from candidly.photos.names.token_tagger import COLUMNS

Features = dict[str, float]
_PERSON, _PLACE, _BODY, _ALONE, _FIRST, _FURTHER, _GIVEN = range(len(COLUMNS))
_PHOTO = word_set(
    "photo photos photograph photographe photographer photographed foto fotos fotografia picture"
    " image bild bilder bildquelle quelle credit credits courtesy copyright by grafik source fuente"
)
_CUED = re.compile(
    r"\s*,?\s*\((?:\d{1,3}|[LRClrcm]\.?|left|right|cent(?:er|re)|links|rechts|mitte|li\.|re\."
    r"|izq\w*\.?|der\w*\.?|(?:à )?(?:gauche|droite))\)"
)
_ROSTER = re.compile(r"[^\W\d_][\w'-]{1,40}, [^\W\d_][\w'. -]{1,40}(?:\([^()]{1,40}\))?;")
_QUOTES = re.compile(r"[\"“”„«»]")
_REACH = 80  # characters back to an open bracket or quote


class SpanFeatures:
    """The features of the possible names of a text."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._heads: dict[int, Features] = {}
        self._tails: dict[int, Features] = {}
        listed = _ROSTER.findall(reading.text[:2000])
        self._roster = min(2, len(listed))

    def of(self, span: Span) -> Features:
        """Return the features of a possible name."""
        first, last = span
        if first not in self._heads:
            self._heads[first] = dict(self._head(first))
        if last not in self._tails:
            self._tails[last] = dict(self._tail(last))
        turned = self.reading.turned.get(span)
        own = self._whole(first, last) if turned is None else self._turned(first, turned, last)
        return self._heads[first] | self._tails[last] | dict(own)

    def _word(self, at: int) -> str:
        if 0 <= at < len(self.reading.tokens):
            return self.reading.tokens[at].fold
        return "^" if at < 0 else "$"

    def _said(self, at: int) -> str:
        """Return a word; a small one as it is written, with its language: "a" is not "à"."""
        if not 0 <= at < len(self.reading.tokens) or "f" not in self.reading.kinds[at]:
            return self._word(at)
        return f"{self.reading.spoken[at]} {self.reading.tokens[at].text.casefold()}"

    def _kind(self, at: int) -> str:
        """Return a token's mark, or how it is written and the lists it is on."""
        if not 0 <= at < len(self.reading.tokens):
            return "-"
        token = self.reading.tokens[at]
        if token.kind in {"mark", "num"}:
            return token.text if token.kind == "mark" else "9"
        return ("C" if token.kind == "cap" else "l") + self.reading.kinds[at]

    def _beside(self, at: int, other: int) -> bool:
        """Return whether another token is in the same sentence."""
        tokens = self.reading.tokens
        return 0 <= other < len(tokens) and tokens[other].sentence == tokens[at].sentence

    def _head(self, at: int) -> Iterator[tuple[str, float]]:
        """Yield the features of a first word and of what stands before it."""
        reading, token = self.reading, self.reading.tokens[at]
        language = reading.languages[token.sentence]
        kind, case = self._kind(at), reading.case.get(token.sentence, "")
        inside = self._beside(at, at - 1) or (at > 0 and reading.tokens[at - 1].kind == "mark")
        word, before = (self._said(at - 1), self._kind(at - 1)) if inside else ("^", "^")
        further = self._kind(at - 2)
        names = [
            f"kind={kind}",
            f"word before={word}",
            f"word before that={self._said(at - 2)}",
            f"kind before={before}",
            f"kinds before={further} {before}",
            f"kind and before={before} {kind}",
            f"opens={token.first} {case}",
            f"opens={token.first} {kind}",
            f"ends in={token.fold[-3:]}",
            f"language={language}",
        ]
        if lexicon().is_small(token.fold, token.text):
            names.append(f"small word={token.first}")
        if before.startswith("C"):
            names.append(f"capital before={language}")
        if further in {"/", "©", "|", ":"}:
            names.append(f"mark before that={further}")
        near = range(max(0, at - 4), at)
        photo = next((other for other in reversed(near) if self._word(other) in _PHOTO), None)
        if photo is not None:
            between = " ".join(self._kind(other)[:1] for other in range(photo + 1, at))
            opens = " at the start" if photo < 3 else ""
            names += ["photo before", f"photo before{opens}, then={between}"]
        if any(self._is_agency(other) for other in near):
            names.append("agency before")
        if token.capitals and case != "loud":
            names.append("capitals")
        beside = [self._kind(other) for other in near if self._beside(at, other)]
        if any("t" in other[1:] for other in beside):
            names.append("title before")
        if "9" in beside[-2:]:
            names.append("number before")
        if at and not token.joined:
            names.append("apart")
        names += self._enclosed(token.start)
        yield from ((f"first {name}", 1.0) for name in names)

    def _enclosed(self, start: int) -> Iterator[str]:
        """Yield whether a place is in brackets, after a slash in them, or in quotes."""
        text = self.reading.text
        back = max(0, start - _REACH)
        opened = text.rfind("(", back, start)
        if opened > text.rfind(")", back, start):
            yield "in brackets"
            if "/" in text[opened:start]:
                yield "in brackets after a slash"
        if len(_QUOTES.findall(text, back, start)) % 2:
            yield "in quotes"

    def _is_agency(self, at: int) -> bool:
        words = lexicon().words
        return self._word(at) in words["agency"] or self._word(at) in words["credit"]

    def _tail(self, at: int) -> Iterator[tuple[str, float]]:
        """Yield the features of a last word and of what stands after it."""
        tokens, token = self.reading.tokens, self.reading.tokens[at]
        kind, after, further = self._kind(at), self._kind(at + 1), self._kind(at + 2)
        names = [
            f"kind={kind}",
            f"word after={self._said(at + 1)}",
            f"kind after={after}",
            f"kinds after={after} {further}",
            f"kind and after={kind} {after}",
            f"ends in={token.fold[-3:]}",
            f"owned={token.owned}",
        ]
        if at + 1 < len(tokens) and tokens[at + 1].kind == "low":
            names.append(f"after ends in={self._word(at + 1)[-2:]}")
        if after == "/":
            names.append(f"slash after={further}")
        if any(self._is_agency(other) for other in range(at + 1, at + 4)):
            names.append("agency after")
        if _CUED.match(self.reading.text, token.end, token.end + 14):
            names.append("cue after")
        if token.capitals:
            names.append("capitals")
        if at + 3 >= len(tokens) and all(other.kind == "mark" for other in tokens[at + 1 :]):
            names.append("end of the text")
        yield from ((f"last {name}", 1.0) for name in names)

    def _whole(self, first: int, last: int) -> Iterator[tuple[str, float]]:
        """Yield the features of all words of a name."""
        reading, tokens = self.reading, self.reading.tokens
        inside = [at for at in range(first, last + 1) if reading.is_capital(at)]
        size, few = len(inside), min(len(inside), 3)
        language = reading.languages[tokens[first].sentence]
        yield f"span words={min(size, 5)}", 1.0
        yield f"span words={few} {language}", 1.0
        yield f"span words={few} {reading.case.get(tokens[first].sentence, '')}", 1.0
        pattern = " ".join(self._part(at) for at in range(first, last + 1))
        yield f"span kinds={pattern}", 1.0
        yield f"span opens={self._opener(first)} {few}", 1.0
        yield f"span {'word' if size == 1 else 'first word'}={tokens[first].fold}", 1.0
        lists = lexicon()
        if any(lists.is_small(tokens[at].fold, tokens[at].text) for at in inside):
            yield "span small word", 1.0
        for letter in "pbctneam":
            if any(letter in reading.kinds[at] for at in inside if tokens[at].kind == "cap"):
                yield f"span has={letter} {min(size, 2)}", 1.0
        for at in range(first, last + 1):
            if tokens[at].kind == "low":
                yield f"span particle={tokens[at].fold} {language}", 1.0
            elif tokens[at].kind == "mark":
                yield f"span mark={tokens[at].text}", 1.0
        yield from self._tagged(first, last, inside)

    def _part(self, at: int) -> str:
        """Return what a token of a name is: its lists, "i" for an initial, "_" for a particle."""
        token = self.reading.tokens[at]
        if token.kind == "low":
            return "_"
        return self.reading.kinds[at] or ("i" if token.initial else "u")

    def _opener(self, at: int) -> str:
        kinds, token = self.reading.kinds[at], self.reading.tokens[at]
        if "g" in kinds:
            return "g"
        if token.initial:
            return "i"
        return "t" if "t" in kinds else "o" if kinds else "u"

    def _tagged(self, first: int, last: int, inside: list[int]) -> Iterator[tuple[str, float]]:
        """Yield what the tagger says of the words of a name and of the words beside it."""
        reading, tags = self.reading, self.reading.tags
        own = tags[inside]
        person, others = own[:, _PERSON], own[:, [_PLACE, _BODY]].max(axis=1)
        before = after = further = -6.0
        if first and reading.tokens[first].joined and self._is_word(first, first - 1):
            before = tags[first - 1, _PERSON]
        if self._is_word(first, last + 1) and reading.tokens[last + 1].joined:
            after, further = tags[last + 1, _PERSON], tags[last + 1, _FURTHER]
        values = {
            "mean": person.mean(),
            "least": person.min(),
            "first": own[0, _FIRST],
            "last": person[-1],
            "others": others.mean(),
            "most other": others.max(),
            "body": own[:, _BODY].mean(),
            "place": own[:, _PLACE].mean(),
            "words alone": own[:, _ALONE].mean(),
            "last word alone": own[-1, _ALONE],
            "given": own[0, _GIVEN],
            "last given": own[-1, _GIVEN],
            "further": own[1:, _FURTHER].mean() if len(inside) > 1 else 0.0,
            "sum": person.sum() / 3,
            "sum of others": others.sum() / 3,
            "before": before,
            "after": after,
            "further after": further,
        }
        many = "1" if len(inside) == 1 else "2"
        yield from ((f"tagged {name} {many}", float(value) / 3) for name, value in values.items())

    def _is_word(self, at: int, other: int) -> bool:
        return self._beside(at, other) and self.reading.is_capital(other)

    def _turned(self, first: int, comma: int, last: int) -> Iterator[tuple[str, float]]:
        """Yield the features of a name with the surname first, which ends at ``comma``."""
        kinds, tags = self.reading.kinds, self.reading.tags
        given = "g" in kinds[comma + 2]
        end = self._kind(last + 1)[:1]
        names = [
            f"words={comma - first} {last - comma - 2}",
            f"given={given}",
            f"given and end={given} {end}",
            f"surname={kinds[first] or 'u'}",
            f"kinds={kinds[comma] or 'u'} {kinds[comma + 2] or 'u'}",
            f"end={end}",
            f"opens={self.reading.tokens[first].first}",
            f"roster={self._roster}",
        ]
        if "g" in kinds[first]:
            names.append(f"given first={comma - first}")
        yield from ((f"turned {name}", 1.0) for name in names)
        yield "turned tagged surname", float(tags[comma, _ALONE] - tags[comma, _GIVEN]) / 3
        yield "turned tagged given", float(tags[comma + 2, _ALONE] + tags[comma + 2, _GIVEN]) / 3
        others = np.max(tags[first : last + 1, [_PLACE, _BODY]])
        yield "turned tagged other", float(others) / 3
