"""How the faces of an embedder vary, learnt from faces of people who are known.

They are photos in one folder per person, or the faces of a project that somebody named.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from candidly import __version__
from candidly.estimators import estimate_population
from candidly.photos.faces.population_file import EmbedderPopulation, PopulationProblem
from candidly.photos.ingesting.photo_files import relative_path
from candidly.photos.ingesting.scanning import PictureScanner, ScanFailure
from candidly.photos.parts import IngestParts
from candidly.photos.project import Project
from candidly.photos.project.face_names import decision_on, metadata_names
from candidly.photos.project.queries import embeddings
from candidly.photos.records import StageProgress
from candidly.photos.solving.statistics import comparable_model
from candidly.wording import count

FEWEST = 20
"""Smallest number of people with two faces: fewer say nothing about others."""
MANY = 200
"""Number of people with two faces from which a population is not called rough."""


@dataclass(frozen=True)
class LearntPopulation:
    """A population that was learnt, and what could not be used for it.

    Attributes
    ----------
    made : EmbedderPopulation
        What ``candidly.photos.faces.population_file.write_population`` writes.
    several : int
        People with two faces or more.
    left_out : list of str
        Files that were not used, each with the reason.
    """

    made: EmbedderPopulation
    several: int
    left_out: Sequence[str] = ()

    @property
    def sentences(self) -> list[str]:
        """What was learnt, in words."""
        known = self.made.population
        share = np.trace(known.within) / np.trace(known.total)
        said = [
            f"{count(known.instances, 'face')} of {count(known.people, 'person')}, "
            f"{self.several} of them with two or more",
            f"pictures of one person vary {share:.0%} as much as pictures of anybody",
        ]
        if self.several < MANY:
            said.append(
                f"the estimate is rough: {MANY} people with two faces or more make a good one"
            )
        return said


def learn_from_folder(
    folder: Path, parts: IngestParts, workers: int, on_progress: Callable[[StageProgress], None]
) -> LearntPopulation:
    """Return the population of photos in one folder per person; the largest face counts."""
    files, left_out = parts.pictures.find(folder, None, None)
    photos: dict[str, dict[str, NDArray[np.float32]]] = defaultdict(dict)
    for done, (file, found) in enumerate(PictureScanner(parts, set(), workers).scan(files)):
        path = relative_path(folder, file.path)
        on_progress(StageProgress("ingest", done, len(files), path))
        person, within, _ = path.partition("/")
        if not within:
            left_out.append(f"{path}: it is in no folder of a person")
        elif isinstance(found, ScanFailure):
            left_out.append(f"{path}: {found.reason}")
        elif not found.faces:
            left_out.append(f"{path}: no face is found in it")
        else:
            largest = max(found.faces, key=lambda face: face.box.w * face.box.h)
            if largest.embedding is not None:
                photos[found.identity][person] = largest.embedding
    on_progress(StageProgress("ingest", len(files), len(files)))
    # A copy counts once; a photo in the folders of two people shows nobody in particular.
    shared = sum(len(people) > 1 for people in photos.values())
    if shared:
        left_out.append(f"{count(shared, 'photo')} in the folders of several people")
    seen = [next(iter(people.items())) for people in photos.values() if len(people) == 1]
    names, rows = [name for name, _ in seen], [row for _, row in seen]
    return _learnt(parts.model(), names, rows, f"{folder}", "a folder per person", left_out)


def learn_from_project(project: Project) -> LearntPopulation:
    """Return the population of the faces that somebody, or a photo's metadata, named."""
    with project.snapshot() as sql:
        model = comparable_model(sql)
        known = sql.execute(
            "SELECT face FROM standing WHERE face IS NOT NULL"
            " UNION SELECT face FROM regions WHERE face IS NOT NULL"
        ).fetchall()
        names = {}
        for (face,) in known:
            decision = decision_on(sql, face)
            if decision.name is not None:
                names[face] = decision.name
            elif not (decision.nobody or decision.ignored):
                for one in metadata_names(sql, face):
                    if one not in decision.refused:
                        names.setdefault(face, one)
        seen = [
            (names[int(number)], row)
            for numbers, rows in embeddings(project)
            for number, row in zip(numbers, rows, strict=True)
            if int(number) in names
        ]
    return _learnt(
        model or "",
        [name for name, _ in seen],
        [row for _, row in seen],
        f"{project.path}, faces that somebody or metadata named",
        "confirmed names of a project",
    )


def _learnt(
    model: str,
    names: Sequence[str],
    rows: Sequence[NDArray[np.float32]],
    where: str,
    source: str,
    left_out: Sequence[str] = (),
) -> LearntPopulation:
    faces = Counter(names)
    several = sum(count > 1 for count in faces.values())
    if several < FEWEST:
        lost = f" ({len(left_out)} left out, such as {left_out[0]})" if left_out else ""
        raise PopulationProblem(
            f"{where}: of {count(len(faces), 'person')} {several} have two faces or "
            f"more{lost}; at least {FEWEST} are needed to say how faces vary, and {MANY} are better"
        )
    try:
        population = estimate_population(np.array(rows), names)
    except ValueError as problem:
        raise PopulationProblem(f"{where}: {problem}") from problem
    about = {
        "command": "candidly population",
        "version": __version__,
        "people are": source,
        "people with several faces": several,
    }
    return LearntPopulation(EmbedderPopulation(model, population, about), several, left_out)
