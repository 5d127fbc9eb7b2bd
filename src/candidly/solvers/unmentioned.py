"""Somebody known who is not mentioned: instances compared with names that are no candidates.

A face that nobody mentioned is may still be like somebody known from other groups::

    other_j = log((1 - e) + e * sum over known i of share_i (p(x_j | i)/p(x_j))^damping)

which takes N x names comparisons. On a device all are made; where pairs are many, in iterations 1,
2, 4, 8 and 16, and at the end. Otherwise, where there are many pairs only the nearest ``NEAR``
names of each instance are compared, exactly. They are searched for by distances in the ``LEADING``
directions in which people differ most; again after 2, 4, 8 and 16 iterations, and in between only
names whose instances have changed by ``MOVED``. Where there are more than ``SEARCHED_PAIRS``, an
instance that a candidate explains is searched for in few of these iterations (``EVERYBODY``), and
at the end; so it is on a device.

Each of the others adds little. But thousands of names with few instances, which could look like
anybody, add up to several times as much as the nearest. Their sum is estimated from ``SAMPLED`` of
them whenever all names are searched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import by_pieces, counting, like, namespace, places_of, zeros
from candidly.solvers.entries import CandidateEntries, Indices
from candidly.solvers.kernels.nearest_loops import keep_least, near_squares, shortened
from candidly.solvers.runs import run_of_each, run_starts
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
TIED = 1e-4
"""Part by which squared distances may differ that are equal but for rounding."""
MOVED = 0.1
"""Part of the instances of a name that have to change before it is searched for again."""
LEADING = 32
"""Directions in which names are searched for."""
EXPLAINED = 2.0
"""Standard deviations of the squared distance up to which a candidate explains an instance."""
PIECE = 2_000_000
"""Pairs that are compared at a time."""
PAIRS_THERE = 128_000_000
"""The same on a device."""
SEARCHED_AT_ONCE = 500_000
"""Pairs that are searched at a time: what is read twice stays in the cache."""
NAMES = 512
"""Names that are searched at a time."""
ROWS = 16_384
"""Instances that are compared with names near to them at a time."""

Values = NDArray[np.floating]

_lock = Lock()


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
    _tables: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, covariances: Covariances, count: Values, total: Values, dtype) -> KnownNames:
        """Return the names with enough instances: their number and sum, for each name."""
        xp, between = namespace(count), like(covariances.between, count)
        names = places_of(count > SURELY)
        count = count[names]
        often = xp.log(count / xp.clip(count.sum(), 1e-300, None))
        logdet, shape = zeros(len(names), count), (len(names), len(between))
        mean, precision = zeros(shape, count, dtype), zeros(shape, count, dtype)

        def of_piece(part):
            v = between / (count[part, None] * between + 1)
            mean[part] = like(v * total[names[part]], mean)
            precision[part] = like(1 / (1 + v), mean)
            logdet[part] = xp.log1p(v).sum(axis=1)

        by_pieces(of_piece, count, ROWS)
        return cls(names, mean, precision, logdet, often)

    def __len__(self) -> int:
        return len(self.names)

    def some(self, at: Indices) -> KnownNames:
        """Return some of the names."""
        shape = self.mean[at], self.precision[at], self.logdet[at]
        return KnownNames(self.names[at], *shape, self.often[at])

    def table(self, damping: float, kind) -> tuple[Indices, Values]:
        """Return directions of Z, and what (z, |z|^2, 1) is multiplied with, a column each name.

        It is the same for all instances, and so made once, by the first thread that asks.
        """
        with _lock:
            if (damping, kind) not in self._tables:
                self._tables[damping, kind] = self._table(damping, kind)
            return self._tables[damping, kind]

    def _table(self, damping: float, kind) -> tuple[Indices, Values]:
        precision = self.precision.mean(axis=1, dtype=float)
        k = self.mean.shape[1]
        w = np.exp(2 / (TAIL + k) * (self.logdet / 2 - self.often / damping))
        w_most = w.max(initial=0)
        size = np.einsum("ik,ik->k", self.mean, self.mean, dtype=float)
        leading = np.argsort(-size)[:LEADING]
        table = np.empty((len(leading) + 2, len(self)), dtype=kind)

        def of_piece(part):
            mean = self.mean[part][:, leading]
            square = np.einsum("ik,ik->i", mean, mean, dtype=float)
            size = TAIL / precision[part] + square
            rows = np.vstack([-2 * mean.T, np.ones(len(mean)), size])
            table[:, part] = rows * (w[part] * precision[part] / w_most)

        by_pieces(of_piece, self.mean, ROWS)
        return leading, table


@dataclass(frozen=True)
class Search:
    """Which names are searched for; the same for all instances.

    Parameters
    ----------
    moved : (c,) array of bool, or None
        Known names whose instances have changed; None where all pairs are compared instead.
    anew : bool
        Whether all names are searched for again.
    many : bool
        Whether instances that a candidate explains are left out.
    """

    moved: NDArray[np.bool_] | None
    anew: bool = False
    many: bool = False


class Searches:
    """What was searched for so far, by the soft labels of all instances."""

    def __init__(self) -> None:
        self.calls, self.searched = 0, np.zeros(0, dtype=bool)

    def next(self, N: int, known: KnownNames, change: Values, mass: Values) -> Search:
        """Return what to search for now.

        Parameters
        ----------
        N : int
            Number of instances.
        known : KnownNames
        change, mass : (c,) arrays
            By how much the soft labels of each name changed since it was searched for, and their
            sum.
        """
        pairs = N * len(known)
        if pairs <= FEW_PAIRS or len(known) <= NEAR:
            self.calls = 0
            return Search(None)
        if not self.calls:
            self.searched = np.zeros(len(mass), dtype=bool)
        self.calls += 1
        anew = self.calls & (self.calls - 1) == 0  # 1, 2, 4, 8 ...: covariances change, too
        many = pairs > SEARCHED_PAIRS and self.calls not in EVERYBODY
        if not isinstance(mass, np.ndarray):  # on a device all pairs are compared, now and then
            return Search(mass > SURELY, anew, many)
        moved = change > MOVED * np.maximum(mass, SURELY)
        moved |= anew | ~self.searched
        moved[np.setdiff1d(np.arange(len(mass)), known.names)] = False
        self.searched |= moved
        return Search(moved, anew, many)


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
        self.last: Any = None
        self.explained: Any = None

    def recall(self, names: Any, labels: Any, current: Any, far: Any) -> None:
        """Take up what an earlier search found."""
        self.near = NearestNames(self.entries, self.damping)
        self.near.names, self.near.labels, self.near.current = names, labels, current
        self.far = far

    def refresh(
        self, Z: Values, known: KnownNames, R: Values, square: Values | None, search: Search
    ) -> None:
        """Find the nearest names, if pairs are many; again those that changed with labels R.

        ``square`` (E,) are the squared distances of entries from their names, infinite where there
        is nothing to compare with; without them all instances are looked at.
        """
        explained = None
        if square is not None and search.many:
            k = Z.shape[1]
            fits = like(square <= k + EXPLAINED * np.sqrt(2 * k), square)
            explained = self.entries.over_instances(fits) > 0
        if search.moved is None or search.anew:
            self.last, self.explained = None, explained
        if search.moved is None or not isinstance(Z, np.ndarray):
            self.near = None
            return
        if self.near is None:
            self.near = NearestNames(self.entries, self.damping)
        if search.anew:
            self.far = None
        self.near.refresh(Z, known, R, explained, search.moved, search.anew)

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
        xp = namespace(Z)
        if not len(known):
            return zeros(len(Z), anybody)
        if xp is not np:
            if rows is not None:
                best = self._all_pairs_there(Z, anybody, known, rows)
            elif self.last is None:
                best = self.last = self._searched_there(Z, anybody, known)
            else:
                best = self.last
        elif self.near is None:
            best = self._all_pairs(Z, anybody, known, rows)
        else:
            best = self._near_pairs(Z, anybody, known, rows, self.near.names)
            far = self.far
            if rows is not None or far is None:
                far = self._far_pairs(Z, anybody, known, rows, self.near.names)
                self.far = far if rows is None else self.far
            best = np.logaddexp(best, far)
        share = xp.ones_like(best) * self.share
        return xp.logaddexp(xp.log1p(-share), xp.log(share) + best)

    def _damped(self, square, known: KnownNames, anybody, at):
        """Return log shares and damped ratios from squared distances of pairs, and their sum."""
        constant = known.often - self.damping * (known.logdet / 2 + self.even)
        ratio = self.damping * student(square, 0.0, known.mean.shape[1]) + constant[at]
        top = ratio.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        with np.errstate(divide="ignore"):  # of nobody
            total = np.log(np.exp(ratio - top).sum(axis=1))
        return top[:, 0] + total - self.damping * anybody

    def _all_pairs(self, Z, anybody, known: KnownNames, rows, near=None, last=None):
        """Return the sum over all of these names that are neither candidates nor near.

        ``last`` (N, 1) are the squared distances of the least near of the near names.
        """
        found = np.empty(len(Z))
        column = self._rows_of(known)
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
            if last is not None:
                # Names mentioned only together are as near; which of them is last is rounding's.
                with np.errstate(invalid="ignore"):  # infinite both, where fewer are near
                    square[np.abs(square - last[part]) <= TIED * square] = np.inf
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
        # Rounded, so that names of equal frequency keep their order however sums are added up.
        order = np.argsort(np.round(known.often, 6), kind="stable")
        some = np.linspace(0, len(order) - 1, min(SAMPLED, len(order))).astype(np.intp)
        last = None
        if len(some) < len(known):
            at = self._rows_of(known)[(near if rows is None else near[rows])[:, -1:]]
            last = near_squares(Z, at, known.mean, known.precision)
        found = self._all_pairs(Z, anybody, known.some(order[some]), rows, near, last)
        searched = (near if rows is None else near[rows])[:, 0] >= 0
        return np.where(searched, found + np.log(len(known) / len(some)), -np.inf)

    def _searched_there(self, Z, anybody, known: KnownNames):
        """Return the sum for all instances; of those that a candidate explains it is nothing."""
        if self.explained is None:
            return self._all_pairs_there(Z, anybody, known, None)
        rows = places_of(~self.explained)
        found = zeros(len(Z), anybody) - namespace(Z).inf
        found[rows] = self._all_pairs_there(Z[rows], anybody[rows], known, rows)
        return found

    def _all_pairs_there(self, Z, anybody, known: KnownNames, rows):
        """Return the same on a device, which is told where pieces end in one copy."""
        xp, entries, (N, k), q = namespace(Z), self.entries, Z.shape, len(known)
        width = q + 1  # the last column is for names that are not known, and in no sum
        column = zeros(entries.n_names, entries.name) + q
        column[known.names] = counting(q, known.names)
        # Of 1 + squared distance/TAIL, which is what the likelihood is a power of.
        weighted = known.mean * known.precision
        table = zeros((2 * k, width), Z)
        table[:, :q] = xp.concatenate([known.precision.T, -2 * weighted.T]) / TAIL
        one_more = zeros(width, Z) + xp.inf
        one_more[:q] = 1 + (known.mean * weighted).sum(axis=1) / TAIL
        power = -self.damping * (TAIL + k) / 2
        often = known.often - self.damping * (known.logdet / 2 + self.even)
        most = often.max()
        share = zeros(width, Z)
        share[:q] = xp.exp(often - most)
        own = counting(N, Z) if rows is None else rows
        begin = entries.first[own]
        start = run_starts(entries.first[own + 1] - begin)
        step = max(1, PAIRS_THERE // width)
        bounds = xp.concatenate([start[::step][: -(-N // step)], start[-1:]]).tolist()
        row = run_of_each(start, bounds[-1])
        e = begin[row] + counting(bounds[-1], row) - start[row]
        row, column = row % step, column[entries.name[e]]
        found = zeros(N, anybody)
        for piece, (one, other) in enumerate(pairwise(bounds)):
            part = slice(piece * step, (piece + 1) * step)
            # In place, and no more often than needed: memory is what takes time here.
            ratio = xp.addmm(one_more, xp.hstack([Z[part] ** 2, Z[part]]), table)
            ratio[row[one:other], column[one:other]] = xp.inf
            least = xp.clip(xp.amin(ratio, axis=1), None, 1e30)  # it is inf of no names
            ratio.mul_((1 / least)[:, None]).pow_(power)
            found[part] = xp.log(ratio @ share) + power * xp.log(least) + most
        return found - self.damping * anybody

    def _rows_of(self, known: KnownNames) -> NDArray[np.int32]:
        """Return the row of each name in ``known``, -1 for others and for no name, the last."""
        row_of = np.full(self.entries.n_names + 1, -1, dtype=np.int32)
        row_of[known.names] = np.arange(len(known))
        return row_of

    def _near_pairs(self, Z, anybody, known: KnownNames, rows, near):
        found = np.empty(len(Z))
        row_of = self._rows_of(known)

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
        self.current = np.zeros(entries.n_instances, dtype=bool)

    def refresh(self, Z: Values, known: KnownNames, R: Values, explained, moved, anew) -> None:
        """Search for names that ``moved`` says of all, or ``anew`` for all of them.

        Instances that are ``explained`` (None if none are) keep what they have.
        """
        entries = self.entries
        asked = np.ones(len(Z), dtype=bool)
        if explained is not None:
            asked = ~explained
        had = asked & self.current & (not anew)
        table = known.table(self.damping, Z.dtype)
        self._search(Z, np.flatnonzero(asked & ~had), known, np.arange(len(known)), table)
        self._search(Z, np.flatnonzero(had), known, np.flatnonzero(moved[known.names]), table)
        self.current = asked
        self.labels = np.where(moved[entries.name], R, self.labels)

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
                least = shortened(np.einsum("jk,jlk->jl", z, table.T[place[names]]))
                least[names < 0] = np.inf
                order = np.argsort(least, axis=1, kind="stable")
                least, names = (np.take_along_axis(one, order, axis=1) for one in (least, names))
            row, e = entries_of(self.entries, own)
            first = np.append(0, np.cumsum(np.bincount(row, minlength=len(own))))
            candidates, at = self.entries.name[e], np.arange(len(own))
            for whose, columns in tables:
                keep_least(z @ columns, at, whose, least, names, first, candidates)
            self.names[own] = names

        in_pieces(of_piece, len(rows), SEARCHED_AT_ONCE // NAMES)


def entries_of(entries: CandidateEntries, rows: Indices) -> tuple[Indices, Indices]:
    """Return the entries of some instances, and before that the place in ``rows`` of each."""
    size = entries.first[rows + 1] - entries.first[rows]
    row = np.repeat(np.arange(len(rows)), size)
    begin = entries.first[rows] - (np.cumsum(size) - size)
    return row, begin[row] + np.arange(len(row))
