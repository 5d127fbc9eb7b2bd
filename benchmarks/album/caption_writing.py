"""Writes captions of photos, in the style of news agencies and of families."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from benchmarks.album import sentences
from benchmarks.album.invented_people import InventedPerson

Rng = np.random.Generator


class ShownPerson(NamedTuple):
    """A person in a photo, and whether the caption names them."""

    person: InventedPerson
    named: bool


@dataclass(frozen=True)
class PlannedPhoto:
    """The people of a photo (rows from back to front, each from left to right), and its caption."""

    kind: str
    rows: tuple[tuple[ShownPerson, ...], ...]
    absent: tuple[InventedPerson, ...] = ()
    credit: bool = False

    @property
    def shown(self) -> tuple[ShownPerson, ...]:
        """All people in the photo."""
        return tuple(shown for row in self.rows for shown in row)

    @property
    def named(self) -> list[InventedPerson]:
        """People named by the caption."""
        return [shown.person for shown in self.shown if shown.named]


@dataclass(frozen=True)
class WrittenCaption:
    """A caption, the people it mentions, the names it misspells, and its tags."""

    text: str
    mentioned: tuple[str, ...]
    spelled: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


def write(shot: PlannedPhoto, rng: Rng) -> WrittenCaption:
    """Return a caption for a photo."""
    text, tags = KINDS[shot.kind](shot, rng)
    absent = list(shot.absent)
    if absent and "{absent}" in text:
        text = text.replace("{absent}", listed([person.name for person in absent]))
    elif absent:
        many = sentences.ABSENT if len(absent) == 1 else sentences.ABSENT_MANY
        language = sentences.LANGUAGES.get(tags[-1]) if tags else None
        sentence = language.absent if language and len(absent) == 1 else _one(rng, many)
        joint = language.joint if language else "and"
        text += " " + sentence.format(names=listed([person.name for person in absent], joint))
    if absent:
        tags = (*tags, "absent")
    if shot.credit:
        who = _one(rng, sentences.PHOTOGRAPHERS)
        text += " " + _one(rng, sentences.CREDITS).format(who=who)
        tags = (*tags, "credit")
    spelled = {}
    if shot.kind == "typo":
        person = shot.named[0]
        wrong = f"{person.given} {mistyped(person.surname, rng)}"
        text, spelled = text.replace(person.name, wrong, 1), {person.name: wrong}
    mentioned = tuple(person.name for person in [*shot.named, *absent])
    return WrittenCaption(text, mentioned, spelled, tags)


def listed(names: list[str], joint: str = "and") -> str:
    """Return names as a sentence lists them.

    Examples
    --------
    >>> listed(["Ann", "Bob", "Cem"])
    'Ann, Bob and Cem'
    """
    return f" {joint} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def mistyped(word: str, rng: Rng) -> str:
    """Return a word with two letters inside it swapped."""
    places = [k for k in range(1, len(word) - 1) if word[k] != word[k + 1]]
    k = int(rng.choice(places))
    return word[:k] + word[k + 1] + word[k] + word[k + 2 :]


Answer = tuple[str, tuple[str, ...]]


def _one(rng: Rng, options: Any) -> str:
    return options[int(rng.integers(len(options)))]


def _names(shot: PlannedPhoto, joint: str = "and") -> str:
    return listed([person.name for person in shot.named], joint)


def _plain(shot: PlannedPhoto, rng: Rng) -> Answer:
    event = _one(rng, sentences.EVENTS)
    return _one(rng, sentences.PLAIN).format(names=_names(shot), event=event), ()


def _typo(shot: PlannedPhoto, rng: Rng) -> Answer:
    return _plain(shot, rng)[0], ("typo",)


def _absent(shot: PlannedPhoto, rng: Rng) -> Answer:
    if rng.random() < 0.5:
        return _plain(shot, rng)[0], ()
    return _one(rng, sentences.MEETING).format(names=_names(shot), absent="{absent}"), ()


def _sides(shot: PlannedPhoto, rng: Rng) -> Answer:
    event = _one(rng, sentences.EVENTS)
    (row,) = shot.rows
    if len(shot.named) == 1:
        side = "left" if row[0].named else "right"
        form = _one(rng, sentences.ALONE["sides"])
        return form.format(name=shot.named[0].name, place=side, event=event), ("cue",)
    left, right = sentences.SIDES[int(rng.integers(len(sentences.SIDES)))]
    first, second = shot.named
    order = [first.name + left, second.name + right]
    joined = listed(order if rng.random() < 0.7 else order[::-1])
    return f"{joined} {event}.", ("cue",)


def _order(shot: PlannedPhoto, rng: Rng) -> Answer:
    (row,) = shot.rows
    names = [who.person.name if who.named else sentences.UNKNOWN[who.person.woman] for who in row]
    form = _one(rng, sentences.ORDERS if len(shot.named) == len(row) else sentences.ORDERS[:1])
    if rng.random() < 0.2:
        form, names = sentences.BACKWARDS, names[::-1]
    return form.format(names=listed(names), event=_one(rng, sentences.EVENTS)), ("cue",)


def _nth(shot: PlannedPhoto, rng: Rng) -> Answer:
    (row,) = shot.rows
    at = next(k for k, who in enumerate(row) if who.named)
    from_right = len(row) - 1 - at
    side, place = ("left", at) if at <= from_right else ("right", from_right)
    where = f"{sentences.ORDINALS[place]} from {side}" if place else side
    event = _one(rng, sentences.EVENTS)
    form = _one(rng, sentences.ALONE["nth"])
    return form.format(name=row[at].person.name, place=where, event=event), ("cue",)


def _rows(shot: PlannedPhoto, rng: Rng) -> Answer:
    back, front = ([who.person.name for who in row] for row in shot.rows)
    event = _one(rng, sentences.EVENTS)
    opening = event[0].upper() + event[1:]
    text = f"{opening}. Front row, from left: {listed(front)}. Back row, from left: {listed(back)}."
    return text, ("cue", "rows")


def _title(shot: PlannedPhoto, rng: Rng) -> Answer:
    names = [person.name for person in shot.named]
    names[0] = f"{_one(rng, sentences.TITLES[shot.named[0].woman])} {names[0]}"
    event = _one(rng, sentences.EVENTS)
    return _one(rng, sentences.PLAIN[:2]).format(names=listed(names), event=event), ("title",)


def _surname(shot: PlannedPhoto, rng: Rng) -> Answer:
    one, other, *more = sorted(shot.named, key=lambda p: [q.surname for q in shot.named].count(
        p.surname) < 2)  # fmt: skip
    both = f"{one.given} and {other.given} {other.surname}"
    rest = f" with {listed([person.name for person in more])}" if more else ""
    return f"{both}{rest} {_one(rng, sentences.EVENTS)}.", ("surname",)


def _foreign(shot: PlannedPhoto, rng: Rng) -> Answer:
    code = _one(rng, sorted(sentences.LANGUAGES))
    language = sentences.LANGUAGES[code]
    whole = len(shot.named) == len(shot.shown)
    if whole and len(shot.named) > 2:
        return language.order.format(names=_names(shot, language.joint)), ("foreign", "cue", code)
    form = _one(rng, language.plain)
    if whole and len(shot.named) == 2 and rng.random() < 0.6:
        one, other = (person.name for person in shot.named)
        pair = f"{one} ({language.left}) {language.joint} {other} ({language.right})"
        return form.format(names=pair), ("foreign", "cue", code)
    return form.format(names=_names(shot, language.joint)), ("foreign", code)


def _again(shot: PlannedPhoto, rng: Rng) -> Answer:
    person = shot.named[int(rng.integers(len(shot.named)))]
    text, _ = _plain(shot, rng)
    return f"{text} {_one(rng, sentences.AGAIN).format(surname=person.surname)}", ("again",)


def _nobody(shot: PlannedPhoto, rng: Rng) -> Answer:
    return _one(rng, sentences.NOBODY).format(event=_one(rng, sentences.EVENTS)), ("nobody",)


KINDS: dict[str, Callable[[PlannedPhoto, Rng], Answer]] = {
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
