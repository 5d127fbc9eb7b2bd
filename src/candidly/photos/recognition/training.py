"""Learning the people of a project from the faces that have a name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from candidly import __version__
from candidly.photos.project import Project, ProjectProblem, open_project
from candidly.photos.project.queries import embeddings
from candidly.photos.recognition.store import keep_recogniser
from candidly.photos.solving.problem import read_problems
from candidly.photos.solving.store import read_labels
from candidly.solvers.recogniser_fitting import HeldOutResult, TooFewFacesError, fit


@dataclass(frozen=True)
class TrainingFaces:
    """Faces with a name, or rightly without; ``model`` is what found and embedded them."""

    faces: Sequence[int]
    photos: Sequence[int]
    names: Sequence[str | None]
    sure: Sequence[float]
    X: NDArray[np.float32]
    model: str


@dataclass(frozen=True)
class TrainingSummary:
    """Result of training: faces learnt from, people known, and the test on held-out photos."""

    run: int
    faces: int
    people: int
    tested: HeldOutResult


def train(
    project: Project | str | os.PathLike[str] | None = None, random_state: int = 0
) -> TrainingSummary:
    """Learn the people of a project from the faces that have a name.

    Parameters
    ----------
    project : Project or path, optional
        A project opened for writing, or its file; None for the one in the user's data folder.
    random_state : int
        Seed of the choice of the photos held out.
    """
    with open_project(project, write=True) as opened:
        return _train(opened, random_state)


def _train(project: Project, random_state: int) -> TrainingSummary:
    known = read_training_faces(project)
    if not any(name is not None for name in known.names):
        raise ProjectProblem(
            f"nobody is named in {project.path} yet, so there is nobody to learn; "
            "candidly name PHOTOS comes first"
        )
    try:
        model, tested = fit(known.X, known.names, known.sure, known.photos, random_state)
    except TooFewFacesError as few:
        raise ProjectProblem(f"{project.path}: {few}") from few
    run = project.begin_run(
        __version__, {"train": asdict(tested), "seed": random_state, "model": known.model}
    )
    with project.transaction() as sql:
        keep_recogniser(sql, run, model, known.model)
    project.end_run(run, {"faces": len(known.faces), "people": len(model.names)})
    return TrainingSummary(run, len(known.faces), len(model.names), tested)


def read_training_faces(project: Project) -> TrainingFaces:
    """Return the faces that captions or decisions named, without those only recognised.

    Where models differ, only faces of the one with most faces are returned.
    """
    with project.snapshot() as sql:
        problems, labels = read_problems(sql), read_labels(sql)
        models = dict(sql.execute("SELECT id, model FROM faces"))
        found: dict[int, tuple[int, str | None, float]] = {}
        for photo, problem in problems.items():
            for face in problem.faces:
                if face in problem.bound:
                    found[face] = (photo, problem.bound[face], 1.0)
                elif face in labels and not problem.excludes(face, labels[face].name):
                    found[face] = (photo, labels[face].name, labels[face].confidence)
        parts = list(embeddings(project))
    common = Counter(models[face] for face in found).most_common(1)
    model = common[0][0] if common else ""
    numbers = [int(number) for part, _ in parts for number in part]
    use = [at for at, face in enumerate(numbers) if face in found and models[face] == model]
    vectors = np.concatenate([part for _, part in parts]) if parts else np.zeros((0, 0), np.float32)
    faces = [numbers[at] for at in use]
    return TrainingFaces(
        faces,
        [found[face][0] for face in faces],
        [found[face][1] for face in faces],
        [found[face][2] for face in faces],
        vectors[use],
        model,
    )
