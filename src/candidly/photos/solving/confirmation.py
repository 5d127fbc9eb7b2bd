"""Doubtful names that faces confirm: the others are left out of the solution.

Photos are solved with all names that other faces can speak for. A doubtful name is confirmed where
a face has it and looks like other faces of it. Where a name is doubtful in all photos, it is a
person's in all or in none: then a face has to have it in a quarter of these photos, and in two.
With the names confirmed all is solved again, so that a name that no face confirms changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from candidly.photos.solving.labels import LabelArrays
from candidly.photos.solving.photo_entries import PhotoEntries

CONFIRMED = 0.25
"""Part of the photos with a name that is doubtful everywhere in which a face has to have it."""
AT_LEAST = 2
"""Number of such photos."""


def with_confirmed_names(
    photos: PhotoEntries,
    around: PhotoEntries,
    known: LabelArrays,
    label: Callable[[PhotoEntries], LabelArrays],
) -> PhotoEntries:
    """Return photos without the doubtful names that no face confirms.

    Parameters
    ----------
    photos : PhotoEntries
        Photos to solve.
    around : PhotoEntries
        All photos of the project that mention these names, also those to solve.
    known : LabelArrays
        Labels of the faces of the other photos.
    label : callable
        Returns the labels of photos.
    """
    if not photos.unsure.any():
        return photos
    place = {name: i for i, name in enumerate(around.people)}
    to = np.array([place[name] for name in photos.people], dtype=np.intp)
    sure = np.bincount(around.mentions[~around.unsure], minlength=len(place))
    seen = np.repeat(np.diff(around.photo_first) > 0, np.diff(around.mention_first))
    doubts = np.bincount(around.mentions[around.unsure & seen], minlength=len(place))
    lone = (doubts < AT_LEAST) & (sure == 0)
    tried = photos.without(photos.unsure & lone[to[photos.mentions]])
    if not tried.unsure.any():
        return tried
    given = _given(around, known, label(tried))
    found = np.array([len(given[i]) for i in range(len(place))])
    kept = (sure > 0) | (found >= np.maximum(AT_LEAST, CONFIRMED * doubts))
    photo = np.repeat(tried.photos, np.diff(tried.mention_first))
    gone = np.zeros(len(tried.mentions), dtype=bool)
    for at in np.flatnonzero(tried.unsure).tolist():
        name = int(to[tried.mentions[at]])
        gone[at] = not kept[name] or int(photo[at]) not in given[name]
    return tried.without(gone)


def _given(around: PhotoEntries, known: LabelArrays, now: LabelArrays) -> dict[int, set[int]]:
    """Return the photos in which a face has a doubtful name and looks like others of it."""
    place = {name: i for i, name in enumerate(around.people)}
    photo = np.repeat(np.arange(len(around)), np.diff(around.mention_first))
    width = max(len(place), 1)
    doubtful = photo[around.unsure] * width + around.mentions[around.unsure]
    at = np.repeat(np.arange(len(around)), np.diff(around.photo_first))
    found: dict[int, set[int]] = defaultdict(set)
    done = now.rows_of(around.faces) >= 0
    for labels, left in ((now, done), (known, ~done)):
        rows = labels.rows_of(around.faces)
        own = np.flatnonzero((rows >= 0) & left)
        own = own[np.diff(labels.first)[rows[own]] > 0]
        top = labels.first[rows[own]]
        like = (labels.probability[top] > 0.5) & (labels.likeness[top] > 0)
        like &= labels.name[top] >= 0
        own, top = own[like], top[like]
        to = np.array([place.get(name, -1) for name in labels.names], dtype=np.intp)
        who = to[labels.name[top]] if len(top) else np.zeros(0, dtype=np.intp)
        pair = np.isin(at[own] * width + who, doubtful) & (who >= 0)
        for j, name in zip(own[pair].tolist(), who[pair].tolist(), strict=True):
            found[name].add(int(around.photos[at[j]]))
    return found
