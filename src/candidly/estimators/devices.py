"""Arrays on another device than the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.extras import require


def on_device(values: NDArray[np.floating], device: str) -> Any:
    """Return the values as a PyTorch tensor on a device; raise if PyTorch cannot use it."""
    torch = require("torch", "torch")
    try:
        return torch.asarray(values, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # what PyTorch raises for these
        raise ValueError(f"PyTorch cannot use device {device!r} here: {error}") from error
