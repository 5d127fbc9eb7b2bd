"""What is written about a photo: in the ways that picture desks and families write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from benchmarks.album import words
from benchmarks.album.people import Person

Rng = np.random.Generator


class Shown(NamedTuple):
    """Somebody in a photo, and whether the caption names them."""

    person: Person
    named: bool


@dataclass(frozen=True)
class Shot:
    """What a caption is about: rows from back to front, each from left to right."""

    kind: str
    rows: tuple[tuple[Shown, ...], ...]
    absent: tuple[Person, ...] = ()
    credit: bool = False

    @property
    def shown(self) -> tuple[Shown, ...]:
        """Everybody in the photo."""
        return tuple(shown for row in self.rows for shown in row)

    @property
    def named(self) -> list[Person]:
        """Those whom the caption names."""
        return [shown.person for shown in self.shown if shown.named]


@dataclass(frozen=True)
class Written:
    """A caption, whom it mentions, how it spells a name wrongly, and what is special in it."""

    text: str
    mentioned: tuple[str, ...]
    spelled: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


def write(shot: Shot, rng: Rng) -> Written:
    """Write a caption for a photo."""
    text, tags = KINDS[shot.kind](shot, rng)
    absent = list(shot.absent)
    if absent and "{absent}" in text:
        text = text.replace("{absent}", listed([person.name for person in absent]))
    elif absent:
        many = words.ABSENT if len(absent) == 1 else words.ABSENT_MANY
        language = words.LANGUAGES.get(tags[-1]) if tags else None
        sentence = language.absent if language and len(absent) == 1 else _one(rng, many)
        joint = language.joint if language else "and"
        text += " " + sentence.format(names=listed([person.name for person in absent], joint))
    if absent:
        tags = (*tags, "absent")
    if shot.credit:
        who = _one(rng, words.PHOTOGRAPHERS)
        text += " " + _one(rng, words.CREDITS).format(who=who)
        tags = (*tags, "credit")
    spelled = {}
    if shot.kind == "typo":
        person = shot.named[0]
        wrong = f"{person.given} {mistyped(person.surname, rng)}"
        text, spelled = text.replace(person.name, wrong, 1), {person.name: wrong}
    mentioned = tuple(person.name for person in [*shot.named, *absent])
    return Written(text, mentioned, spelled, tags)


def listed(names: list[str], joint: str = "and") -> str:
    """Names as a sentence lists them.

    Examples
    --------
    >>> listed(["Ann", "Bob", "Cem"])
    'Ann, Bob and Cem'
    """
    return f" {joint} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def mistyped(word: str, rng: Rng) -> str:
    """Two letters inside a word, swapped."""
    places = [k for k in range(1, len(word) - 1) if word[k] != word[k + 1]]
    k = int(rng.choice(places))
    return word[:k] + word[k + 1] + word[k] + word[k + 2 :]


Answer = tuple[str, tuple[str, ...]]


def _one(rng: Rng, options: Any) -> str:
    return options[int(rng.integers(len(options)))]


def _names(shot: Shot, joint: str = "and") -> str:
    return listed([person.name for person in shot.named], joint)


def _plain(shot: Shot, rng: Rng) -> Answer:
    event = _one(rng, words.EVENTS)
    return _one(rng, words.PLAIN).format(names=_names(shot), event=event), ()


def _typo(shot: Shot, rng: Rng) -> Answer:
    return _plain(shot, rng)[0], ("typo",)


def _absent(shot: Shot, rng: Rng) -> Answer:
    if rng.random() < 0.5:
        return _plain(shot, rng)[0], ()
    return _one(rng, words.MEETING).format(names=_names(shot), absent="{absent}"), ()


def _sides(shot: Shot, rng: Rng) -> Answer:
    event = _one(rng, words.EVENTS)
    (row,) = shot.rows
    if len(shot.named) == 1:
        side = "left" if row[0].named else "right"
        form = _one(rng, words.ALONE["sides"])
        return form.format(name=shot.named[0].name, place=side, event=event), ("cue",)
    left, right = words.SIDES[int(rng.integers(len(words.SIDES)))]
    first, second = shot.named
    order = [first.name + left, second.name + right]
    joined = listed(order if rng.random() < 0.7 else order[::-1])
    return f"{joined} {event}.", ("cue",)


def _order(shot: Shot, rng: Rng) -> Answer:
    (row,) = shot.rows
    names = [who.person.name if who.named else words.UNKNOWN[who.person.woman] for who in row]
    form = _one(rng, words.ORDERS if len(shot.named) == len(row) else words.ORDERS[:1])
    if rng.random() < 0.2:
        form, names = words.BACKWARDS, names[::-1]
    return form.format(names=listed(names), event=_one(rng, words.EVENTS)), ("cue",)


def _nth(shot: Shot, rng: Rng) -> Answer:
    (row,) = shot.rows
    at = next(k for k, who in enumerate(row) if who.named)
    from_right = len(row) - 1 - at
    side, place = ("left", at) if at <= from_right else ("right", from_right)
    where = f"{words.ORDINALS[place]} from {side}" if place else side
    event = _one(rng, words.EVENTS)
    form = _one(rng, words.ALONE["nth"])
    return form.format(name=row[at].person.name, place=where, event=event), ("cue",)


def _rows(shot: Shot, rng: Rng) -> Answer:
    back, front = ([who.person.name for who in row] for row in shot.rows)
    event = _one(rng, words.EVENTS)
    opening = event[0].upper() + event[1:]
    text = f"{opening}. Front row, from left: {listed(front)}. Back row, from left: {listed(back)}."
    return text, ("cue", "rows")


def _title(shot: Shot, rng: Rng) -> Answer:
    names = [person.name for person in shot.named]
    names[0] = f"{_one(rng, words.TITLES[shot.named[0].woman])} {names[0]}"
    event = _one(rng, words.EVENTS)
    return _one(rng, words.PLAIN[:2]).format(names=listed(names), event=event), ("title",)


def _surname(shot: Shot, rng: Rng) -> Answer:
    one, other, *more = sorted(shot.named, key=lambda p: [q.surname for q in shot.named].count(
        p.surname) < 2)  # fmt: skip
    both = f"{one.given} and {other.given} {other.surname}"
    rest = f" with {listed([person.name for person in more])}" if more else ""
    return f"{both}{rest} {_one(rng, words.EVENTS)}.", ("surname",)


def _foreign(shot: Shot, rng: Rng) -> Answer:
    code = _one(rng, sorted(words.LANGUAGES))
    language = words.LANGUAGES[code]
    whole = len(shot.named) == len(shot.shown)
    if whole and len(shot.named) > 2:
        return language.order.format(names=_names(shot, language.joint)), ("foreign", "cue", code)
    form = _one(rng, language.plain)
    if whole and len(shot.named) == 2 and rng.random() < 0.6:
        one, other = (person.name for person in shot.named)
        pair = f"{one} ({language.left}) {language.joint} {other} ({language.right})"
        return form.format(names=pair), ("foreign", "cue", code)
    return form.format(names=_names(shot, language.joint)), ("foreign", code)


def _again(shot: Shot, rng: Rng) -> Answer:
    person = shot.named[int(rng.integers(len(shot.named)))]
    text, _ = _plain(shot, rng)
    return f"{text} {_one(rng, words.AGAIN).format(surname=person.surname)}", ("again",)


def _nobody(shot: Shot, rng: Rng) -> Answer:
    return _one(rng, words.NOBODY).format(event=_one(rng, words.EVENTS)), ("nobody",)


KINDS: dict[str, Callable[[Shot, Rng], Answer]] = {
    "plain": _plain,
    "sides": _sides,
    "order": _order,
    "nth": _nth,
    "rows": _rows,
    "absent": _absent,
    "title": _title,
    "surname": _surname,
    "foreign": _foreign,
    "again": _again,
    "typo": _typo,
    "nobody": _nobody,
}
