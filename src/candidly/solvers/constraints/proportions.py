"""A constraint on how frequent each class is, if that is known beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints.base import Labels

SWEEPS = 20  # how often classes and instances are scaled in turn


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

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Scale classes to the proportions and instances to 1 in turn (Sinkhorn)."""
        wanted = self._sizes(sets)
        for _ in range(SWEEPS):
            size = sets.class_total(y)
            # A class with almost no mass cannot be scaled up: it is no one's candidate.
            factor = np.divide(wanted, size, out=np.ones_like(wanted), where=size > 1e-9 * wanted)
            y = y * factor[sets.classes].astype(y.dtype)
            total = sets.total(y)[sets.instance]
            y = np.divide(y, total, out=np.zeros_like(y), where=total > 0)
        return y

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return the largest difference between the fraction of a class and its proportion."""
        N = max(sets.n_instances, 1)
        return float(np.abs(sets.class_total(y) - self._sizes(sets)).max(initial=0) / N)

    def rows(self, sets: CandidateSets) -> None:
        """Return None: it only guides soft labels."""

    def _sizes(self, sets: CandidateSets) -> NDArray[np.float64]:
        parts = np.asarray(self.proportions, dtype=float)
        return parts / parts.sum() * sets.n_instances
