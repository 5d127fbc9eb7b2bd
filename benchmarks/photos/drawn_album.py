"""python -m benchmarks.photos.drawn_album: how drawn people are found and distinguished.

Draws an album, finds its faces by YuNet and compares them by SFace: the share of drawn faces
found, other boxes, and how well cosines separate pairs of one person from pairs of two.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.metrics import roc_auc_score, roc_curve

from benchmarks.album import AlbumTruth, draw
from candidly.extras import require
from candidly.photos.faces import SFace, YuNet
from candidly.photos.geometry import best_match, overlap
from candidly.photos.pictures import open_picture


class AlbumRecognition(NamedTuple):
    """Faces of an album that the detector found, and their embeddings."""

    faces: int
    found: int
    others: int
    overlap: float
    people: list[str]
    X: NDArray[np.float32]


def look(folder: Path, truth: AlbumTruth, *, console: Console | None = None) -> AlbumRecognition:
    """Find and embed the faces of an album."""
    detector, embedder = YuNet(), SFace()
    faces = others = 0
    overlaps: list[float] = []
    people: list[str] = []
    rows = []
    shown = track(truth.photos, "looking", console=console, disable=console is None)
    for photo in shown:
        pixels = open_picture(folder / photo.file).pixels
        found = detector.detect(pixels)
        faces += len(photo.faces)
        others += len(found)
        for face in photo.faces:
            match = best_match(face.box, [other.box for other in found])
            if match is None:
                continue
            best = found.pop(match)
            others -= 1
            overlaps.append(overlap(face.box, best.box))
            people.append(face.person)
            rows.append(embedder.embed(pixels, [best])[0])
    X = np.array(rows, dtype=np.float32).reshape(len(rows), -1)
    return AlbumRecognition(faces, len(rows), others, float(np.mean(overlaps)), people, X)


def told_apart(people: list[str], X: NDArray[np.float32]) -> dict[str, float]:
    """Return AUC and equal error rate of telling pairs of one person from pairs of two."""
    _, who = np.unique(people, return_inverse=True)
    i, j = np.triu_indices(len(who), 1)
    cosine, same = np.sum(X[i] * X[j], axis=1), who[i] == who[j]
    wrong, right, _ = roc_curve(same, cosine)
    eer = wrong[np.argmin(np.abs(wrong - (1 - right)))]
    return {
        "AUC": round(float(roc_auc_score(same, cosine)), 4),
        "EER %": round(100 * float(eer), 2),
        "cosine, same": round(float(cosine[same].mean()), 3),
        "cosine, others": round(float(cosine[~same].mean()), 3),
    }


def main(
    people: Annotated[int, typer.Option(help="In the album.")] = 25,
    photos: Annotated[int, typer.Option(help="In the album.")] = 120,
    random_state: Annotated[int, typer.Option(help="Of the album.")] = 0,
) -> None:
    """Draw an album, find its faces, and print the figures."""
    console = Console()
    require("cv2", "photos").setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        truth = draw(folder, people=people, photos=photos, seed=random_state)
        console.print(f"drawn in {time.process_time() - started:.1f} s of one core")
        seen = look(Path(folder), truth, console=console)
    console.print(
        f"{seen.found} of {seen.faces} faces found ({seen.found / seen.faces:.2%}), "
        f"{seen.others} other boxes, mean overlap {seen.overlap:.2f}"
    )
    console.print(told_apart(seen.people, seen.X))


if __name__ == "__main__":
    typer.run(main)
