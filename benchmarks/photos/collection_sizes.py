"""python -m benchmarks.photos.collection_sizes: sure names, however few photos there are.

Photos are drawn from the newsroom, at random and by person, and named: by ``OpenSet`` from
embeddings at true boxes ("arrays"), and by the application, from the pictures and their captions
("end-to-end"; "real-captions" has real sentences). "other-photos" are LFW photos outside the
newsroom with simulated captions, as arrays. "clouds" are Gaussian people, "stills" five photos of
groups with nothing else, and "second-day" compares photos that came later with a full solve.

``--only`` chooses among these parts, ``--size`` and ``--draws`` shorten them. Results go to
``results/collection_sizes.json``; what was not measured stays there as it was.
"""

from __future__ import annotations

import json
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.documents import RESULTS, put_into
from benchmarks.photos.collection_draws import (
    FaceCollection,
    at_random,
    by_person,
    group_stills,
    newsroom_faces,
    other_faces,
    times_shown,
)
from benchmarks.photos.gaussian_people import PEOPLE, SPREADS, collapse
from benchmarks.photos.size_tables import table
from benchmarks.photos.small_albums import (
    Record,
    SeenPictures,
    SmallAlbum,
    count_same,
    read_captions,
)
from benchmarks.photos.sure_names import Figures, JudgedFace, figures, judge
from candidly import __version__
from candidly.base import confidence
from candidly.candidates import Candidates
from candidly.datasets.store import data_folder
from candidly.estimators import OpenSet
from candidly.photos.faces.population_file import SHIPPED, read_population

DRAWS = {50: 20, 200: 10, 500: 5}
"""Number of draws by number of photos."""
KINDS = {"at random": at_random, "by person": by_person}
SECOND_DAYS = ((50, 20), (50, 10))
"""Photos of the first day and of the second: more than a quarter is solved together anyway."""
DAYS = STILL_DRAWS = 10
ORDERS = 5  # of names, in which all photos are named
FEW, MANY = 6, 20  # faces of a person among the Gaussian people

Namer = Callable[[FaceCollection], list[JudgedFace]]


@dataclass(frozen=True)
class Extent:
    """How much is measured: numbers of photos (none: all numbers), most draws, and the seed."""

    sizes: Sequence[int] = ()
    draws: int | None = None
    seed: int = 0

    def most(self, draws: int) -> int:
        """Return a number of draws, or fewer."""
        return draws if self.draws is None else min(draws, self.draws)


