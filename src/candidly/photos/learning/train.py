"""Learn the people of a project, and keep them in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from candidly.photos.learning.resolved import read_resolved
from candidly.photos.learning.stored import keep_trained
from candidly.photos.project import Project, ProjectProblem
from candidly.solvers.recogniser_fitting import HeldOutResult, TooFewFacesError, fit


@dataclass(frozen=True)
class Trained:
    """What was learnt in a run: faces learnt from, people known, and how well it went."""

    run: int
    faces: int
    people: int
    tested: HeldOutResult


def train(project: Project, random_state: int = 0) -> Trained:
    """Learn the people of a project from the faces that have a name.

    Parameters
    ----------
    project : Project
        Opened for writing.
    random_state : int
        Of the photos held out.
    """
    from candidly import __version__

    resolved = read_resolved(project)
    if not any(name is not None for name in resolved.names):
        raise ProjectProblem(
            f"nobody is named in {project.path} yet, so there is nobody to learn; "
            "candidly name PHOTOS comes first"
        )
    try:
        model, tested = fit(
            resolved.X, resolved.names, resolved.sure, resolved.photos, random_state
        )
    except TooFewFacesError as few:
        raise ProjectProblem(f"{project.path}: {few}") from few
    run = project.begin_run(
        __version__, {"train": asdict(tested), "seed": random_state, "model": resolved.model}
    )
    with project.transaction() as sql:
        keep_trained(sql, run, model, resolved.model)
    project.end_run(run, {"faces": len(resolved.faces), "people": len(model.names)})
    return Trained(run, len(resolved.faces), len(model.names), tested)
