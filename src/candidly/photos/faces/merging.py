"""One face, seen at several scales or in several tiles, is one face.

A detection is a row: x, y, w, h, five landmarks as x and y, score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
SAME = 0.3  # intersection over union
NESTED = 0.7  # part of the smaller box inside the larger
FACE_ON_FACE = 0.1  # area of a shirt's or a poster's face against the one it is on
SURE = 0.85


def merged(rows: Rows) -> Rows:
    """Keep the best-scored of detections that are the same face, from left to right.

    Two boxes are the same face when they agree (SAME), or when one lies in the other (NESTED):
    half a face at a tile's edge, a mouth taken for a face. Where the inner one has less than
    FACE_ON_FACE of the outer's area and both are SURE, they are two: a face on a shirt, a person
    before a poster.

    Examples
    --------
    >>> import numpy as np
    >>> face, inside = np.zeros(15), np.zeros(15)
    >>> face[:4], inside[:4] = (10, 10, 90, 90), (40, 60, 40, 30)
    >>> face[14], inside[14] = 0.9, 0.7
    >>> len(merged(np.array([face, inside])))
    1
    """
    rest = rows[np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0], -rows[:, 14]))]
    kept = []
    while len(rest):
        best, rest = rest[0], rest[1:]
        kept.append(best)
        rest = rest[~_same(best, rest)]
    chosen = np.array(kept).reshape(-1, rows.shape[1])
    middle = chosen[:, :2] + chosen[:, 2:4] / 2
    return chosen[np.lexsort((chosen[:, 14], middle[:, 1], middle[:, 0]))]


def _same(best: NDArray[np.float64], rest: Rows) -> NDArray[Any]:
    start = np.maximum(best[:2], rest[:, :2])
    end = np.minimum(best[:2] + best[2:4], rest[:, :2] + rest[:, 2:4])
    shared = np.prod(np.clip(end - start, 0, None), axis=1)
    area, areas = best[2] * best[3], rest[:, 2] * rest[:, 3]
    smaller, larger = np.minimum(area, areas), np.maximum(area, areas)
    two = (smaller < FACE_ON_FACE * larger) & (np.minimum(best[14], rest[:, 14]) >= SURE)
    agree = shared > SAME * (area + areas - shared)
    return agree | ((shared > NESTED * smaller) & ~two)
