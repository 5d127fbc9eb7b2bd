"""Where a text says that somebody is, as a prior over the faces of a photo.

A cue counts people from a side. Not every face in a picture is one of the people counted: there
are passers-by and pictures on a wall. So each face is one of them with odds that go with its
size, and who is the ``place``-th follows from counting: for a face f, with e_k(F) the weight of
all ways to choose k of the faces F::

    all n are listed    odds_f * e_(place-1)(before f) * e_(n-place)(after f)
    n is not told       the same, summed over n

Where the list is longer than the faces found, some of its people are missing, and every way to
miss them is as likely. A cue may be misread, mirrored or wrong: then it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from candidly.photos.records import Box, Cue

WRONG = 0.05
"""Probability that a cue says nothing of where somebody is."""
COUNTED = 0.9
"""Probability that the largest face is one of the people counted."""

Shares = NDArray[np.float64]


def by_size(boxes: Sequence[Box]) -> Shares:
    """Probability that somebody shown is each of the faces, where nothing is said: their areas.

    Examples
    --------
    >>> by_size([Box(0, 0, 30, 30), Box(50, 0, 10, 10)])
    array([0.9, 0.1])
    """
    area = np.array([max(box.w * box.h, 1.0) for box in boxes], dtype=float)
    return area / area.sum()


def by_cue(cue: Cue, boxes: Sequence[Box], sharing: int = 1) -> Shares:
    """Probability that somebody with a cue is each of the faces.

    Parameters
    ----------
    cue : Cue
    boxes : sequence of Box
        All faces of the photo, at least one.
    sharing : int
        How many people have this very cue: "front row: Ann, Bob and Cas" is three in front.

    Returns
    -------
    (m,) array
        It sums to less than 1 where more people are listed than there are faces.

    Examples
    --------
    >>> two = [Box(100, 0, 40, 40), Box(0, 0, 40, 40)]
    >>> by_cue(Cue("left"), two).round(2)
    array([0.11, 0.89])
    >>> by_cue(Cue("left", 2, 2), two).round(3)
    array([0.975, 0.025])
    """
    order, odds = _in_order(cue.side, boxes)
    places = range(cue.place, cue.place + max(sharing, 1))
    counted = sum(_at(place, cue.of, odds[order]) for place in places) / len(places)
    said = np.zeros(len(boxes))
    said[order] = counted
    return (1 - WRONG) * said + WRONG * by_size(boxes)


def _in_order(side: str, boxes: Sequence[Box]) -> tuple[NDArray[np.intp], Shares]:
    """Faces in the order in which a side counts them, and the odds that they are counted."""
    x = np.array([box.x + box.w / 2 for box in boxes])
    y = np.array([box.y + box.h / 2 for box in boxes])
    area = np.array([max(box.w * box.h, 1.0) for box in boxes], dtype=float)
    size = area / area.max()
    match side:
        case "left" | "right":
            along = x if side == "left" else -x
        case "centre":
            # As much of the people to the left as to the right.
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
    """Probability of each face, in order, to be the ``place``-th of those counted."""
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
    """Weight of all ways to choose k: the elementary symmetric polynomial."""
    ways = np.zeros(k + 1)
    ways[0] = 1
    for value in odds:
        ways[1:] = ways[1:] + value * ways[:-1]
    return float(ways[k])
