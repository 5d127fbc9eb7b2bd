"""Checksums of stored files: written where files are whole, and compared where they are read."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

CHECKSUMS = "checksums.json"
"""File in a folder that has the CRC-32 of each part, by name; without it none is checked."""


class SourceError(ValueError):
    """Raised where a file of features or candidates cannot be used; it says which, and why."""


def store_checksums(folder: str | Path) -> Path:
    """Write the checksums of all .npy and Parquet files in a folder, and return their file.

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
    folder = Path(folder)
    files = sorted([*folder.glob("*.npy"), *folder.glob("*.parquet")])
    listed = folder / CHECKSUMS
    listed.write_text(json.dumps({file.name: checksum(file) for file in files}), encoding="utf-8")
    return listed


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


def refuse_changed(path: Path) -> None:
    """Raise where a file is not the one whose checksum its folder lists."""
    wanted = listed_checksums(path.parent).get(path.name)
    if wanted is not None and checksum(path) != wanted:
        raise SourceError(
            f"{path} is not the file that {CHECKSUMS} lists: its checksum is another; copy it again"
        )
