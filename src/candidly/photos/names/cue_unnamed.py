"""People who take a place in a list but are not named there, or whose names were not found.

"From left: Ann Lee, an unknown man, Xi Qorra and Bob Ray": whoever finds no name in "Xi Qorra" has
to count it, or the places of all others are wrong.
"""

from __future__ import annotations

import re
from functools import cache

from candidly.photos.names.cue_phrases import words
from candidly.photos.names.lexicon import fold, lexicon, word_set

BRACKETS = re.compile(r"\([^()\n]{0,120}\)|\[[^\[\]\n]{0,120}\]")
_NUMBERS = {"two": 2, "three": 3}
_CAPITAL = re.compile(r"[A-ZÀ-Þ][\w'’.-]*")
_PARTICLES = word_set("de del della da di du dos van von der den ten ter bin al el la le")
_LEADING = word_set("der die das the el la los las le les dem den are is were sind son sont")
_SUFFIXES = word_set("jr sr ii iii iv")
_NICKNAME = re.compile(r"[\"“„][^\"“”„\n]{1,20}[\"”“]")


def is_title(word: str) -> bool:
    """Return whether a word stands before names: "Mayor"."""
    return lexicon().is_title(fold(word).removesuffix("."), word)


def unnamed_between(gap: str, *, first: bool, apart: bool) -> int:
    """Return how many people without a mention a list has before one that has it.

    Parameters
    ----------
    gap : str
        From the member before, or from the order, to the mention.
    first : bool
        Whether nobody is before it.
    apart : bool
        Whether semicolons are between people, and commas before what they are.
    """
    gap = BRACKETS.sub("", gap)
    if apart:
        parts = re.split(r"(;)", gap.partition(":")[2] if first and ":" in gap[:3] else gap)
    else:
        parts = _split().split(gap)
    count = 0
    for at in range(0 if first else 2, len(parts) - 1, 2):
        count += _people(parts[at], last=parts[at + 1] not in ",;:\n", apart=apart)
    return count


def unnamed_after(rest: str, *, closed: bool, apart: bool) -> int:
    """Return how many people without a mention end a list: "A, B and an unknown man"."""
    parts = (re.compile(r"(;)") if apart else _split()).split(BRACKETS.sub("", rest))
    if parts[0].strip() and not apart:
        return 0
    count = 0
    for at in range(2, len(parts), 2):
        item = parts[at].strip()
        if not item:
            continue  # ", and"
        last = parts[at - 1] not in ",;\n"
        number = _people(item, last=last, apart=apart, open_end=True, known_only=closed)
        if not number:
            break
        count += number
    return count


def unnamed_before(head: str) -> int:
    """Return how many people without a mention stand before a list that an order ends."""
    parts = _split().split(BRACKETS.sub("", head))
    if len(parts) < 3 or (parts[-1].strip(" ") and not _all_titles(parts[-1])):
        return 0
    count = 0
    for at in range(len(parts) - 3, -1, -2):
        if not ends_with_name(parts[at]):
            break
        count += 1
        if not _is_name(parts[at].split()):
            break
    return count


def ends_with_name(text: str) -> bool:
    """Return whether a text ends with what can only be a name: "the winners Xi Qorra"."""
    tokens = text.split()[-5:]
    return any(
        _is_name(tokens[-size:]) and not _is_where(tokens[:-size][-1:])
        for size in (2, 3, 4)
        if len(tokens) >= size
    )


def _is_where(before: list[str]) -> bool:
    """Return whether a preposition before capitals makes them a place: "In Costa Mesa"."""
    return any(word.lower() in lexicon().words["locative"] for word in before)


def _people(
    item: str, *, last: bool, apart: bool, open_end: bool = False, known_only: bool = False
) -> int:
    """Return how many people an item of a list is: mostly none, where it says what somebody is."""
    item = _NICKNAME.sub("", item).strip()
    if not item:
        return 0
    match = "match" if open_end else "fullmatch"
    if getattr(_pattern(rf"(?:{words('nobody')})(?!\w)"), match)(item):
        return _NUMBERS.get(item.split()[0].lower(), 1)
    if last and getattr(_pattern(rf"(?:{words('kin')})(?!\w)"), match)(item):
        return 1
    if known_only:
        return 0
    if apart:
        begins = _pattern(rf"\A(?:{words('join')})\s+").sub("", item, count=1)
        return int(begins[:1].isupper() or begins.split()[0] in _LEADING)
    tokens = item.split()
    if open_end:
        ends = (
            at for at, word in enumerate(tokens) if word[0].islower() and word not in _PARTICLES
        )
        tokens = tokens[: next(ends, len(tokens))]
        if len(tokens) == 1 < len(item.split()):
            return 0  # "Rosie the cat"
    return int(_is_name(tokens) or _is_called(tokens))


def _is_name(tokens: list[str]) -> bool:
    """Return whether words can only be a name: two or more with capitals, none of them known."""
    titled = False
    while tokens and (is_title(tokens[0]) or tokens[0].lower() in _LEADING):
        titled = titled or is_title(tokens[0])
        tokens = tokens[1:]
    if tokens and fold(tokens[-1]).rstrip(".") in _SUFFIXES:
        tokens = tokens[:-1]
    if not tokens or len(tokens) > 5:
        return False
    if len(tokens) == 1 and not titled:
        return fold(tokens[0]) in lexicon().given
    inner = all(_CAPITAL.fullmatch(word) or word in _PARTICLES for word in tokens)
    ends = _CAPITAL.fullmatch(tokens[0]) and _CAPITAL.fullmatch(tokens[-1])
    return inner and bool(ends) and len(tokens[-1]) > 1 and not any(map(_is_known, tokens))


def _is_called(tokens: list[str]) -> bool:
    """Return whether a name follows what somebody is: "der Vorsitzende der Werft AG Xi Qorra"."""
    return any(
        (_is_known(tokens[-size - 1]) or tokens[-size - 1].endswith(("'s", "’s")))
        and _CAPITAL.match(tokens[-size - 1]) is not None
        and _is_name(tokens[-size:])
        for size in (2, 3)
        if len(tokens) > size
    )


def _is_known(word: str) -> bool:
    """Return whether a word is of an organisation, a place, a role or the like."""
    folded = fold(word).removesuffix(".").removesuffix("'s")
    if len(folded) == 1:
        return False  # an initial
    known = lexicon()
    other = known.is_nobody(folded) or folded in known.words["role"] or is_title(word)
    return (other and folded not in known.given) or (word.isupper() and "." not in word)


def _all_titles(text: str) -> bool:
    return all(is_title(word) for word in text.split())


@cache
def _split() -> re.Pattern[str]:
    return re.compile(rf"([,;:\n&]|(?<!\w)(?:{words('join')})(?!\w))", re.IGNORECASE)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
