"""Features that need not fit memory: an array, a .npy file, or a folder of parts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names

from candidly.distributed.checksums import (
    NAMES,
    SourceError,
    path_of,
    refuse_changed,
    refuse_lost,
)
from candidly.distributed.file_maps import npy_file_of, refuse_another, state_of
from candidly.distributed.npy_part import NpyPart
from candidly.distributed.parquet_part import ParquetPart

Rows = slice | NDArray[np.intp]
"""Rows of a shard: a slice where they follow one another, as they nearly always do."""

NOTHING = (0, 0)
"""Shape of a part of lists that has none."""
KNOWN = ("_shapes", "_states", "_columns", "dtype")
"""What other processes are told of parts that they have not opened."""


@dataclass
class Features:
    """Features of all instances, read as they are asked for; nothing is written.

    Parameters
    ----------
    parts : sequence of arrays or paths
        Rows in order: arrays, or paths of .npy and Parquet files, with ``~`` for the home folder.
    names : array of str, optional
        Name of each feature; by default those of the columns of Parquet files, if all parts have
        one per feature. Columns are read in this order, or in that of the first part that has
        names.

    Examples
    --------
    >>> features = Features([np.zeros((2, 3)), np.ones((4, 3), dtype=np.float32)])
    >>> features.shape, features.dtype.name
    ((6, 3), 'float64')
    """

    parts: Sequence[Any]
    names: NDArray[Any] | None = None
    _checked: set[Path] = field(default_factory=set)
    _opened: dict[int, Any] = field(default_factory=dict)
    _states: dict[int, tuple[int, int]] = field(default_factory=dict)
    _columns: tuple[list[str], str] | None = None

    def __post_init__(self) -> None:
        self.parts = [path_of(p) if isinstance(p, (str, Path)) else p for p in self.parts]

    @classmethod
    def of(cls, source: Any) -> Features:
        """Return the features of an array, of .npy or Parquet files, or of a folder of these."""
        if isinstance(source, Features):  # what files were to an earlier solve is not kept
            return cls(source.parts, source.names)
        if isinstance(source, (list, tuple)) and _are_paths(source):
            return cls(source)
        if not isinstance(source, (str, Path)):
            X = real_numbers(source, "features")
            names = _get_feature_names(source)
            return cls([X if (path := npy_file_of(X)) is None else path], names)
        path = path_of(source)
        if not path.exists():
            raise SourceError(f"there are no features at {path}")
        if path.is_file():
            return cls([path])
        parts = sorted([*path.glob("*.npy"), *path.glob("*.parquet")])
        if not parts:
            raise SourceError(f"{path} has no .npy or .parquet files with features")
        _refuse_mixed_order([part.name for part in parts], path)
        refuse_lost(path, "part", lambda name: name != NAMES)
        return cls(parts)

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        opened = [self._open(k) for k in range(len(self.parts))]
        found = [part.shape for part in opened]
        # A part of lists that has none does not say how long they are.
        first = next((shape for shape in found if shape != NOTHING), NOTHING)
        for part, shape in zip(self.parts, found, strict=True):
            if (len(shape) != 2 or not shape[1] or shape[1] != first[1]) and (
                shape != NOTHING or first == NOTHING
            ):
                raise SourceError(
                    f"{_called(part)} has the shape {shape}; each part has one row per instance "
                    f"and the same columns, one or more, and the first has the shape {first}"
                )
        if self.names is None and all(getattr(part, "named_by_texts", False) for part in opened):
            self.names = np.array(opened[0].names, dtype=object)
        return [(rows, first[1]) for rows, *_ in found]

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Number of instances and of features."""
        return sum(rows for rows, _ in self._shapes), self._shapes[0][1]

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Precision: the highest of all parts."""
        return np.result_type(*(self._open(k).dtype for k in range(len(self.parts))))

    @cached_property
    def _first(self) -> list[int]:
        return [0, *np.cumsum([rows for rows, _ in self._shapes]).tolist()]

    def rows(
        self,
        which: Rows,
        room: NDArray[np.floating] | None = None,
        shift: NDArray[np.floating] | None = None,
    ) -> NDArray[np.floating]:
        """Return some rows, as an array of their own, or in ``room`` where rows are read into it.

        Parameters
        ----------
        which : slice or array of int
        room : array, optional
            With as many rows or more: memory that is used again need not be made by the system.
        shift : (m,) array, optional
            What is subtracted, in the precision of the features.
        """
        if not isinstance(which, slice):
            found = self._gathered(which)
            return found if shift is None else np.subtract(found, shift, out=found)
        start, stop = which.start, which.stop
        k = bisect_right(self._first, start) - 1
        if len(self.parts) == 1 and isinstance(self.parts[0], np.ndarray):
            part = np.ascontiguousarray(self.parts[0][which])
            return part if shift is None else part - shift
        found = self.room(stop - start) if room is None else room[: stop - start]
        while start < stop:
            end = min(stop, self._first[k + 1])
            own = slice(start - self._first[k], end - self._first[k])
            if start < end:  # it may be of no rows, or of no lists
                self._read(k, own, found[start - which.start : end - which.start], shift)
            start, k = end, k + 1
        return found

    def place(self) -> str:
        """Return where parts of a folder are, for messages; nothing of others."""
        folders = {part.parent if isinstance(part, Path) else None for part in self.parts}
        if len(self.parts) < 2 or len(folders) > 1 or None in folders:
            return ""
        first, last = self.parts[0].name, self.parts[-1].name
        return f" in {len(self.parts)} parts of {self.parts[0].parent}, {first} to {last},"

    def place_of(self, row: int) -> str:
        """Return which part a row is of, for messages; nothing where that is an array."""
        k = bisect_right(self._first, row) - 1
        part = self.parts[k]
        return f", which is row {row - self._first[k]} of {part}" if isinstance(part, Path) else ""

    def room(self, count: int) -> NDArray[np.floating]:
        """Return an empty array for so many rows."""
        return np.empty((count, self.shape[1]), dtype=self.dtype)

    def _gathered(self, which: NDArray[np.intp]) -> NDArray[np.floating]:
        found = self.room(len(which))
        part = np.searchsorted(self._first, which, side="right") - 1
        for k in np.unique(part).tolist():
            own = part == k
            with self._unchanged(k):
                found[own] = self._checked_part(k)[which[own] - self._first[k]]
        return found

    def _read(self, k: int, rows: slice, found: NDArray[np.floating], shift: Any) -> None:
        """Read rows of one part to their place, and subtract a shift."""
        with self._unchanged(k):
            part = self._checked_part(k)
            if isinstance(part, NpyPart):
                part.read(rows, found, shift)
                return
            found[:] = part[rows]
        if shift is not None:
            found -= shift

    @contextmanager
    def _unchanged(self, k: int) -> Iterator[None]:
        """Raise if a part is no longer the file that it was when it was first opened.

        Afterwards, since a file may change while it is read: nothing of another one is used.
        """
        try:
            yield
        finally:
            if k in self._states:
                refuse_another(self.parts[k], self._states[k])

    def _checked_part(self, k: int) -> Any:
        """Return a part whose numbers are about to be read: its checksum is looked at once."""
        part = self.parts[k]
        if isinstance(part, Path) and part not in self._checked:
            refuse_changed(part)
            self._checked.add(part)
        return self._open(k)

    def _open(self, k: int) -> Any:
        """Return a part, of which nothing but shape and type is read here."""
        if k not in self._opened:
            with self._unchanged(k):
                self._opened[k] = self._part(k)
                if isinstance(self._opened[k], ParquetPart):
                    self._order(self._opened[k])
        return self._opened[k]

    def _order(self, part: ParquetPart) -> None:
        """Have the columns of a part read by their names, rather than by their places."""
        if part.names is None:
            return
        if self._columns is None:
            first = part.names, str(part.path)
            given = None if self.names is None else ([str(name) for name in self.names], "names")
            self._columns = given or first
        part.put_in_order(*self._columns)

    def _part(self, k: int) -> Any:
        part = self.parts[k]
        if isinstance(part, np.ndarray):
            return part
        try:
            self._states.setdefault(k, state_of(part))
            found = NpyPart(part) if part.suffix == ".npy" else ParquetPart(part)
        except (OSError, ValueError, EOFError) as error:
            if isinstance(error, SourceError):
                raise
            refuse_changed(part)
            raise SourceError(f"{part} cannot be read as features: {error}") from error
        if found.dtype not in (np.float32, np.float64):
            raise SourceError(f"{part} has numbers of type {found.dtype}; give float32 or float64")
        return found

    def __getstate__(self) -> dict[str, Any]:
        known = {k: v for k, v in vars(self).items() if k in KNOWN}
        return {**known, "parts": self.parts, "_checked": set(), "_opened": {}}


def real_numbers(given: Any, called: str) -> NDArray[np.floating]:
    """Return an array of float32 or float64, or raise where it cannot be one."""
    try:
        found = given if isinstance(given, np.ndarray) else np.asarray(given)
        if found.dtype.kind == "c":
            raise TypeError("it has complex numbers")
        if found.dtype not in (np.float32, np.float64):
            found = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SourceError(
            f"{called}, of type {type(given).__name__}, cannot be used as real numbers: {error}; "
            "give a dense array of them"
        ) from error
    return found


def _are_paths(given: Sequence[Any]) -> bool:
    """Return whether these are paths, one or more, rather than rows of numbers."""
    return bool(given) and all(isinstance(one, (str, Path)) for one in given)


def _refuse_mixed_order(names: list[str], folder: Path) -> None:
    """Raise where parts by name are in another order than by the numbers in their names."""

    def numbered(name: str) -> list[tuple[int, str]]:
        pieces = re.split(r"(\d+)", name)
        return [(int(one), "") if one.isdigit() else (-1, one) for one in pieces]

    for one, other in zip(names, sorted(names, key=numbered), strict=True):
        if one != other:
            raise SourceError(
                f"it is not clear which part of {folder} comes first: {one} by name, {other} by "
                "number; name them with leading zeros, or give Features([...]) with the paths in "
                "the order of the rows"
            )


def _called(part: Any) -> str:
    return str(part) if isinstance(part, Path) else "an array of features"
