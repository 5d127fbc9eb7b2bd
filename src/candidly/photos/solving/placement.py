"""Places of people in a photo, as prior odds that do not depend on what faces look like.

A cue in a text counts people from a side. Not every face in a picture is one of the people
counted: there are passers-by and pictures on a wall. So each face is one of them with odds that
go with its size, and who is the ``place``-th follows from counting: for a face f, with e_k(F) the
weight of all ways to choose k of the faces F::

    all n are listed    odds_f * e_(place-1)(before f) * e_(n-place)(after f)
    n is not known      the same, summed over n

Where more people are listed than faces are found, some are missing, and every way to miss them
is equally likely. In a row (``rows``) a face is counted as likely as it is in the row; of a row
without an order everybody is each of its faces. A cue may be misread, mirrored or wrong: then it
says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from candidly.photos.geometry import Box
from candidly.photos.records import Cue
from candidly.photos.solving.problem import PhotoProblem
from candidly.photos.solving.rows import in_rows, row_sizes

WRONG = 0.05
"""Probability that a cue says nothing about where a person is."""
COUNTED = 0.9
"""Probability that the largest face is one of the people counted."""

Shares = NDArray[np.float64]


def odds(photo: PhotoProblem) -> dict[int, dict[str | None, float]]:
    """Return the odds of each candidate of each face by place and size; 1 is neutral.

    Examples
    --------
    >>> two = {1: Box(0, 0, 9, 9), 2: Box(50, 0, 9, 9)}
    >>> odds(PhotoProblem(7, two, {"Ann": Cue("right", 1, 2), "Bob": None}))[2]
    {None: 1.0, 'Ann': 1.95, 'Bob': 1.0}
    """
    boxes = list(photo.faces.values())
    if not boxes:
        return {}
    named = [cue for name, cue in photo.names.items() if name not in photo.doubtful]
    sharing = Counter(named)
    rows = in_rows(row_sizes(named), boxes)
    size = len(boxes) * by_size(boxes)
    share = {
        name: size if cue is None else len(boxes) * by_cue(cue, boxes, sharing[cue], rows)
        for name, cue in photo.names.items()
    }
    found: dict[int, dict[str | None, float]] = {}
    for place, face in enumerate(photo.faces):
        names = photo.candidates(face)
        if face in photo.bound and names:
            found[face] = {names[0]: 1.0}
            continue
        own: dict[str | None, float] = {None: 1.0}
        own |= {name: max(float(share[name][place]), 1e-12) for name in names}
        found[face] = own
    return found


def misplaced(photo: PhotoProblem) -> dict[int, dict[str, float]]:
    """Return how many places each name is off, if names were listed from left to right.

    Captions are usually written in this order. Names are spread evenly over the faces; two places
    off are as wrong as three. One name alone has no order, nor have those of a list and doubtful
    ones; a name with a cue has its place.

    Examples
    --------
    >>> two = {1: Box(50, 0, 9, 9), 2: Box(0, 0, 9, 9)}
    >>> misplaced(PhotoProblem(7, two, {"Ann": None, "Bob": None}))
    {1: {'Ann': 1.0, 'Bob': 0.0}, 2: {'Ann': 0.0, 'Bob': 1.0}}
    """
    order = sorted(photo.faces, key=lambda face: photo.faces[face].x + photo.faces[face].w / 2)
    names = [name for name in photo.names if name not in photo.listed | photo.doubtful]
    each = len(order) / max(len(names), 1)
    return {
        face: {
            name: min(abs(order.index(face) + 0.5 - (place + 0.5) * each), 2.0)
            for place, name in enumerate(names)
            if len(names) > 1 and photo.names[name] is None
        }
        for face in photo.faces
    }


def by_size(boxes: Sequence[Box]) -> Shares:
    """Return the probability that a person shown is each of the faces, by their areas alone.

    Examples
    --------
    >>> by_size([Box(0, 0, 30, 30), Box(50, 0, 10, 10)])
    array([0.9, 0.1])
    """
    area = np.array([max(box.w * box.h, 1.0) for box in boxes], dtype=float)
    return area / area.sum()


def by_cue(
    cue: Cue,
    boxes: Sequence[Box],
    sharing: int = 1,
    rows: Mapping[str, Shares] | None = None,
) -> Shares:
    """Return the probability that a person with a cue is each of the faces.

    Parameters
    ----------
    cue : Cue
    boxes : sequence of Box
        All faces of the photo, at least one.
    sharing : int
        How many people have the same cue: "front row: Ann, Bob and Cas" is three in front.
    rows : mapping of str to array, optional
        For each row the probability of every face to be in it, as :func:`in_rows` returns.

    Returns
    -------
    (m,) array
        Sums to less than 1 where more people are listed than there are faces.

    Examples
    --------
    >>> two = [Box(100, 0, 40, 40), Box(0, 0, 40, 40)]
    >>> by_cue(Cue("left"), two).round(2)
    array([0.11, 0.89])
    >>> by_cue(Cue("left", 2, 2), two).round(3)
    array([0.975, 0.025])
    """
    inside = (rows or {}).get(str(cue.row))
    if inside is not None and cue.side in {"front", "back", "top", "bottom"}:
        said = inside / max(float(inside.sum()), sharing)
    else:
        order, odds = _in_order(cue.side, boxes)
        if inside is not None:
            counted = inside * odds / (1 + odds)
            odds = counted / (1 - counted)
            sure = inside > 0.5
            if sure.any() and sure.sum() < (cue.of or 0):
                order = order[sure[order]]  # a face of the row is missing
        places = range(cue.place, cue.place + max(sharing, 1))
        said = np.zeros(len(boxes))
        said[order] = sum(_at(place, cue.of, odds[order]) for place in places) / len(places)
    return (1 - WRONG) * said + WRONG * by_size(boxes)


def _in_order(side: str, boxes: Sequence[Box]) -> tuple[NDArray[np.intp], Shares]:
    """Return faces in the order in which a side counts them, and their odds to be counted."""
    x = np.array([box.x + box.w / 2 for box in boxes])
    y = np.array([box.y + box.h / 2 for box in boxes])
    area = np.array([max(box.w * box.h, 1.0) for box in boxes], dtype=float)
    size = area / area.max()
    match side:
        case "left" | "right":
            along = x if side == "left" else -x
        case "centre":
            # As many people to the left as to the right, by size.
            left = (x[:, None] > x) @ size
            right = (x[:, None] < x) @ size
            along = np.abs(left - right)
        case "top" | "bottom":
            along, size = y if side == "top" else -y, np.ones(len(boxes))
        case "front" | "back":
            along, size = -area if side == "front" else area, np.ones(len(boxes))
        case _:
            raise ValueError(f"a cue has a side that is not known: {side!r}")
    return np.argsort(along, kind="stable"), size * COUNTED / (1 - COUNTED)


def _at(place: int, of: int | None, odds: Shares) -> Shares:
    """Return the probability of each face, in order, to be the ``place``-th of those counted."""
    m = len(odds)
    if of is not None and of >= max(place, 2):
        if of > m:
            ways = [
                comb(place - 1, before) * comb(of - place, m - 1 - before) for before in range(m)
            ]
            return np.array(ways, dtype=float) / comb(of, m)
        before = [_ways(odds[:f], place - 1) for f in range(m)]
        after = [_ways(odds[f + 1 :], of - place) for f in range(m)]
    else:
        before = [_ways(odds[:f], place - 1) for f in range(m)]
        after = [float(np.prod(1 + odds[f + 1 :])) for f in range(m)]
    weight = odds * before * after
    if not weight.sum() > 0:  # the fifth from the left, of three faces
        return np.full(m, 1 / m)
    return weight / weight.sum()


def _ways(odds: Shares, k: int) -> float:
    """Return the weight of all ways to choose k: the elementary symmetric polynomial."""
    ways = np.zeros(k + 1)
    ways[0] = 1
    for value in odds:
        ways[1:] = ways[1:] + value * ways[:-1]
    return float(ways[k])
