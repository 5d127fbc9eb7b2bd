"""Features in a Parquet file, read piece by piece."""

from __future__ import annotations

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
        with self._opened() as file:
            groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
            self._first = np.concatenate([[0], np.cumsum(groups)]).astype(np.intp)
            types = [field.type for field in file.schema_arrow]
            self._lists = len(types) == 1 and hasattr(types[0], "value_type")
            if self._lists:
                types, width = [types[0].value_type], self._width(file)
            else:
                width = len(types)
        self.shape = (int(self._first[-1]), width)
        self._types = [str(kind) for kind in types]

    def _opened(self) -> Any:
        # What is buffered is a megabyte rather than all of a row group.
        parquet = require("pyarrow.parquet", "ray")
        return parquet.ParquetFile(self.path, buffer_size=1 << 20, pre_buffer=False)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Precision: the highest of all columns."""
        known = {"float": np.float32, "double": np.float64}
        if other := [kind for kind in self._types if kind not in known]:
            raise SourceError(
                f"{self.path} has numbers of type {other[0]}; give float32 or float64"
            )
        return np.result_type(np.float32, *(known[kind] for kind in self._types))

    def _width(self, file: Any) -> int:
        """Return how long the first list is."""
        for batch in file.iter_batches(1, use_threads=False):
            return len(self._numbers(batch, 0)[0])
        return 0

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray[np.floating]:
        """Return some rows; their row groups are decoded from the beginning, and little is kept."""
        which = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
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
        for column in batch.columns:
            if column.null_count:
                row = first + int(np.flatnonzero(column.is_null())[0])
                raise SourceError(f"{self.path} has nothing in row {row}; leave such rows out")
        if not self._lists:
            return np.column_stack([np.asarray(column) for column in batch.columns])
        lists = batch.column(0)
        lengths = np.asarray(lists.value_lengths())
        wanted = self.shape[1] if hasattr(self, "shape") else lengths[0]
        if (lengths != wanted).any():
            row = int(np.flatnonzero(lengths != wanted)[0])
            raise SourceError(
                f"{self.path} has {lengths[row]} features in row {first + row}, and {wanted} in "
                "the first; each row has the same"
            )
        return np.asarray(lists.flatten()).reshape(len(lists), wanted)
