"""Readers of your own data: .mat in the layout of the public data sets, .npz and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from candidly.candidates import Candidates
from candidly.candidates.forms import split_names
from candidly.datasets.matlab_files import matlab_arrays

ANY = "*"
SPECIAL = ("candidates", "group", "label", "id")


class DataFileError(ValueError):
    """A file that cannot be read as candidate data; the message says where and what to do."""


def read(path: str | Path, *, null: str | None = None, encoding: str = "utf-8-sig") -> Bunch:
    r"""Read features and candidates from a file.

    Parameters
    ----------
    path : path
        ``.mat``: ``data`` (n x features), ``partial_target`` and optional ``target`` (classes x
        n), dense or sparse; version 7.3 needs ``candidly[matlab]``. ``.npz``: the same, or ``X``
        (n x features), ``candidates`` (n x classes, 0/1 or soft), optional ``y``, ``classes``,
        ``groups``. ``.csv``: a column ``candidates`` with names as ``a|b|c`` (``*`` for any),
        optional ``group``, ``label`` and ``id``; every other column is a feature.
    null : str, optional
        The class that means "none of these".
    encoding : str
        Encoding of a CSV file.

    Returns
    -------
    Bunch
        ``X``, ``candidates``, ``y`` (or None), ``classes``, ``groups`` (or None), ``ids`` (or
        None) and ``feature_names`` (or None).

    Examples
    --------
    >>> import tempfile, pathlib, candidly
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = file.write_text("size,candidates\n1.5,cat|dog\n0.2,cat\n")
    >>> candidly.datasets.read(file).candidates
    Candidates(2 instances, 2 classes, 1.50 candidates each)
    """
    path = Path(path)
    readers = {".mat": _read_mat, ".npz": _read_npz, ".csv": _read_csv}
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "is not there"
        raise DataFileError(f"{path} {what}")
    encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
    if path.suffix.lower() not in readers:
        raise DataFileError(
            f"{path.name} is none of .mat, .npz and .csv; convert it to one of them"
        )
    if path.stat().st_size == 0:
        raise DataFileError(f"{path.name} is empty")
    return readers[path.suffix.lower()](path, null, encoding)


def _read_mat(path: Path, null: Any, encoding: str) -> Bunch:
    try:
        stored = matlab_arrays(path)
    except ImportError as error:
        raise DataFileError(f"{path.name}: {error}. Or save it with -v7") from error
    except Exception as error:  # its readers raise many kinds on a damaged file
        raise DataFileError(
            f"{path.name} cannot be read as a MATLAB file: {error}. Save it with -v7"
        ) from error
    return _from_arrays(path, stored, null)


def _read_npz(path: Path, null: Any, encoding: str) -> Bunch:
    try:
        with np.load(path) as file:
            stored = {key: file[key] for key in file.files}
    except Exception as error:  # numpy raises many kinds on a damaged file
        raise DataFileError(f"{path.name} cannot be read as a numpy archive: {error}") from error
    if "X" not in stored or "candidates" not in stored:
        return _from_arrays(path, stored, null)
    listed = stored["candidates"]
    read_as = Candidates.from_mask if _is_mask(listed) else Candidates.from_priors
    candidates = _candidates(
        path, read_as, listed, classes=stored.get("classes"), null=null, groups=stored.get("groups")
    )
    return _checked_bunch(path, stored["X"], candidates, stored.get("y"))


def _from_arrays(path: Path, stored: dict[str, Any], null: Any) -> Bunch:
    """Read the layout of the public data sets: data n x m, the targets classes x n."""
    missing = [key for key in ("data", "partial_target") if key not in stored]
    if missing:
        found = ", ".join(stored) or "nothing"
        raise DataFileError(
            f"{path.name} has no array {missing[0]!r}; it holds {found}. Expected data (n x "
            "features), partial_target and target (classes x n)"
        )
    X, listed = _dense(stored["data"]), _dense(stored["partial_target"])
    if listed.ndim != 2 or listed.shape[1] != len(X):
        raise DataFileError(
            f"partial_target of {path.name} has shape {listed.shape}, where data has {len(X)} "
            "rows; it is classes x instances"
        )
    candidates = _from_mask(path, listed.T, null)
    y = None
    if "target" in stored:
        target = _dense(stored["target"])
        if target.shape != listed.shape:
            raise DataFileError(
                f"target of {path.name} has shape {target.shape}, partial_target {listed.shape}"
            )
        several = np.flatnonzero((target != 0).sum(axis=0) != 1)
        if len(several):
            raise DataFileError(
                f"target of {path.name} marks {int((target[:, several[0]] != 0).sum())} classes "
                f"for instance {several[0]}; it marks the one true class"
            )
        y = candidates.classes[target.argmax(axis=0)]
    return _checked_bunch(path, X, candidates, y)


def _from_mask(path: Path, mask: NDArray[Any], null: Any) -> Candidates:
    """Make candidates of unnamed columns; null is the number of a column, or a new name."""
    if null is None:
        return _candidates(path, Candidates.from_mask, mask)
    if str(null).isdigit() and int(null) < mask.shape[1]:
        return _candidates(path, Candidates.from_mask, mask, null=int(null))
    wider = np.column_stack([mask, np.zeros(len(mask))])
    names = [*range(mask.shape[1]), null]
    return _candidates(path, Candidates.from_mask, wider, classes=names, null=null)


def _read_csv(path: Path, null: Any, encoding: str) -> Bunch:
    header, rows = _table(path, encoding)
    if "candidates" not in header and len(header) == 1 and {";", "\t"} & set(header[0]):
        raise DataFileError(f"{path.name} separates its cells by ; or tabs; save it with commas")
    if "candidates" not in header:
        raise DataFileError(
            f"{path.name} has no column 'candidates'; it has {', '.join(header[:20])}. Give the "
            "column with the candidate labels, written as a|b|c, that name"
        )
    features = [k for k, name in enumerate(header) if name not in SPECIAL]
    if not features:
        raise DataFileError(f"{path.name} has no feature columns beside {', '.join(header)}")
    if not rows:
        raise DataFileError(f"{path.name} has a header and no rows")
    X = np.array([[_number(path, header, line, row, k) for k in features] for line, row in rows])
    column = {
        name: [row[k].strip() for _, row in rows]
        for k, name in enumerate(header)
        if name in SPECIAL
    }
    sets = [
        _names(path, line, cell) for (line, _), cell in zip(rows, column["candidates"], strict=True)
    ]
    labels = column.get("label")
    known = {name for names in sets if names for name in names} | set(filter(None, labels or []))
    if ANY in known:
        raise DataFileError(
            f"{path.name}: {ANY} stands for any label, and so cannot be beside others"
        )
    if not known:
        raise DataFileError(f"{path.name}: every row allows any label, and none is named")
    if null is not None:
        known.discard(null)
    candidates = _candidates(
        path,
        Candidates.from_sets,
        sets,
        classes=sorted(known) + ([null] if null else []),
        null=null,
        groups=_own_where_missing(column.get("group")),
    )
    if labels is not None and not all(labels):
        row = labels.index("")
        raise DataFileError(
            f"{path.name}, line {rows[row][0]}: no label, where other rows have one; fill the "
            "column, or remove it"
        )
    _refuse_repeated(path, rows, column.get("id", []))
    y = None if labels is None else np.array(labels)
    names = [header[k] for k in features]
    return _checked_bunch(path, X, candidates, y, ids=column.get("id"), feature_names=names)


def _refuse_repeated(path: Path, rows: list[tuple[int, list[str]]], ids: list[str]) -> None:
    first: dict[str, int] = {}
    for (line, _), name in zip(rows, ids, strict=bool(ids)):
        if name and first.setdefault(name, line) != line:
            raise DataFileError(
                f"{path.name}: lines {first[name]} and {line} have the id {name!r}; give each row "
                "its own, or rename the column"
            )


def _table(path: Path, encoding: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, and the rows with the line number each ends on."""
    try:
        with path.open(newline="", encoding=encoding) as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, row) for row in _numbered(path, reader) if row]
    except UnicodeError as error:
        at = f": byte {error.start} cannot be read" if hasattr(error, "start") else ""
        raise DataFileError(
            f"{path.name} is not {encoding.removesuffix('-sig')}{at}. "
            "Save it as UTF-8, or give --encoding (latin-1, cp1252, utf-16)"
        ) from error
    except LookupError as error:
        raise DataFileError(
            f"there is no encoding {encoding!r}; utf-8 and latin-1 are two"
        ) from error
    if not lines:
        raise DataFileError(f"{path.name} is empty")
    header = [name.strip() for name in lines[0][1]]
    twice = [name for k, name in enumerate(header) if name in header[:k]]
    if twice:
        raise DataFileError(f"{path.name} has two columns {twice[0]!r}; rename or remove one")
    for line, row in lines[1:]:
        if len(row) != len(header):
            raise DataFileError(
                f"{path.name}, line {line}: {len(row)} cells where the header has {len(header)}"
            )
    return header, lines[1:]


