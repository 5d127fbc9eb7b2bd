"""The people of a project, counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from candidly.photos.project import Project
from candidly.photos.project.queries import decided, faces, proposals
from candidly.photos.telling.likeness import SURE


@dataclass(frozen=True)
class Person:
    """Somebody with faces or mentions.

    ``faces`` has the name, of which ``confirmed`` by people and ``sure`` by far; ``photos`` name
    it; ``likely`` are names that are likely the same person's.
    """

    name: str
    faces: int
    confirmed: int
    sure: int
    photos: int
    likely: tuple[str, ...]


def people(project: Project) -> list[Person]:
    """Everybody, those with most faces first."""
    count: dict[str, Counter[str]] = defaultdict(Counter)
    with project.snapshot() as sql:
        for face in faces(project):
            if face.name is not None:
                own = count[face.name]
                own["faces"] += 1
                own["confirmed"] += decided(sql, face.id).name == face.name
                own["sure"] += (face.confidence or 0) >= SURE
        for name, photos in sql.execute(
            "SELECT name, count(DISTINCT photo) FROM ("
            + " UNION ".join(
                f"SELECT person, photo FROM {table} JOIN captions ON captions.id = caption"
                " JOIN files ON files.id = file WHERE gone = 0"
                for table in ("mentions", "given", "regions")
            )
            + ") JOIN people ON people.id = person GROUP BY people.id"
        ):
            count[name]["photos"] = photos
        likely = defaultdict(list)
        for pair in proposals(project):
            likely[pair.name].append(pair.likely)
            likely[pair.likely].append(pair.name)
    found = [
        Person(
            name,
            own["faces"],
            own["confirmed"],
            own["sure"],
            own["photos"],
            tuple(sorted(set(likely[name]))),
        )
        for name, own in count.items()
    ]
    return sorted(found, key=lambda person: (-person.faces, -person.photos, person.name))
