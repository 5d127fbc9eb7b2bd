"""Readers of candidate sets in all their forms, into one sparse matrix.

Every reader returns a :class:`Listing`: an N x c matrix that is positive exactly on the
candidates, and the class of each column.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Names = Sequence[Hashable] | NDArray[Any] | None

JOINED = 0.2
"""Part of the labels from which on a separator in them is taken for one."""


class JoinedLabelsWarning(UserWarning):
    """Warning about labels that look like several names in one string, e.g. "a|b"."""


@dataclass(frozen=True)
class Listing:
    """Non-negative N x c matrix and the class of each column (its number if it has no name)."""

    matrix: sparse.csr_array
    classes: NDArray[Any]


def read_mask(mask: Any, classes: Names = None, null: Hashable | None = None) -> Listing:
    """Read booleans or 0/1, dense or sparse; a DataFrame's columns name the classes."""
    matrix = _matrix(mask, "mask")
    wrong = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if len(wrong):
        raise ValueError(
            f"a mask holds only 0 and 1 (or booleans), but row {row_of(matrix, wrong[0])} holds "
            f"{matrix.data[wrong[0]].item()!r}; use Candidates.from_priors for soft labels"
        )
    names = _column_names(mask, matrix, classes)
    return Listing(with_null(Listing(matrix.astype(np.float64), names), null), names)


def read_priors(priors: Any, classes: Names = None, null: Hashable | None = None) -> Listing:
    """Read soft labels: a class is a candidate where its prior is above 0."""
    matrix = _matrix(priors, "matrix of priors").astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0)))
    if len(wrong):
        raise ValueError(
            f"priors are finite and not negative, but row {row_of(matrix, wrong[0])} "
            f"holds {matrix.data[wrong[0]].item()!r}; correct it, or clip it at 0"
        )
    names = _column_names(priors, matrix, classes)
    return Listing(with_null(Listing(matrix, names), null), names)


def read_sets(
    sets: Iterable[Iterable[Hashable] | None],
    classes: Names = None,
    null: Hashable | None = None,
    decided: Iterable[int] = (),
) -> Listing:
    """Read one collection of class names per instance; None or NaN means any label.

    The null class is a candidate of every row, except of the rows in ``decided``.
    """
    rows = [_row_of_names(number, row) for number, row in enumerate(sets)]
    if classes is None:
        classes = _sorted_names({name for row in rows if row is not None for name in row})
        if not classes:
            raise ValueError(
                "no candidate set names any class; pass classes= to say which there are"
            )
    if null is not None and plain(null) not in _columns(classes):
        classes = [*classes, null]  # the paper's null class is the last
    if null is not None:
        settled = set(decided)
        rows = [
            row if row is None or not row or j in settled else [*row, plain(null)]
            for j, row in enumerate(rows)
        ]
    column = _columns(classes)
    listed = [
        range(len(classes)) if row is None else sorted({_look_up(column, n, j) for n in row})
        for j, row in enumerate(rows)
    ]
    return Listing(_ones(listed, len(classes)), as_names(classes))


def read_strings(
    values: Iterable[Any], sep: str, classes: Names = None, null: Hashable | None = None
) -> Listing:
    """Read one string of names per instance, separated by ``sep``; None or NaN means any label."""
    rows = list(values)
    for row, value in enumerate(rows):
        if not isinstance(value, str) and not is_missing(value):
            raise TypeError(
                f"row {row} is {_short(value)}, not a string of names; use Candidates.from_sets "
                "for collections of names"
            )
    return read_sets([None if is_missing(v) else split_names(v, sep) for v in rows], classes, null)


def split_names(text: str, sep: str) -> list[str]:
    """Return the names in a string, without spaces around them."""
    return [name.strip() for name in text.split(sep) if name.strip()]


def read_labels(labels: Any, classes: Names = None) -> Listing:
    """Read known labels, one candidate per instance."""
    values = np.asarray(labels) if hasattr(labels, "__array__") else as_names(list(labels))
    if values.ndim != 1 or any(_is_set(v) and v is not None for v in values.tolist()):
        raise ValueError(
            "labels have one dimension, one label per row; use Candidates.from_mask for a matrix "
            "of candidates, Candidates.from_sets for sets"
        )
    for number, value in enumerate(values.tolist()):
        if is_missing(value):
            raise ValueError(
                f"row {number} has no label; use Candidates.from_sets, where None means any label"
            )
    names = as_names(classes) if classes is not None else _unique(values)
    column = _columns(names)
    listed = [[_look_up(column, value, j)] for j, value in enumerate(values.tolist())]
    return Listing(_ones(listed, len(names)), names)


