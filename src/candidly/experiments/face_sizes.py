"""python -m candidly.experiments.face_sizes: which faces are found, and how fast.

Faces of known places, 30 to 2,000 pixels wide, are put on 24-megapixel pictures without people:
drawn ones, and where the newsroom photos are there, faces cut from them. Then the faces of
``truth.json`` in some newsroom photos. Results go to ``results/face_sizes.json``.
"""

from __future__ import annotations

import json
import platform
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_sample_images

from candidly import __version__
from candidly.datasets.store import data_folder, locate
from candidly.experiments.drawn_faces import FACE, GRID, portrait
from candidly.extras import require
from candidly.photos.faces import SFace, YuNet
from candidly.photos.faces.protocols import Detector, Pixels
from candidly.photos.records import Box, Face

WIDTH, HEIGHT = 6000, 4000
SMALL = (30, 40, 55, 75, 100, 140, 200, 300, 450)
LARGE = ((2000,), (1400, 700), (1000, 700, 700))  # in turn: they leave little room
ENOUGH = 0.4  # intersection over union
CONTEXT = 0.25  # of the box, kept on each side of a face that is cut out
DRAWN = 20


@dataclass(frozen=True)
class Portrait:
    """A picture of one face."""

    kind: str
    pixels: Pixels
    box: Box


@dataclass(frozen=True)
class Placed:
    """A face put on a canvas."""

    kind: str
    size: int
    box: Box


def agreement(one: Box, other: Box) -> float:
    """Intersection over union.

    Examples
    --------
    >>> round(agreement(Box(0, 0, 2, 1), Box(1, 0, 2, 1)), 3)
    0.333
    """
    w = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    h = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    shared = max(w, 0.0) * max(h, 0.0)
    return shared / (one.w * one.h + other.w * other.h - shared)


def matches(truth: list[Box], found: list[Face]) -> list[bool]:
    """Whether each true box is found; a detection counts for one of them."""
    rest, answers = list(found), []
    for box in truth:
        best = max(rest, key=lambda face: agreement(box, face.box), default=None)
        hit = best is not None and agreement(box, best.box) >= ENOUGH
        if hit and best is not None:
            rest.remove(best)
        answers.append(hit)
    return answers


def newsroom() -> list[dict[str, Any]]:
    """Records of the newsroom photos; none where they are not there."""
    try:
        return json.loads(locate("newsroom").read_text())
    except FileNotFoundError:
        return []


def read(file: str) -> Pixels:
    """A newsroom photo."""
    image = require("PIL.Image", "photos")
    with image.open(data_folder() / "newsroom" / "photos" / file) as picture:
        return np.asarray(picture.convert("RGB"))


def portraits(records: list[dict[str, Any]], rng: np.random.Generator) -> list[Portrait]:
    """Drawn faces, and as many cut from photos of one face as there are canvases for."""
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
    """A part of a photo without people, with clouds of noise, in 24 megapixels."""
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
) -> tuple[Pixels, list[Placed]]:
    """A 24-megapixel picture with faces of many sizes that do not overlap."""
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
            placed.append(Placed(kind, size, Box(box.x + x, box.y + y, box.w, box.h)))
    return picture, placed


def _free(taken: Pixels, w: int, h: int, rng: np.random.Generator) -> tuple[int, int] | None:
    """A random place for w x h pixels that nothing has taken."""
    cv2 = require("cv2", "photos")
    sums = cv2.integral(taken)
    inside = sums[h:, w:] - sums[:-h, w:] - sums[h:, :-w] + sums[:-h, :-w]
    places = np.flatnonzero(inside == 0)
    if not len(places):
        return None
    y, x = divmod(int(rng.choice(places)), inside.shape[1])
    return x, y


def _scaled(person: Portrait, size: int, rng: np.random.Generator) -> tuple[Pixels, Box]:
    """A person whose face is ``size`` pixels wide, perhaps mirrored, darker or lighter."""
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


def sizes(
    detector: Detector, canvases: int, records: list[dict[str, Any]], seed: int
) -> Iterator[dict[str, Any]]:
    """For each canvas: every face put there, whether it is found, and what else is."""
    rng = np.random.default_rng(seed)
    people = portraits(records, rng)
    for k in range(canvases):
        picture, placed = canvas(people, LARGE[k % len(LARGE)], rng)
        found = detector.detect(picture)
        hits = matches([face.box for face in placed], found)
        yield {
            "faces": [(f.kind, f.size, hit) for f, hit in zip(placed, hits, strict=True)],
            "others": len(found) - sum(hits),
        }


