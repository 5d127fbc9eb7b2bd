"""Who belongs to a list of people in order: "from left: A, city manager; B; and C, head of D"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from candidly.photos.names.cue_phrases import words
from candidly.photos.names.cue_unnamed import (
    BRACKETS,
    ends_with_name,
    is_title,
    unnamed_after,
    unnamed_before,
    unnamed_between,
)
from candidly.photos.records import Mention

REACH = 160  # characters between two people of a list
_NARROW = 60  # the same where no comma and no "and" joins them
_ENDS = re.compile(
    r"[.!?][\"”»'’)\]]{0,2}(?=\s{1,3}[\"“„«'‘(\[¿¡]?[A-ZÀ-Þ0-9]|\s{0,3}\Z)|\n\s{0,3}\n"
)
# The dot of a number, an initial or a word that can only be short ends no sentence.
_NO_END = re.compile(
    r"(?:(?<!\w)\w|(?<!\w)\d{1,2}|(?<!\w)[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]{2,5}|\.\w{1,2}"
    r"|(?<!\w)(?:Reps|Sens|Profs|Drs|Mag|Dipl|Prof|Univ|Dir|Abg|Min|Präs|Vors|Ing|Lic|Arq"
    r"|Excmo|Ilmo|Mons|izda|izq|dcha|der|v\. ?li|v\. ?re|U\.S))\.$"
)


class PeopleLists:
    """The people named in a text, as far as it lists them one after the other.

    Parameters
    ----------
    text : str
    mentions : sequence of Mention
        Sorted, apart from each other.
    stops : sequence of int
        Where a list cannot go on: the starts of other orders and rows.
    """

    def __init__(self, text: str, mentions: Sequence[Mention], stops: Sequence[int]) -> None:
        self.text = text
        self.mentions = mentions
        self.starts = [mention.start for mention in mentions]
        self.stops = stops
        self.ends = [
            match.end()
            for match in _ENDS.finditer(text)
            if text[match.start()] != "."
            or not _NO_END.search(text, max(0, match.start() - 8), match.start() + 1)
        ]

    def apart(self, start: int, end: int) -> bool:
        """Return whether two places in the text are too far from each other, or a sentence ends."""
        at = bisect_left(self.ends, start + 1)
        return end - start > REACH or (at < len(self.ends) and self.ends[at] <= end)

    def after(self, start: int) -> list[int]:
        """Return the people listed from a place in the text on."""
        at = bisect_left(self.starts, start)
        stop = self.stop_after(start)
        if (
            at == len(self.mentions)
            or self.starts[at] >= stop
            or self.apart(start, self.starts[at])
        ):
            return []
        return self.going_on([at], stop)

    def going_on(self, members: list[int], stop: int | None = None) -> list[int]:
        """Return a list with all who follow its last member."""
        members = list(members)
        at = members[-1] + 1
        stop = self.stop_after(self.mentions[members[-1]].end) if stop is None else stop
        closed, told, sure = False, False, len(members)
        while at < len(self.mentions) and self.starts[at] < stop:
            last = self.mentions[members[-1]].end
            if self.apart(last, self.starts[at]):
                break
            gap = BRACKETS.sub("", self.text[last : self.starts[at]])
            if not _theirs(self.text[max(last, self.mentions[at - 1].end) : self.starts[at]]):
                join = _joined(gap, closed=closed)
                if not join and (told or len(members) == 1) and _told(gap):
                    told, join = True, ","  # "A sings with B and C as D looks on"
                if not join:
                    break
                members.append(at)
                # After "A, B and C, D" only another "and" shows that the list has gone on.
                going = join == "and" or told or ";" in gap
                sure = len(members) if going or not closed else sure
                closed = closed or join == "and"
            at += 1
        return members[:sure]

    def before(self, at: int) -> list[int]:
        """Return the people of the list that ends with one."""
        members = [at]
        while members[-1] > 0:
            gap = self._gap(members[-1])
            if gap is None or not _goes_on().match(gap) or not _joined(gap, closed=False):
                break
            members.append(members[-1] - 1)
        return members[::-1]

    def told_before(self, at: int) -> list[int]:
        """Return somebody and whom he is shown with: "A meets B (from left)"."""
        gap = self._gap(at) if at > 0 else None
        return [at - 1, at] if gap is not None and _told(gap) else [at]

    def counted(self, members: Sequence[int], order: tuple[int, int]) -> tuple[list[int], int]:
        """Return the places of a list's people and its size, with those who have no mention.

        ``order`` is the span of the words that tell the order, before, in or after the list.
        """
        first, last = self.mentions[members[0]], self.mentions[members[-1]]
        gaps = [
            self.text[self.mentions[one].end : self.starts[other]]
            for one, other in pairwise(members)
        ]
        apart = bool(gaps) and all(";" in gap for gap in gaps)
        place = 0
        if order[1] <= first.start:
            place = unnamed_between(self.text[order[1] : first.start], first=True, apart=apart)
            begins = self.text[order[1] : first.start].lstrip()[:1] == ","
            place += begins and ends_with_name(self.text[max(0, order[0] - REACH) : order[0]])
        elif len(members) > 1:
            place = unnamed_before(self.text[self._sentence(first.start) : first.start])
        places = [place + 1]
        between = [unnamed_between(gap, first=False, apart=apart) for gap in gaps]
        if len(between) > 1 and all(between):
            between = [0] * len(gaps)  # "A, Team Sky, B, Team Ineos": after everybody what he is
        for number in between:
            places.append(places[-1] + number + 1)
        at = bisect_left(self.ends, last.end)
        ends = [
            last.end + REACH,
            *self.ends[at : at + 1],
            *self.starts[members[-1] + 1 : members[-1] + 2],
        ]
        closed = bool(gaps) and _joined(BRACKETS.sub("", gaps[-1]), closed=False) == "and"
        rest = self.text[last.end : min(ends)].rstrip(".")
        return places, places[-1] + unnamed_after(rest, closed=closed, apart=apart)

    def _sentence(self, start: int) -> int:
        """Return where the sentence begins, the name before ends, or what is too far away."""
        at, name = bisect_left(self.ends, start) - 1, bisect_left(self.starts, start) - 1
        begins = [0, start - REACH]
        begins += self.ends[at : at + 1] if at >= 0 else []
        begins += [self.mentions[name].end] if name >= 0 else []
        return max(begins)

    def _gap(self, at: int) -> str | None:
        """Return the text between somebody and the one before; None where a list cannot go on."""
        start, end = self.mentions[at - 1].end, self.starts[at]
        if self.apart(start, end) or self.stop_after(start) < end:
            return None
        return BRACKETS.sub("", self.text[start:end])

    def stop_after(self, start: int) -> int:
        """Return where a list from a place on has to end, since another order or row begins."""
        at = bisect_left(self.stops, start)
        return self.stops[at] if at < len(self.stops) else len(self.text)


@cache
def _joins() -> str:
    return rf"{words('join')}|[&+]"


@cache
def _goes_on() -> re.Pattern[str]:
    """Return the pattern of what follows a name in a list."""
    return re.compile(rf"\s*(?:[,;&+/]|--|[–—]|(?:{words('join')}|{words('of')})\b)", re.IGNORECASE)


@cache
def _beyond() -> re.Pattern[str]:
    """Return the pattern of what joins another pair: " of Boston and "."""
    return re.compile(
        rf"(?:\s(?:{words('of')}|from)(?:\s[\w.'’-]+){{1,4}})?\s(?:{words('join')})\s*",
        re.IGNORECASE,
    )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _last_join(gap: str) -> re.Match[str] | None:
    joins = list(
        _pattern(rf"[,;\n/]|(?:^\s*(?:--|[–—])(?=\s*$))|(?<!\w)(?P<and>{_joins()})(?!\w)").finditer(
            gap
        )
    )
    return joins[-1] if joins else None


def _joined(gap: str, *, closed: bool) -> str:
    """Return what joins two people of a list, "," or "and"; nothing where they are not joined.

    In a list that an "and" has closed only a name that follows at once goes on with it.
    """
    if "\n" in gap and not _pattern(rf"\s*[,;]?\s*(?:{_joins()})?\s*").fullmatch(gap):
        return ""
    join = _last_join(gap)
    if join is None:
        return ""
    ahead = gap[join.end() :]
    if _pattern(rf"(?<!\w)(?:{words('off')})(?!\w)").search(ahead):
        return ""
    if closed and ";" not in gap and not _beyond().fullmatch(_without_titles(gap) + " "):
        small = [word for word in re.findall(r"[^\W\d_]+", ahead) if word[0].islower()]
        if not re.match(r"\s*[,;]", gap) or any(not is_title(word) for word in small):
            return ""
    return "and" if join["and"] else ","


def _told(gap: str) -> bool:
    """Return whether a sentence goes from one person to the other: " sings with "."""
    if len(gap) > _NARROW or re.search(r"[;:\n(]", gap):
        return False
    return _pattern(rf"(?:.*\W)?(?:{words('aside')})").fullmatch(_without_titles(gap)) is not None


def _theirs(gap: str) -> bool:
    """Return whether somebody is named for another: "wife of X"."""
    return _pattern(rf"(?:.*\W)?(?:{words('of')})").fullmatch(_without_titles(gap)) is not None


def _without_titles(gap: str) -> str:
    """Return the text before a name without titles: " with President " is " with"."""
    before = gap.rstrip()
    while (cut := before.rstrip().rfind(" ")) >= 0 and is_title(before[cut + 1 :]):
        before = before[:cut]
    return before.rstrip()
