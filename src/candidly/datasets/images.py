"""Features from grey images: histogram equalisation to [0, 1], as in the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def equalise(images: NDArray[Any]) -> NDArray[np.float64]:
    """Spread the grey values of each image evenly over [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> equalise(np.array([[[7, 7], [9, 200]]]))
    array([[[0. , 0. ],
            [0.5, 1. ]]])
    """
    equalised = np.zeros(images.shape)
    for image, out in zip(images, equalised, strict=True):
        _, level, count = np.unique(image, return_inverse=True, return_counts=True)
        below = np.cumsum(count) - count[0]
        if below[-1] > 0:  # else all grey values are equal
            out[...] = (below / below[-1])[level].reshape(image.shape)
    return equalised