def label(
    X: NDArray[np.float64], candidates: Candidates
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return names and their confidence, by the labeller and population of the application."""
    shipped = read_population(SHIPPED).population
    known = shipped if X.shape[1] == len(shipped.mean) else None
    model = OpenSet(population=known, classifier=None).fit(X, candidates)
    return model.transduction_, confidence(model)


def name_arrays(drawn: FaceCollection) -> list[JudgedFace]:
    """Return the faces of photos named from their embeddings, compared with the truth."""
    names, sure = label(drawn.X, drawn.candidates)
    return judge(drawn.records, names.tolist(), sure.tolist(), times_shown(drawn.records))


@contextmanager
def empty_album(captions: str, seen: SeenPictures) -> Iterator[SmallAlbum]:
    """Return an empty folder for newsroom photos with the captions of a table."""
    source = data_folder() / "newsroom"
    with tempfile.TemporaryDirectory() as place:
        texts = read_captions(source / captions)
        yield SmallAlbum(source / "photos", texts, Path(place), seen)


def end_to_end(captions: str, seen: SeenPictures) -> Namer:
    """Return what names the faces of newsroom photos as the application does."""

    def name(drawn: FaceCollection) -> list[JudgedFace]:
        with empty_album(captions, seen) as album:
            album.name(drawn.records)
            return album.judge(drawn.records)

    return name


def sizes(
    collection: FaceCollection, name: Namer, extent: Extent, orders: int = 1
) -> dict[str, dict[str, Figures]]:
    """Return figures by kind of draw and number of photos, over all draws together.

    All photos are named once, or with their names in several ``orders``.
    """
    found: dict[str, dict[str, Figures]] = {kind: {} for kind in KINDS}
    whole = len(collection.records)
    for kind, draw in KINDS.items():
        for size, draws in {**DRAWS, whole: orders}.items():
            if (extent.sizes and size not in extent.sizes) or size > whole:
                continue
            if size == whole and kind != "at random":
                continue
            draws = extent.most(draws)
            faces: list[JudgedFace] = []
            for number in range(draws):
                photos = draw(collection.records, size, (extent.seed, size, number))
                drawn = collection.take(photos)
                faces += name(drawn.renamed(number) if size == whole and orders > 1 else drawn)
            found[kind][str(size)] = {"draws": draws, **figures(faces)}
    return found


def clouds(extent: Extent) -> list[dict[str, Any]]:
    """Return figures of Gaussian people with many faces and with few."""
    return [
        collapse(people, dimensions, scale, each, extent.seed + number)
        for each in (MANY, FEW)
        for dimensions, scale in SPREADS
        for people in PEOPLE
        for number in range(extent.draws or 1)
    ]


def stills(collection: FaceCollection, name: Namer, extent: Extent) -> dict[str, Any]:
    """Return how sure wrong names are in five photos of groups."""
    draws = extent.most(STILL_DRAWS)
    faces = [
        face
        for number in range(draws)
        for face in name(group_stills(collection, (extent.seed, number)))
    ]
    wrong = [face.confidence for face in faces if face.named and not face.right]
    return {
        "draws": draws,
        "largest confidence of a wrong name": round(max(wrong, default=0.0), 3),
        "wrong names of 50% and more": sum(sure >= 0.5 for sure in wrong),
        **figures(faces),
    }


def second_days(
    records: Sequence[Record], seen: SeenPictures, extent: Extent
) -> list[dict[str, Any]]:
    """Return how far photos that came on a second day are named as all of them together."""
    found = []
    for first, later in SECOND_DAYS:
        for kind, draw in KINDS.items():
            draws = [
                second_day(records, draw, (first, later), seen, (extent.seed, number))
                for number in range(extent.most(DAYS))
            ]
            total = {key: sum(one[key] for one in draws) for key in draws[0]}
            same = [100 * one["same"] / one["faces"] for one in draws]
            found.append(
                {
                    "photos": [first, later],
                    "kind": kind,
                    "draws": len(draws),
                    **total,
                    "same %": round(100 * total["same"] / total["faces"], 2),
                    "least same %": round(min(same), 2),
                }
            )
    return found


def second_day(
    records: Sequence[Record],
    draw: Callable[[Sequence[Record], int, Sequence[int]], list[int]],
    counts: tuple[int, int],
    seen: SeenPictures,
    seed: Sequence[int],
) -> dict[str, int]:
    """Name some photos, then others beside them, then all together, and compare."""
    photos = draw(records, sum(counts), seed)
    mixed = np.random.default_rng(seed).permutation(photos).tolist()
    with empty_album("captions.csv", seen) as album:
        for day in (mixed[: counts[0]], mixed[counts[0] :]):
            album.name([records[at] for at in day])
        daily = album.answers()
        album.name([], full=True)
        return count_same(daily, album.answers())


def measurements(seen: SeenPictures, extent: Extent) -> dict[str, Callable[[], Any]]:
    """Return the parts by name, each ready to be measured."""
    by_pictures = end_to_end("captions.csv", seen)
    return {
        "arrays": lambda: sizes(newsroom_faces(), name_arrays, extent, ORDERS),
        "other-photos": lambda: sizes(other_faces(extent.seed), name_arrays, extent),
        "clouds": lambda: clouds(extent),
        "stills": lambda: {
            way: stills(newsroom_faces(), name, extent)
            for way, name in (("arrays", name_arrays), ("end-to-end", by_pictures))
        },
        "second-day": lambda: second_days(newsroom_faces().records, seen, extent),
        "end-to-end": lambda: sizes(newsroom_faces(), by_pictures, extent),
        "real-captions": lambda: sizes(
            newsroom_faces(), end_to_end("captions-real.csv", seen), extent
        ),
    }


def merged(before: Any, now: Any) -> Any:
    """Return the figures of a part; sizes that were not measured now stay as they were."""
    if isinstance(before, dict) and isinstance(now, dict):
        return {key: {**before.get(key, {}), **now.get(key, {})} for key in {**before, **now}}
    return before if now is None else now


def main(
    only: Annotated[
        list[str] | None, typer.Option(help="A part to measure; may be repeated.")
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(help="A number of photos; may be repeated.")
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Most draws of each kind.")] = None,
    random_state: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    seen: Annotated[
        Path | None, typer.Option(help="File that keeps the faces found, for the next run.")
    ] = None,
    store: Annotated[bool, typer.Option(help="Store the results, and renew the table.")] = True,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure, print, and store what was measured."""
    pictures = SeenPictures(seen)
    parts = measurements(pictures, Extent(size or (), draws, random_state))
    unknown = set(only or ()) - set(parts)
    if unknown:
        raise typer.BadParameter(f"there is no part {unknown.pop()!r}; there are {list(parts)}")
    console, path = Console(), out / "collection_sizes.json"
    result: dict[str, Any] = {}
    for part in only or parts:
        result[part] = parts[part]()
        console.print(table({part: result[part]}), highlight=False, soft_wrap=True)
        pictures.keep()
    if store:
        before = json.loads(path.read_text()) if path.is_file() else {}
        result = {
            part: merged(before.get(part), result.get(part))
            for part in parts
            if part in before or part in result
        }
        out.mkdir(exist_ok=True)
        about = {"seed": random_state, "version": __version__, "machine": platform.machine()}
        path.write_text(json.dumps({**result, **about}, indent=1) + "\n")
        put_into(document, table(result), "sizes")


if __name__ == "__main__":
    typer.run(main)
