"""Constraints within groups, e.g. the faces of a photo (Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints.base import (
    Entries,
    Inequalities,
    Labels,
    least_mass,
    make_rows,
    once_per_sets,
)


@dataclass(frozen=True)
class AtMostOnce:
    """A name occurs at most once in a group (eq. cond:unique1; Alg. 3, lines 24-29).

    Parameters
    ----------
    groups : (N,) array of int
        Group of each instance, numbered from 0.
    null : int or None
        The null class, which may occur as often as needed.
    """

    groups: NDArray[np.intp]
    null: int | None = None
    name: str = "a name at most once in a group"

    @once_per_sets
    def _rivals(self, sets: CandidateSets) -> tuple[Entries, Entries]:
        """Entries whose name is a candidate of others in their group too, and which they share.

        A name of a group is numbered from 0 for this; other names cannot occur twice.
        """
        entries = np.flatnonzero(sets.classes != self.null)
        key = self.groups[sets.instance[entries]] * sets.n_classes + sets.classes[entries]
        _, which, count = np.unique(key, return_inverse=True, return_counts=True)
        several = count[which] > 1
        return entries[several], np.unique(which[several], return_inverse=True)[1]

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Return y_ij / max(sum of the group's y_ig, 1) for every name i."""
        entries, which = self._rivals(sets)
        y = y.copy()
        y[entries] /= np.maximum(np.bincount(which, y[entries]), 1)[which]
        return y

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return by how much the mass of a name in a group exceeds 1, at most."""
        entries, which = self._rivals(sets)
        return float(np.maximum(np.bincount(which, y[entries]) - 1, 0).max(initial=0))

    def rows(self, sets: CandidateSets) -> Inequalities:
        """Return "sum over a group <= 1" for names that several instances there could have."""
        return make_rows(*self._rivals(sets), (-np.inf, 1), sets)


@dataclass(frozen=True)
class AtLeastOneNamed:
    """Every group has at least one name, unless null is the only candidate of all its instances.

    The paper's eq. cond:nonnull; Alg. 3, lines 15-22. Some real captions violate it.

    Parameters
    ----------
    groups : (N,) array of int
        Group of each instance, numbered from 0.
    null : int
        The null class.
    exempt : set of int
        Groups it does not hold for, e.g. those with missing instances.
    """

    groups: NDArray[np.intp]
    null: int
    exempt: frozenset[int] = frozenset()
    name: str = "at least one named in a group"

    @once_per_sets
    def _named(self, sets: CandidateSets) -> tuple[Entries, Entries]:
        """Entries of names in groups that it holds for, and the group of each."""
        entries = np.flatnonzero(sets.classes != self.null)
        group = self.groups[sets.instance[entries]]
        bound = self.binds(sets)[group]
        return entries[bound], group[bound]

    def project(self, y: Labels, sets: CandidateSets) -> Labels:
        """Return y_ij / min(named mass of the group, 1) for every name i."""
        entries, group = self._named(sets)
        named = np.bincount(group, y[entries])
        # A group without named mass, or with rounding errors, would be 0/0: it is left unchanged.
        divisor = np.where(named > least_mass(y), np.minimum(named, 1), 1)
        y = y.copy()
        y[entries] /= divisor[group]
        return y

    def violation(self, y: Labels, sets: CandidateSets) -> float:
        """Return by how much the named mass of a group is below 1, at most."""
        entries, group = self._named(sets)
        named = np.bincount(group, y[entries])[group]
        return float(np.maximum(1 - named, 0).max(initial=0))

    def rows(self, sets: CandidateSets) -> Inequalities:
        """Return "sum of all names over a group >= 1"."""
        return make_rows(*self._named(sets), (1, np.inf), sets)

    def binds(self, sets: CandidateSets) -> NDArray[np.bool_]:
        """Return which groups it holds for: not exempt, and with a candidate other than null."""
        bound = np.zeros(int(self.groups.max(initial=-1)) + 1, dtype=bool)
        bound[self.groups[sets.instance[sets.classes != self.null]]] = True
        bound[list(self.exempt)] = False
        return bound
