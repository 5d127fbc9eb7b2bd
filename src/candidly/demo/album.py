"""The album of the demo: photos of invented people with captions, and who is really in them.

The photos, their captions and ``truth.json`` lie in ``data/``; ``python -m benchmarks.album``
draws them. They are read only: a demo works on a copy. Needs the extra ``photos``.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.photos.geometry import Box, best_match
from candidly.photos.pictures import open_picture
from candidly.photos.project import Project
from candidly.photos.project.queries import FaceRow, faces

MARK = "album.json"  # says which album a folder has
Truth = list[dict[str, Any]]
"""One record per photo: ``file``, ``caption``, ``mentioned``, ``spelled``, ``tags``, ``faces``."""


@dataclass(frozen=True)
class ComparedFace:
    """A face that is in the truth, in the project, or in both.

    Parameters
    ----------
    file : str
        The name of the photo's file.
    right : bool
        Whether its name is right, in either spelling, or it rightly has none.
    named : bool
        Whether the project gives it a name.
    confidence : float
        Confidence of the project; 0 where it does not have the face.
    true, found : bool
        Whether the truth has it, and whether the project has it.
    often : bool
        Whether its person is mentioned in more than one caption.
    tags : frozenset of str
        What is special in the photo.
    """

    file: str
    right: bool
    named: bool
    confidence: float
    true: bool
    found: bool
    often: bool
    tags: frozenset[str]


def read_truth() -> Truth:
    """Return the truth about the album that ships with the package.

    Examples
    --------
    >>> len(read_truth())
    40
    """
    return json.loads(_data().joinpath("truth.json").read_text(encoding="utf-8"))


def copy_album(folder: Path) -> bool:
    """Copy the photos into ``folder/photos``; return False where an earlier demo did that.

    Raises
    ------
    FileExistsError
        Where the folder holds something else.
    """
    mark, this = folder / MARK, _data().joinpath("truth.json").read_bytes()
    content = json.dumps({"album": hashlib.sha256(this).hexdigest()})
    if mark.is_file() and mark.read_text(encoding="utf-8") == content:
        return False
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is there already and is not this album; move it away")
    photos = folder / "photos"
    photos.mkdir(parents=True)
    for file in _data().joinpath("photos").iterdir():
        (photos / file.name).write_bytes(file.read_bytes())
    mark.write_text(content, encoding="utf-8")
    return True


def two_photos() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the truth about two photos: of one person, and of that person with somebody else.

    Examples
    --------
    >>> one, other = two_photos()
    >>> set(one["mentioned"]) < set(other["mentioned"]), len(other["faces"])
    (True, 2)
    """
    plain = [one for one in read_truth() if len(one["faces"]) == len(one["mentioned"])]
    return next(
        (one, other)
        for one in plain
        for other in plain
        if len(one["faces"]) == 1
        and len(other["faces"]) == 2
        and set(one["mentioned"]) < set(other["mentioned"])
    )


def read_picture(file: str) -> NDArray[np.uint8]:
    """Return the pixels of a photo of the album."""
    with as_file(_data().joinpath("photos", file)) as path:
        return open_picture(path).pixels


def copy_photos(folder: Path, truth: Truth) -> None:
    """Copy some photos of the album into a new folder, each with its caption beside it."""
    folder.mkdir(parents=True)
    for photo in truth:
        path = folder / photo["file"]
        path.write_bytes(_data().joinpath("photos", photo["file"]).read_bytes())
        path.with_suffix(".txt").write_text(photo["caption"], encoding="utf-8")


def compare(project: Project, truth: Truth) -> list[ComparedFace]:
    """Return every face of the truth or of the project; a face found is at most one true face."""
    mentioned = Counter(name for record in truth for name in record["mentioned"])
    shown: dict[str, list[FaceRow]] = defaultdict(list)
    for face in faces(project):
        shown[Path(face.file).name].append(face)
    return [
        compared
        for record in truth
        for compared in _compared(record, shown[record["file"]], mentioned)
    ]


def count_right(compared: Iterable[ComparedFace]) -> dict[str, tuple[int, int]]:
    """Return how many faces are right, and of how many, for three kinds of faces."""
    every = list(compared)
    kinds = {
        "with the right name, or rightly none": [face for face in every if face.true],
        "of people mentioned more than once": [face for face in every if face.often],
        "with a name given to them": [face for face in every if face.named],
    }
    return {kind: (sum(face.right for face in some), len(some)) for kind, some in kinds.items()}


def _compared(
    record: dict[str, Any], there: list[FaceRow], mentioned: Counter[str]
) -> Iterator[ComparedFace]:
    """Yield the faces of one photo: those of the truth, then those found beside them."""
    for face in record["faces"]:
        name, found = face["name"], _matching(Box(*face["box"]), there)
        if found is not None:
            there.remove(found)
        spellings = (name, record.get("spelled", {}).get(name, name))
        right = found is not None and found.name in spellings
        yield _outcome(record, found, right, true=True, often=mentioned[name] > 1)
    for found in there:
        yield _outcome(record, found, found.name is None, true=False, often=False)


def _matching(box: Box, there: list[FaceRow]) -> FaceRow | None:
    """Return the face that overlaps a box most, if it is the same face."""
    best = best_match(box, [face.box for face in there])
    return None if best is None else there[best]


def _outcome(
    record: dict[str, Any], found: FaceRow | None, right: bool, *, true: bool, often: bool
) -> ComparedFace:
    named = found is not None and found.name is not None
    confidence = (found.confidence or 0) if found is not None else 0
    tags = frozenset(record["tags"])
    return ComparedFace(
        record["file"], right, named, confidence, true, found is not None, often, tags
    )


def _data() -> Any:
    return files("candidly.demo") / "data"
