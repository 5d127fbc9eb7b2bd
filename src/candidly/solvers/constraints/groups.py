"""Constraints within groups, e.g. the faces of a photo (Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.solvers.constraints.base import Inequalities, Labels, Mask, make_rows


@dataclass(frozen=True)
class AtMostOnce:
    """A name occurs at most once in a group (eq. cond:unique1; Alg. 3, lines 24-29).

    Parameters
    ----------
    groups : (N,) array of int
        Group of each instance, numbered from 0.
    null : int or None
        Row of the null class, which may occur as often as needed.
    """

    groups: NDArray[np.intp]
    null: int | None = None
    name: str = "a name at most once in a group"

    @cached_property
    def _shared(self) -> NDArray[np.intp]:
        """Instances whose group has at least two instances."""
        return np.flatnonzero(np.bincount(self.groups)[self.groups] > 1)

    @cached_property
    def _group(self) -> NDArray[np.intp]:
        """Group of each of these instances, numbered from 0."""
        return np.unique(self.groups[self._shared], return_inverse=True)[1]

    def project(self, Y: Labels, mask: Mask) -> Labels:
        """Return y_ij / max(sum of the group's y_ig, 1) for every name i."""
        Y = Y.copy()
        divisor = np.maximum(self._sums(Y), 1)
        Y[:, self._shared] /= divisor[:, self._group]
        return Y

    def violation(self, Y: Labels, mask: Mask) -> float:
        """Return by how much the mass of a name in a group exceeds 1, at most."""
        return float(np.maximum(self._sums(Y) - 1, 0).max(initial=0))

    def rows(self, mask: Mask) -> Inequalities:
        """Return "sum over a group <= 1" for names that several instances there could have."""
        named = mask.copy()
        if self.null is not None:
            named[self.null] = False
        at, i = np.nonzero(named[:, self._shared].T)
        which = self._group[at] * len(mask) + i
        _, inverse, count = np.unique(which, return_inverse=True, return_counts=True)
        several = count[inverse] > 1
        return make_rows(i[several], self._shared[at[several]], which[several], (-np.inf, 1), mask)

    def _sums(self, Y: Labels) -> Labels:
        """Return the mass of each name in each group; that of the null class is set to 0."""
        sums = sum_by_group(Y[:, self._shared], self._group)
        if self.null is not None:
            sums[self.null] = 0
        return sums


@dataclass(frozen=True)
class AtLeastOneNamed:
    """Every group has at least one name, unless null is the only candidate of all its instances.

    The paper's eq. cond:nonnull; Alg. 3, lines 15-22. Some real captions violate it.

    Parameters
    ----------
    groups : (N,) array of int
        Group of each instance, numbered from 0.
    null : int
        Row of the null class.
    exempt : set of int
        Groups it does not hold for, e.g. those with missing instances.
    """

    groups: NDArray[np.intp]
    null: int
    exempt: frozenset[int] = frozenset()
    name: str = "at least one named in a group"

    def project(self, Y: Labels, mask: Mask) -> Labels:
        """Return y_ij / min(named mass of the group, 1) for every name i."""
        named = self._named_mass(Y)
        # A group without any named mass would be 0/0: it is left unchanged.
        divisor = np.where(self.binds(mask) & (named > 0), np.minimum(named, 1), 1)
        raised = Y / divisor[self.groups].astype(Y.dtype)
        raised[self.null] = Y[self.null]
        return raised

    def violation(self, Y: Labels, mask: Mask) -> float:
        """Return by how much the named mass of a group is below 1, at most."""
        short = np.where(self.binds(mask), 1 - self._named_mass(Y), 0)
        return float(np.maximum(short, 0).max(initial=0))

    def rows(self, mask: Mask) -> Inequalities:
        """Return "sum of all names over a group >= 1"."""
        named = mask & self.binds(mask)[self.groups]
        named[self.null] = False
        j, i = np.nonzero(named.T)
        return make_rows(i, j, self.groups[j], (1, np.inf), mask)

    def _named_mass(self, Y: Labels) -> Labels:
        mass = np.delete(Y, self.null, axis=0).sum(axis=0)  # a difference would cancel
        return np.bincount(self.groups, weights=mass).astype(np.float64)

    def binds(self, mask: Mask) -> NDArray[np.bool_]:
        """Return which groups it holds for: not exempt, and with a candidate other than null."""
        could = np.delete(mask, self.null, axis=0).any(axis=0)
        bound = np.bincount(self.groups, weights=could) > 0
        bound[list(self.exempt)] = False
        return bound


def sum_by_group(Y, group):
    """Return the columns of Y summed by group (numbered from 0)."""
    N = Y.shape[1]
    count = int(group.max(initial=-1)) + 1
    member = sparse.csr_array((np.ones(N), (group, np.arange(N))), shape=(count, N))
    return (member @ Y.T).T
