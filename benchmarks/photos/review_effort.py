"""python -m benchmarks.photos.review_effort: how many decisions a collection needs.

Newsroom photos are drawn, at random and all of some people, and named from embeddings at true
boxes. Then a user who knows the truth decides about one face after the other, and after every few
decisions all is solved again. Three orders are compared: at random, the least sure first, and that
of the review queue. Measured is how many decisions it takes until 97% of the faces are right, and
how many wrong faces a correction puts right, its own included.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from benchmarks.photos.collection_draws import (
    FaceCollection,
    at_random,
    by_person,
    newsroom_faces,
)
from candidly.photos.faces.population_file import SHIPPED, read_population
from candidly.photos.geometry import Box
from candidly.photos.project import Project
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.store import keep_caption, keep_faces, keep_file, keep_photo
from candidly.photos.records import Caption, Face
from candidly.photos.reviewing import QueuedFace, review_queue
from candidly.photos.solving import solve

RIGHT = 0.97
"""Part of the faces that are to be right."""
KINDS = {"at random": at_random, "by person": by_person}
Truth = dict[int, str | None]
Order = Callable[[list[QueuedFace], np.random.Generator], Sequence[int]]


def _queue(queue: list[QueuedFace], _: np.random.Generator) -> Sequence[int]:
    return [one.face for one in queue]


def _least_sure(queue: list[QueuedFace], _: np.random.Generator) -> Sequence[int]:
    return [one.face for one in sorted(queue, key=lambda one: (-one.doubt, one.face))]


def _random(queue: list[QueuedFace], rng: np.random.Generator) -> Sequence[int]:
    return rng.permutation(sorted(one.face for one in queue)).tolist()


ORDERS: dict[str, Order] = {"queue": _queue, "least sure": _least_sure, "random": _random}


@dataclass(frozen=True)
class Effort:
    """What it took: decisions made, of these corrections, and wrong faces at both ends."""

    faces: int
    decisions: int
    corrections: int
    wrong_before: int
    wrong_after: int
    repaired: int


def fill(project: Project, drawn: FaceCollection) -> Truth:
    """Store photos with the names of their captions, and return the true names of their faces."""
    model, truth, at = read_population(SHIPPED).model, Truth(), 0
    with tempfile.TemporaryDirectory() as folder:
        root = project.root_for(Path(folder))
    for record in drawn.records:
        faces = [
            Face(Box(*face["box"]), 1.0, np.zeros((5, 2), np.float32), 1.0, row)
            for face, row in zip(record["faces"], drawn.X[at:].astype(np.float32), strict=False)
        ]
        at += len(faces)
        with project.transaction() as sql:
            photo = keep_photo(sql, record["file"], 250, 250)
            numbers = keep_faces(sql, photo, faces, model)
            file = keep_file(sql, root, record["file"], (1, 1), photo, beside="")
            caption = Caption("", "list", given=tuple(record["mentioned"]))
            keep_caption(sql, file, caption, [], "as it is")
        truth |= {n: face["name"] for n, face in zip(numbers, record["faces"], strict=True)}
    return truth


def wrong_faces(project: Project, truth: Truth) -> set[int]:
    """Return the faces whose name is not the true one."""
    with project.snapshot() as sql:
        return {face for face, name in truth.items() if name_and_confidence(sql, face)[0] != name}


def effort(drawn: FaceCollection, order: Order, every: int, seed: int) -> Effort:
    """Return how much has to be decided until enough faces are right."""
    rng = np.random.default_rng(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        Project.open(Path(folder, "a.candidly"), write=True) as project,
    ):
        truth = fill(project, drawn)
        solve(project)
        before = wrong = wrong_faces(project, truth)
        decisions = corrections = 0
        while len(wrong) > (1 - RIGHT) * len(truth):
            asked = order(review_queue(project), rng)[:every]
            for face in asked:
                name = truth[face]
                if name is None:
                    project.nobody(face)
                else:
                    project.confirm(face, name)
                decisions += 1
                corrections += face in wrong
            solve(project)
            wrong = wrong_faces(project, truth)
    repaired = len(before) - len(wrong)
    return Effort(len(truth), decisions, corrections, len(before), len(wrong), repaired)


def main(
    size: Annotated[list[int] | None, typer.Option(help="Numbers of photos.")] = None,
    draws: Annotated[int, typer.Option(help="Draws of each size.")] = 3,
    every: Annotated[int, typer.Option(help="Decisions between two solves.")] = 5,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Measure, print and write ``review_effort.json``."""
    console, collection = Console(soft_wrap=True), newsroom_faces()
    found: list[dict[str, Any]] = []
    for photos in size or [200, 500]:
        for kind, draw in KINDS.items():
            for name, order in ORDERS.items():
                ran = [
                    effort(
                        collection.take(draw(collection.records, photos, (seed, photos, number))),
                        order,
                        every,
                        number,
                    )
                    for number in range(draws)
                ]
                total = {key: sum(asdict(one)[key] for one in ran) for key in asdict(ran[0])}
                each = round(total["repaired"] / max(total["corrections"], 1), 2)
                row = {"photos": photos, "kind": kind, "order": name, "draws": draws, **total}
                found.append({**row, "repaired by a correction": each})
                console.print(json.dumps(found[-1]))
    text = json.dumps({"seed": seed, "every": every, "efforts": found}, indent=1)
    (out / "review_effort.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
