"""Draw an album: photos in a folder, with captions as collections have them."""

from __future__ import annotations

import csv
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.album.caption_writing import PlannedPhoto, Rng, WrittenCaption, write
from benchmarks.album.invented_people import LARGEST_CAST
from benchmarks.album.jpeg_files import sidecar, write_jpeg
from benchmarks.album.photo_drawing import picture
from benchmarks.album.plans import ABSENT, FEWEST, plan
from benchmarks.album.truth import AlbumTruth, TrueFace, TruePhoto
from candidly.extras import require

LARGE, ENLARGED = 2, 3.0  # number of photos that are larger than others, and by how much
GREY, TURNED = 0.1, 0.08  # fractions of the photos
START = datetime(2024, 5, 4, 9, tzinfo=UTC)


def draw(
    folder: str | Path,
    *,
    people: int = 25,
    photos: int = 120,
    seed: int = 0,
    size: float = 1.0,
    quality: int | None = None,
) -> AlbumTruth:
    """Draw photos of invented people, with captions beside and inside the files.

    Parameters
    ----------
    folder : path
        Made if it is not there; it has to be empty.
    people : int
        Number of people shown and named somewhere; two more are mentioned and never shown.
    photos : int
        Number of photos; from 12 on every kind of caption occurs.
    seed : int
        Seed of everything random: the same seed draws the same album.
    size : float
        Factor by which photos are larger than 960 x 640, 640 x 800 or 720 x 720 pixels.
    quality : int, optional
        Quality of the JPEG files; from 86 to 94 at random if not given.

    Returns
    -------
    AlbumTruth
        The faces of each photo. It is not written into the folder; see ``AlbumTruth.write``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     truth = draw(Path(folder) / "album", photos=1)
    ...     len(list((Path(folder) / "album").glob("*.jpg")))
    1
    """
    most = LARGEST_CAST - ABSENT
    if not FEWEST <= people <= most:
        raise ValueError(f"people is from {FEWEST} to {most}, not {people}")
    if photos < 1:
        raise ValueError(f"photos is 1 or more, not {photos}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty: give a folder of its own for the album")
    shots = plan(people, photos, seed)
    large = set(np.random.default_rng([seed, 6]).permutation(photos)[: min(LARGE, photos // 10)])
    rows, truths = [], []
    for k, shot in enumerate(shots):
        rng = np.random.default_rng([seed, 7, k])
        caption = write(shot, rng)
        name = f"{START + timedelta(hours=7 * k):%Y-%m-%d}_{k + 1:03d}.jpg"
        scale = size * ENLARGED if k in large else size
        photo, row = _photo(folder / name, shot, caption, scale, quality, rng)
        if k in large:
            photo = photo._replace(tags=(*photo.tags, "large"))
        truths.append(photo)
        rows += row
        stamp = (START + timedelta(hours=7 * k)).timestamp()
        os.utime(folder / name, (stamp, stamp))
    with (folder / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("file", "caption"), *rows])
    return AlbumTruth(_marked(truths))


def _marked(photos: list[TruePhoto]) -> tuple[TruePhoto, ...]:
    """Tag photos of people who are mentioned only once in the album."""
    often = Counter(name for photo in photos for name in photo.mentioned)
    alone = [any(face.name and often[face.name] == 1 for face in photo.faces) for photo in photos]
    return tuple(
        photo._replace(tags=(*photo.tags, "once")) if mine else photo
        for photo, mine in zip(photos, alone, strict=True)
    )


def _photo(
    path: Path,
    shot: PlannedPhoto,
    caption: WrittenCaption,
    scale: float,
    quality: int | None,
    rng: Rng,
) -> tuple[TruePhoto, list[tuple[str, str]]]:
    """Draw and write a photo; return it and its row of ``captions.csv``, if it has one."""
    pixels, boxes = picture(shot, rng, scale=scale)
    tags = list(caption.tags)
    if any(not shown.named for shown in shot.shown):
        tags.append("bystander")
    orientation = 1
    if rng.random() < GREY:
        cv2 = require("cv2", "photos")
        pixels = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        tags.append("grey")
    if rng.random() < TURNED:
        orientation = int(rng.choice([3, 6, 8]))
        tags.append("turned")
    way = str(
        rng.choice(["csv", "txt", "xmp", "iptc", "sidecar"], p=[0.76, 0.06, 0.08, 0.08, 0.02])
    )
    inside = {way: caption.text} if way in {"xmp", "iptc"} else {}
    quality = quality or int(rng.integers(86, 95))
    write_jpeg(path, pixels, quality=quality, orientation=orientation, **inside)
    if way == "txt":
        path.with_suffix(".txt").write_text(caption.text + "\n", encoding="utf-8")
    if way == "sidecar":
        path.with_suffix(".xmp").write_text(sidecar(caption.text), encoding="utf-8")
    faces = tuple(
        TrueFace(box, shown.person.name if shown.named else None, shown.person.name)
        for box, shown in zip(boxes, shot.shown, strict=True)
    )
    tags.append(way)
    photo = TruePhoto(
        path.name, caption.text, caption.mentioned, caption.spelled, tuple(tags), faces
    )
    return photo, [(path.name, caption.text)] if way == "csv" else []
