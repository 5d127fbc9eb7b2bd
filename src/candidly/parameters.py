"""What the parameters of estimators may be; ``fit`` refuses everything else before any work.

An estimator lists its parameters in ``_parameter_constraints``, as those of scikit-learn do.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

Constraints = dict[str, list[Any]]
"""What each parameter may be: one of the things in its list."""


class PositiveNumbers(Interval):
    """A sequence of ``least`` or more positive numbers."""

    def __init__(self, *, least: int) -> None:
        super().__init__(Real, 0, None, closed="neither")
        self.least = least

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is such a sequence."""
        return (
            isinstance(value, (Sequence, np.ndarray))
            and np.ndim(value) == 1
            and len(value) >= self.least
            and all(super(PositiveNumbers, self).is_satisfied_by(each) for each in value)
        )

    def __str__(self) -> str:
        return f"a sequence of {self.least} or more numbers, each {super().__str__()}"


POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
ABOVE_ONE = [Interval(Real, 1, None, closed="neither")]
FRACTION = [Interval(Real, 0, 1, closed="both")]
SHARE = [Interval(Real, 0, 1, closed="left")]
INSIDE_UNIT = [Interval(Real, 0, 1, closed="neither")]
COUNT = [Interval(Integral, 1, None, closed="left")]
COUNT_OR_NONE_AT_ALL = [Interval(Integral, 0, None, closed="left")]
SWITCH = ["boolean"]
NAME = [str]
ESTIMATOR = [HasMethods("fit")]


def optional(constraint: list[Any]) -> list[Any]:
    """Return the constraint, with None allowed too."""
    return [*constraint, None]


def one_of(*names: str) -> list[Any]:
    """Return the constraint that a parameter is one of some names."""
    return [StrOptions(set(names))]


SPARSE = [*SWITCH, *one_of("auto")]
