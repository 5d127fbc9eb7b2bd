"""python -m benchmarks.photos.newsroom_ingest: faces found and names read in newsroom.

``candidly ingest`` over ``newsroom/`` in the folder that ``CANDIDLY_DATA`` names, with nothing
given except the folder and its ``captions.csv``: faces of ``truth.json`` found, names read, per
tag; its time against detection and embedding alone; and a second run with nothing new. Results
go to ``results/ingest.json``.
"""

from __future__ import annotations

import json
import platform
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.documents import RESULTS, put_into
from benchmarks.photos.caption_names import NameCounts
from benchmarks.photos.face_canvases import newsroom
from benchmarks.photos.face_sizes import matches
from candidly import __version__
from candidly.datasets.store import data_folder
from candidly.extras import require
from candidly.photos.faces import SFace, YuNet
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, default_parts
from candidly.photos.ingesting import ingest_folder as ingest
from candidly.photos.pictures import open_picture
from candidly.photos.project import Project
from candidly.photos.project.queries import faces, photos, proposals

WORKERS = 2


def faces_found(project: Project, truth: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return how many of the true faces were found, per tag, and how many others."""
    found = {
        file: [face.box for face in group]
        for file, group in groupby(faces(project), lambda face: Path(face.file).name)
    }
    hits: dict[str, list[bool]] = defaultdict(list)
    for photo in truth:
        boxes = [Box(*face["box"]) for face in photo["faces"]]
        mine = matches(boxes, found.get(photo["file"], []))
        for tag in ("all", *photo["tags"]):
            hits[tag] += mine
    rates = {
        tag: {"faces": len(mine), "found %": round(100 * sum(mine) / len(mine), 2)}
        for tag, mine in sorted(hits.items())
    }
    rates["all"]["other faces"] = sum(map(len, found.values())) - sum(hits["all"])
    return rates


def names_read(project: Project, truth: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return precision and recall of the names in the photos' captions, per tag."""
    named = {Path(photo.file).name: set(photo.candidates) for photo in photos(project)}
    scores: dict[str, NameCounts] = defaultdict(NameCounts)
    for photo in truth:
        got, want = named.get(photo["file"], set()), set(photo["mentioned"])
        if "typo" in photo["tags"]:
            spelled = photo.get("spelled", {})
            scores["typo, as spelled"].add(got, {spelled.get(name, name) for name in want})
            continue
        for tag in ("all but typo", *photo["tags"]):
            scores[tag].add(got, want)
    return {tag: score.figures() for tag, score in sorted(scores.items())}


def slips_proposed(project: Project, truth: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many misspelt names are proposed as the person they are."""
    pairs = {frozenset((found.name, found.likely)) for found in proposals(project)}
    slips = [frozenset(pair) for photo in truth for pair in photo.get("spelled", {}).items()]
    return {
        "misspelt": len(slips),
        "proposed": sum(slip in pairs for slip in slips),
        "proposals in all": len(pairs),
    }


def alone(files: list[Path], console: Console) -> tuple[float, float]:
    """Return the time of detection and embedding alone, in as many threads as ingest."""
    own = threading.local()

    def look(pixels: Any) -> None:
        if not hasattr(own, "models"):
            own.models = YuNet(), SFace()
        detector, embedder = own.models
        if found := detector.detect(pixels):
            embedder.embed(pixels, found)

    spent = busy = 0.0
    with ThreadPoolExecutor(WORKERS) as pool:
        batches = [files[at : at + 50] for at in range(0, len(files), 50)]
        for batch in track(batches, "detection and embedding alone", console=console):
            opened = [open_picture(path).pixels for path in batch]
            more, of_it = _timed(partial(_all, pool, look, opened))
            spent, busy = spent + more, busy + of_it
    return spent, busy


def _all(pool: ThreadPoolExecutor, action: Callable[[Any], None], items: list[Any]) -> None:
    for _ in pool.map(action, items):
        pass


def _timed(action: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds of the clock and of the processors that an action takes."""
    started, busy = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - started, time.process_time() - busy


def table(result: dict[str, Any]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| photos tagged | faces | found % | names | precision | recall |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    found, read = result["faces"], result["names"]
    for tag in ("all", *(tag for tag in found if tag not in ("all", "typo")), "typo"):
        names = read[{"all": "all but typo", "typo": "typo, as spelled"}.get(tag, tag)]
        said = {"all": "all (names: without typo)", "typo": "typo (names: as spelled)"}
        lines.append(
            f"| {said.get(tag, tag)} | {found[tag]['faces']} | {found[tag]['found %']:.1f} "
            f"| {names['names']} | {names['precision']:.3f} | {names['recall']:.3f} |"
        )
    return "\n".join(lines) + "\n"


def main(
    times: Annotated[bool, typer.Option(help="Measure times, too.")] = True,
    spacy: Annotated[str | None, typer.Option(help="A spaCy pipeline to ask, too.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure faces found, names read and time spent."""
    console, truth = Console(), newsroom()
    if not truth:
        raise typer.BadParameter("set CANDIDLY_DATA to the folder with newsroom/")
    folder, parts = data_folder() / "newsroom", default_parts(Choices(spacy=spacy))
    with (
        tempfile.TemporaryDirectory() as place,
        Project.open(Path(place, "newsroom.candidly"), write=True) as project,
    ):

        def bring_in() -> None:
            ingest(project, folder, parts, n_jobs=WORKERS)

        console.print("ingest ...")
        first, again = _timed(bring_in), _timed(bring_in)
        result: dict[str, Any] = {
            "photos": project.count("photos"),
            "faces": faces_found(project, truth),
            "names": names_read(project, truth),
            "slips": slips_proposed(project, truth),
        }
    if times:
        files = sorted((folder / "photos").iterdir())
        seconds, busy = alone(files, console)
        result["time"] = {
            "ingest, s": round(first[0], 1),
            "ingest, CPU s": round(first[1], 1),
            "detection and embedding alone, s": round(seconds, 1),
            "detection and embedding alone, CPU s": round(busy, 1),
            "ratio": round(first[0] / seconds, 3),
            "ratio of CPU s": round(first[1] / busy, 3),
            "second run, s": round(again[0], 2),
        }
    result |= {
        "names by": parts.names.identity,
        "version": __version__,
        "machine": f"{platform.machine()}, OpenCV {require('cv2', 'photos').__version__}",
    }
    out.mkdir(exist_ok=True)
    (out / "ingest.json").write_text(json.dumps(result, indent=1) + "\n")
    for title in ("faces", "names"):
        columns = list(next(iter(result[title].values())))
        shown = Table("tag", *columns, title=title)
        for tag, row in result[title].items():
            shown.add_row(tag, *(str(row.get(column, "")) for column in columns))
        console.print(shown)
    console.print(result["slips"], result.get("time", {}))
    put_into(document, table(result), "photos")


if __name__ == "__main__":
    typer.run(main)
