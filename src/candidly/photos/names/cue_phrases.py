"""The phrases of a text that say where somebody is: "left", "second from right", "front row".

The words of each kind and language are in ``data/cues.txt``. Phrases that belong together are one:
"back row, second from left", "seated, from left".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from candidly.photos.names.lexicon import blocks

SIDES = ("left", "right", "centre", "front", "back", "top", "bottom")
ORDINALS = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
# Rows from the front of a group to its back; each with the side that it is without an order.
ROWS = {
    "bottomrow": (0, "bottom"),
    "frontrow": (0, "front"),
    "kneeling": (1, "front"),
    "seated": (2, "front"),
    "middlerow": (3, "centre"),
    "secondrow": (3, None),
    "thirdrow": (4, None),
    "standing": (5, "back"),
    "backrow": (6, "back"),
    "toprow": (6, "top"),
}
POSES = {ROWS[pose][0] for pose in ("kneeling", "seated", "standing")}
# The row that a side is where it is the heading of one: "hinten:".
DEPTHS = {"front": 0, "bottom": 0, "centre": 3, "back": 6, "top": 6}
# A small c before a capital or a year is a copyright.
_BRACKET = re.compile(r"\((?!c\)\s*[A-ZÀ-Þ0-9])([^()\[\]\n]{1,120})\)")
_PARTIES = {"D", "I", "G"}  # in English these letters are no "derecha", "izquierda", "gauche"
_SMALL = r"(?:(?:in|on|of|the|are|der|im|de|la|del|en|el|au|[aà])\b ?){0,3}"
_BETWEEN = re.compile(rf"[\s,:(\[-]{{0,3}}{_SMALL}[(\[]?", re.IGNORECASE)
_DEPTH_WORD = re.compile(
    r"(?P<front>front|vorn|lower|bottom|bas\b|unten|abajo)"
    r"|(?P<back>back|hinten|upper|top\b|haut|oben|arriba)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Phrase:
    """Words that say where somebody is.

    ``order`` says that people are listed from the side on, ``rank`` which row it is, from the
    front, and ``row`` that it names a row and no place in it. ``sure`` phrases are no other words
    of the language ("on the left", not "left"). A ``pose`` tells a row only as its heading.
    """

    start: int
    end: int
    side: str | None
    place: int = 1
    order: bool = False
    rank: int | None = None
    row: bool = False
    sure: bool = True
    pose: bool = False


@cache
def words(kind: str) -> str:
    """Return the phrases of a kind in all languages as one pattern, the longest first."""
    entries = {
        entry.strip()
        for head, text in blocks("cues.txt")
        if head == kind
        for entry in text.split(",")
    }
    longest = sorted(entries - {""}, key=lambda entry: (-len(entry), entry))
    return "|".join(re.sub(r" (?!\?)", r"[\\s-]", entry) for entry in longest)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the kinds of phrases and their patterns."""

    def kinds(names: tuple[str, ...], prefix: str = "", suffix: str = "") -> str:
        return "|".join(
            rf"(?P<{name}>(?:{words(prefix + name + suffix)}))(?!\w|-\w)" for name in names
        )

    def pattern(text: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?<!\w-)(?:{text})", re.IGNORECASE)

    ordinals = "|".join(rf"(?P<{name}>{words(name)})" for name in ORDINALS)
    short = rf"(?P<left>{words('leftshort')})|(?P<right>{words('rightshort')})"
    counted = (
        rf"(?:{ordinals})[\s-]{{0,2}}(?:(?P<from>{words('from')})[\s-]{{0,2}})?"
        rf"(?:(?P<left>(?:{words('left')}|links|l\.?|li\.?))|(?P<right>(?:{words('right')}|rechts"
        r"|r\.?|re\.?)))(?!\w)"
    )
    brief = (
        rf"(?:(?:{ordinals}|(?P<digit>[1-9]))[\s.-]{{0,2}})?(?:(?:{words('from')})\s?)?"
        rf"(?:{short}|(?P<centre>{words('centreshort')}))"
    )
    return (
        ("order", pattern(kinds(("ltr", "rtl")))),
        ("counted", pattern(counted)),
        ("row", pattern(kinds(tuple(ROWS)))),
        ("sure", pattern(kinds(SIDES, "at"))),
        ("weak", pattern(kinds(SIDES))),
        ("brief", re.compile(brief, re.IGNORECASE)),
        ("around", pattern(words("around"))),
    )


