"""Labels with doubtful names and likely spellings, as far as faces confirm them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Protocol

from candidly.photos.solving.confirmation import with_confirmed_names
from candidly.photos.solving.labelling import Labelled
from candidly.photos.solving.labels import LabelArrays
from candidly.photos.solving.photo_entries import PhotoEntries
from candidly.photos.solving.problem import PhotoProblem, each_problem
from candidly.photos.solving.store import photos_naming


class Labeller(Protocol):
    """How photos are labelled: together, or against the people known so far."""

    def label(self, photos: PhotoEntries) -> Labelled:
        """Return labels of the photos to solve, with the names that they have now."""
        ...

    def label_some(self, photos: PhotoEntries, first: Labelled) -> LabelArrays:
        """Return labels of some of the photos, compared with all others as ``first`` has them."""
        ...

    def around(self, photos: PhotoEntries) -> tuple[PhotoEntries, LabelArrays]:
        """Return all photos that mention doubtful names of these, and the labels of others."""
        ...


def label_as_spelled(
    sql: sqlite3.Connection,
    photos: PhotoEntries,
    likely: Mapping[str, str],
    labeller: Labeller,
    cues: bool,
) -> Labelled:
    """Return labels, found again with likely spellings where a face confirms them.

    A person whose name is misspelt once is known from other photos under another name, so that
    the face is like a person who is not mentioned: without this it would be nobody. Where neither
    spelling is more frequent, the name stays as the photo has it. Doubtful names that no face
    confirms are left out.
    """
    if photos.unsure.any():
        photos = with_confirmed_names(
            photos, *labeller.around(photos), lambda some: labeller.label(some).labels
        )
    first = labeller.label(photos)
    spelled = {}
    for at in photos.mentioning(likely):
        names = photos.names_of(at)
        other = {name: likely[name] for name in names if name in likely}
        other = {name: right for name, right in other.items() if right not in names}
        if other:
            spelled[int(photos.photos[at])] = other
    if not spelled:
        return first
    doubtful = {
        one.photo: one.respelled(spelled[one.photo])
        for one in _as_named(sql, photos, sorted(spelled), cues)
    }
    other_labels = labeller.label_some(PhotoEntries(doubtful.values()), first)
    confirmed = {
        photo: problem
        for photo, problem in doubtful.items()
        if any(
            best.name in spelled[photo].values() and best.likeness > 0
            for best in (other_labels[face].scores[0] for face in problem.faces)
        )
    }
    if not confirmed:
        return first
    everything = _as_named(sql, photos, photos.photos.tolist(), cues)
    again = PhotoEntries(confirmed.get(one.photo, one) for one in everything)
    found = labeller.label(again)
    pairs = {name for photo in confirmed for pair in spelled[photo].items() for name in pair}
    often = {name: len(own) for name, own in photos_naming(sql, pairs, sure=True).items()}
    for photo, problem in confirmed.items():
        back = {
            right: name for name, right in spelled[photo].items() if often[right] <= often[name]
        }
        found.labels.rename(problem.faces, back)
    return found


def _as_named(
    sql: sqlite3.Connection, photos: PhotoEntries, numbers: list[int], cues: bool
) -> Iterator[PhotoProblem]:
    """Yield problems of photos, with the names that ``photos`` has left."""
    place = {int(photo): at for at, photo in enumerate(photos.photos.tolist())}
    for problem in each_problem(sql, numbers, cues=cues):
        left = set(photos.names_of(place[problem.photo]))
        gone = [name for name in problem.names if name not in left]
        yield problem.without(gone) if gone else problem
