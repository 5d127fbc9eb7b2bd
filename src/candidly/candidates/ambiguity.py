"""Measures of the ambiguity of candidate sets, and classes that cannot be distinguished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import chdtrc

if TYPE_CHECKING:
    from candidly.candidates.candidates import Candidates


@dataclass(frozen=True)
class ListingRates:
    """How often each class is listed, and by how many instances or groups that is known."""

    rates: NDArray[np.float64]
    units: int

    @classmethod
    def of(cls, candidates: Candidates) -> Self:
        """Return the rates of candidates; instances of a group do not count one by one."""
        groups = candidates.groups
        units = len(candidates) if groups is None else len(set(groups.tolist()))
        return cls(candidates.counts / max(len(candidates), 1), units)

    def chance_of(self, other: ListingRates) -> float:
        """Return the chance of rates that differ as much, of two random parts of one whole."""
        rate = (self.rates * self.units + other.rates * other.units) / (self.units + other.units)
        variance = rate * (1 - rate) * (1 / self.units + 1 / other.units)
        varies = variance > 0
        apart = (self.rates - other.rates)[varies] ** 2 / variance[varies]
        return float(chdtrc(max(len(apart), 1), apart.sum()))


def imbalance_factor(counts: NDArray[np.intp]) -> float:
    """Return the largest over the smallest number of candidate sets that list a class."""
    listed = counts[counts > 0]
    return float(listed.max() / listed.min()) if len(listed) else float("nan")


def max_cooccurrence(listing: sparse.csr_array) -> float:
    """Return the largest P(b in S | a in S), b != a."""
    together, counts = _together(listing)
    together.setdiag(0)
    together.eliminate_zeros()
    if together.nnz == 0:
        return 0.0
    rows = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
    return float((together.data / counts[rows]).max())


def always_together(listing: sparse.csr_array) -> list[tuple[int, ...]]:
    """Return the sets of columns that list exactly the same instances."""
    together, counts = _together(listing)
    found: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for a in np.flatnonzero(counts):
        if a in seen:
            continue
        start, stop = together.indptr[a], together.indptr[a + 1]
        others, shared = together.indices[start:stop], together.data[start:stop]
        same = np.sort(others[(shared == counts[a]) & (counts[others] == counts[a])])
        seen.update(same.tolist())
        if len(same) > 1:
            found.append(tuple(same.tolist()))
    return found


def degree_of_ambiguity(candidates: Candidates, y: ArrayLike) -> float:
    """Return the largest P(b in S | true label a), b != a, over the labels a that occur."""
    y = np.asarray(y)
    inside = candidates.contain(y)
    if not inside.all():
        row = int(np.flatnonzero(~inside)[0])
        raise ValueError(
            f"the true label {y[row]!r} of row {row} is not among its candidates; the degree of "
            "ambiguity is defined only where every true label is"
        )
    truth = type(candidates).from_labels(y)
    together = (truth.sparse_priors > 0).T.astype(float) @ (candidates.sparse_priors > 0)
    listed = together.toarray() / truth.counts[:, None]
    listed[truth.classes[:, None] == candidates.classes] = 0
    return float(listed.max(initial=0))


def _together(listing: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.float64]]:
    """Return how often two classes share a candidate set, and how often each is listed."""
    ones = sparse.csr_array(
        (np.ones(listing.nnz), listing.indices, listing.indptr), shape=listing.shape
    )
    together = sparse.csr_array(ones.T @ ones)
    return together, together.diagonal()
