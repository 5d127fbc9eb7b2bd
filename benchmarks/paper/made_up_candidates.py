"""Candidates and pictures changed on purpose: partners without imbalance, crops out of place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.candidates import Candidates, make_ambiguous

PERMUTATION = "permutation"
"""Every class is the partner of exactly one other, so that none is listed more often."""
PAIRS = "pairs"
"""Two classes are each other's partners: with ε = 1 they are always listed together."""


def ambiguous(y: NDArray[Any], how: dict[str, Any], seed: int) -> Candidates:
    """Return candidates as :func:`candidly.make_ambiguous` draws them, or with other partners.

    Parameters
    ----------
    y : 1-d array
        True labels.
    how : dict
        Options of ``make_ambiguous``; with ``partners`` only ``cooccurrence`` is used, and there
        is one extra label.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["a", "b", "c", "d"], 25)
    >>> how = {"partners": PERMUTATION, "cooccurrence": 1.0}
    >>> ambiguous(y, how, seed=0).imbalance_factor
    1.0
    """
    if "partners" not in how:
        return make_ambiguous(y, **how, random_state=seed)
    rng = np.random.default_rng(seed)
    classes, true = np.unique(y, return_inverse=True)
    c = len(classes)
    circle = rng.permutation(c)
    partner = np.empty(c, dtype=int)
    if how["partners"] == PAIRS:
        partner[circle[0::2]], partner[circle[1::2]] = circle[1::2], circle[0::2]
    else:
        partner[circle] = np.roll(circle, 1)
    other = (true + rng.integers(1, c, size=len(true))) % c
    while (clash := other == partner[true]).any():  # without the partner: any other label
        other[clash] = (true[clash] + rng.integers(1, c, size=clash.sum())) % c
    joins = rng.random(len(true)) < how["cooccurrence"]
    mask = np.zeros((len(true), c), dtype=bool)
    rows = np.arange(len(true))
    mask[rows, true] = True
    mask[rows, np.where(joins, partner[true], other)] = True
    return Candidates.from_mask(mask, classes=classes)


def shifted(images: NDArray[Any], most: int, seed: int = 0) -> NDArray[Any]:
    """Return every picture moved by up to ``most`` pixels each way; edges are repeated.

    Examples
    --------
    >>> import numpy as np
    >>> shifted(np.arange(50).reshape(2, 5, 5), 2).shape
    (2, 5, 5)
    """
    rng = np.random.default_rng(seed)
    moves = rng.integers(-most, most + 1, size=(len(images), 2))
    _, height, width = images.shape
    padded = np.pad(images, ((0, 0), (most, most), (most, most)), mode="edge")
    return np.stack(
        [
            picture[most + i : most + i + height, most + j : most + j + width]
            for picture, (i, j) in zip(padded, moves, strict=True)
        ]
    )
