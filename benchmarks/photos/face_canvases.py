"""24-megapixel pictures without people, on which faces of known sizes and places are put."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_sample_images

from benchmarks.album.face_drawing import FACE, GRID, portrait
from candidly.datasets.store import data_folder, locate
from candidly.extras import require
from candidly.photos.geometry import Box
from candidly.photos.parts import Pixels

WIDTH, HEIGHT = 6000, 4000
SMALL = (30, 40, 55, 75, 100, 140, 200, 300, 450)
LARGE = ((2000,), (1400, 700), (1000, 700, 700))  # used in turn: they leave little room
CONTEXT = 0.25  # of the box, kept on each side of a face that is cut out
DRAWN = 20


@dataclass(frozen=True)
class Portrait:
    """A picture of one face."""

    kind: str
    pixels: Pixels
    box: Box


@dataclass(frozen=True)
class PlacedFace:
    """A face put on a canvas."""

    kind: str
    size: int
    box: Box


def newsroom() -> list[dict[str, Any]]:
    """Return the records of the newsroom photos; an empty list where there are none."""
    try:
        return json.loads(locate("newsroom").read_text())
    except FileNotFoundError:
        return []


def read(file: str) -> Pixels:
    """Return the pixels of a newsroom photo."""
    image = require("PIL.Image", "photos")
    with image.open(data_folder() / "newsroom" / "photos" / file) as picture:
        return np.asarray(picture.convert("RGB"))


def portraits(records: list[dict[str, Any]], rng: np.random.Generator) -> list[Portrait]:
    """Return drawn faces, and up to 100 faces cut from photos of one person."""
    whole = Box(*(value / GRID for value in FACE))
    drawn = [Portrait("drawn", portrait(2 * GRID, seed), whole) for seed in range(DRAWN)]
    single = [r for r in records if len(r["faces"]) == 1 and not {"large", "crowd"} & {*r["tags"]}]
    chosen = rng.permutation(len(single))[:100]
    return drawn + [_cut(single[k]) for k in chosen]


def _cut(record: dict[str, Any]) -> Portrait:
    pixels, (x, y, w, h) = read(record["file"]), record["faces"][0]["box"]
    x0, y0 = max(0, round(x - CONTEXT * w)), max(0, round(y - CONTEXT * h))
    part = pixels[y0 : round(y + h + CONTEXT * h), x0 : round(x + w + CONTEXT * w)]
    height, width = part.shape[:2]
    box = Box((x - x0) / width, (y - y0) / height, w / width, h / height)
    return Portrait("photo", part, box)


def background(rng: np.random.Generator) -> Pixels:
    """Return a part of a photo without people, with clouds of noise, in 24 megapixels."""
    cv2 = require("cv2", "photos")
    photos = load_sample_images().images
    photo = photos[rng.integers(len(photos))]
    w = int(rng.integers(240, photo.shape[1]))
    h = w * HEIGHT // WIDTH
    x, y = rng.integers(photo.shape[1] - w + 1), rng.integers(photo.shape[0] - h + 1)
    part = photo[y : y + h, x : x + w][:, :: rng.choice([-1, 1])]
    canvas = cv2.resize(np.ascontiguousarray(part), (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    for cells in (12, 120, 1200):
        clouds = rng.integers(0, 40, size=(cells, cells, 3), dtype=np.uint8)
        how = cv2.INTER_CUBIC
        canvas = cv2.add(canvas, cv2.resize(clouds, (WIDTH, HEIGHT), interpolation=how))
    return canvas


def canvas(
    people: list[Portrait], large: tuple[int, ...], rng: np.random.Generator
) -> tuple[Pixels, list[PlacedFace]]:
    """Return a 24-megapixel picture and the faces of many sizes put on it without overlap."""
    picture, placed, taken = background(rng), [], np.zeros((HEIGHT, WIDTH), np.uint8)
    kinds = sorted({person.kind for person in people})
    for k, size in enumerate(sorted(large + 2 * SMALL, reverse=True)):
        kind = kinds[(k + int(rng.integers(2))) % len(kinds)]
        mine = [person for person in people if person.kind == kind]
        patch, box = _scaled(mine[rng.integers(len(mine))], size, rng)
        h, w = patch.shape[:2]
        spot = _free(taken, w, h, rng)
        if spot is not None:
            x, y = spot
            taken[y : y + h, x : x + w] = 1
            _blend(picture[y : y + h, x : x + w], patch)
            placed.append(PlacedFace(kind, size, Box(box.x + x, box.y + y, box.w, box.h)))
    return picture, placed


def _free(taken: Pixels, w: int, h: int, rng: np.random.Generator) -> tuple[int, int] | None:
    """Return a random place for w x h pixels that nothing has taken; None if there is none."""
    cv2 = require("cv2", "photos")
    sums = cv2.integral(taken)
    inside = sums[h:, w:] - sums[:-h, w:] - sums[h:, :-w] + sums[:-h, :-w]
    places = np.flatnonzero(inside == 0)
    if not len(places):
        return None
    y, x = divmod(int(rng.choice(places)), inside.shape[1])
    return x, y


def _scaled(person: Portrait, size: int, rng: np.random.Generator) -> tuple[Pixels, Box]:
    """Return a person whose face is ``size`` pixels wide, perhaps mirrored, darker or lighter."""
    cv2 = require("cv2", "photos")
    height, width = person.pixels.shape[:2]
    factor = size / (person.box.w * width)
    w, h = min(WIDTH, round(width * factor)), min(HEIGHT, round(height * factor))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    patch = cv2.resize(person.pixels, (w, h), interpolation=how)
    patch = cv2.convertScaleAbs(patch, alpha=rng.uniform(0.7, 1.2), beta=rng.uniform(-20, 20))
    x, y, bw, bh = person.box
    if rng.integers(2):
        patch, x = np.ascontiguousarray(patch[:, ::-1]), 1 - x - bw
    return patch, Box(x * w, y * h, bw * w, bh * h)


def _blend(place: Pixels, patch: Pixels) -> None:
    """Put a patch in its place, with soft edges: a sharp frame is no photo."""
    h, w = patch.shape[:2]
    soft = max(2, min(h, w) // 10)
    across = np.minimum(1, np.minimum(np.arange(w), np.arange(w)[::-1]) / soft)
    down = np.minimum(1, np.minimum(np.arange(h), np.arange(h)[::-1]) / soft)
    alpha = np.minimum(across[None], down[:, None])[:, :, None].astype(np.float32)
    place[:] = (alpha * patch + (1 - alpha) * place).astype(np.uint8)
