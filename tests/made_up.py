"""A project that is filled by hand, with made-up embeddings: no detector is needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from candidly.photos.faces.population_file import EmbedderPopulation
from candidly.photos.geometry import Box
from candidly.photos.project import Project
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.store import (
    keep_caption,
    keep_faces,
    keep_file,
    keep_photo,
    link_regions,
)
from candidly.photos.records import Caption, Face, Mention
from candidly.photos.solving.statistics import keep_population
from candidly.solvers.population import Population

MODEL = "made up"  # no detector and embedder whose faces are known
DIMENSIONS = 24
SPREAD = 0.25


class Album:
    """A project that is filled by hand: people are directions, faces are near them."""

    def __init__(self, path: Path, seed: int = 0, model: str = MODEL) -> None:
        self.model = model
        self.project = Project.open(path, write=True)
        self.root = self.project.root_for(path.parent)
        self.rng = np.random.default_rng(seed)
        self.people: dict[str, np.ndarray] = {}

    def look(self, person: str) -> np.ndarray:
        if person not in self.people:
            self.people[person] = self.rng.normal(size=DIMENSIONS)
        return self.people[person] + SPREAD * self.rng.normal(size=DIMENSIONS)

    def add(
        self, file, shown, mentioned, *, boxes=None, regions=(), given=(), text=None, likely=None
    ):
        """A photo with people from left to right; a mention is a name, or name and cue.

        ``likely`` has the probability of names that are doubtful.
        """
        boxes = boxes or [Box(100.0 * at, 0, 60, 60) for at in range(len(shown))]
        faces = [
            Face(box, 0.9, np.zeros((5, 2), np.float32), 0.8, self.look(person).astype(np.float32))
            for box, person in zip(boxes, shown, strict=True)
        ]
        with self.project.transaction() as sql:
            photo = keep_photo(sql, file, 1000, 1000)
            numbers = keep_faces(sql, photo, faces, self.model)
            row = keep_file(sql, self.root, file, (1, 1), photo, beside="")
            self._write(sql, row, mentioned, regions, given, text, likely or {})
            link_regions(sql, photo)
        return numbers

    def caption(self, file, mentioned):
        """Another caption for a photo."""
        with self.project.transaction() as sql:
            (row,) = sql.execute("SELECT id FROM files WHERE path = ?", (file,)).fetchone()
            self._write(sql, row, mentioned, (), (), None, {})

    def _write(self, sql, row, mentioned, regions, given, text, likely):
        pairs = [(one, None) if isinstance(one, str) else one for one in mentioned]
        text = " ".join(name for name, _ in pairs) if text is None else text
        read = [
            Mention(name, at, at + len(name), cue, probability=likely.get(name, 1.0))
            for name, cue, at in ((name, cue, text.index(name)) for name, cue in pairs)
        ]
        caption = Caption(text, "txt", given=tuple(given), regions=tuple(regions))
        keep_caption(sql, row, caption, read, "by hand")

    def propose(self, name, likely):
        """Propose that a name is likely a misspelling."""
        with self.project.transaction() as sql:
            sql.execute(
                "INSERT INTO proposals SELECT one.id, other.id, 'one letter', 0 FROM people one,"
                " people other WHERE one.name = ? AND other.name = ?",
                (name, likely),
            )

    def know(self):
        """Say beforehand how faces of this album vary."""
        with self.project.transaction() as sql:
            known = EmbedderPopulation(self.model, population_of_looks(), {"people are": "made up"})
            keep_population(sql, known)

    def names(self, numbers):
        return [name_and_confidence(self.project.connection, number)[0] for number in numbers]

    def labels(self):
        """Name and confidence of each face that is labelled."""
        rows = self.project.connection.execute(
            "SELECT face, name, confidence FROM labels LEFT JOIN people ON people.id = person"
        )
        return {face: (name, confidence) for face, name, confidence in rows}

    def all_names(self):
        return {face: name for face, (name, _) in self.labels().items()}


def population_of_looks():
    """The population that faces of an album are of."""
    within = SPREAD**2 * np.eye(DIMENSIONS)
    total = within + np.eye(DIMENSIONS)
    return Population(np.zeros(DIMENSIONS), within, total, people=500, instances=1500)


def fill(album, photos=60, people=12, seed=1):
    """Photos of one to three people, sometimes with an unnamed or an absent one."""
    rng = np.random.default_rng(seed)
    who = [f"Person {chr(65 + k)}" for k in range(people)]
    truth = {}
    for number in range(photos):
        shown = list(rng.choice(who, size=rng.integers(1, 4), replace=False))
        absent = [name for name in rng.choice(who, size=1) if name not in shown]
        stranger = rng.random() < 0.2
        faces = album.add(
            f"{seed}-{number}.jpg",
            [*shown, f"stranger {seed}-{number}"] if stranger else shown,
            list(rng.permutation([*shown, *absent])),
        )
        truth |= dict(zip(faces, [*shown, None] if stranger else shown, strict=True))
    return truth


def share_right(truth, found):
    return np.mean([found[face] == name for face, name in truth.items()])
