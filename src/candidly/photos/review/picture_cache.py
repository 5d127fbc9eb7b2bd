"""Pictures for the page: photos made smaller and faces cut out, as JPEG, kept in memory.

A photo is opened only by its number in the project, never by a path of a request.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from candidly.photos.geometry import Box
from candidly.photos.project import Project
from candidly.photos.reporting.report_file import crop, picture_of, smaller

KEPT = 48_000_000
"""Bytes of JPEG that are kept."""
SIDES = (480, 1600)
"""Sizes of photos: the longer side at most, in pixels."""
FACE_SIDE = 224
QUALITY = 85
AT_ONCE = 2
"""Photos that are decoded at once: one of 50 megapixels takes 150 MB."""


class PictureCache:
    """JPEGs of photos and faces of a project."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._turn = threading.Semaphore(AT_ONCE)

    def photo(self, project: Project, photo: int, side: int) -> bytes | None:
        """Return a photo, or None where it is not there or cannot be read."""
        return self._get(project, ("photo", photo, side), photo)

    def face(self, project: Project, face: int) -> bytes | None:
        """Return a face, or None where there is no such face or no photo of it."""
        row = project.connection.execute("SELECT photo FROM faces WHERE id = ?", (face,)).fetchone()
        return None if row is None else self._get(project, ("face", face, FACE_SIDE), row[0])

    def _get(self, project: Project, key: tuple[str, int, int], photo: int) -> bytes | None:
        found = self._known(key)
        if found is not None:
            return found
        with self._turn:
            found = self._known(key)  # another request may have opened the photo meanwhile
            if found is None:
                self._open(project, photo)
                found = self._known(key)
        return found

    def _known(self, key: tuple[str, int, int]) -> bytes | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _open(self, project: Project, photo: int) -> None:
        """Open a photo once for all that is shown of it."""
        with project.snapshot() as sql:
            picture = picture_of(sql, photo)
            faces = sql.execute(
                "SELECT id, x, y, w, h FROM faces WHERE photo = ?", (photo,)
            ).fetchall()
        if picture is None:
            return
        for side in SIDES:
            self._keep(("photo", photo, side), smaller(picture.pixels, side, QUALITY))
        for face, *box in faces:
            cut = picture.reduced(Box(*box))
            self._keep(("face", face, FACE_SIDE), crop(picture.pixels, cut, FACE_SIDE, QUALITY))

    def _keep(self, key: tuple[str, int, int], data: bytes) -> None:
        with self._lock:
            self._bytes += len(data) - len(self._kept.pop(key, b""))
            self._kept[key] = data
            while self._bytes > KEPT:
                _, old = self._kept.popitem(last=False)
                self._bytes -= len(old)
