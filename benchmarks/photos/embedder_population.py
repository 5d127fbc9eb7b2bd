"""python -m benchmarks.photos.embedder_population: how faces of YuNet and SFace vary.

Estimates it from embeddings of people who are in no newsroom collection, and writes the file that
comes with Candidly. Then it is compared with collections that it was not made from: newsroom, with
embeddings as they are stored and as the program computes them, and the drawn album. Figures go to
``results/population.json`` and into ``docs/population.md``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from benchmarks.documents import put_into
from benchmarks.photos.face_canvases import newsroom
from candidly import __version__, demo
from candidly.datasets.store import data_folder
from candidly.demo.album import read_truth
from candidly.estimators import estimate_population
from candidly.extras import require
from candidly.photos.faces import SFace, YuNet
from candidly.photos.faces.population_file import (
    SHIPPED,
    EmbedderPopulation,
    population_to_bytes,
)
from candidly.photos.geometry import Box, best_match
from candidly.photos.pictures import open_picture
from candidly.solvers.population import Population

PEOPLE = Path("faces", "sface_people.npz")
COMMAND = "python -m benchmarks.photos.embedder_population"
CARD = Path("docs/population.md")
EVERY = 5  # of the newsroom photos one in so many is looked at


class SeenFaces(NamedTuple):
    """Embeddings of faces, and who they show."""

    X: NDArray[np.float64]
    people: Sequence[Any]


def made(X: NDArray[Any], person: NDArray[Any]) -> EmbedderPopulation:
    """Return the population that comes with Candidly, with how it was made."""
    detector, embedder = YuNet(), SFace()
    several = int((np.unique(person, return_counts=True)[1] > 1).sum())
    return EmbedderPopulation(
        f"{detector.identity}; {embedder.identity}",
        estimate_population(np.asarray(X, dtype=float), person),
        {
            "command": COMMAND,
            "version": __version__,
            "people are": "of Labeled Faces in the Wild, a research set; in no newsroom collection",
            "people with several faces": several,
            "for weights by SHA-256": {
                "detector": detector.weights.sha256,
                "embedder": embedder.weights.sha256,
            },
            "see": CARD.as_posix(),
        },
    )


def described(one: EmbedderPopulation) -> dict[str, Any]:
    """Return the figures of the file."""
    known, data = one.population, population_to_bytes(one)
    return {
        "SHA-256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "people": known.people,
        "faces": known.instances,
        **{key: one.made[key] for key in ("people with several faces", "version")},
        **_variances(known),
        "even": round(known.even, 2),
    }


def compared(known: Population, seen: SeenFaces) -> dict[str, Any]:
    """Return how faces of a collection vary by their true names, and whether they fit."""
    _, share = np.unique(np.asarray(seen.people), return_counts=True)
    own = estimate_population(seen.X, seen.people)
    return {
        "faces": len(seen.X),
        "people": len(share),
        **_variances(own),
        "misfit": known.misfit(seen.X, share),
    }


def table(result: dict[str, Any]) -> str:
    """Return the figures as a table."""
    lines = [
        "| faces | number | people | within | total | fits |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in {"the population": result["population"], **result["collections"]}.items():
        fits = f"no: {row['misfit']}" if row.get("misfit") else "yes"
        lines.append(
            f"| {name} | {row['faces']:,} | {row['people']:,} | {row['within']:.3f} "
            f"| {row['total']:.3f} | {fits if 'misfit' in row else ''} |"
        )
    return "\n".join(lines) + "\n"


def look(folder: Path, records: Iterable[dict[str, Any]]) -> tuple[SeenFaces, list[int]]:
    """Return the true faces that the program finds, and the place of each among all of them."""
    require("cv2", "photos").setNumThreads(1)
    detector, embedder = YuNet(), SFace()
    rows, people, places, place = [], [], [], 0
    for record in records:
        pixels = open_picture(folder / record["file"]).pixels
        found = detector.detect(pixels)
        for face in record["faces"]:
            match = best_match(Box(*face["box"]), [other.box for other in found])
            if match is not None:
                rows.append(embedder.embed(pixels, [found.pop(match)])[0])
                people.append(face["person"])
                places.append(place)
            place += 1
    return SeenFaces(np.array(rows, dtype=float), people), places


def _variances(known: Population) -> dict[str, float]:
    return {
        "within": round(float(np.trace(known.within)), 4),
        "total": round(float(np.trace(known.total)), 4),
    }


def _newsroom(known: Population) -> dict[str, Any]:
    """Return newsroom as stored, and one photo in EVERY as the program computes it."""
    records = newsroom()
    stored = np.load(data_folder() / "newsroom" / "embeddings.npz")["X"].astype(float)
    people = [face["person"] for record in records for face in record["faces"]]
    first = np.cumsum([0, *(len(record["faces"]) for record in records)])
    some = range(0, len(records), EVERY)
    own, places = look(
        data_folder() / "newsroom" / "photos", track([records[at] for at in some], "newsroom")
    )
    rows = np.concatenate([np.arange(first[at], first[at + 1]) for at in some])[places]
    cosine = (own.X * stored[rows]).sum(axis=1) / np.linalg.norm(stored[rows], axis=1)
    return {
        "newsroom, as stored": compared(known, SeenFaces(stored, people)),
        f"newsroom, one photo in {EVERY}, as stored": compared(
            known, SeenFaces(stored[rows], own.people)
        ),
        f"newsroom, one photo in {EVERY}, as computed": {
            **compared(known, own),
            "cosine with those stored, median": round(float(np.median(cosine)), 3),
        },
    }


def main(
    out: Annotated[Path, typer.Option(help="The file to write.")] = SHIPPED,
    measure: Annotated[bool, typer.Option(help="Compare with other collections, too.")] = True,
) -> None:
    """Estimate, write, measure, and store what was measured."""
    console = Console()
    with np.load(data_folder() / PEOPLE) as people:
        one = made(people["X"], people["person"])
    out.write_bytes(population_to_bytes(one))
    result: dict[str, Any] = {"population": described(one)}
    console.print(result["population"])
    if not measure:
        return
    album, _ = look(Path(demo.__file__).parent / "data" / "photos", track(read_truth(), "album"))
    result["collections"] = {
        **_newsroom(one.population),
        "drawn album": compared(one.population, album),
    }
    console.print(result["collections"])
    Path("results/population.json").write_text(json.dumps(result, indent=1) + "\n")
    put_into(CARD, table(result), "population")


if __name__ == "__main__":
    typer.run(main)
