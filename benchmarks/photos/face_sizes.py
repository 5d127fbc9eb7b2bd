"""python -m benchmarks.photos.face_sizes: which faces are found, and how fast.

Faces of known places, 30 to 2,000 pixels wide, are put on 24-megapixel pictures without people:
drawn ones, and where the newsroom photos are there, faces cut from them. Then the faces of
``truth.json`` in some newsroom photos. Results go to ``results/face_sizes.json``.
"""

from __future__ import annotations

import json
import platform
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.photos.face_canvases import (
    HEIGHT,
    LARGE,
    WIDTH,
    canvas,
    newsroom,
    portraits,
    read,
)
from candidly import __version__
from candidly.extras import require
from candidly.photos.faces import SFace, YuNet
from candidly.photos.geometry import Box, best_match
from candidly.photos.parts import Detector


def matches(truth: Sequence[Box], found: Sequence[Box]) -> list[bool]:
    """Return whether each true box is found; a detection counts for at most one of them."""
    rest, answers = list(found), []
    for box in truth:
        best = best_match(box, rest)
        if best is not None:
            del rest[best]
        answers.append(best is not None)
    return answers


def sizes(
    detector: Detector, canvases: int, records: list[dict[str, Any]], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield, for each canvas, every face put there, whether it is found, and other boxes."""
    rng = np.random.default_rng(seed)
    people = portraits(records, rng)
    for k in range(canvases):
        picture, placed = canvas(people, LARGE[k % len(LARGE)], rng)
        found = detector.detect(picture)
        hits = matches([face.box for face in placed], [face.box for face in found])
        yield {
            "faces": [(f.kind, f.size, hit) for f, hit in zip(placed, hits, strict=True)],
            "others": len(found) - sum(hits),
        }


def recall(detector: Detector, records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield, for each newsroom photo, which true faces are found, and other boxes."""
    for record in records:
        found = detector.detect(read(record["file"]))
        hits = matches([Box(*f["box"]) for f in record["faces"]], [face.box for face in found])
        yield {"tags": record["tags"], "hits": hits, "others": len(found) - sum(hits)}


def speed(detector: Detector, seed: int) -> dict[str, dict[str, float]]:
    """Return photos per second, with detection alone and with embedding; the median of three.

    Processor seconds are given too, since others may use the machine at the same time.
    """
    cv2 = require("cv2", "photos")
    rng = np.random.default_rng(seed)
    large, _ = canvas(portraits([], rng), LARGE[1], rng)
    embedder, answers = SFace(), {}
    for megapixels in (1, 24):
        side = (megapixels / 24) ** 0.5
        shape = round(WIDTH * side), round(HEIGHT * side)
        picture = cv2.resize(large, shape, interpolation=cv2.INTER_AREA)
        faces = detector.detect(picture)  # the first run also loads the models
        embedder.embed(picture, faces[:1])
        detected, busy = _seconds(lambda shown=picture: detector.detect(shown))
        embedded, more = _seconds(lambda shown=picture, them=faces: embedder.embed(shown, them))
        answers[f"{megapixels} megapixels"] = {
            "faces": len(faces),
            "photos/s, detection": round(1 / detected, 3),
            "photos/s, with embedding": round(1 / (detected + embedded), 3),
            "CPU s, detection": round(busy, 3),
            "CPU s, with embedding": round(busy + more, 3),
        }
    return answers


def _seconds(action: Any) -> NDArray[np.float64]:
    """Return the seconds of the clock and of the processor that an action takes."""
    taken = []
    for _ in range(3):
        started, busy = time.perf_counter(), time.process_time()
        action()
        taken.append((time.perf_counter() - started, time.process_time() - busy))
    return np.median(taken, axis=0)


def _rates(hits: dict[Any, list[bool]]) -> dict[str, dict[str, float]]:
    return {
        str(key): {"faces": len(mine), "found %": round(100 * float(np.mean(mine)), 2)}
        for key, mine in hits.items()
    }


def _peak_memory() -> int | None:
    """Return the peak memory of this process in MB; None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _numbers_first(key: Any) -> tuple[bool, Any]:
    return isinstance(key, str), key


def main(
    canvases: Annotated[int, typer.Option(help="24-megapixel pictures with pasted faces.")] = 30,
    photos: Annotated[int, typer.Option(help="Newsroom photos, at random; 0 for all.")] = 300,
    random_state: Annotated[int, typer.Option(help="Of what is random.")] = 0,
    smallest: Annotated[float, typer.Option(help="Pixels of the smallest face wanted.")] = 30,
    threads: Annotated[int, typer.Option(help="Of OpenCV.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Measure sizes, newsroom photos and speed, and print a table of each."""
    console, cv2 = Console(), require("cv2", "photos")
    cv2.setNumThreads(threads)
    detector, records = YuNet(smallest=smallest), newsroom()
    by_size: dict[Any, list[bool]] = defaultdict(list)
    others = 0
    for seen in track(
        sizes(detector, canvases, records, random_state), "sizes", canvases, console=console
    ):
        others += seen["others"]
        for kind, size, hit in seen["faces"]:
            for key in (size, kind, "all"):
                by_size[key].append(hit)
    order = np.random.default_rng(random_state).permutation(len(records))[: photos or None]
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
        "speed": speed(detector, random_state),
        "peak memory, MB": _peak_memory(),
        "detector": detector.identity,
        "seed": random_state,
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
