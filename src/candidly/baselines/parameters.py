"""Checks of a method's parameters: the message has the name, what is wanted, and the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def check_that(model: Any, holds: Callable[[Any], bool], wanted: str, *names: str) -> None:
    """Raise ``ValueError`` for the first of the named parameters that does not hold."""
    for name in names:
        value = getattr(model, name)
        if not holds(value):
            raise ValueError(f"{name} is {wanted}, got {value!r}")


def check_at_least_one(model: Any, *names: str) -> None:
    """Raise ``ValueError`` unless the named parameters are 1 or more."""
    check_that(model, lambda value: value >= 1, "at least 1", *names)


def check_positive(model: Any, *names: str) -> None:
    """Raise ``ValueError`` unless the named parameters are positive and finite."""
    check_that(model, lambda value: 0 < value < np.inf, "positive and finite", *names)
