"""Spellings that are likely one person's, proposed and never merged."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from candidly.photos.names.lists import key
from candidly.photos.records import Proposal

# Letters and groups that different alphabets' transcriptions write differently.
_SOUNDS = (
    (r"tsch|tch|tsh|cz|ch|sch|sh", "S"),
    (r"ph", "f"),
    (r"ck|kh|gh|qu|[cqk]", "k"),
    (r"dj|dzh|zh", "j"),
    (r"ts|tz|z", "s"),
    (r"th", "t"),
    (r"[wv]", "v"),
    (r"ou|oo|u|o", "o"),
    (r"ee|ie|ei|ey|iy|[yji]", "i"),
    (r"h", ""),
)
MOST = 50  # names that share a clue; more, and the clue says nothing


def distance(left: str, right: str) -> int:
    """Return how many letters to change, add, drop or swap with their neighbour.

    Examples
    --------
    >>> distance("blix", "bilx"), distance("sarah", "sara"), distance("anna", "otto")
    (1, 1, 4)
    """
    if abs(len(left) - len(right)) > 2 and left and right:
        return abs(len(left) - len(right))
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        before, last, row = row, before, [i]
        for j, b in enumerate(right, start=1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]


def squeezed(name: str) -> str:
    """Return the letters of a name without what stands between them.

    Examples
    --------
    >>> squeezed("TommyF ranks") == squeezed("Tommy Franks")
    True
    """
    return re.sub(r"[\s\-'’]", "", key(name))


def sound(name: str) -> str:
    """Return how a name sounds, roughly, across transcriptions.

    Examples
    --------
    >>> sound("Mohammed Al-Douri") == sound("Mohamed al Duri")
    True
    """
    words = []
    for word in re.sub(r"[-'’]", " ", key(name)).split():
        if word in {"al", "el", "ul"}:
            continue
        for pattern, letter in _SOUNDS:
            word = re.sub(pattern, letter, word)
        word = re.sub(r"(\D)\1+", r"\1", word)
        words.append(word[:1] + re.sub(r"[aeio]", "", word[1:]))
    return " ".join(words)


def propose(counts: Mapping[str, int]) -> list[Proposal]:
    """Return pairs of names that are likely one person's, by text alone.

    Parameters
    ----------
    counts : mapping of str to int
        How many captions each name is in; the rarer of two is proposed as the other.
    """
    found: dict[frozenset[str], Proposal] = {}
    for why, names in _clues(counts):
        if not 1 < len(names) <= MOST:
            continue
        ordered = sorted(names, key=lambda name: (-counts[name], name))
        for at, likely in enumerate(ordered):
            for name in ordered[at + 1 :]:
                pair = frozenset((name, likely))
                if pair not in found and _fits(why, name, likely):
                    found[pair] = Proposal(name, likely, why)
    return sorted(found.values())


def _clues(counts: Mapping[str, int]) -> Iterator[tuple[str, set[str]]]:
    """Yield names that share letters but one, a sound, or their first and last word."""
    letters: dict[tuple[str, str], set[str]] = defaultdict(set)
    sounds: dict[str, set[str]] = defaultdict(set)
    ends: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name in counts:
        own = squeezed(name)
        if 5 <= len(own) <= 60:
            # "Guest 12" is no slip of "Guest 13".
            digits = "".join(filter(str.isdigit, own))
            letters[own, digits].add(name)
            for at in range(len(own)):
                letters[own[:at] + own[at + 1 :], digits].add(name)
        words = key(name).split()
        if len(words) > 1:
            sounds[sound(name)].add(name)
            ends[words[0], words[-1]].add(name)
    yield from (("letters", names) for names in letters.values())
    yield from (("sound", names) for names in sounds.values())
    yield from (("middle name", names) for names in ends.values())


def _fits(why: str, name: str, likely: str) -> bool:
    if why != "letters":
        return len(sound(name).replace(" ", "")) > 2
    return alike(name, likely)


def alike(name: str, other: str) -> bool:
    """Whether two names differ by a slip: a letter, in a long name two.

    Examples
    --------
    >>> alike("Hans Bilx", "Hans Blix"), alike("TommyF ranks", "Tommy Franks"), alike("A", "Bo")
    (True, True, False)
    """
    left, right = (squeezed(name), squeezed(other))
    return distance(left, right) <= (len(left) > 4) + (min(len(left), len(right)) >= 16)
