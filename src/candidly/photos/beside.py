"""What lies beside a photo and may say something about it, as a stamp to compare.

A caption can change without its photo: in ``captions.csv``, in a text or sidecar file. Looking
at sizes and times of those is much faster than reading them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

TABLES = ("captions.csv", "captions.json")
SIDECARS = (".txt", ".xmp")


class Beside:
    """Stamps of photos below a root; folders are listed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[Path, dict[str, str]] = {}

    def stamp(self, path: Path) -> str:
        """Changes when a file that may say something of this photo comes, changes or goes."""
        here = self._listed(path.parent)
        name, stem = path.name.lower(), path.stem.lower()
        near = [here.get(base + end, "") for base in (name, stem) for end in SIDECARS]
        for folder in (path.parent, *path.parent.parents):
            listed = self._listed(folder)
            near.extend(listed.get(table, "") for table in TABLES)
            if folder == self._root:
                break
        return blake2b("|".join(near).encode(), digest_size=12).hexdigest()

    def _listed(self, folder: Path) -> dict[str, str]:
        """Names in small letters of files that may say something, with size and time."""
        if folder not in self._folders:
            found = self._folders[folder] = {}
            # What cannot be listed cannot be read either, and the reader says so.
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name.lower()
                    if name in TABLES or name.endswith(SIDECARS):
                        with suppress(OSError):  # a link that leads nowhere
                            stat = entry.stat()
                            found[name] = f"{stat.st_size}:{stat.st_mtime_ns}"
        return self._folders[folder]
