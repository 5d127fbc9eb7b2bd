"""In which row of a group each face is, by its height in the picture.

The front row is lower in the picture than the rows behind it. Faces from the lowest up are split
into as many rows as the text tells; a split is the more likely the wider the gap is that it runs
through, and the fewer people are too many or missing in a row whose size is told. Every split
counts with its probability, since heights overlap. Where no gap is wider than noise, height tells
nothing, and every face is in each row as likely as people are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from candidly.photos.geometry import Box
from candidly.photos.records import Cue

GAP, WIDE = 0.3, 1.5
"""Heights of a face that make a gap e times as likely to be between rows, and where that ends."""
MISSING = 1.5
"""Log odds for each person too many or missing in a row."""
NOISE = 0.2
"""Heights of a face below which a gap is none."""
SMALL = 0.1
"""Faces with less than this part of the largest area do not say where rows are."""
MOST = 100
"""So many of the largest faces do, at most."""

Shares = NDArray[np.float64]


def row_sizes(cues: Iterable[Cue | None]) -> dict[str, int | None]:
    """Return the rows that cues tell of, from the front, and how many people are in each.

    Examples
    --------
    >>> row_sizes([Cue("left", 1, 3, "back"), Cue("front", row="front"), None])
    {'front': 1, 'back': 3}
    """
    known = [cue for cue in cues if cue is not None and cue.row is not None]
    sharing = Counter(known)
    sizes: dict[str, int | None] = {}
    for cue in sorted(known, key=lambda cue: ("front", "middle", "back").index(str(cue.row))):
        size = cue.of if cue.side in {"left", "right", "centre"} else sharing[cue]
        sizes[str(cue.row)] = size or sizes.get(str(cue.row))
    return sizes


def in_rows(sizes: Mapping[str, int | None], boxes: Sequence[Box]) -> dict[str, Shares]:
    """Return the probability that each face is in each of the rows.

    Examples
    --------
    >>> boxes = [Box(0, 0, 20, 20), Box(9, 60, 20, 20), Box(40, 62, 20, 20)]
    >>> in_rows({"front": 2, "back": 1}, boxes)["front"].round(2)
    array([0., 1., 1.])
    """
    if not sizes:
        return {}
    (only,) = sizes if len(sizes) == 1 else ("",)
    if only and len(boxes) <= (sizes[only] or 0):
        return {only: np.ones(len(boxes))}  # nobody is left for another row
    names = list(sizes)
    if only:
        names = ["front", "middle", "back"] if only == "middle" else ["front", "back"]
    told = [sizes.get(name) for name in names]
    y = np.array([box.y + box.h / 2 for box in boxes])
    area = np.array([box.w * box.h for box in boxes])
    large = np.flatnonzero(area >= SMALL * area.max())
    large = large[np.argsort(-area[large], kind="stable")][:MOST]
    heights = np.sort(y[large])[::-1]
    scale = max(float(np.median([box.h for box in boxes])), 1e-9)
    gaps = np.array([0, *-np.diff(heights), 0]) / scale
    if gaps.max() < NOISE:
        number = sum(size or 1 for size in told)
        return {
            name: np.full(len(boxes), (size or 1) / number)
            for name, size in zip(names, told, strict=True)
        }
    # Faces lie between two cuts, or beyond the outer ones.
    cuts = np.array([np.inf, *(heights[1:] + heights[:-1]) / 2, -np.inf])
    splits = np.array(list(combinations_with_replacement(range(len(cuts)), len(names) - 1)))
    log = (np.minimum(gaps, WIDE) / GAP)[splits].sum(axis=1)
    bounds = np.column_stack([np.zeros(len(splits)), splits, np.full(len(splits), len(heights))])
    for size, found in zip(told, np.diff(bounds).T, strict=True):
        log -= 0 if size is None else MISSING * np.abs(found - size)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    row = (y[:, None, None] < cuts[splits]).sum(axis=2)
    return {name: (row == at) @ weight for at, name in enumerate(names)}