def read(y: Any, classes: Names = None, null: Hashable | None = None) -> Listing:
    """Read any form that has only one meaning, and refuse all others."""
    if sparse.issparse(y):
        return read_mask(y, classes, null)
    if isinstance(y, (str, bytes)) or not (hasattr(y, "__array__") or isinstance(y, Iterable)):
        raise TypeError(f"candidates are a matrix, a list of sets or labels, got {_short(y)}")
    if not hasattr(y, "__array__"):
        if not isinstance(y, Sequence):
            raise TypeError(
                f"candidates need an order, got {type(y).__name__}; pass a list, one item "
                "per instance"
            )
        return _read_list(y, classes, null)
    values = np.asarray(y)
    if values.ndim == 1:
        if holds_sets(values):
            return read_sets(values.tolist(), classes, null)
        _warn_of_joined(values)
        return read_labels(values, classes)
    if values.ndim != 2:
        raise ValueError(f"candidates have one or two dimensions, got shape {values.shape}")
    return _read_matrix(y, values, classes, null)


def _read_list(y: Sequence[Any], classes: Names, null: Hashable | None) -> Listing:
    if not any(_is_set(v) for v in y):
        labels = as_names(y)
        _warn_of_joined(labels)
        return read_labels(labels, classes)
    collections = [_is_set(v) or is_missing(v) for v in y]
    if not all(collections):
        row = collections.index(False)
        raise TypeError(
            f"row {row} is {_short(y[row])} where other rows are collections; "
            "put single labels in a set too"
        )
    rows = [v for v in y if not is_missing(v)]
    if any(isinstance(v, (set, frozenset)) for v in rows) or len(rows) < len(y):
        return read_sets(y, classes, null)
    items = [item for row in rows for item in row]
    if len({len(row) for row in rows}) == 1 and items:
        if all(isinstance(item, (bool, np.bool_)) for item in items):
            return read_mask(np.array(rows, dtype=bool), classes, null)
        if all(isinstance(item, (Integral, float, np.floating)) for item in items):
            raise ValueError(
                "lists of numbers, all of one length, can be a mask, soft labels or sets of "
                "class numbers; use Candidates.from_mask, from_priors or from_sets"
            )
    return read_sets(y, classes, null)


def _read_matrix(y: Any, values: NDArray[Any], classes: Names, null: Hashable | None) -> Listing:
    if values.dtype == object:
        try:
            values = values.astype(float)
        except (TypeError, ValueError):
            values = values.astype(str)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            "a matrix of names could be read in several ways; use Candidates.from_sets for "
            "one row of names per instance, Candidates.from_labels for one label"
        )
    if values.dtype.kind == "b":
        return read_mask(y, classes, null)
    if values.shape[1] == 1:
        raise ValueError(
            "one column can be labels or a mask of one class; pass labels as a 1-d array "
            "(y.ravel()), a mask by Candidates.from_mask"
        )
    if ((values == 0) | (values == 1)).all():
        return read_mask(y, classes, null)
    if values.dtype.kind == "f":
        return read_priors(y, classes, null)
    raise ValueError(
        "a matrix of whole numbers other than 0 and 1 could be counts or class numbers; use "
        "Candidates.from_priors or Candidates.from_sets"
    )


def with_null(listing: Listing, null: Hashable | None) -> sparse.csr_array:
    """Return the matrix with the null class a candidate of every row if its column is empty."""
    column = _columns(listing.classes).get(plain(null))
    if null is None or column is None or (listing.matrix[:, [column]] > 0).nnz:
        return listing.matrix
    matrix = listing.matrix
    # Weight of the row's average candidate: a mask stays uniform, priors keep their ratios.
    count = np.maximum((matrix > 0).sum(axis=1), 1)
    mean = np.asarray(matrix.sum(axis=1) / count).ravel()
    rows = np.arange(matrix.shape[0])
    added = sparse.csr_array(
        (np.where(mean > 0, mean, 1), (rows, np.full(len(rows), column))), shape=matrix.shape
    )
    return sparse.csr_array(matrix + added)


def number(values: NDArray[Any]) -> NDArray[np.intp]:
    """Number equal values equally, from 0, in the order in which they first occur."""
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(v, len(codes)) for v in values.tolist()], dtype=np.intp)