def find_phrases(text: str) -> list[Phrase]:
    """Return the phrases of a text that say where somebody is, in order.

    Examples
    --------
    >>> [(p.side, p.place, p.order) for p in find_phrases("Ann (2nd R) and, from left, Bob, Cas")]
    [('right', 2, False), ('left', 1, True)]
    """
    found = sorted(_all(text), key=lambda phrase: (phrase.start, -phrase.end))
    apart: list[Phrase] = []
    for phrase in found:
        if not apart or phrase.start >= apart[-1].end:
            apart.append(phrase)
    joined: list[Phrase] = []
    for phrase in apart:
        one = _one(joined[-1], phrase, text) if joined else None
        if one is not None:
            joined[-1] = one
        else:
            joined.append(phrase)
    around = [match.start() for match in dict(_patterns())["around"].finditer(text)]
    # A list around the picture gives no side that is sure, except to the first.
    return [p for p in joined if not _near(around, p)]


def _near(starts: list[int], phrase: Phrase) -> bool:
    before = bisect_right(starts, phrase.end + 25) - 1
    return before >= 0 and starts[before] > phrase.start - 40


def _all(text: str) -> Iterator[Phrase]:
    """Yield all phrases of all kinds; they may overlap."""
    patterns = dict(_patterns())
    english = re.search(r"\b(?:the|and|of|with)\b", text[:1000]) is not None
    republican = "(D)" in text[:1000] and "(L)" not in text[:1000]
    parties = _PARTIES | {"R"} if republican else _PARTIES
    for match in patterns["order"].finditer(text):
        yield Phrase(*match.span(), "left" if match["ltr"] else "right", order=True)
    for match in patterns["counted"].finditer(text):
        short = match["from"] is None or match.group()[-1] == "."
        yield Phrase(*match.span(), _side(match), _place(match), sure=not short)
    for match in patterns["row"].finditer(text):
        rank, unordered = ROWS[str(match.lastgroup)]
        yield Phrase(*match.span(), unordered, rank=rank, row=True, pose=rank in POSES)
    for kind in ("sure", "weak"):
        for match in patterns[kind].finditer(text):
            side = _side(match)
            depth = _DEPTH_WORD.search(match.group()) if side in {"left", "right"} else None
            yield Phrase(
                *match.span(),
                side,
                rank=DEPTHS[str(depth.lastgroup)] if depth else None,
                sure=kind == "sure",
            )
    for bracket in _BRACKET.finditer(text):
        for part in re.finditer(r"[^,;/]+", bracket[1]):
            inside = part.group().strip()
            at = bracket.start(1) + part.start() + part.group().index(inside)
            brief = patterns["brief"].fullmatch(inside)
            if brief and not (inside in parties and english):
                yield Phrase(at, at + len(inside), _side(brief), _place(brief))


def _one(first: Phrase, second: Phrase, text: str) -> Phrase | None:
    """Return two phrases as one where they belong together: "front row, from left"."""
    if second.start - first.end > 16 or not _BETWEEN.fullmatch(text, first.end, second.start):
        return None
    for here, there in ((first, second), (second, first)):
        placed = not here.row and (here.order or here.side in {"left", "right", "centre"})
        depth = there.rank if there.row else DEPTHS.get(str(there.side))
        if placed and here.rank is None and depth is not None and not there.order:
            sure = here.sure and there.sure
            return replace(here, start=first.start, end=second.end, rank=depth, sure=sure)
    return None


def _side(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return next(side for side in SIDES if groups.get(side))


def _place(match: re.Match[str]) -> int:
    groups = match.groupdict()
    counted = (place for place, name in enumerate(ORDINALS, start=1) if groups.get(name))
    return next(counted, int(groups.get("digit") or 1))
