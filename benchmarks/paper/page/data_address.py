"""Pictures inside the page, as data addresses."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require


def data_address(picture: bytes, kind: str) -> str:
    """Return a picture file as an address that has it inside.

    Examples
    --------
    >>> data_address(b"x", "png")
    'data:image/png;base64,eA=='
    """
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def grey_png(grey: NDArray[np.uint8]) -> str:
    """Return grey values as a picture with one pixel per number."""
    file = io.BytesIO()
    require("PIL.Image", "plot").fromarray(grey).save(file, "PNG", optimize=True)
    return data_address(file.getvalue(), "png")
