"""Which names became others in a run, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from candidly.photos.solving.labelling import Verdicts
from candidly.photos.solving.problem import Told
from candidly.photos.solving.stored import Change

Stamps = Mapping[int, tuple[str, str, str]]

DECIDED = "something was decided in this photo"
WORDS = "what is read about the photo changed"
LOOKS = "the photo was looked at again"
GONE = "nothing is written about the photo any more"
TOGETHER = "all photos were solved together again"
BESIDE = "more is known of others in the photo"


def changed(
    run: int,
    photos: Iterable[Told],
    labels: Mapping[int, str | None],
    now: Verdicts,
    stamps: Stamps,
    news: News,
    *,
    full: bool,
) -> list[Change]:
    """The faces of some photos whose name became another.

    Parameters
    ----------
    run : int
    photos : iterable of Told
        Those that were solved.
    labels : dict of int to str or None
        Names before; a face that is not in it had none and was not nobody either.
    now : dict of int to Verdict
    stamps : dict of int to tuple
        What the photos were like when they were solved before.
    news : News
        Who is in photos that are new or not as they were.
    full : bool
        Whether everything was solved.
    """
    found = []
    for told in photos:
        for face in told.faces:
            if face not in labels or labels[face] == now[face].name:
                continue
            before, after = labels[face], now[face].name
            people = [name for name in (after, before) if name is not None]
            why = here(told, stamps.get(told.photo)) or news.of(people)
            found.append(Change(run, face, before, after, why or (TOGETHER if full else BESIDE)))
    return found


class News:
    """Who is in photos that are new, and in those where something was decided."""

    def __init__(self, photos: Iterable[Told], stamps: Stamps) -> None:
        self.new: dict[str, int] = {}
        self.decided: set[str] = set()
        for told in photos:
            before = stamps.get(told.photo)
            if before is not None and before[2] != told.decisions:
                self.decided |= {*told.names, *(name for name in told.bound.values() if name)}
            else:
                for name in told.names:
                    self.new[name] = self.new.get(name, 0) + 1

    def of(self, people: Iterable[str]) -> str | None:
        """Why people may look different now, or None."""
        for name in people:
            if name in self.decided:
                return f"something was decided in a photo that names {name}"
            if name in self.new:
                count = self.new[name]
                return f"{count} new photo{'s' * (count > 1)} with {name}"
        return None


def here(told: Told, before: tuple[str, str, str] | None) -> str | None:
    """What changed in the photo itself."""
    if before is None:  # it was looked at, and nobody was named in it
        return WORDS if told.names else DECIDED
    words, looks, decisions = before
    if decisions != told.decisions:
        return DECIDED
    if words != told.words:
        return WORDS
    return LOOKS if looks != told.looks else None
