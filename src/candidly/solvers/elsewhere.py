"""Somebody known who is not mentioned: instances compared with names that are no candidates.

A face that nobody mentioned is may still be like somebody known from other groups::

    other_j = log((1 - e) + e * sum over known i of share_i (p(x_j | i)/p(x_j))^damping)

which takes N x names comparisons. Few names are like an instance, and the others add nothing that
matters. So where there are many pairs only the nearest ``NEAR`` names of each instance are compared,
exactly; which these are is found again only once ``CHANGED`` of the labels have changed since. They
are found among all names where that can be afforded, else among those of the cells of names (by
k-means) nearest to the instance. What is left out makes ``other`` too small, never too large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.nearest_loops import keep_least, near_squares
from candidly.solvers.two_covariances import TAIL, Covariances, student

SURELY = 0.8
"""Number of instances from which a name is known elsewhere."""
FEW_PAIRS = 1_000_000
"""Pairs of an instance and a name up to which all are compared."""
SEARCHED_PAIRS = 100_000_000
"""Pairs up to which the nearest names are found among all of them."""
NEAR = 16
"""Names that an instance is compared with where pairs are many."""
CHANGED = 0.02
"""Change of soft labels, per instance, from which the nearest names are found again."""
CELLS = 2.0
"""Number of cells, in square roots of the number of names."""
PROBED = 12
"""Cells whose names an instance is compared with."""
PIECE = 2_000_000
"""Pairs that are compared at a time."""

Values = NDArray[np.floating]


@dataclass(frozen=True)
class KnownNames:
    """Names that are known, as distributions in the basis of two covariances.

    Parameters
    ----------
    names : (q,) array of int
        Which names these are.
    mean, precision : (q, k) arrays
    logdet : (q,) array
        Logarithm of the determinant of the covariance.
    often : (q,) array
        Logarithm of the share of instances that are theirs.
    """

    names: Indices
    mean: Values
    precision: Values
    logdet: Values
    often: Values

    @classmethod
    def of(cls, covariances: Covariances, count: Values, total: Values, dtype) -> KnownNames:
        """Return the names with enough instances: their number and sum, for each name."""
        names = np.flatnonzero(count > SURELY)
        count = count[names]
        v = covariances.between / (count[:, None] * covariances.between + 1)
        return cls(
            names,
            (v * total[names]).astype(dtype),
            (1 / (1 + v)).astype(dtype),
            np.log1p(v).sum(axis=1),
            np.log(count / max(count.sum(), 1e-300)),
        )

    def __len__(self) -> int:
        return len(self.names)


@dataclass
class Elsewhere:
    """How likely instances are somebody known who is not mentioned.

    Parameters
    ----------
    entries : CandidateEntries
    share : float
        Probability that somebody who is not mentioned is known from elsewhere.
    damping, even : float
        Power of the likelihood ratios, and the ratio that says nothing.
    """

    entries: CandidateEntries
    share: float
    damping: float
    even: float = 0.0

    def __post_init__(self) -> None:
        self.near: NDArray[np.int32] | None = None
        self._labels: Values | None = None

    def refresh(self, Z: Values, known: KnownNames, R: Values) -> None:
        """Find the nearest names again, if pairs are many and soft labels R have changed."""
        pairs = len(Z) * len(known)
        if pairs <= FEW_PAIRS or len(known) <= NEAR:
            self.near = self._labels = None
            return
        if self._labels is not None:
            change = float(np.abs(R - self._labels).sum())
            if change <= CHANGED * len(Z):
                return
        self._labels = R
        self.near = nearest_names(Z, known, self.damping, self.entries)

    def weigh(
        self, Z: Values, anybody: Values, known: KnownNames, rows: Indices | None = None
    ) -> Values:
        """Return ``other`` of instances; ``refresh`` says which names they are compared with.

        Parameters
        ----------
        Z : (n, k) array
            Features in the basis of the covariances.
        anybody : (n,) array
            Log density of each, as a picture of anybody.
        known : KnownNames
        rows : (n,) array of int, optional
            Which instances these are, if not all.
        """
        if not len(known):
            return np.zeros(len(Z))
        if self.near is None:
            best = self._all_pairs(Z, anybody, known, rows)
        else:
            best = self._near_pairs(Z, anybody, known, rows)
        return np.logaddexp(np.log1p(-self.share), np.log(self.share) + best)

    def _damped(self, square, known: KnownNames, anybody, at):
        """Return log shares and damped ratios from squared distances of pairs, and their sum."""
        constant = known.often - self.damping * (known.logdet / 2 + self.even)
        ratio = self.damping * student(square, 0.0, known.mean.shape[1]) + constant[at]
        top = ratio.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        with np.errstate(divide="ignore"):  # of nobody
            total = np.log(np.exp(ratio - top).sum(axis=1))
        return top[:, 0] + total - self.damping * anybody

    def _all_pairs(self, Z, anybody, known: KnownNames, rows):
        found = np.empty(len(Z))
        column = np.full(self.entries.n_names, -1)
        column[known.names] = np.arange(len(known))
        constant = (known.mean**2 * known.precision).sum(axis=1)
        table = np.vstack([known.precision.T, -2 * (known.mean * known.precision).T])
        for part in _pieces(len(Z), len(known)):
            z = Z[part]
            square = np.maximum(np.hstack([z**2, z]) @ table + constant, 0)
            own = np.arange(len(Z))[part] if rows is None else rows[part]
            row, e = entries_of(self.entries, own)
            at = column[self.entries.name[e]]
            square[row[at >= 0], at[at >= 0]] = np.inf
            found[part] = self._damped(square, known, anybody[part], slice(None))
        return found

    def _near_pairs(self, Z, anybody, known: KnownNames, rows):
        found = np.empty(len(Z))
        row_of = np.full(self.entries.n_names + 1, -1, dtype=np.int32)  # the last for no name
        row_of[known.names] = np.arange(len(known))
        for part in _pieces(len(Z), NEAR * 4):
            near = row_of[self.near[part] if rows is None else self.near[rows[part]]]
            square = near_squares(Z[part], near, known.mean, known.precision)
            found[part] = self._damped(square, known, anybody[part], near)
        return found


def nearest_names(Z, known: KnownNames, damping: float, entries: CandidateEntries):
    """Return the names nearest to each instance that are no candidates (N x NEAR), -1 for none.

    The likelihood of a name falls with (TAIL + squared distance)*w, w by how wide and how frequent
    it is. For the search its precision is the mean over all directions, so that distances of all
    pairs are one product of matrices.
    """
    k, kind = Z.shape[1], Z.dtype
    precision = known.precision.mean(axis=1, dtype=float)
    w = np.exp(2 / (TAIL + k) * (known.logdet / 2 - known.often / damping))
    w /= w.max(initial=1e-300)
    scale = (w * precision)[:, None]
    size = (known.mean.astype(float) ** 2).sum(axis=1)
    table = np.hstack([-2 * scale * known.mean, scale, (w * TAIL + w * precision * size)[:, None]])
    table = np.ascontiguousarray(table.T, dtype=kind)
    least = np.full((len(Z), NEAR), np.inf, dtype=kind)
    name = np.full((len(Z), NEAR), -1, dtype=np.int32)
    search = _among_all if len(Z) * len(known) <= SEARCHED_PAIRS else _in_cells
    for rows, z, some in search(Z, known):
        ones = np.ones((len(z), 1), dtype=kind)
        extended = np.hstack([z, np.einsum("jk,jk->j", z, z)[:, None], ones])
        values = extended @ table[:, some]
        keep_least(values, rows, known.names[some], least, name, entries.first, entries.name)
    return name


def _among_all(Z, known: KnownNames) -> Iterator[tuple[Indices, Values, Indices]]:
    """Yield pieces of the instances, with their features, and all names."""
    for part in _pieces(len(Z), len(known)):
        yield np.arange(len(Z))[part], Z[part], np.arange(len(known))


def _in_cells(Z, known: KnownNames) -> Iterator[tuple[Indices, Values, Indices]]:
    """Yield instances, their features, and the names of a cell that is near to them."""
    centres, cell = _cells(known.mean, int(CELLS * np.sqrt(len(known))))
    names = [np.flatnonzero(cell == a) for a in range(len(centres))]
    offset = (centres**2).sum(axis=1) / 2
    probed = min(PROBED, len(centres))
    for part in _pieces(len(Z), 32):
        far = offset - Z[part] @ centres.T
        probes = np.argpartition(far, probed - 1, axis=1)[:, :probed].ravel()
        order = np.argsort(probes, kind="stable")
        first = np.searchsorted(probes[order], np.arange(len(centres) + 1))
        for a, some in enumerate(names):
            own = order[first[a] : first[a + 1]] // probed
            if len(own) and len(some):
                yield part.start + own, Z[part.start + own], some


def _cells(mean, many):
    """Return the centres of cells of names, by k-means, and the cell of each name."""
    centres = mean[np.random.default_rng(0).permutation(len(mean))[:many]]
    for _ in range(5):
        cell = ((centres**2).sum(axis=1) / 2 - mean @ centres.T).argmin(axis=1)
        count = np.bincount(cell, minlength=many)
        order = np.argsort(cell, kind="stable")
        there = np.flatnonzero(count)
        sums = np.add.reduceat(mean[order], (np.cumsum(count) - count)[there], axis=0)
        centres[there] = sums / count[there, None]
    return centres, cell


def entries_of(entries: CandidateEntries, rows: Indices) -> tuple[Indices, Indices]:
    """Return the entries of some instances, and before that the place in ``rows`` of each."""
    size = entries.first[rows + 1] - entries.first[rows]
    row = np.repeat(np.arange(len(rows)), size)
    begin = entries.first[rows] - (np.cumsum(size) - size)
    return row, begin[row] + np.arange(len(row))


def _pieces(N: int, width: int) -> Iterator[slice]:
    """Yield slices of N rows with at most PIECE numbers each."""
    step = max(1, PIECE // max(width, 1))
    for start in range(0, N, step):
        yield slice(start, min(start + step, N))
