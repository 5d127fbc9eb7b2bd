"""python -m benchmarks.photos.review_effort: how many decisions a collection needs.

Newsroom photos are drawn, at random and all of some people, and named from embeddings at true
boxes. Then a user who knows the truth decides about one face after the other, and after every few
decisions all is solved again (``--every 0``: never). Measured is how many decisions it takes until
97% of the faces are right, and how many wrong faces a correction puts right, its own included.

Orders that are compared: at random, the least sure first, that of the review queue, and one that
nobody can know: wrong faces only, first in the photo where most are wrong ("truth"). All of them
skip faces that are decided, and are found anew after every solve. "queue, whole photo" is the queue
for a user who looks at the whole photo, and answers about a face in it that is wrong, if one is.

"expected" tells what an order can do at all (``expected_effort``): answers are drawn from what the
first solve believes, photo by photo, and count at once for the other faces of their photo.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from benchmarks.documents import RESULTS, put_into
from benchmarks.photos.collection_draws import (
    FaceCollection,
    at_random,
    by_person,
    newsroom_faces,
)
from benchmarks.photos.expected_effort import WORTHS, expected_efforts
from benchmarks.photos.small_albums import read_captions
from candidly.datasets.store import data_folder
from candidly.photos.faces.population_file import SHIPPED, read_population
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, default_parts
from candidly.photos.project import Project
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.queries import caption_records
from candidly.photos.project.store import (
    keep_caption,
    keep_faces,
    keep_file,
    keep_people,
    keep_photo,
)
from candidly.photos.records import Caption, Face
from candidly.photos.reviewing import QueuedFace, review_queue
from candidly.photos.solving import solve
from candidly.photos.solving.problem import read_problems
from candidly.photos.solving.store import read_labels

RIGHT = 0.97
"""Part of the faces that are to be right."""
KINDS = {"at random": at_random, "by person": by_person}
SIZES = (200, 500)
Truth = dict[int, str | None]
Order = Callable[[list[QueuedFace], np.random.Generator, set[int]], Sequence[int]]


def _queue(queue: list[QueuedFace], _: np.random.Generator, __: set[int]) -> Sequence[int]:
    return [one.face for one in queue]


def _least_sure(queue: list[QueuedFace], _: np.random.Generator, __: set[int]) -> Sequence[int]:
    return [one.face for one in sorted(queue, key=lambda one: (-one.doubt, one.face))]


def _random(queue: list[QueuedFace], rng: np.random.Generator, _: set[int]) -> Sequence[int]:
    return rng.permutation(sorted(one.face for one in queue)).tolist()


def _truth(queue: list[QueuedFace], _: np.random.Generator, wrong: set[int]) -> Sequence[int]:
    """Return wrong faces: the first of each photo, those with most wrong first, then the others."""
    many, seen, found = Counter(one.photo for one in queue if one.face in wrong), Counter[int](), []
    for one in queue:
        if one.face in wrong:
            found.append((seen[one.photo], -many[one.photo], one.face))
            seen[one.photo] += 1
    return [face for *_, face in sorted(found)]


def _whole_photo(queue: list[QueuedFace], _: np.random.Generator, wrong: set[int]) -> Sequence[int]:
    """Return a wrong face of each photo that the queue comes to, or the face asked if none is."""
    own: dict[int, list[int]] = {}
    for one in queue:
        own.setdefault(one.photo, []).append(one.face)
    first = [next((face for face in faces if face in wrong), faces[0]) for faces in own.values()]
    return [*first, *(one.face for one in queue if one.face not in {*first})]


ORDERS: dict[str, Order] = {
    "queue": _queue,
    "queue, whole photo": _whole_photo,
    "least sure": _least_sure,
    "random": _random,
    "truth": _truth,
}


@dataclass(frozen=True)
class Effort:
    """What it took: decisions made, of these corrections, and wrong faces at both ends."""

    faces: int
    decisions: int
    corrections: int
    wrong_before: int
    wrong_after: int
    repaired: int


def with_noise(collection: FaceCollection, noise: float, seed: int) -> FaceCollection:
    """Return the faces with noise in their embeddings, a part as long as these are."""
    if not noise:
        return collection
    X = collection.X
    drawn = np.random.default_rng(seed).normal(size=X.shape) / np.sqrt(X.shape[1])
    return FaceCollection(
        collection.records, X + noise * np.linalg.norm(X, axis=1, keepdims=True) * drawn
    )


def fill(project: Project, drawn: FaceCollection, captions: str = "") -> Truth:
    """Store photos, and return the true names of their faces.

    Names are given as a list, or read from a table of captions.
    """
    model, truth, at = read_population(SHIPPED).model, Truth(), 0
    texts = read_captions(data_folder() / "newsroom" / captions) if captions else {}
    names = default_parts(Choices()).names
    with tempfile.TemporaryDirectory() as folder:
        root = project.root_for(Path(folder))
    for record in drawn.records:
        file = record["file"]
        faces = [
            Face(Box(*face["box"]), 1.0, np.zeros((5, 2), np.float32), 1.0, row)
            for face, row in zip(record["faces"], drawn.X[at:].astype(np.float32), strict=False)
        ]
        at += len(faces)
        given = () if captions else tuple(record["mentioned"])
        caption = Caption(texts.get(file, ""), "list", given=given)
        with project.transaction() as sql:
            photo = keep_photo(sql, file, 250, 250)
            numbers = keep_faces(sql, photo, faces, model)
            row = keep_file(sql, root, file, (1, 1), photo, beside="")
            keep_caption(sql, row, caption, names.read(caption.text, file), "as it is")
        truth |= {n: face["name"] for n, face in zip(numbers, record["faces"], strict=True)}
    if captions:
        records = list(caption_records(project))
        with project.transaction() as sql:
            keep_people(sql, records, names.people(records))
    return truth


def wrong_faces(project: Project, truth: Truth) -> set[int]:
    """Return the faces whose name is not the true one."""
    with project.snapshot() as sql:
        return {face for face, name in truth.items() if name_and_confidence(sql, face)[0] != name}


def effort(
    drawn: FaceCollection, order: Order, every: int, seed: int, captions: str = ""
) -> Effort:
    """Return how much has to be decided until enough faces are right."""
    rng = np.random.default_rng(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.open(Path(folder, "a.candidly"), write=True) as project,
    ):
        truth = fill(project, drawn, captions)
        solve(project)
        before = wrong_faces(project, truth)
        wrong, most = set(before), (1 - RIGHT) * len(truth)
        decisions = corrections = 0
        while len(wrong) > most:
            for face in order(review_queue(project), rng, wrong)[: every or None]:
                _decide(project, face, truth[face])
                decisions += 1
                corrections += face in wrong
                wrong.discard(face)
                if len(wrong) <= most:
                    break
            else:
                solve(project)
                wrong = wrong_faces(project, truth)
    repaired = len(before) - len(wrong)
    return Effort(len(truth), decisions, corrections, len(before), len(wrong), repaired)


def _decide(project: Project, face: int, name: str | None) -> None:
    if name is None:
        project.nobody(face)
    else:
        project.confirm(face, name)


def expected(drawn: FaceCollection, captions: str, seed: int) -> dict[str, float]:
    """Return how many decisions orders are expected to need, by what the first solve believes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.open(Path(folder, "a.candidly"), write=True) as project,
    ):
        fill(project, drawn, captions)
        solve(project)
        with project.snapshot() as sql:
            problems, labels = read_problems(sql), read_labels(sql)
    photos = [{face: labels[face] for face in one.faces} for one in problems.values() if one.faces]
    return expected_efforts(photos, 1 - RIGHT, seed)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the decisions by order as a table, one line per kind of draws and way to ask."""
    lines: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    bounds = {_about(row): row for row in rows if row["order"] == "expected"}
    for row in rows:
        if row["order"] != "expected":
            lines.setdefault((*_about(row), row["every"]), {})[row["order"]] = row
    head = ["photos", "draws", "names", "solved again", "wrong faces", *ORDERS]
    head += ["repaired by a correction", "expected: least sure, most settled, truth"]
    text = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for (*about, every), own in sorted(lines.items(), key=lambda pair: pair[0]):
        photos, kind, draws, _, names, noise = about
        some = next(iter(own.values()))
        cells = [f"{photos} {kind}", draws, f"{names}{f', noise {noise}' if noise else ''}"]
        cells += [f"every {every}" if every else "no", f"{some['wrong_before']} of {some['faces']}"]
        cells += [own[name]["decisions"] if name in own else "" for name in ORDERS]
        cells += [own["queue"]["repaired by a correction"] if "queue" in own else ""]
        bound = bounds.get(tuple(about))
        cells += ["" if bound is None else ", ".join(str(bound[name]) for name in WORTHS)]
        text.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(text) + "\n"


def _about(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("photos", "kind", "draws", "seed", "captions", "noise"))


def main(
    size: Annotated[list[int] | None, typer.Option(help="Numbers of photos.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Kinds of draws.")] = None,
    order: Annotated[list[str] | None, typer.Option(help="Orders, or expected.")] = None,
    draws: Annotated[int, typer.Option(help="Draws of each size.")] = 3,
    every: Annotated[int, typer.Option(help="Decisions between two solves; 0 for no second.")] = 5,
    captions: Annotated[str, typer.Option(help="Table of captions; names are given if none.")] = "",
    noise: Annotated[float, typer.Option(help="Noise in embeddings, of their length.")] = 0.0,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    document: Annotated[Path, typer.Option(help="File whose table is renewed.")] = RESULTS,
) -> None:
    """Measure, print, and store in ``review_effort.json``; what was not measured stays there."""
    console, collection = Console(soft_wrap=True), with_noise(newsroom_faces(), noise, seed)
    path = out / "review_effort.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    for photos in size or SIZES:
        for how in kind or KINDS:
            drawn = [
                collection.take(KINDS[how](collection.records, photos, (seed, photos, number)))
                for number in range(draws)
            ]
            for name in order or [*ORDERS, "expected"]:
                about = {"photos": photos, "kind": how, "order": name, "draws": draws, "seed": seed}
                about |= {"captions": captions or "names given", "noise": noise}
                if name == "expected":
                    found = [expected(one, captions, number) for number, one in enumerate(drawn)]
                    measured = {key: round(sum(one[key] for one in found), 1) for key in found[0]}
                else:
                    about["every"] = every
                    ran = [
                        asdict(effort(one, ORDERS[name], every, number, captions))
                        for number, one in enumerate(drawn)
                    ]
                    measured = {key: sum(one[key] for one in ran) for key in ran[0]}
                    each = measured["repaired"] / max(measured["corrections"], 1)
                    measured["repaired by a correction"] = round(each, 2)
                rows = [row for row in rows if not about.items() <= row.items()]
                rows.append({**about, **measured})
                console.print(json.dumps(rows[-1]))
                path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    put_into(document, table(rows), "review")


if __name__ == "__main__":
    typer.run(main)
