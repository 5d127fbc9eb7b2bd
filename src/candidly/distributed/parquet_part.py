"""Features in a Parquet file, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import SourceError
from candidly.extras import require

PIECE = 4096
"""Rows that are decoded at a time."""


class ParquetPart:
    """A Parquet file of one column of lists, or of one column per feature.

    Parameters
    ----------
    path : Path
        Only what says how large it is is read at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: list[str] | None = None
        """Names of the columns, where there is one per feature."""
        with self._opened() as file:
            groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
            self._first = np.concatenate([[0], np.cumsum(groups)]).astype(np.intp)
            schema = file.schema_arrow
            about = schema.pandas_metadata or {}
            index = about.get("index_columns", [])  # of a DataFrame, which is no feature
            self._columns = [k for k, name in enumerate(schema.names) if name not in index]
            types = [schema.types[k] for k in self._columns]
            self._lists = len(types) == 1 and hasattr(types[0], "value_type")
            if self._lists:
                types, width = [types[0].value_type], self._width(file)
            elif not self._first[-1] and [str(kind) for kind in types] == ["null"]:
                types, width = [], 0  # lists, of which there is none
            else:
                self.names, width = [schema.names[k] for k in self._columns], len(types)
        self.shape = (int(self._first[-1]), width)
        self._types = [str(kind) for kind in types]
        kinds = [one.get("pandas_type") for one in about.get("column_indexes", [])]
        self.named_by_texts = self.names is not None and kinds in ([], ["unicode"])
        """Whether names were texts in the DataFrame that was stored, if it was one."""

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Give the file, open; ``ValueError`` or ``OSError`` where it is damaged."""
        parquet = require("pyarrow.parquet", "ray")
        # What is buffered is a megabyte rather than all of a row group.
        options = {"buffer_size": 1 << 20, "pre_buffer": False, "page_checksum_verification": True}
        try:
            with parquet.ParquetFile(self.path, **options) as file:
                yield file
        except require("pyarrow", "ray").ArrowException as error:
            raise ValueError(str(error)) from error

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Precision: the highest of all columns."""
        known = {"float": np.float32, "double": np.float64}
        for number, kind in enumerate(self._types):
            if kind not in known:
                which = f" in the column {self.names[number]!r}" if self.names else ""
                raise SourceError(
                    f"{self.path} has numbers of type {kind}{which}; give float32 or float64"
                )
        return np.result_type(np.float32, *(known[kind] for kind in self._types))

    def put_in_order(self, names: list[str], whose: str) -> None:
        """Take columns in the order of these names, or raise where those here are others."""
        own = self.names or []
        if own == names:
            return
        wrong = [f"lacks the column {name!r}" for name in names if name not in own]
        wrong += [f"has the column {name!r}" for name in own if name not in names]
        wrong += [f"has the column {name!r} twice" for name in own if own.count(name) > 1]
        if wrong:
            raise SourceError(
                f"{self.path} {wrong[0]}, other than {whose}; write all parts with the same columns"
            )
        place = dict(zip(own, self._columns, strict=True))
        self.names, self._columns = names, [place[name] for name in names]

    def _width(self, file: Any) -> int:
        """Return how long the first list is."""
        for batch in file.iter_batches(1, use_threads=False):
            return len(self._numbers(batch, 0)[0])
        return 0

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray[np.floating]:
        """Return some rows; their row groups are decoded from the beginning, and little is kept."""
        which = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        try:
            return self._read(which)
        except SourceError:
            raise
        except (OSError, ValueError) as error:
            raise SourceError(f"{self.path} cannot be read: {error}") from error

    def _read(self, which: NDArray[np.intp]) -> NDArray[np.floating]:
        found = np.empty((len(which), self.shape[1]), dtype=self.dtype)
        order = np.argsort(which, kind="stable")
        which = which[order]
        with self._opened() as file:
            for group in np.unique(np.searchsorted(self._first, which, side="right") - 1).tolist():
                at = int(self._first[group])
                for batch in file.iter_batches(PIECE, row_groups=[group], use_threads=False):
                    begin, end = np.searchsorted(which, [at, at + len(batch)])
                    if begin < end:
                        found[order[begin:end]] = self._numbers(batch, at)[which[begin:end] - at]
                    at += len(batch)
                    if end == len(which):
                        break
        return found

    def _numbers(self, batch: Any, first: int) -> NDArray[np.floating]:
        """Return rows as an array, or raise where a list is missing or has another length."""
        columns = [batch.column(k) for k in self._columns]
        for column in columns:
            if column.null_count:
                row = first + int(np.flatnonzero(column.is_null())[0])
                raise SourceError(f"{self.path} has nothing in row {row}; leave such rows out")
        if not self._lists:
            return np.column_stack([np.asarray(column) for column in columns])
        lists = columns[0]
        lengths = np.asarray(lists.value_lengths())
        wanted = self.shape[1] if hasattr(self, "shape") else lengths[0]
        if (lengths != wanted).any():
            row = int(np.flatnonzero(lengths != wanted)[0])
            raise SourceError(
                f"{self.path} has {lengths[row]} features in row {first + row}, and {wanted} in "
                "the first; each row has the same"
            )
        return np.asarray(lists.flatten()).reshape(len(lists), wanted)
