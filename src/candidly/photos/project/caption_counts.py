"""How many photos have no caption, or one that names nobody: those cannot be named."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from candidly.photos.records import NAMED
from candidly.wording import count, one_or_more

WRITE = (
    "write names into captions.csv (file,caption) in the folder, into a .txt file beside each "
    "photo, or into the photos' metadata; or candidly name --no-captions recognises people whom "
    "candidly train learnt from photos with captions"
)
"""What helps where no photo has a caption."""


@dataclass(frozen=True)
class CaptionCounts:
    """Numbers of photos: all, those about which nothing is written, and those that name nobody.

    Examples
    --------
    >>> CaptionCounts(30, wordless=12, nameless=0).sentences()
    ['12 of 30 photos have no caption']
    """

    photos: int = 0
    wordless: int = 0
    nameless: int = 0

    def sentences(self) -> list[str]:
        """Return what is missing."""
        if self.photos and self.wordless == self.photos:
            return [
                f"none of {count(self.photos, 'photo')} has a caption: nothing tells who may be in "
                "them"
            ]
        found = []
        if self.wordless:
            found.append(f"{_of(self.wordless, self.photos)} no caption")
        if self.nameless:
            found.append(
                f"{_of(self.nameless, self.photos)} a caption in which no name was found, or none "
                "that may be given"
            )
        return found


def caption_counts(sql: sqlite3.Connection) -> CaptionCounts:
    """Return how many photos there are, without captions, and with captions that name nobody."""
    photos = {
        photo
        for (photo,) in sql.execute("SELECT photo FROM files WHERE gone = 0 AND photo IS NOT NULL")
    }
    written = _photos(sql, "captions", "text != ''")
    named: set[int] = set()
    for table in ("mentions", "given", "regions"):
        rows = f"{table} JOIN captions ON captions.id = caption"
        sure = f" AND probability >= {NAMED}" if table == "mentions" else ""
        named |= _photos(sql, rows, f"person IS NOT NULL{sure}")
        written |= _photos(sql, rows, f"{table}.name IS NOT NULL")
    return CaptionCounts(len(photos), len(photos - written), len((photos & written) - named))


def _photos(sql: sqlite3.Connection, rows: str, where: str) -> set[int]:
    """Return the photos that have captions, or what belongs to them, of a kind."""
    found = sql.execute(
        f"SELECT DISTINCT photo FROM {rows} JOIN files ON files.id = file"
        f" WHERE gone = 0 AND {where}"
    )
    return {photo for (photo,) in found}


def _of(some: int, photos: int) -> str:
    return f"{some} of {count(photos, 'photo')} {one_or_more(some, 'has', 'have')}"
