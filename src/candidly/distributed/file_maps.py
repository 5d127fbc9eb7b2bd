"""Maps of files as they are sent to other processes: by the file, which these map again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.distributed.checksums import SourceError, refuse_changed
from candidly.distributed.npy_file import read_header


@dataclass(frozen=True)
class FileMap:
    """An array that is a file, on storage that all machines see under the same path.

    Parameters
    ----------
    path : Path
        Absolute.
    dtype : dtype
    shape : tuple of int
    offset : int
        Where its first number is, in bytes.
    state : (int, int)
        As ``state_of`` has it: another file may have taken its place since.
    """

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    state: tuple[int, int]

    def open(self) -> NDArray[Any]:
        """Return the array, mapped; its checksum is compared where the folder lists one."""
        try:
            if state_of(self.path) != self.state:
                raise changed(self.path)
            refuse_changed(self.path)
            return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read on this machine: {error}") from error


def as_file(values: Any) -> Any:
    """Return the file of an array that is the map of one; anything else as it is.

    Parts of maps have the offset of the whole, and maps that can be written may differ from their
    file: both are as they are.
    """
    if not isinstance(values, np.memmap) or values.base is not getattr(values, "_mmap", None):
        return values
    if values.mode != "r" or values.filename is None or not values.flags.c_contiguous:
        return values
    try:
        state = state_of(Path(values.filename))
    except OSError:  # it is gone, and stays in this map
        return values
    return FileMap(Path(values.filename), values.dtype, values.shape, values.offset, state)


def state_of(path: Path) -> tuple[int, int]:
    """Return the size of a file, and when it was changed: another file has others.

    Not its inode, which other machines and file systems of programs may number otherwise.
    """
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def refuse_another(path: Path, state: tuple[int, int]) -> None:
    """Raise where a file is no longer the one that had this state."""
    try:
        now = state_of(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    if now != state:
        raise changed(path)


def changed(path: Path) -> SourceError:
    """Return what to say of a file that is no longer the one that a solve began with."""
    return SourceError(
        f"{path} was changed while the solve ran; put the earlier file back, or begin again in "
        "another folder"
    )


def inodes_of(*arrays: Any) -> dict[Path, tuple[int, int, int]]:
    """Return the files that arrays are maps of, each with its inode and its state."""
    files = [found.path for found in map(as_file, arrays) if isinstance(found, FileMap)]
    return {path: (path.stat().st_ino, *state_of(path)) for path in files}


def refuse_written(files: dict[Path, tuple[int, int, int]]) -> None:
    """Raise where a mapped file was written to; where another took its place, the map stays."""
    for path, (inode, *state) in files.items():
        with suppress(OSError):  # it is gone, and stays in the map
            if path.stat().st_ino == inode and state_of(path) != tuple(state):
                raise changed(path)


def npy_file_of(values: Any) -> Path | None:
    """Return the .npy file that an array is the map of, or None where it is not all of one."""
    found = as_file(values)
    if not isinstance(found, FileMap):
        return None
    try:
        with found.path.open("rb") as file:
            whole = read_header(file)
    except (OSError, ValueError):
        return None
    return found.path if whole == (found.shape, False, found.dtype, found.offset) else None


def as_array(values: Any) -> Any:
    """Return the array of a file; anything else as it is."""
    return values.open() if isinstance(values, FileMap) else values
