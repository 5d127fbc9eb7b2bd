"""The picture files in a folder and below it, newest first."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import NamedTuple

SUFFIXES = frozenset({".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".tif", ".tiff"})
SUFFIXES |= {".heic", ".heif", ".hif"}
# Folders that file managers, archives and network drives leave behind.
_LEFTOVERS = {"@eaDir", "__MACOSX", "$RECYCLE.BIN", "System Volume Information", "lost+found"}


class PictureFile(NamedTuple):
    """A picture file: its path, its size, and when it was last changed."""

    path: Path
    size: int
    mtime_ns: int


class SkippedFile(NamedTuple):
    """A file or folder that could not be read, and why."""

    path: Path
    reason: str


def find(
    root: str | Path,
    *,
    since: date | datetime | None = None,
    only: str | Path | Iterable[str | Path] | None = None,
    problems: list[SkippedFile] | None = None,
) -> list[PictureFile]:
    """Return the pictures below a folder, by the ends of their names, newest first.

    Linked folders are followed, each folder once, so that loops end. Names that start with a
    dot, and folders of previews that network drives leave behind, are skipped.

    Parameters
    ----------
    root : path
        A folder.
    since : date or datetime, optional
        Keep files changed then or later; without a zone it is local time.
    only : path or paths, optional
        Look only into these folders (or files) of the root, as relative or full paths.
    problems : list, optional
        What could not be read is appended here.

    Returns
    -------
    list of PictureFile
        By time of change, newest first, then by path.

    Examples
    --------
    >>> import tempfile
    >>> from candidly.photos.pictures import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.jpg").write_bytes(b"...")
    ...     _ = (Path(folder) / "notes.txt").write_bytes(b"...")
    ...     [found.path.name for found in find(folder)]
    ['a.jpg']
    """
    root = Path(root)
    if not root.is_dir():
        what = "is a file" if root.exists() else "is not there"
        raise NotADirectoryError(f"{root} {what}: give the folder of your photos")
    skipped: list[SkippedFile] = [] if problems is None else problems
    earliest = _nanoseconds(since)
    seen: set[tuple[int, int]] = set()
    found: dict[Path, PictureFile] = {}
    for start in _starts(root, only):
        for item in _walk(start, seen, skipped):
            if item.mtime_ns >= earliest:
                found.setdefault(item.path, item)
    return sorted(found.values(), key=lambda item: (-item.mtime_ns, str(item.path)))


def _nanoseconds(since: date | datetime | None) -> int:
    if since is None:
        return -(2**63)
    if not isinstance(since, datetime):
        since = datetime.combine(since, time())
    # A float is not exact to the nanosecond.
    return round(since.timestamp() * 1e6) * 1000


def _starts(root: Path, only: str | Path | Iterable[str | Path] | None) -> list[Path]:
    if only is None:
        return [root]
    starts = []
    # The path counts as written, not where links lead: those are followed anyway.
    base = Path(os.path.normpath(root.absolute()))
    for folder in [only] if isinstance(only, str | Path) else only:
        wanted = Path(os.path.normpath(base / folder))
        if not wanted.is_relative_to(base):
            raise ValueError(f"only={str(folder)!r} is not in {root}: name a folder inside it")
        if not wanted.exists():
            raise FileNotFoundError(f"only={str(folder)!r} is not there: looked for {wanted}")
        starts.append(root / wanted.relative_to(base))
    return starts


def _walk(
    start: Path, seen: set[tuple[int, int]], skipped: list[SkippedFile]
) -> Iterator[PictureFile]:
    """Yield the files of a folder and below; links come last and never hide a real file."""
    real, links = [start], deque[Path]()
    files: set[tuple[int, int]] = set()
    while real or links:
        linked = not real
        path = links.popleft() if linked else real.pop()
        status = _status(path, skipped)
        if status is None:
            continue
        key = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode):
            if key not in seen:
                seen.add(key)
                for entry in _entries(path, skipped):
                    (links if entry.is_symlink() else real).append(path / entry.name)
        elif path.suffix.lower() in SUFFIXES:
            if not stat.S_ISREG(status.st_mode):
                skipped.append(SkippedFile(path, "it is no file but a device, a pipe or a socket"))
            elif not (linked and key in files):
                files.add(key)
                yield PictureFile(path, status.st_size, status.st_mtime_ns)


def _status(path: Path, skipped: list[SkippedFile]) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError as error:
        # A link without a picture's name may never have been a picture.
        if path.suffix.lower() in SUFFIXES:
            skipped.append(SkippedFile(path, _reason(path, error)))
        return None


def _entries(folder: Path, skipped: list[SkippedFile]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        skipped.append(SkippedFile(folder, _reason(folder, error)))
        return []
    kept = []
    for entry in listed:
        suffix = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122, a Path takes longer
        if entry.name.startswith(".") or entry.name in _LEFTOVERS:
            continue
        if not (suffix in SUFFIXES or entry.is_symlink() or entry.is_dir()):
            continue
        if not _is_text(entry.name):
            reason = "its name is not valid Unicode: rename it"
            skipped.append(SkippedFile(folder / entry.name, reason))
            continue
        kept.append(entry)
    return kept


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(path: Path, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "no permission to read it: change its rights, or run as who may"
    if path.is_symlink():
        return "it is a link that leads nowhere: mend or remove it"
    return f"it cannot be read: {error.strerror or error}"
