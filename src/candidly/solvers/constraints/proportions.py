"""A constraint on how frequent each class is, if that is known beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.constraints.base import Labels, Mask

SWEEPS = 20  # how often rows and columns are scaled in turn


class ClassProportions:
    """Class sizes are about these fractions of all instances.

    It only guides soft labels: hard labels follow the evidence if the two disagree.

    Parameters
    ----------
    proportions : mapping or sequence of float
        Fraction of the instances in each class, by class name, or in the order of the
        classes; scaled to sum to 1. Classes that a mapping leaves out share the rest, and
        have proportion 0 if there is no rest.

    Examples
    --------
    >>> from candidly import ClassProportions
    >>> ClassProportions({"ann": 0.7, "bob": 0.3})
    ClassProportions({'ann': 0.7, 'bob': 0.3})
    """

    name = "classes have the given proportions"

    def __init__(self, proportions: Mapping[Any, float] | Sequence[float]) -> None:
        self.proportions = proportions
        values = proportions.values() if isinstance(proportions, Mapping) else proportions
        sizes = np.array(list(values), dtype=float)
        if not (np.isfinite(sizes).all() and (sizes >= 0).all() and sizes.sum() > 0):
            raise ValueError(
                f"proportions are finite, not negative and not all 0, got {proportions!r}"
            )

    def __repr__(self) -> str:
        return f"ClassProportions({self.proportions!r})"

    def bind(self, classes: NDArray[Any], null: int | None) -> ClassProportions:
        """Return the proportions in the order of these classes."""
        names = classes.tolist()
        if not isinstance(self.proportions, Mapping):
            if len(self.proportions) != len(names):
                raise ValueError(
                    f"{len(self.proportions)} proportions for {len(names)} classes; give one "
                    "per class, or a mapping"
                )
            return self
        unknown = [name for name in self.proportions if name not in names]
        if unknown:
            raise ValueError(f"there is no class {unknown[0]!r} to have a proportion")
        others = [name for name in names if name not in self.proportions]
        left = max(1 - sum(self.proportions.values()), 0)
        share = left / len(others) if others else 0.0
        return ClassProportions([float(self.proportions.get(name, share)) for name in names])

    def project(self, Y: Labels, mask: Mask) -> Labels:
        """Scale rows to the proportions and columns to 1 in turn (Sinkhorn)."""
        wanted = self._sizes(Y)
        for _ in range(SWEEPS):
            size = Y.sum(axis=1)
            # A class with almost no mass cannot be scaled up: it is no one's candidate.
            factor = np.divide(wanted, size, out=np.ones_like(wanted), where=size > 1e-9 * wanted)
            Y = Y * factor[:, None].astype(Y.dtype)
            total = Y.sum(axis=0)
            Y = np.divide(Y, total, out=np.zeros_like(Y), where=total > 0)
        return Y

    def violation(self, Y: Labels, mask: Mask) -> float:
        """Return the largest difference between the fraction of a class and its proportion."""
        N = max(Y.shape[1], 1)
        return float(np.abs(Y.sum(axis=1) - self._sizes(Y)).max(initial=0) / N)

    def rows(self, mask: Mask) -> None:
        """Return None: it only guides soft labels."""

    def _sizes(self, Y: Labels) -> NDArray[np.float64]:
        parts = np.asarray(self.proportions, dtype=float)
        return parts / parts.sum() * Y.shape[1]
