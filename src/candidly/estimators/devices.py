"""Arrays on another device than this processor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require


def on_device(values: NDArray[np.floating], device: str) -> Any:
    """Values as an array of PyTorch on a device; an error where it cannot be there."""
    torch = require("torch", "torch")
    try:
        return torch.asarray(values, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # what PyTorch raises for these
        raise ValueError(f"PyTorch cannot use device {device!r} here: {error}") from error
