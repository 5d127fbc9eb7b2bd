"""Who was named in the photos of a project: what people are learnt from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candidly.photos.project import Project
from candidly.photos.project.queries import embeddings
from candidly.photos.solving.problem import read_told
from candidly.photos.solving.stored import read_verdicts


@dataclass(frozen=True)
class Resolved:
    """Faces with a name or rightly none; ``model`` is what found and embedded them."""

    faces: Sequence[int]
    photos: Sequence[int]
    names: Sequence[str | None]
    sure: Sequence[float]
    X: NDArray[np.float32]
    model: str


def read_resolved(project: Project) -> Resolved:
    """Faces that captions or people settled; a face that was only recognised teaches nothing.

    Where models differ, those of the one with most faces.
    """
    with project.snapshot() as sql:
        told, verdicts = read_told(sql), read_verdicts(sql)
        models = dict(sql.execute("SELECT id, model FROM faces"))
        found: dict[int, tuple[int, str | None, float]] = {}
        for photo, one in told.items():
            for face in one.faces:
                if face in one.bound:
                    found[face] = (photo, one.bound[face], 1.0)
                elif face in verdicts and not one.excludes(face, verdicts[face].name):
                    verdict = verdicts[face]
                    found[face] = (photo, verdict.name, verdict.confidence)
        parts = list(embeddings(project))
    common = Counter(models[face] for face in found).most_common(1)
    model = common[0][0] if common else ""
    numbers = [int(number) for part, _ in parts for number in part]
    use = [at for at, face in enumerate(numbers) if face in found and models[face] == model]
    vectors = np.concatenate([part for _, part in parts]) if parts else np.zeros((0, 0), np.float32)
    faces = [numbers[at] for at in use]
    return Resolved(
        faces,
        [found[face][0] for face in faces],
        [found[face][1] for face in faces],
        [found[face][2] for face in faces],
        vectors[use],
        model,
    )
