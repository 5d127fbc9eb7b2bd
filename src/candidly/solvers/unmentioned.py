"""Somebody known who is not mentioned: instances compared with names that are no candidates.

A face that nobody mentioned is may still be like somebody known from other groups::

    other_j = log((1 - e) + e * sum over known i of share_i (p(x_j | i)/p(x_j))^damping)

which takes N x names comparisons. So where there are many pairs only the nearest ``NEAR`` names of
each instance are compared, exactly. They are searched for by distances in the ``LEADING``
directions in which people differ most; again after 2, 4, 8 and 16 iterations, and in between only
names whose instances have changed by ``MOVED``. Where there are more than ``SEARCHED_PAIRS``, an
instance that a candidate explains is searched for in few of these iterations (``EVERYBODY``), and
at the end.

Each of the others adds little. But thousands of names with few instances, which could look like
anybody, add up to several times as much as the nearest. Their sum is estimated from ``SAMPLED`` of
them whenever all names are searched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.nearest_loops import keep_least, near_squares
from candidly.solvers.two_covariances import TAIL, Covariances, student
from candidly.threads import in_pieces

SURELY = 0.8
"""Number of instances from which a name is known elsewhere."""
FEW_PAIRS = 1_000_000
"""Pairs of an instance and a name up to which all are compared."""
SEARCHED_PAIRS = 100_000_000
"""Pairs up to which the nearest names of all instances are searched for."""
NEAR = 16
"""Names that an instance is compared with where pairs are many."""
SAMPLED = 128
"""Names from which the sum over all that are not near is estimated."""
EVERYBODY = (4, 16)
"""Iterations in which names are searched for everybody, however many pairs there are."""
MOVED = 0.1
"""Part of the instances of a name that have to change before it is searched for again."""
LEADING = 32
"""Directions in which names are searched for."""
EXPLAINED = 2.0
"""Standard deviations of the squared distance up to which a candidate explains an instance."""
PIECE = 2_000_000
"""Pairs that are compared at a time."""
NAMES = 512
"""Names that are searched at a time."""
ROWS = 16_384
"""Instances that are compared with names near to them at a time."""

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

    def some(self, at: Indices) -> KnownNames:
        """Return some of the names."""
        shape = self.mean[at], self.precision[at], self.logdet[at]
        return KnownNames(self.names[at], *shape, self.often[at])


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
        self.forget()

    def forget(self) -> None:
        """Begin anew: what is nearest by other labels says little."""
        self.near: NearestNames | None = None
        self.far: Values | None = None

    def refresh(self, Z: Values, known: KnownNames, R: Values, square: Values | None) -> None:
        """Find the nearest names, if pairs are many; again those that changed with labels R.

        ``square`` (E,) are the squared distances of entries from their names, infinite where there
        is nothing to compare with; without them all instances are looked at.
        """
        pairs = len(Z) * len(known)
        if pairs <= FEW_PAIRS or len(known) <= NEAR:
            self.near = None
            return
        if self.near is None:
            self.near = NearestNames(self.entries, self.damping)
        explained = None
        if square is not None and pairs > SEARCHED_PAIRS:
            k = Z.shape[1]
            fits = square <= k + EXPLAINED * np.sqrt(2 * k)
            explained = np.bincount(self.entries.instance[fits], minlength=len(Z)) > 0
        if self.near.refresh(Z, known, R, explained):
            self.far = None

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
            best = self._near_pairs(Z, anybody, known, rows, self.near.names)
            far = self.far
            if rows is not None or far is None:
                far = self._far_pairs(Z, anybody, known, rows, self.near.names)
                self.far = far if rows is None else self.far
            best = np.logaddexp(best, far)
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

    def _all_pairs(self, Z, anybody, known: KnownNames, rows, near=None):
        """Return the sum over all of these names that are neither candidates nor near."""
        found = np.empty(len(Z))
        column = np.full(self.entries.n_names + 1, -1)  # the last for no name
        column[known.names] = np.arange(len(known))
        constant = (known.mean**2 * known.precision).sum(axis=1)
        table = np.vstack([known.precision.T, -2 * (known.mean * known.precision).T])

        def of_piece(part):
            z = Z[part]
            square = np.maximum(np.hstack([z**2, z]) @ table + constant, 0)
            own = np.arange(len(Z))[part] if rows is None else rows[part]
            row, e = entries_of(self.entries, own)
            self._leave_out(square, row, column[self.entries.name[e]])
            if near is not None:
                self._leave_out(square, np.arange(len(own))[:, None], column[near[own]])
            found[part] = self._damped(square, known, anybody[part], slice(None))

        in_pieces(of_piece, len(Z), max(1, PIECE // len(known)))
        return found

    @staticmethod
    def _leave_out(square, row, column):
        """Make squared distances of rows from names infinite, where there is such a column."""
        there = column >= 0
        square[np.broadcast_to(row, column.shape)[there], column[there]] = np.inf

    def _far_pairs(self, Z, anybody, known: KnownNames, rows, near):
        """Return the sum over names that are not near, from a sample of them.

        The sample has names of all frequencies in proportion. An instance that was not searched for
        has none: its own name may be in the sample.
        """
        order = np.argsort(known.often, kind="stable")
        some = np.linspace(0, len(order) - 1, min(SAMPLED, len(order))).astype(np.intp)
        found = self._all_pairs(Z, anybody, known.some(order[some]), rows, near)
        searched = (near if rows is None else near[rows])[:, 0] >= 0
        return np.where(searched, found + np.log(len(known) / len(some)), -np.inf)

    def _near_pairs(self, Z, anybody, known: KnownNames, rows, near):
        found = np.empty(len(Z))
        row_of = np.full(self.entries.n_names + 1, -1, dtype=np.int32)  # the last for no name
        row_of[known.names] = np.arange(len(known))

        def of_piece(part):
            own = row_of[near[part] if rows is None else near[rows[part]]]
            square = near_squares(Z[part], own, known.mean, known.precision)
            found[part] = self._damped(square, known, anybody[part], own)

        in_pieces(of_piece, len(Z), ROWS)
        return found


class NearestNames:
    """The names nearest to each instance that are no candidates; kept from search to search.

    The likelihood of a name falls with (TAIL + squared distance)*w, w by how wide and how frequent
    it is. For the search its precision is the mean over all directions, so that distances of all
    pairs are one product of matrices.

    Parameters
    ----------
    entries : CandidateEntries
    damping : float
        Power of the likelihood ratios.
    """

    def __init__(self, entries: CandidateEntries, damping: float) -> None:
        self.entries, self.damping = entries, damping
        self.names = np.full((entries.n_instances, NEAR), -1, dtype=np.int32)
        self.labels = np.zeros(len(entries))
        self.searched = np.zeros(entries.n_names, dtype=bool)
        self.current = np.zeros(entries.n_instances, dtype=bool)
        self.calls = 0

    def refresh(self, Z: Values, known: KnownNames, R: Values, explained) -> bool:
        """Search for names whose soft labels R have changed since, and now and then for all.

        Instances that are ``explained`` (None if none are) mostly keep what they have. Returns
        whether it was for all.
        """
        entries = self.entries
        self.calls += 1
        anew = self.calls & (self.calls - 1) == 0  # 1, 2, 4, 8 ...: covariances change, too
        change = entries.over_names(np.abs(R - self.labels))
        moved = change > MOVED * np.maximum(entries.over_names(R), SURELY)
        moved |= anew | ~self.searched
        asked = np.ones(len(Z), dtype=bool)
        if explained is not None and self.calls not in EVERYBODY:
            asked = ~explained
        had = asked & self.current & (not anew)
        table = self._table(known, Z.dtype)
        self._search(Z, np.flatnonzero(asked & ~had), known, np.arange(len(known)), table)
        self._search(Z, np.flatnonzero(had), known, np.flatnonzero(moved[known.names]), table)
        self.current = asked
        moved[np.setdiff1d(np.arange(entries.n_names), known.names)] = False
        self.searched |= moved
        self.labels = np.where(moved[entries.name], R, self.labels)
        return anew

    def _table(self, known: KnownNames, kind) -> tuple[Indices, Values]:
        """Return directions of Z, and what (z, |z|^2, 1) is multiplied with, a column each name."""
        precision = known.precision.mean(axis=1, dtype=float)
        w = np.exp(
            2 / (TAIL + known.mean.shape[1]) * (known.logdet / 2 - known.often / self.damping)
        )
        leading = np.argsort(-(known.mean.astype(float) ** 2).sum(axis=0))[:LEADING]
        mean = known.mean[:, leading]
        size = TAIL / precision + (mean.astype(float) ** 2).sum(axis=1)
        table = np.vstack([-2 * mean.T, np.ones(len(known)), size])
        return leading, (table * (w * precision / w.max())).astype(kind)

    def _search(self, Z, rows, known: KnownNames, some, leading_and_table) -> None:
        """Find the nearest names of some instances among some names, and the others they had."""
        if not len(rows) or not len(some):
            return
        leading, table = leading_and_table
        place = np.full(self.entries.n_names + 1, -1)  # the last for no name
        place[known.names] = np.arange(len(known))
        place[known.names[some]] = -1
        tables = [some[start : start + NAMES] for start in range(0, len(some), NAMES)]
        tables = [(known.names[part], table[:, part]) for part in tables]

        def of_piece(part):
            own = rows[part]
            z = Z[own][:, leading]
            z = np.column_stack([z, np.einsum("jk,jk->j", z, z), np.ones(len(z), z.dtype)])
            names = self.names[own]
            names[place[names] < 0] = -1
            least = np.full(names.shape, np.inf, dtype=z.dtype)
            if len(some) < len(known):
                least = np.einsum("jk,jlk->jl", z, table.T[place[names]])
                least[names < 0] = np.inf
                order = np.argsort(least, axis=1)
                least, names = (np.take_along_axis(one, order, axis=1) for one in (least, names))
            row, e = entries_of(self.entries, own)
            first = np.append(0, np.cumsum(np.bincount(row, minlength=len(own))))
            candidates, at = self.entries.name[e], np.arange(len(own))
            for whose, columns in tables:
                keep_least(z @ columns, at, whose, least, names, first, candidates)
            self.names[own] = names

        in_pieces(of_piece, len(rows), PIECE // NAMES)


def entries_of(entries: CandidateEntries, rows: Indices) -> tuple[Indices, Indices]:
    """Return the entries of some instances, and before that the place in ``rows`` of each."""
    size = entries.first[rows + 1] - entries.first[rows]
    row = np.repeat(np.arange(len(rows)), size)
    begin = entries.first[rows] - (np.cumsum(size) - size)
    return row, begin[row] + np.arange(len(row))