def _numbered(path: Path, reader: Any) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        hint = (
            f"a cell has over {csv.field_size_limit():,} characters; shorten it, or look for a "
            "quotation mark that is never closed"
            if "field limit" in str(error)
            else str(error)
        )
        raise DataFileError(f"{path.name}, line {reader.line_num}: {hint}") from error


def _number(path: Path, header: list[str], line: int, row: list[str], k: int) -> float:
    try:
        value = float(row[k])
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        shown = row[k] if len(row[k]) <= 40 else row[k][:37] + "..."
        raise DataFileError(
            f"{path.name}, line {line}: column {header[k]!r} holds {shown!r}, which is no finite "
            "number. Correct it, or remove the column (one named 'id' is kept as it is)"
        )
    return value


def _names(path: Path, line: int, cell: str) -> list[str] | None:
    if cell.strip() == ANY:
        return None
    names = split_names(cell, "|")
    if not names:
        raise DataFileError(
            f"{path.name}, line {line}: no candidates; list them as a|b|c, or {ANY} for any label"
        )
    return names


def _candidates(path: Path, read_as: Any, listed: Any, **options: Any) -> Candidates:
    try:
        return read_as(listed, **options)
    except (ValueError, TypeError) as error:
        raise DataFileError(f"{path.name}: {error}") from error


