"""python -m benchmarks.photos.uncaptioned: photos without captions, by the people learnt.

Photos are dealt into five folds. The faces of a fold are named without their captions, by what was
solved in the other photos, and compared with who they really are, which nothing else reads:
a person known from the other photos should get that name, anybody else none. The test error of
``candidly train`` is given for comparison. So are ridge regression and the paper's classifier, a
linear support vector machine; both have nobody as one more class. Results go to
``results/uncaptioned.json``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.album import draw
from benchmarks.photos.face_canvases import newsroom
from benchmarks.photos.newsroom_naming import name
from candidly import __version__
from candidly.baselines.linear_machines import linear_svm
from candidly.datasets.store import data_folder
from candidly.estimators.row_space import LiftedRidge, Lifting
from candidly.estimators.scaling import FeatureScaler, differ_in_unit
from candidly.photos.geometry import Box, best_match
from candidly.photos.project import Project
from candidly.photos.project.queries import faces
from candidly.photos.recognition import TrainingFaces, at_most_once, read_training_faces
from candidly.solvers.recogniser_fitting import fit
from candidly.solvers.row_space import LinearLift

FOLDS = 5
Answer = tuple[str | None, float]
Method = Callable[[TrainingFaces, NDArray[np.intp], NDArray[np.intp]], list[Answer]]


def ours(resolved: TrainingFaces, learn: NDArray[np.intp], ask: NDArray[np.intp]) -> list[Answer]:
    """Return the names by ``candidly train`` and ``candidly name --no-captions``."""
    model, _ = fit(
        resolved.X[learn],
        [resolved.names[at] for at in learn],
        [resolved.sure[at] for at in learn],
        [resolved.photos[at] for at in learn],
    )
    names = [*model.names, None]
    P, _ = model.recognise(resolved.X[ask])
    photos = np.array([resolved.photos[at] for at in ask])
    found: list[Answer] = [(None, 0.0)] * len(ask)
    for photo in np.unique(photos):
        own = np.flatnonzero(photos == photo)
        Y, chosen = at_most_once(P[:, own])
        for at, column, i in zip(own, Y.T, chosen, strict=True):
            found[at] = (names[i], float(column[i]))
    return found


def _as_a_class(make: Callable[[NDArray[np.float64]], Any]) -> Method:
    """Return a method that is a classifier with nobody as one more class."""

    def answer(
        resolved: TrainingFaces, learn: NDArray[np.intp], ask: NDArray[np.intp]
    ) -> list[Answer]:
        X = resolved.X.astype(float)
        y = np.array([resolved.names[at] or "" for at in learn])
        found = make(X[learn]).fit(X[learn], y).predict(X[ask])
        return [(str(name) or None, float("nan")) for name in found]

    return answer


METHODS: dict[str, Method] = {
    "ours": ours,
    "ridge regression": _as_a_class(
        lambda X: LiftedRidge(
            Lifting(LinearLift(), FeatureScaler(standardize=differ_in_unit(X), norm=1.0), 0)
        )
    ),
    "linear SVM": _as_a_class(lambda X: linear_svm(1.0)),
}


def really(project: Project, truth: Sequence[dict[str, Any]]) -> dict[int, str]:
    """Return who each face of a project really is, if the truth has it."""
    records = {record["file"]: record for record in truth}
    found = {}
    for face in faces(project):
        there = records[Path(face.file).name]["faces"]
        best = best_match(face.box, [Box(*one["box"]) for one in there])
        if best is not None:
            found[face.id] = str(there[best]["person"])
    return found


def measure(
    project: Project, truth: Sequence[dict[str, Any]], method: Method, seed: int
) -> dict[str, float]:
    """Name every fold by the others, and compare."""
    resolved, person = read_training_faces(project), really(project, truth)
    meant = {wrong: name for one in truth for name, wrong in one.get("spelled", {}).items()}
    photos = np.array(resolved.photos)
    different, place = np.unique(photos, return_inverse=True)
    fold = (np.random.default_rng(seed).permutation(len(different)) % FOLDS)[place]
    right, named, known, sure = [], [], [], []
    for number in range(FOLDS):
        learn, ask = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        learnt = {meant.get(n, n) for n in (resolved.names[at] for at in learn.tolist()) if n}
        for at, (name_, chance) in zip(ask.tolist(), method(resolved, learn, ask), strict=True):
            who = person.get(resolved.faces[at])
            if who is None:
                continue
            right.append((name_ and meant.get(name_, name_)) == (who if who in learnt else None))
            named.append(name_ is not None)
            known.append(who in learnt)
            sure.append(chance)
    hit, given, there = np.array(right), np.array(named), np.array(known)
    found = {
        "faces": len(hit),
        "error": _percent(~hit),
        "right of people known": _percent(hit[there]),
        "named of strangers": _percent(given[~there]),
        "right of the names given": _percent(hit[given]),
    }
    if not np.isnan(sure).any():
        found["mean confidence"] = _percent(np.array(sure))
    return found


def _percent(values: NDArray[Any]) -> float:
    return round(100 * float(values.mean()), 1) if len(values) else float("nan")


def main(
    project: Annotated[
        Path | None, typer.Option(help="The newsroom photos, solved already; else they are now.")
    ] = None,
    album: Annotated[bool, typer.Option(help="Draw an album, too.")] = True,
    random_state: Annotated[int, typer.Option(help="Of the folds and the album.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Measure, print, and store what was measured."""
    console, result = Console(), {"seed": random_state, "version": __version__}
    with tempfile.TemporaryDirectory() as work:
        sources: list[tuple[str, Path, list[dict[str, Any]]]] = []
        source = data_folder() / "newsroom"
        if source.is_dir():
            place = project or Path(work, "newsroom.candidly")
            if project is None:
                with Project.open(place, write=True) as opened:
                    name(opened, source)
            sources.append(("newsroom", place, newsroom()))
        if album:
            truth = draw(Path(work, "album"), seed=random_state)
            place = Path(work, "album.candidly")
            with Project.open(place, write=True) as opened:
                name(opened, Path(work, "album"))
            sources.append(("album", place, truth.records()))
        for title, place, records in sources:
            with Project.open(place) as opened:
                found: dict[str, Any] = {}
                resolved = read_training_faces(opened)
                _, tested = fit(
                    resolved.X,
                    resolved.names,
                    resolved.sure,
                    resolved.photos,
                    random_state=random_state,
                )
                found["train tells"] = asdict(tested)
                for method, answer in METHODS.items():
                    found[method] = measure(opened, records, answer, random_state)
                    console.print(title, method, found[method])
            result[title] = found
            console.print(title, found["train tells"])
    out.mkdir(exist_ok=True)
    (out / "uncaptioned.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
