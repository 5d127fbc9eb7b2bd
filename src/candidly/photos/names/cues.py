"""Where a text says that somebody is: "(L)", "second from right", "von links", "à gauche"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from candidly.photos.names.masks import PARTY
from candidly.photos.names.positions import (
    AROUND,
    EDGE,
    LIST_GAP,
    NOBODY,
    NTH,
    ONLY,
    ORDER,
    REACH,
    SIDES,
    WEAK,
    in_brackets,
    place_of,
    side_of,
)
from candidly.photos.names.tokens import SHORT
from candidly.photos.records import Cue, Mention

_PARTY = re.compile(PARTY)
# The dot of "Cpl. Robert" ends no list.
_SHORTENED = re.compile(
    rf"\b({'|'.join(sorted(SHORT - {'jr', 'sr'}))})\.(?=\s[A-Z])", re.IGNORECASE
)


def add_cues(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the mentions with what the text says of their place.

    Examples
    --------
    >>> two = [Mention("Anna", 12, 16), Mention("Tom", 21, 24)]
    >>> [m.cue for m in add_cues("From right: Anna and Tom.", two)]
    [Cue(side='right', place=1, of=2), Cue(side='right', place=2, of=2)]
    """
    text = _PARTY.sub(lambda match: " " * len(match.group()), text)
    text = _SHORTENED.sub(r"\1 ", text)
    found: dict[int, Cue] = {}
    used: list[tuple[int, int]] = []
    for at, mention in enumerate(mentions):
        limit = mentions[at + 1].start if at + 1 < len(mentions) else len(text)
        if hit := _after(text, mention.end, min(limit, mention.end + 2 * REACH)):
            cue, span = hit
            found[at] = cue
            used.append(span)
    _orders(text, mentions, found, used)
    _ahead(text, mentions, found, used)
    return [replace(m, cue=found[at]) if at in found else m for at, m in enumerate(mentions)]


def _after(text: str, start: int, limit: int) -> tuple[Cue, tuple[int, int]] | None:
    """The cue right after a name: in brackets, between commas, or "is on the left"."""
    if match := re.compile(r"(?:['’]s)?\s*,?\s*\(([^()\n]{1,40})\)").match(text, start, limit):
        cue = in_brackets(match[1])
        return (cue, match.span()) if cue else None
    lead = re.compile(
        r"(?P<comma>\s*,\s*(?:(?:seen|pictured|shown|standing|seated|sitting|who is|stehend"
        r"|sitzend)\s+)?)"
        r"|\s+(?:(?:is|stands|sits|was|steht|sitzt|está|est)\s+"
        r"(?:(?:standing|seated|sitting|pictured|shown|seen|the (?:one|man|woman|boy|girl))\s+)?)?"
    ).match(text, start, limit)
    if not lead:
        return None
    for pattern in (NTH, SIDES):
        match = pattern.match(text, lead.end(), limit)
        if not match:
            continue
        bare = WEAK.match(match.group().strip()) is not None
        edge = EDGE.match(text, match.end()) is not None
        if pattern is NTH and not bare and (edge or not lead["comma"]):
            return Cue(side_of(match), place_of(match)), match.span()
        if edge and (lead["comma"] or not bare) and not ORDER.match(text, match.start()):
            return Cue(side_of(match), 1), match.span()
    return None


def _orders(
    text: str, mentions: list[Mention], found: dict[int, Cue], used: list[tuple[int, int]]
) -> None:
    """Lists in order: "from left: A, B and C", "A, B and C (L-R)", "A, from left, B and C"."""
    starts = [mention.start for mention in mentions]
    blocked = {start for start, _ in used}
    taken: set[int] = set()
    for match in ORDER.finditer(text):
        nth = next(
            (
                m
                for m in NTH.finditer(text, max(0, match.start() - 20), match.end() + 8)
                if m.start() < match.start() < m.end()
            ),
            None,
        )
        if (
            nth
            or match.start() in blocked
            or AROUND.search(text, max(0, match.start() - 40), match.start())
        ):
            continue
        side = "left" if match["ltr"] else "right"
        used.append(match.span())
        first = bisect_left(starts, match.end())
        members = _forward(text, mentions, match.end(), first)
        tail = re.compile(r"\s*[)\]]?\s*(?P<mark>[,:])?").match(text, match.end())
        inside = text[max(0, match.start() - 4) : match.start()].rstrip()[-1:] in {"(", "["}
        before = first - 1
        if before >= 0 and re.fullmatch(
            r"(?:['’]s)?\s*,?\s*[(\[]?\s*", text[mentions[before].end : match.start()]
        ):
            if inside or not members or not (tail and tail["mark"] == ","):
                back = _backward(text, mentions, before)
                members = back if len(back) > 1 else members
            else:
                members = [before, *members]
        members = [member for member in members if member not in taken]
        places, size = _count(text, mentions, members, match.end())
        for place, member in zip(places, members, strict=True):
            taken.add(member)
            found.setdefault(member, Cue(side, place, size if size > 1 else None))


def _count(
    text: str, mentions: list[Mention], members: list[int], start: int
) -> tuple[list[int], int]:
    """Places in a list, with those whom it calls unknown: "A, unidentified, B"."""
    places, place = [], 0
    for member in members:
        if start <= mentions[member].start:
            place += len(NOBODY.findall(text, start, mentions[member].start))
        place += 1
        places.append(place)
        start = mentions[member].end
    if members:
        rest = re.compile(rf"(?:\s*(?:,|;|and|und|y|et|&)\s*(?:an? |ein )?{NOBODY.pattern})*", re.I)
        tail = rest.match(text, start)
        place += len(NOBODY.findall(tail.group())) if tail else 0
    return places, place