def recall(detector: Detector, records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """For each newsroom photo: its true faces, those found, and what else is."""
    for record in records:
        found = detector.detect(read(record["file"]))
        hits = matches([Box(*face["box"]) for face in record["faces"]], found)
        yield {"tags": record["tags"], "hits": hits, "others": len(found) - sum(hits)}


def speed(detector: Detector, seed: int) -> dict[str, dict[str, float]]:
    """Photos a second, detected alone and embedded as well; the median of three."""
    cv2 = require("cv2", "photos")
    rng = np.random.default_rng(seed)
    large, _ = canvas(portraits([], rng), LARGE[1], rng)
    embedder, answers = SFace(), {}
    for megapixels in (1, 24):
        side = (megapixels / 24) ** 0.5
        shape = round(WIDTH * side), round(HEIGHT * side)
        picture = cv2.resize(large, shape, interpolation=cv2.INTER_AREA)
        faces = detector.detect(picture)  # and the model loads
        detected = _seconds(lambda shown=picture: detector.detect(shown))
        embedded = _seconds(lambda shown=picture, them=faces: embedder.embed(shown, them))
        answers[f"{megapixels} megapixels"] = {
            "faces": len(faces),
            "photos/s, detection": round(1 / detected, 3),
            "photos/s, detection and embedding": round(1 / (detected + embedded), 3),
        }
    return answers


def _seconds(action: Any) -> float:
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return float(np.median(taken))


def _rates(hits: dict[Any, list[bool]]) -> dict[str, dict[str, float]]:
    return {
        str(key): {"faces": len(mine), "found %": round(100 * float(np.mean(mine)), 2)}
        for key, mine in hits.items()
    }


def _numbers_first(key: Any) -> tuple[bool, Any]:
    return isinstance(key, str), key


def main(
    canvases: Annotated[int, typer.Option(help="24-megapixel pictures with pasted faces.")] = 30,
    photos: Annotated[int, typer.Option(help="Newsroom photos, at random; 0 for all.")] = 300,
    seed: Annotated[int, typer.Option(help="Of what is random.")] = 0,
    smallest: Annotated[float, typer.Option(help="Pixels of the smallest face wanted.")] = 24,
    threads: Annotated[int, typer.Option(help="Of OpenCV.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Measure sizes, newsroom photos and speed, and print a table of each."""
    console, cv2 = Console(), require("cv2", "photos")
    cv2.setNumThreads(threads)
    detector, records = YuNet(smallest=smallest), newsroom()
    by_size: dict[Any, list[bool]] = defaultdict(list)
    others = 0
    for seen in track(sizes(detector, canvases, records, seed), "sizes", canvases, console=console):
        others += seen["others"]
        for kind, size, hit in seen["faces"]:
            for key in (size, kind, "all"):
                by_size[key].append(hit)
    order = np.random.default_rng(seed).permutation(len(records))[: photos or None]
    by_tag: dict[str, list[bool]] = defaultdict(list)
    beside = 0
    some = [records[k] for k in order]
    for seen in track(recall(detector, some), "newsroom", len(some), console=console):
        beside += seen["others"]
        for key in ("all", *seen["tags"]):
            by_tag[key] += seen["hits"]
    result = {
        "sizes": _rates(
            dict(sorted(by_size.items(), key=lambda item: (isinstance(item[0], str), item[0])))
        ),
        "canvases": canvases,
        "other boxes on the canvases": others,
        "newsroom": _rates(by_tag),
        "newsroom photos": len(some),
        "other faces in newsroom": beside,
        "speed": speed(detector, seed),
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "detector": detector.identity,
        "seed": seed,
        "threads": threads,
        "version": __version__,
        "machine": f"{platform.machine()}, OpenCV {cv2.__version__}",
    }
    out.mkdir(exist_ok=True)
    (out / "face_sizes.json").write_text(json.dumps(result, indent=1) + "\n")
    for title in ("sizes", "newsroom", "speed"):
        console.print(_table(title, result[title]))
    console.print({key: value for key, value in result.items() if not isinstance(value, dict)})


def _table(title: str, rows: Any) -> Table:
    columns = list(next(iter(rows.values()), {}))
    table = Table("", *columns, title=title)
    for name, row in rows.items():
        table.add_row(name, *(str(row[column]) for column in columns))
    return table


if __name__ == "__main__":
    typer.run(main)
