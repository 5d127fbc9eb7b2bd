"""Features in a .npy file, read row by row: a map of it would count as memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import SourceError
from candidly.distributed.npy_file import read_header

CACHED = 60_000
"""Numbers that are read before something is subtracted from them, while they are in the cache."""


class NpyPart:
    """A .npy file of features.

    Parameters
    ----------
    path : Path
        Only what says how large it is is read at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.shape, self._by_columns, self.dtype, self._begin = read_header(file)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray[np.floating]:
        """Return some rows."""
        if self._by_columns:
            whole = np.memmap(self.path, self.dtype, "r", self._begin, self.shape, "F")
            return whole[rows]
        count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        found = np.empty((count, self.shape[1]), dtype=self.dtype)
        self.read(rows, found)
        return found

    def read(
        self,
        rows: slice | NDArray[np.intp],
        found: NDArray[np.floating],
        shift: NDArray[np.floating] | None = None,
    ) -> None:
        """Read some rows to their place, and subtract a shift, if there is one."""
        if self._by_columns or found.dtype != self.dtype:
            found[:] = self[rows]
            if shift is not None:
                found -= shift
            return
        size = self.shape[1] * self.dtype.itemsize
        try:
            with self.path.open("rb", buffering=0) as file:
                if isinstance(rows, slice):
                    step = len(found) if shift is None else CACHED // self.shape[1] + 1
                    for begin in range(0, len(found), max(step, 1)):
                        part = found[begin : begin + step]
                        self._fill(file, self._begin + (rows.start + begin) * size, part)
                        if shift is not None:
                            part -= shift
                else:
                    for at, row in zip((self._begin + rows * size).tolist(), found, strict=True):
                        self._fill(file, at, row)
                    if shift is not None:
                        found -= shift
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error}") from error

    def _fill(self, file: Any, at: int, found: NDArray[np.floating]) -> None:
        left = found.reshape(-1).view(np.uint8).data
        file.seek(at)
        while len(left) and (count := file.readinto(left)):
            left = left[count:]
        if len(left):
            raise SourceError(f"{self.path} ends in the middle of its rows; was it cut off?")
