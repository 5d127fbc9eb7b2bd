"""Which files an export writes for a photo, and what is there already."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from candidly.photos.captions.metadata import XmlProblem
from candidly.photos.exporting.photo_names import NamedRegion, PhotoNames
from candidly.photos.geometry import Box, as_stored
from candidly.photos.pictures import PictureProblem, identify
from candidly.photos.pictures.formats import FormatError, Metadata, metadata_of
from candidly.photos.project.named_faces import NamedFace

Sidecar = Literal["adobe", "digikam"]
SIDECARS: tuple[Sidecar, ...] = ("adobe", "digikam")


@dataclass(frozen=True)
class PhotoFile:
    """A file of a photo as the project knows it; the size in pixels is that of the upright one."""

    photo: int
    root: Path
    path: str
    size: int
    mtime_ns: int
    identity: str
    width: int
    height: int
    orientation: int | None

    @property
    def place(self) -> Path:
        """The whole path."""
        return self.root / self.path


def photo_files(sql: sqlite3.Connection, since_ns: int | None = None) -> list[PhotoFile]:
    """Return all files of photos that are there, changed since a time, by root and path."""
    rows = sql.execute(
        "SELECT photo, roots.path, files.path, size, mtime_ns, identity, width, height,"
        " orientation FROM files JOIN roots ON roots.id = root JOIN photos ON photos.id = photo"
        " WHERE gone = 0 AND mtime_ns >= ? ORDER BY root, files.path",
        (-(2**63) if since_ns is None else since_ns,),
    )
    return [
        PhotoFile(photo, Path(os.fsdecode(root)), os.fsdecode(path), *others)
        for photo, root, path, *others in rows
    ]


class FileProblem(Exception):  # noqa: N818  like PictureProblem
    """A file for which nothing can be written; the message says why."""


def read_photo(file: PhotoFile) -> Metadata:
    """Return the metadata of a photo's file, which has to show what it showed when it was ingested.

    Raises
    ------
    FileProblem
        Where it is gone, changed or cannot be read.
    """
    try:
        stat = file.place.stat()
        same = (stat.st_size, stat.st_mtime_ns) == (file.size, file.mtime_ns)
        if not same and identify(file.place) != file.identity:
            raise FileProblem(
                "the picture has changed since its faces were found: candidly name first"
            )
        with file.place.open("rb") as opened:
            return metadata_of(opened) or Metadata()
    except FileNotFoundError as error:
        raise FileProblem("it is not there any more") from error
    except (OSError, PictureProblem, FormatError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
        raise FileProblem(f"it cannot be read ({reason})") from error


def stored_names(file: PhotoFile, found: Metadata, faces: Sequence[NamedFace]) -> PhotoNames:
    """Return the names of a photo with their places in the picture as stored."""
    turned = found.orientation if file.orientation is None else file.orientation
    width, height = file.width, file.height
    regions = []
    for face in faces:
        x, y, w, h = face.box
        x0, y0, x1, y1 = x / width, y / height, (x + w) / width, (y + h) / height
        x0, y0, x1, y1 = (min(max(value, 0.0), 1.0) for value in (x0, y0, x1, y1))
        regions.append(NamedRegion(face.name, as_stored(Box(x0, y0, x1 - x0, y1 - y0), turned)))
    size = (height, width) if turned >= 5 else (width, height)
    return PhotoNames(*size, tuple(regions))


# Places


def sidecar_name(path: Path, kind: Sidecar) -> Path:
    """Return the sidecar of a picture: ``a.xmp`` for Adobe's programs, ``a.jpg.xmp`` for digiKam.

    Examples
    --------
    >>> sidecar_name(Path("a.jpg"), "adobe").name, sidecar_name(Path("a.jpg"), "digikam").name
    ('a.xmp', 'a.jpg.xmp')
    """
    return path.with_suffix(".xmp") if kind == "adobe" else path.with_name(path.name + ".xmp")


def sidecar_beside(path: Path, kind: Sidecar | None) -> Path | None:
    """Return the sidecar that lies beside a picture, if any: of this kind, else of the other."""
    order = SIDECARS if kind is None else (kind, *(other for other in SIDECARS if other != kind))
    return next((one for one in (sidecar_name(path, k) for k in order) if one.is_file()), None)


def folders_of(roots: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """Return the folder below another for the files of each root: itself where there is one root.

    Examples
    --------
    >>> found = folders_of([Path("/a/x"), Path("/b/x")], Path("/o"))
    >>> [place.as_posix() for place in found.values()]
    ['/o/x', '/o/x-2']
    """
    if len(roots) == 1:
        return {roots[0]: folder}
    taken: Counter[str] = Counter()
    found: dict[Path, Path] = {}
    for root in roots:
        name = root.name or "root"
        taken[name] += 1
        found[root] = folder / (name if taken[name] == 1 else f"{name}-{taken[name]}")
    return found


def single_packet(found: Metadata) -> bytes | None:
    """Return the XMP packet in a picture, None where it has none.

    Raises
    ------
    XmlProblem
        Where it goes on in further parts, which are not edited.
    """
    if len(found.xmp) > 1:
        raise XmlProblem("its XMP is too long for one part of the file")
    return found.xmp[0] if found.xmp else None
