"""Checksums of stored files: written where files are whole, and compared where they are read."""

from __future__ import annotations

import errno
import json
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

CHECKSUMS = "checksums.json"
"""File in a folder that has the CRC-32 of each part, by name; without it none is checked."""
NAMES = "names.json"
"""File that has the names of classes, of candidates that are stored."""


class SourceError(ValueError):
    """Raised where a file of features or candidates cannot be used; it says which, and why."""


def store_checksums(folder: str | Path) -> Path:
    """Write the checksums of all files of a source in a folder, and return their file.

    These are .npy and Parquet files, and the names of classes.

    From then on ``solve`` compares each file with its own when it first reads it.

    Parameters
    ----------
    folder : path
        A folder of parts, or one that :func:`store_candidates` wrote.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "part-0.npy"), np.zeros((2, 3)))
    ...     store_checksums(folder).read_text(encoding="utf-8")
    '{"part-0.npy": 1167622012}'
    """
    folder = path_of(folder)
    if not folder.is_dir():
        raise SourceError(f"there is no folder {folder} with files to write checksums of")
    files = files_of_source(folder)
    if not files:
        raise SourceError(f"{folder} has no .npy or .parquet files to write checksums of")
    found = json.dumps({file.name: checksum(file) for file in files})
    try:
        return write_whole(folder / CHECKSUMS, lambda file: file.write(found.encode()))
    except OSError as error:
        raise not_written(folder / CHECKSUMS, error) from error


def path_of(given: str | Path) -> Path:
    """Return a path, with the home of a user for ``~``.

    Examples
    --------
    >>> path_of("~/news") == Path.home() / "news"
    True
    """
    with suppress(RuntimeError):  # there is no such user
        return Path(given).expanduser()
    return Path(given)


def not_written(path: Path, error: OSError) -> SourceError:
    """Return what to say where a file could not be written, which leaves those of before."""
    # NumPy says only how much it wrote where a disk, or a limit on the size of files, ends a write.
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, None):
        return SourceError(
            f"{path} was not written: the disk of {path.parent} is full, or files may not be as "
            f"large ({error}); make room and store it again: what was there before is as it was"
        )
    return SourceError(f"{path} cannot be written: {error}; give a folder that can be")


def files_of_source(folder: Path) -> list[Path]:
    """Return the files in a folder that have checksums: parts of features or candidates, names."""
    names = [folder / NAMES] if (folder / NAMES).exists() else []
    return sorted([*folder.glob("*.npy"), *folder.glob("*.parquet"), *names])


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> Path:
    """Return the path of a file that is there whole, or is still what it was before.

    Who has mapped the file that was there goes on to see that one.
    """
    part = beside(path)
    try:
        with part.open("wb") as file:
            write(file)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path


def beside(path: Path) -> Path:
    """Return where a file is written before it takes its place."""
    return path.with_name(f"{path.name}.part")


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    found = 0
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 22):
                found = zlib.crc32(piece, found)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    return found


def listed_checksums(folder: Path) -> dict[str, int]:
    """Return the checksums that a folder lists, by file name; none where it lists none."""
    path = folder / CHECKSUMS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read as checksums: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(one, int) for one in found.values()):
        raise SourceError(f"{path} has to list the CRC-32 of each file by its name, as a number")
    return found


def refuse_lost(folder: Path, kind: str, counts: Callable[[str], bool]) -> None:
    """Raise where a folder lacks a file that its checksums list, or has one that they do not.

    Parameters
    ----------
    folder : Path
    kind : str
        What such a file is called in the message.
    counts : callable
        Whether a file of this name is one of those compared.
    """
    listed = set(filter(counts, listed_checksums(folder)))
    there = {file.name for file in files_of_source(folder) if counts(file.name)}
    if listed and (odd := listed ^ there):
        which = min(odd)
        raise SourceError(
            f"{folder} {'lacks' if which in listed else 'has'} the {kind} {which}, which its "
            f"checksums {'list' if which in listed else 'do not list'}; copy the {kind}s again, "
            "or write the checksums of these with store_checksums"
        )


def refuse_changed(path: Path) -> None:
    """Raise where a file is not the one whose checksum its folder lists."""
    wanted = listed_checksums(path.parent).get(path.name)
    if wanted is not None and checksum(path) != wanted:
        raise SourceError(
            f"{path} is not the file that {CHECKSUMS} lists: its checksum is another; copy it again"
        )
