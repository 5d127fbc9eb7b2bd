"""What is wrong with features: rows far outside the others, codes for missing values, columns.

A row is far outside by its distance from the column medians, in robust spreads of the columns: at
most a tenth of the rows, above a gap in log distance that the tail of the others does not explain.
Heavy tails have many small gaps, a unit error or a code has one large gap.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.arrays import Floats, Mask

MOST_BROKEN = 0.1
"""Largest part of the rows that can be broken; more of them are a class, or another kind of row."""
GAP, TAILS = 30.0, 7.0
"""Least gap before broken rows: as a factor, and in log distance in multiples of the tail."""
RARE = 1e9
"""Spread of a column with few other values, over that of the others, that says nothing."""
CODE_GAP, NINES_GAP = 1e6, 10.0
"""Least gap before a code, in ranges of the other values; the second for 99, -9999 and the like."""
CODE_CELLS = 3
"""Least number of cells that share a code."""
ROUNDS = 3
"""How often codes are looked for: the largest one hides others."""
LISTED = 10
"""Largest number of rows or columns that a note lists."""


class CodedValue(NamedTuple):
    """A value that stands for a missing one: in how many cells, and in which columns."""

    value: float
    cells: int
    columns: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FeatureExamination:
    """What was found in features; rows and columns are counted from 0.

    Parameters
    ----------
    medians : (m,) array
        Median of each column, without missing values.
    distances : (N,) array
        Root mean square of (value - median) / spread over the columns of a row, missing values
        filled in; NaN for rows that do not count.
    broken_rows : array of int
        Rows far outside the others, and rows without any value.
    empty_rows : array of int
        Those of them that say nothing: every value is missing or far outside.
    coded : tuple of CodedValue
        Values that were taken for missing ones.
    missing : int
        Number of NaN.
    constant_columns : array of int
        Columns with one value in all rows that are not broken.
    duplicated_columns : array of int
        Columns equal to one before them, unless constant.

    Examples
    --------
    >>> import numpy as np
    >>> from candidly.estimators.feature_examination import examine
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[7] *= 1e6
    >>> examination, repaired = examine(X)
    >>> examination.broken_rows.tolist(), bool(abs(repaired).max() < 10)
    ([7], True)
    """

    medians: NDArray[np.float64]
    distances: NDArray[np.float64]
    broken_rows: NDArray[np.intp]
    empty_rows: NDArray[np.intp]
    coded: tuple[CodedValue, ...]
    missing: int
    constant_columns: NDArray[np.intp]
    duplicated_columns: NDArray[np.intp]

    def fill(self, X: Floats) -> Floats:
        """Return rows with the medians in place of NaN and of the coded values."""
        gone = np.isnan(X)
        for code in self.coded:
            gone[:, code.columns] |= X[:, code.columns] == X.dtype.type(code.value)
        return np.where(gone, self.medians.astype(X.dtype), X) if gone.any() else X

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know at once, in sentences."""
        said = []
        if n := len(self.broken_rows):
            said.append(
                f"{n} {'row of X is' if n == 1 else 'rows of X are'} far outside the others, or "
                f"without values: {listed('row', self.broken_rows)} (counted from 0). They have "
                "no part in the solve, or a repaired one under constraints, and are labelled from "
                "the others; correct them, or leave them out"
            )
        said += [
            f"{code.value:g} stands in {code.cells} cells of X, far outside the other values of "
            f"{listed('column', code.columns)} (counted from 0), and is taken for missing: the "
            "median of the column takes its place. If it is no code, scale the column"
            for code in self.coded
        ]
        return tuple(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """All that was found, in sentences: the warnings, and what does no harm."""
        said = list(self.warnings)
        if self.missing:
            said.append(f"{self.missing} NaN in X are replaced by the median of their column")
        if len(self.constant_columns):
            said.append(f"constant: {listed('column', self.constant_columns)}")
        if len(self.duplicated_columns):
            said.append(f"equal to one before: {listed('column', self.duplicated_columns)}")
        return tuple(said)


def listed(what: str, numbers: Sequence[int] | NDArray[np.intp]) -> str:
    """Return the first ten numbers, and how many more there are.

    Examples
    --------
    >>> listed("row", range(12)), listed("row", [3])
    ('rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more', 'row 3')
    """
    some = ", ".join(str(number) for number in numbers[:LISTED])
    more = f" and {len(numbers) - LISTED} more" if len(numbers) > LISTED else ""
    return f"{what}{'s' if len(numbers) > 1 else ''} {some}{more}"


@np.errstate(over="ignore", invalid="ignore")  # differences of huge values are just huge
def examine(X: Floats, counts: Mask | None = None) -> tuple[FeatureExamination, Floats]:
    """Return what is wrong with features, and the features repaired.

    Missing values become medians. In a broken row so does every value outside the range of the
    others; where these are most of the row it is scaled down instead, since it may be right but
    for its unit. Without anything to repair the same array comes back.

    Parameters
    ----------
    X : (N, m) array
        Finite, or NaN where values are missing.
    counts : (N,) array of bool, optional
        Rows to learn from; in the others missing values are filled in.
    """
    rows = np.arange(len(X)) if counts is None else np.flatnonzero(counts)
    part = X if counts is None else X[rows]
    gone = np.isnan(part)
    missing = int(np.count_nonzero(gone))
    filled, medians = _fill(part, gone)
    measured = _Distances.of(filled, medians)
    codes: dict[float, NDArray[np.intp]] = {}
    for _ in range(ROUNDS):
        found = _codes(filled, medians, measured.broken, codes.keys())
        if not found:
            break
        for value, columns in found.items():
            gone[:, columns] |= part[:, columns] == value
            codes[value] = np.union1d(codes.get(value, columns), columns)
        filled, medians = _fill(part, gone)
        measured = _Distances.of(filled, medians)
    empty = gone[:, measured.spread > 0].all(axis=1) & gone.any(axis=1)
    broken = measured.broken | empty
    if broken.any():
        filled, nothing = _repair(filled, broken, medians, measured.spread)
        empty = empty | nothing
    constant, duplicated = _columns(filled[~broken])
    distances = np.full(len(X), np.nan)
    distances[rows] = measured.d
    examination = FeatureExamination(
        medians=medians,
        distances=distances,
        broken_rows=rows[broken],
        empty_rows=rows[broken & empty],
        coded=tuple(
            CodedValue(value, int((part[:, columns] == value).sum()), columns)
            for value, columns in sorted(codes.items())
        ),
        missing=missing,
        constant_columns=constant,
        duplicated_columns=duplicated,
    )
    if counts is None:
        return examination, filled
    whole = examination.fill(X)
    if filled is not part:
        whole = whole.copy()
        whole[rows] = filled
    return examination, whole


def _fill(X: Floats, gone: Mask) -> tuple[Floats, NDArray[np.float64]]:
    """Return X with medians where values are gone, and the medians."""
    medians = np.median(np.ascontiguousarray(X.T), axis=1).astype(np.float64)
    affected = np.flatnonzero(gone.any(axis=0))
    for j in affected:
        kept = X[~gone[:, j], j]
        medians[j] = np.median(kept) if len(kept) else 0.0
    return (np.where(gone, medians.astype(X.dtype), X) if len(affected) else X), medians


@dataclass(frozen=True)
class _Distances:
    """Distances of rows from the medians, in spreads of the columns, and which are too large."""

    d: NDArray[np.float64]
    spread: NDArray[np.float64]
    broken: Mask

    @classmethod
    def of(cls, X: Floats, medians: NDArray[np.float64]) -> _Distances:
        N = len(X)
        A = np.array(X.T, dtype=np.float64, order="C")
        A -= medians[:, None]
        np.abs(A, out=A)
        spread = _spreads(A)
        A = A[spread > 0]
        A /= spread[spread > 0, None]
        np.minimum(A, 1e100, out=A)  # squares stay finite
        d = np.sqrt(np.einsum("ji,ji->i", A, A) / max(len(A), 1))
        order = np.argsort(d)[::-1]
        # Nearer than one value by one spread all rows are alike, as those of few sparse columns.
        least = 1 / np.sqrt(max(len(A), 1))
        L = np.log(np.maximum(d[order], least))
        k = np.arange(1, int(MOST_BROKEN * N) + 1)  # how many rows may be above the gap
        further = np.count_nonzero(d > least)

        def quantile(q: float) -> NDArray[np.float64]:
            return L[k + ((1 - q) * np.maximum(further - k, 0)).astype(int)]  # below the gap

        # For a power law both differences are these multiples of one over its exponent.
        tail = np.maximum(
            (quantile(0.9) - quantile(0.75)) / np.log(2.5),
            (quantile(0.9) - quantile(0.5)) / np.log(5),
        )
        gaps = L[k - 1] - L[k]
        wide = np.flatnonzero((gaps > np.log(GAP)) & (gaps > TAILS * tail))
        broken = np.zeros(N, dtype=bool)
        broken[order[: wide[-1] + 1 if len(wide) else 0]] = True
        return cls(d, spread, broken)


def _spreads(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spread of each row of absolute deviations; 0 where all of them are.

    It is the upper quartile, or where that is 0, as in sparse columns, the one of those that
    are not, unless it is huge beside other columns: then these cells are all broken.
    """
    N = A.shape[1]
    spread = np.partition(A, 3 * N // 4, axis=1)[:, 3 * N // 4]
    sparse = np.flatnonzero(spread == 0)
    usual = spread[spread > 0]
    for j in sparse:
        other = np.sort(A[j][A[j] > 0])
        spread[j] = other[3 * len(other) // 4] if len(other) else 0.0
    usual = usual if len(usual) else spread[spread > 0]
    if len(usual):
        unit = np.median(usual)
        spread[sparse] = np.where(spread[sparse] > RARE * unit, unit, spread[sparse])
    return spread


def _codes(
    X: Floats, medians: NDArray[np.float64], broken: Mask, known: Container[float]
) -> dict[float, NDArray[np.intp]]:
    """Return the columns of each value that stands for missing ones.

    In rows that are not broken it is an extreme of its column, far outside the other values. In
    broken rows it is shared by values outside the range of the other rows; a row with more than
    two such values is rather of another unit. One that is known already needs no other cells.
    """
    rest = X[~broken]
    cells: dict[float, int] = {}
    columns: dict[float, set[int]] = {}

    def note(value: float, column: int, count: int, low: float, high: float) -> None:
        gap = max(low - value, value - high)
        # Real columns have 0 and 1 as extremes.
        if abs(value) > 1 and gap >= (NINES_GAP if _all_nines(value) else CODE_GAP) * (high - low):
            # A column with one other value, as a flag has, is no evidence by itself.
            cells[value] = cells.get(value, 0) + (count if low < high else 0)
            columns.setdefault(value, set()).add(column)

    low, high = rest.min(axis=0), rest.max(axis=0)
    for code, other_end in ((low, high), (high, low)):
        # The median is one of the other values: their range is at least from it to the other end.
        far = np.abs(code - medians) > NINES_GAP * np.abs(other_end - medians)
        for j in np.flatnonzero(far & (np.abs(code) > 1)):
            others = rest[rest[:, j] != code[j], j]
            count = len(rest) - len(others)
            note(float(code[j]), int(j), count, float(others.min()), float(others.max()))
    for row in X[broken]:
        at = np.flatnonzero(_outside(row, low, high))
        if len(set(row[at])) <= 2:
            for j in at:
                note(float(row[j]), int(j), 1, float(low[j]), float(high[j]))
    return {
        value: np.array(sorted(columns[value]), dtype=np.intp)
        for value, count in cells.items()
        if (count >= CODE_CELLS or value in known)
        and abs(value) > 1  # as real columns have 0 and 1 as extremes
    }


def _all_nines(value: float) -> bool:
    digits = f"{abs(value):.7g}".replace(".", "")
    return abs(value) > 90 and set(digits) == {"9"}


def _outside(X: Floats, low: Floats, high: Floats) -> Mask:
    """Return which values are further outside the range of their column than it is wide."""
    span = high - low
    return (low - span > X) | (high + span < X)


def _repair(
    X: Floats, broken: Mask, medians: NDArray[np.float64], spread: NDArray[np.float64]
) -> tuple[Floats, Mask]:
    """Return X with broken rows repaired, and the rows of which nothing is left."""
    rest, rows = X[~broken].astype(np.float64), X[broken].astype(np.float64)
    low, high = rest.min(axis=0), rest.max(axis=0)
    varies = low < high
    out = _outside(rows, low, high)
    kept = np.where(out, medians, rows)
    other_unit = 2 * (out & varies).sum(axis=1) > ((rows != 0) & varies).sum(axis=1)
    # Only the direction of such a row is known; its length becomes the usual one.
    unit = np.where(varies & (spread > 0), spread, np.inf)
    size = np.linalg.norm(rest / unit, axis=1)
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    own = np.maximum(np.linalg.norm(rows / unit, axis=1), 1e-300)
    scaled = np.where(varies, rows * (np.median(size) / own)[:, None], medians)
    repaired = X.copy()
    repaired[broken] = np.where(other_unit[:, None], scaled, kept)
    nothing = np.zeros(len(X), dtype=bool)
    nothing[broken] = ~other_unit & (out | ~varies).all(axis=1)
    return repaired, nothing


def _columns(X: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the constant columns, and those that equal one before them."""
    constant = (X[:1] == X).all(axis=0)
    first: dict[int, int] = {}
    duplicated = []
    columns = np.ascontiguousarray(X.T)
    for j in np.flatnonzero(~constant):
        before = first.setdefault(hash(columns[j].tobytes()), int(j))
        if before != j and np.array_equal(columns[before], columns[j]):
            duplicated.append(j)
    return np.flatnonzero(constant), np.array(duplicated, dtype=np.intp)