def holds_sets(values: NDArray[Any]) -> bool:
    """Return whether a 1-d array holds candidate sets, not labels."""
    return values.dtype == object and any(_is_set(v) for v in values)


def row_of(matrix: sparse.csr_array, entry: int) -> int:
    """Return the row of a stored entry."""
    return int(np.searchsorted(matrix.indptr, entry, side="right") - 1)


def as_names(classes: Sequence[Hashable] | NDArray[Any]) -> NDArray[Any]:
    """Return class names as a 1-d array that keeps mixed types and tuples apart."""
    if isinstance(classes, (set, frozenset)):
        raise TypeError("classes need an order; pass a list, one name per column")
    if isinstance(classes, np.ndarray):
        return classes.copy()
    names = [plain(name) for name in classes]
    if len({type(name) for name in names}) == 1 and isinstance(names[0], (str, int, float)):
        return np.array(names)
    mixed = np.empty(len(names), dtype=object)
    mixed[:] = names
    return mixed


def plain(name: Any) -> Any:
    """Return a NumPy scalar as a Python value, and any other value unchanged."""
    return name.item() if isinstance(name, np.generic) else name


def _matrix(value: Any, what: str) -> sparse.csr_array:
    """Return an N x c matrix of numbers or booleans as CSR."""
    if not sparse.issparse(value):
        value = np.asarray(value)
        if value.dtype == object:
            value = value.astype(np.float64)
        if value.dtype.kind not in "biuf":
            raise TypeError(f"a {what} holds numbers or booleans, got {value.dtype}")
    if value.ndim != 2:
        raise ValueError(f"a {what} has two dimensions (N, classes), got shape {value.shape}")
    return sparse.csr_array(value)


def _column_names(source: Any, matrix: sparse.csr_array, classes: Names) -> NDArray[Any]:
    if classes is not None:
        return as_names(classes)
    if hasattr(source, "columns"):
        return as_names(list(source.columns))
    return np.arange(matrix.shape[1])


def _ones(listed: Sequence[Sequence[int]], width: int) -> sparse.csr_array:
    """Return the matrix that is 1 at the listed columns of each row."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in listed], dtype=np.intp)])
    indices = np.array([column for row in listed for column in row], dtype=np.intp)
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), (len(listed), width))


def _columns(classes: Sequence[Hashable] | NDArray[Any]) -> dict[Any, int]:
    return {plain(name): column for column, name in enumerate(classes)}


def _look_up(column: dict[Any, int], name: Any, row: int) -> int:
    if name not in column:
        raise ValueError(
            f"row {row} lists {name!r}, which is not in classes; add it there or correct the row"
        )
    return column[name]


def _warn_of_joined(labels: NDArray[Any]) -> None:
    """Warn where many labels hold a separator, and so are several names rather than one."""
    texts = [label for label in labels.tolist() if isinstance(label, str)]
    for sep in "|;,":
        joined = {text for text in texts if sep in text}
        if not joined or sum(text in joined for text in texts) < JOINED * len(labels):
            continue
        # "Doe, Jane" is one name: a comma separates where most names are in several strings.
        uses = Counter(name for text in set(texts) for name in set(split_names(text, sep)))
        if sep == "," and 2 * sum(count > 1 for count in uses.values()) < len(uses):
            continue
        warnings.warn(
            f"labels such as {min(joined)!r} look like several candidates, and are taken for one "
            f"class each; use Candidates.from_strings(y, sep={sep!r}) to split them, or "
            "Candidates.from_labels if they are single names",
            JoinedLabelsWarning,
            stacklevel=4,
        )
        return


def _row_of_names(number: int, row: Any) -> list[Any] | None:
    if is_missing(row):
        return None
    if not _is_set(row):
        raise TypeError(
            f"row {number} is {_short(row)}, not a collection of class names; "
            "put it in a set, or use Candidates.from_labels for one label per row"
        )
    names = [plain(name) for name in row]
    if any(is_missing(name) for name in names):
        raise ValueError(
            f"row {number} lists None or NaN among its candidates; leave it out, or make the "
            "whole row None for any label"
        )
    return names


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA or NaT."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _unique(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype != object:
        return np.unique(values)
    return as_names(_sorted_names(set(values.tolist())))


def _is_set(value: Any) -> bool:
    return value is None or (isinstance(value, Iterable) and not isinstance(value, (str, bytes)))


def _sorted_names(names: set[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:  # names of several types
        return sorted(names, key=lambda name: (type(name).__name__, str(name)))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