def _checked_bunch(path: Path, X: Any, candidates: Candidates, y: Any, **more: Any) -> Bunch:
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataFileError(
            f"features of {path.name} are no matrix of numbers: {X.dtype}, shape {X.shape}"
        )
    wrong = np.argwhere(~np.isfinite(X))
    if len(wrong):
        raise DataFileError(
            f"features of {path.name} hold {X[tuple(wrong[0])]} in row {wrong[0][0]}, column "
            f"{wrong[0][1]} (counted from 0); fill it in, or leave the row out"
        )
    if 0 in X.shape:
        raise DataFileError(f"{path.name} has no features, or no rows: shape {X.shape}")
    if len(X) != len(candidates):
        raise DataFileError(
            f"{path.name} has {len(X)} rows of features and {len(candidates)} candidate sets"
        )
    if y is not None and np.shape(y) != (len(candidates),):
        raise DataFileError(
            f"{path.name} has labels of shape {np.shape(y)} for {len(candidates)} instances"
        )
    unknown = (
        [] if y is None else sorted(set(y.tolist()) - set(candidates.classes.tolist()), key=str)
    )
    if unknown:
        raise DataFileError(f"{path.name}: the label {unknown[0]!r} is not one of the classes")
    more = {"ids": None, "feature_names": None, **more}
    return as_bunch(X.astype(np.float64), candidates, y, **more)


def as_bunch(X: NDArray[Any], candidates: Candidates, y: Any, **more: Any) -> Bunch:
    """Return a data set with the classes and groups of its candidates, and whatever is ``more``."""
    classes, groups = candidates.classes, candidates.groups
    return Bunch(X=X, candidates=candidates, y=y, classes=classes, groups=groups, **more)


def _own_where_missing(groups: list[str] | None) -> list[str] | None:
    """Give each empty cell its own group name."""
    if groups is None:
        return None
    return [name or f"(row {k} alone)" for k, name in enumerate(groups, start=1)]


def _is_mask(listed: NDArray[Any]) -> bool:
    return bool(((listed == 0) | (listed == 1)).all())


def _dense(matrix: Any) -> NDArray[Any]:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
