"""Places that a text gives to people: "(L)", "second from right", "von links", "front row: …".

``cue_phrases`` finds the words, ``cue_lists`` the people who are listed one after the other; here
each phrase is given to the people that it is about.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from functools import cache

from candidly.photos.names.cue_lists import PeopleLists
from candidly.photos.names.cue_phrases import DEPTHS, POSES, Phrase, find_phrases, words
from candidly.photos.names.tokens import PARTY, SHORT
from candidly.photos.records import Cue, Mention

_REACH = 60  # characters between a phrase and the name it is about
_PARTY = re.compile(PARTY)
# The dot of "Cpl. Robert" ends no list.
_SHORTENED = re.compile(
    rf"\b({'|'.join(sorted(SHORT - {'jr', 'sr'}))})\.(?=\s[A-Z])", re.IGNORECASE
)
_BRACKET = re.compile(r"[(\[][^()\[\]\n]{1,120}[)\]]")
_DIRECT = re.compile(r"(?:['’]s)?\s*,?\s*")
# "Evo Morales a España (primero por la derecha)", "Ann Lee of Boston (L)"
_OF_PLACE = re.compile(
    r"\s(?:of|from|in|for|a|de|del|en|von|vom|aus|im|du|des|au)(?:\s[\w.'’-]{1,30}){1,4}\s*"
)
_PICTURE = (
    r"(?:\s(?:of|in|on|de|en|sur|im|auf|del|da|della|dans)\s?(?:the |dem |la |l['’]|le |el )?"
    r"(?:picture|photo(?:graph|graphie)?|image|imagen|foto(?:graf[ií]a)?|bild|frame|group|grupo))?"
)
_EDGE = re.compile(
    rf"{_PICTURE}\s*(?:[-–—,.;:/)\]\n]|$|(?:and|und|y|e|et|with|mit|con|avec|is|are|was|sowie|neben"
    r"|next|og|och|en)\b)",
    re.IGNORECASE,
)


def add_cues(text: str, mentions: list[Mention]) -> list[Mention]:
    """Return the mentions with what the text says about their place.

    Examples
    --------
    >>> two = [Mention("Anna", 12, 16), Mention("Tom", 21, 24)]
    >>> [m.cue for m in add_cues("From right: Anna and Tom.", two)]
    [Cue(side='right', place=1, of=2, row=None), Cue(side='right', place=2, of=2, row=None)]
    """
    found = _Reading(text, mentions).found() if mentions else {}
    return [replace(m, cue=found[at]) if at in found else m for at, m in enumerate(mentions)]


class _Reading:
    """A text while its phrases are given to the people it names."""

    def __init__(self, text: str, mentions: list[Mention]) -> None:
        text = _PARTY.sub(lambda match: " " * len(match.group()), text)
        self.text = _SHORTENED.sub(r"\1 ", text)
        self.mentions = mentions
        self.starts = [mention.start for mention in mentions]
        self.phrases = [phrase for phrase in find_phrases(self.text) if not self._in_name(phrase)]
        self.begins = [phrase.start for phrase in self.phrases]
        self.brackets = [match.span() for match in _BRACKET.finditer(self.text)]
        self.opens = [start for start, _ in self.brackets]
        stops = [phrase.start for phrase in self.phrases if self._stops(phrase)]
        self.people = PeopleLists(self.text, mentions, stops)
        self.cues: dict[int, Cue] = {}
        self.ranks: dict[int, int] = {}
        self.posed: set[int] = set()
        self.order: Phrase | None = None  # the last one: "front row from left: A; back row: B"

    def found(self) -> dict[int, Cue]:
        """Return the cue of each mention that has one."""
        for phrase in self.phrases:
            if phrase.order:
                self._list(phrase)
            elif not self._after_name(phrase):
                self._before_name(phrase)
        rows = _rows(set(self.ranks.values()))
        placed = {
            at: replace(cue, row=rows[self.ranks[at]]) if at in self.ranks else cue
            for at, cue in self.cues.items()
        }
        # Where all sit, "seated" tells nobody from another.
        return {at: cue for at, cue in placed.items() if cue.row or at not in self.posed}

    def _in_name(self, phrase: Phrase) -> bool:
        at = bisect_left(self.starts, phrase.end) - 1
        return at >= 0 and self.mentions[at].end > phrase.start

    def _stops(self, phrase: Phrase) -> bool:
        """Return whether no list goes on over a phrase: "; in the background D"."""
        if phrase.order or self._heads(phrase):
            return True
        if not phrase.sure or phrase.pose or self._outside(phrase)[0] < phrase.start:
            return False
        opens = self.text[max(0, phrase.start - 2) : phrase.start].rstrip()[-1:] in {";", "."}
        return opens or not _EDGE.match(self.text, phrase.end)

    def _heads(self, phrase: Phrase) -> bool:
        """Return whether a phrase is the heading of those who follow: "Back row:"."""
        dash = phrase.row and _DASH.match(self.text, phrase.end)
        if dash or _HEADING.match(self.text, phrase.end):
            return True
        at = bisect_left(self.starts, phrase.end)
        if not phrase.row or at == len(self.mentions) or self.starts[at] > phrase.end + _REACH:
            return False
        return bool(_THEN_NAME.fullmatch(self.text, phrase.end, self.starts[at]))

    def _outside(self, phrase: Phrase) -> tuple[int, int]:
        """Return the span of the brackets around a phrase alone, or its own."""
        at = bisect_right(self.opens, phrase.start) - 1
        if at >= 0 and self.brackets[at][1] > phrase.start:
            start, end = self.brackets[at]
            first = bisect_left(self.starts, start)
            if first == len(self.starts) or self.starts[first] >= end:
                return start, end
        return phrase.start, phrase.end

    def _list(self, phrase: Phrase) -> None:
        """Give places to a list in order: "from left: A, B and C", "A, B and C (L-R)"."""
        self.order = phrase
        start, end = self._outside(phrase)
        people = self.people
        last = bisect_left(self.starts, start) - 1
        colon = re.compile(r"\s*[:;]").match(self.text, end) is not None
        ahead = people.after(end) if colon or self._leads(end, start < phrase.start) else []
        members = ahead
        if last >= 0 and not people.apart(self.mentions[last].end, start):
            direct = _BESIDE.fullmatch(self.text, self.mentions[last].end, start)
            back = people.before(last)
            if direct and not (ahead and (colon or self._named_at(end))):
                if len(back) == 1:
                    back = people.going_on(back, people.stop_after(end))
                members = back if len(back) > 1 else people.told_before(last)
            elif not ahead and (start < phrase.start or _EDGE.match(self.text, end)):
                members = back if len(back) > 1 else people.told_before(last)
                members = members if len(members) > 1 else []
        self._place(members, (start, end), phrase.side, phrase.rank)

    def _named_at(self, end: int) -> bool:
        """Return whether a name follows an order at once: ", vorne v.l. Ann"."""
        at = bisect_left(self.starts, end)
        return self.text[end - 1] != ")" and bool(
            _TITLED.fullmatch(self.text, end, min(self.starts[at], end + _REACH))
        )

    def _leads(self, end: int, bracketed: bool) -> bool:
        """Return whether people are listed after an order, and it is no direction of a movement."""
        at = bisect_left(self.starts, end)
        if at == len(self.starts) or self.starts[at] - end > 2 * _REACH:
            return False
        gap = self.text[end : self.starts[at]]
        marked = re.match(r"\s*[,)\]]", gap) or re.search(r":|\b(?:are|sind|son|sont)\b", gap)
        return bracketed or bool(marked) or not _MOVING.search(gap)

    def _place(
        self, members: list[int], order: tuple[int, int], side: str | None, rank: int | None
    ) -> None:
        if not members:
            return
        places, size = self.people.counted(members, order)
        for place, member in zip(places, members, strict=True):
            self.cues[member] = Cue(str(side), place, size if size > 1 else None)
            if rank is not None:
                self.ranks[member] = rank

    def _after_name(self, phrase: Phrase) -> bool:
        """Give the place after a name: in brackets, between commas, or "is on the left"."""
        start, _ = self._outside(phrase)
        at = bisect_left(self.starts, start) - 1
        if at < 0 or start - self.mentions[at].end > 2 * _REACH or phrase.pose:
            return False
        name_end = self.mentions[at].end
        edge = _EDGE.match(self.text, phrase.end) is not None
        if start < phrase.start:
            alone = edge and _apart().fullmatch(self.text, start, phrase.start)
            near = _DIRECT.fullmatch(self.text, name_end, start) or _OF_PLACE.fullmatch(
                self.text, name_end, start
            )
            belongs = bool(near) and (phrase.sure or bool(alone))
        else:
            lead = _lead().fullmatch(self.text, name_end, start)
            marked = lead is not None and lead["comma"] is not None
            belongs = lead is not None and edge and (marked or phrase.sure)
            belongs = belongs and not _HEADING.match(self.text, phrase.end)
            # "Links Ann, rechts, Bob": a name that has its place already
            belongs = belongs and not (at in self.cues and self._opens_name(phrase))
        if belongs and phrase.side is not None and at not in self.cues:
            self._give(at, phrase)
        return belongs

    def _opens_name(self, phrase: Phrase) -> bool:
        at = bisect_left(self.starts, phrase.end)
        return at < len(self.starts) and bool(
            re.compile(r"\s*,\s*").fullmatch(self.text, phrase.end, self.starts[at])
        )

    def _before_name(self, phrase: Phrase) -> None:
        """Give the place before a name: "Links Anna", "A la derecha, Paco", "Front row: A, B"."""
        head = self.text[max(0, phrase.start - 5) : phrase.start]
        opens = not head[-3:].strip() or head.rstrip()[-1] in ".:;([-–—,/"
        joined = re.search(rf"(?<!\w)(?:{words('join')})\s$", head) is not None
        first = bisect_left(self.starts, phrase.end)
        heads = self._heads(phrase)
        opens = opens or joined or (heads and self.text[phrase.start].isupper())
        if first == len(self.starts) or not opens or (phrase.pose and not heads):
            return
        gap = self.text[phrase.end : min(self.starts[first], phrase.end + 2 * _REACH)]
        following = bisect_left(self.begins, phrase.end)
        if following < len(self.begins) and self.begins[following] < self.starts[first]:
            return  # "rechts Papa, links Jule"
        if self.people.apart(phrase.end, self.starts[first]) or len(gap) > (
            2 * _REACH if heads else _REACH
        ):
            return
        if not heads and re.search(r"[.;\n(]\s?|,.*,", re.sub(r"\b\w{1,4}\.", "", gap)):
            return
        if re.search(r"\b(?:of|de|von|des|du)\s*$", gap) and not re.search(r"[,:]", gap):
            return
        if not phrase.sure and not heads and not re.match(r"\s*,", gap):
            return
        if not heads and gap.startswith(")") and not _THEN_NAME.fullmatch(gap):
            return  # "Ann (à esq.) e recebe o Oscar"
        self._give_all(phrase, first, heads)

    def _give_all(self, phrase: Phrase, first: int, heads: bool) -> None:
        """Give a place, or the places of a row, to those whom a phrase stands before."""
        depth = phrase.rank if phrase.row else DEPTHS.get(str(phrase.side))
        members = self.people.after(phrase.end) if heads else [first]
        if not heads and depth is not None and first + 1 < len(self.starts):
            gap = self.text[self.mentions[first].end : self.starts[first + 1]]
            if re.fullmatch(rf"\s(?:{words('join')}|&)\s", gap):
                members.append(first + 1)  # "hinten Uwe und Petra"
        rows = depth is not None and self.order and (phrase.row or self.order.rank is not None)
        span = (phrase.start, phrase.end)
        if self.order and rows and members and self.people.counted(members, span)[1] > 1:
            self._place(members, span, self.order.side, depth)
            return
        for member in members:
            if phrase.side is not None and member not in self.cues:
                self._give(member, phrase)

    def _give(self, at: int, phrase: Phrase) -> None:
        self.cues[at] = Cue(str(phrase.side), phrase.place)
        if phrase.rank is not None:
            self.ranks[at] = phrase.rank
        if phrase.pose:
            self.posed.add(at)


# Words between a name and the order of its list: "A and B, pictured from left".
_BESIDE = re.compile(
    r"(?:['’]s)?\s*,?\s*(?:pictured|shown|seen|standing|seated|im Bild|en la (?:foto|imagen))?\s*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:\s+row)?\s*[)\]]?\s*:|\s+(?:are|is|were|sind|son|sont)\b", re.IGNORECASE)
_DASH = re.compile(r"\s*[)\]]?\s*(?:[–—]|-\s)")
_TITLES = r"(?:(?:[A-Z][\w.'’-]{0,15}|der|die|la|el|le)\s+){0,3}"
_TITLED = re.compile(rf"\s+{_TITLES}")
_THEN_NAME = re.compile(rf"\s*[,)\]]?\s*{_TITLES}")
# "walks from left to right past Ann"
_MOVING = re.compile(
    r"\b(?:past|into|in|to|through|at|on|with|during|auf|in|durch|an|mit|bei|zu|vor|en|por|con|al"
    r"|par|dans|sur|avec|vers|field)\b"
)


@cache
def _lead() -> re.Pattern[str]:
    """Return the pattern of what stands between a name and its place."""
    shown = rf"(?:(?:{words('shown')})\s+)?"
    # ", 42, director of the museum, left": what somebody is stands before where
    told = rf"(?:(?!(?:{words('off')}|which)\b)(?:[^.;:\n]|\.(?=,)))*"
    what = rf"\s*(?:[,(]|(?:{words('of')}|from|aus)\s){told}"
    return re.compile(
        rf"(?P<comma>(?:{what})?\s*(?:,|\s[-–—])\s*{shown})|\s+(?:(?:{words('is')})\s+{shown})?",
        re.IGNORECASE,
    )


@cache
def _apart() -> re.Pattern[str]:
    """Return the pattern of what stands in brackets before a place: "(pictured "."""
    return re.compile(rf"[(\[](?:.*[,;/])?\s*(?:(?:{words('shown')})\s+)?", re.IGNORECASE)


def _rows(ranks: set[int]) -> dict[int, str | None]:
    """Return the rows of a text by their ranks: the lowest is in front, the highest at the back."""
    if len(ranks) > 1:
        ends = {min(ranks): "front", max(ranks): "back"}
        return {rank: ends.get(rank, "middle") for rank in ranks}
    alone = dict.fromkeys(ranks, "middle") | {0: "front", 6: "back"}
    return alone | dict.fromkeys(POSES, None)