def _forward(text: str, mentions: list[Mention], start: int, at: int) -> list[int]:
    """The mentions of the list that starts after an order."""
    members: list[int] = []
    ended = False
    while at < len(mentions) and not ended:
        gap = text[start : mentions[at].start]
        if len(gap) > REACH:
            break
        if members:
            joins = re.search(r",|;|\b(?:and|und|y|e|et|i|och|og|en|ve)\b|&|\n", gap)
            whole = LIST_GAP.fullmatch(gap) or ONLY.fullmatch(gap)
            if (
                not joins
                or not whole
                or ORDER.search(gap)
                or re.search(r"\brow\b|\breihe\b|\bfila\b|\brang\b", gap)
            ):
                break
            ended = re.search(r"\b(?:and|und|y|et)\b", gap) is not None and "," not in gap
        elif re.search(r"[.;\n]\s", re.sub(r"\b[^\W\d_]{1,5}\.", "", gap.strip(" )]:")) + " "):
            break
        members.append(at)
        start = mentions[at].end
        at += 1
    return members


def _backward(text: str, mentions: list[Mention], at: int) -> list[int]:
    """The mentions of the list that ends before an order."""
    members = [at]
    while at > 0:
        gap = text[mentions[at - 1].end : mentions[at].start]
        if (
            len(gap) > REACH
            or not re.match(r"\s*(?:,|and\b|und\b|y\b|et\b|&)", gap)
            or not LIST_GAP.fullmatch(gap)
        ):
            break
        at -= 1
        members.insert(0, at)
    return members


def _ahead(
    text: str, mentions: list[Mention], found: dict[int, Cue], used: list[tuple[int, int]]
) -> None:
    """A cue before a name: "Links Anna", "A la derecha, el padrino Paco", "Front row: A and B"."""
    starts = [mention.start for mention in mentions]
    covered = sorted([*used, *((m.start, m.end) for m in mentions)])
    begins = [start for start, _ in covered]
    for match in _all_cues(text):
        near = bisect_left(begins, match.end()) - 1
        if near >= 0 and covered[near][1] > match.start():
            continue
        head = text[max(0, match.start() - 3) : match.start()]
        opens = not head.strip() or head.rstrip()[-1:] in {
            ".",
            ":",
            ";",
            "(",
            "\n",
            "-",
            "–",
            "—",
            ",",
        }
        joined = re.search(
            r"\b(?:and|und|y|e|et)\s$", text[max(0, match.start() - 5) : match.start()]
        )
        if not opens and not joined:
            continue
        first = bisect_left(starts, match.end())
        if first == len(mentions):
            break
        gap = text[match.end() : mentions[first].start]
        if len(gap) > REACH or re.search(r"[.;\n(]\s?|,.*,", re.sub(r"\b\w{1,4}\.", "", gap)):
            continue
        if re.search(r"\b(?:of|de|von|des|du)\s*$", gap) and not re.search(r"[,:]", gap):
            continue
        if SIDES.search(gap):
            continue  # "rechts Papa, links Jule"
        marked = re.match(r"\s*(?:row)?\s*[:,]", gap) is not None
        small = WEAK.match(match.group().strip()) is not None and re.search(
            "[a-z]", match.group()[:1]
        )
        if small and not marked and not joined and not _spoken(match.group()):
            continue
        side = side_of(match)
        shared = _beside(text, mentions, first, listed=":" in gap)
        if not shared and side in {"back", "front", "top", "bottom"}:
            shared = _coupled(text, mentions, first)
        for member in [first, *shared]:
            found.setdefault(member, Cue(side, place_of(match)))


def _coupled(text: str, mentions: list[Mention], at: int) -> list[int]:
    """The second of two who share a row: "hinten Uwe und Petra"."""
    if at + 1 == len(mentions):
        return []
    gap = text[mentions[at].end : mentions[at + 1].start]
    return [at + 1] if re.fullmatch(r"\s(?:and|und|y|e|et|&)\s", gap) else []


def _spoken(cue: str) -> bool:
    """German, Spanish and French words that are no verb may stand before a name without a mark."""
    return (
        re.match(r"(?:vorn|hinten|oben|unten|arriba|abajo|detr|delante)", cue, re.IGNORECASE)
        is not None
    )


def _all_cues(text: str) -> Iterator[re.Match[str]]:
    """All cues in order; of two that overlap the earlier, "second from left" before "left"."""
    found = [*NTH.finditer(text), *SIDES.finditer(text)]
    end = 0
    for match in sorted(found, key=lambda match: (match.start(), -match.end())):
        if match.start() >= end:
            end = match.end()
            yield match


def _beside(text: str, mentions: list[Mention], at: int, *, listed: bool) -> list[int]:
    """Names listed right after one: with a colon before them, all share the cue."""
    members: list[int] = []
    while listed and at + 1 < len(mentions):
        if not ONLY.fullmatch(text[mentions[at].end : mentions[at + 1].start].split("(")[0]):
            gap = text[mentions[at].end : mentions[at + 1].start]
            if (
                len(gap) > 30
                or not re.match(r"\s*(?:,|and\b|und\b|y\b|et\b)", gap)
                or re.search(r"[.;:(]\s", gap)
            ):
                break
        at += 1
        members.append(at)
    return members
