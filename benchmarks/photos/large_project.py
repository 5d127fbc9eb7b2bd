"""A made-up project of any size: photos with captions, faces, names and how sure they are.

Embeddings are of invented people, so that likeness means something; labels are drawn, not solved.
There are no pictures.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from candidly.photos.project import Project

MODEL = "made up; sface made up"
NUMBERS = 128
PER_PHOTO = 3
NOBODY = 0.15
SPREAD = 0.9
"""Distance of a face from its person, in distances of people from their mean: cosine 0.55."""
VERSION = "made up"
AT = "2026-01-01T00:00:00.000+00:00"


def make_project(path: Path, faces: int, people: int, seed: int = 0) -> None:
    """Write a project with so many faces and names.

    Parameters
    ----------
    path : Path
        The project file, which must not exist.
    faces, people : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    looks = rng.normal(size=(people, NUMBERS)).astype(np.float32)
    names = [f"{given} {family}" for given, family in _name_parts(people)]
    with Project.open(path, write=True) as project:
        root = project.root_for(path.parent)
        with project.transaction() as sql:
            sql.executemany("INSERT INTO people (id, name) VALUES (?, ?)", enumerate(names, 1))
            sql.execute(
                "INSERT INTO runs VALUES (1, ?, ?, ?, ?, '{}')",
                (VERSION, f'{{"model": "{MODEL}", "solve": "full"}}', AT, AT),
            )
            for photo, first in enumerate(range(0, faces, PER_PHOTO), 1):
                count = min(PER_PHOTO, faces - first)
                who = rng.integers(people, size=count + 1)
                while len(set(who.tolist())) < len(who):
                    who = rng.integers(people, size=count + 1)
                _photo(sql, root.id, photo, names, who)
                _faces(sql, rng, photo, first, looks, who)


def _name_parts(people: int) -> list[tuple[str, str]]:
    side = int(np.ceil(np.sqrt(people)))
    return [(_word(k // side), _word(k % side + side)) for k in range(people)]


def _word(number: int) -> str:
    """Return a word that can be pronounced, another for each number.

    Examples
    --------
    >>> len({_word(number) for number in range(1000)})
    1000
    """
    consonants, vowels, word = "bcdfghjklmnprstvz", "aeiou", ""
    for _ in range(2):
        number, at = divmod(number, len(consonants))
        number, vowel = divmod(number, len(vowels))
        word += consonants[at] + vowels[vowel]
    return f"{word}b".capitalize()


def _photo(
    sql: sqlite3.Connection, root: int, photo: int, names: list[str], who: np.ndarray
) -> None:
    """Add a photo whose caption names all its people, and one who is not there."""
    own = [names[person] for person in who]
    text = f"{', '.join(own[:-1])} and {own[-1]} at the station."
    sql.execute(
        "INSERT INTO photos (id, identity, width, height, model, orientation)"
        " VALUES (?, ?, 3000, 2000, ?, 1)",
        (photo, f"photo {photo}", MODEL),
    )
    sql.execute(
        "INSERT INTO files (id, root, path, size, mtime_ns, photo) VALUES (?, ?, ?, 1, 1, ?)",
        (photo, root, f"{2000 + photo % 20}/{photo:06}.jpg", photo),
    )
    sql.execute(
        "INSERT INTO captions VALUES (?, ?, ?, 'txt', 'en', 'made up')", (photo, photo, text)
    )
    sql.executemany(
        'INSERT INTO mentions (caption, name, start, "end", person) VALUES (?, ?, ?, ?, ?)',
        [
            (photo, name, text.index(name), text.index(name) + len(name), int(person) + 1)
            for name, person in zip(own, who, strict=True)
        ],
    )


def _faces(
    sql: sqlite3.Connection,
    rng: np.random.Generator,
    photo: int,
    first: int,
    looks: np.ndarray,
    who: np.ndarray,
) -> None:
    """Add the faces of a photo with their labels and candidates."""
    shown = who[:-1]
    for place, person in enumerate(shown):
        face = first + place + 1
        stranger = rng.random() < NOBODY
        look = rng.normal(size=NUMBERS) if stranger else looks[person]
        vector = (look + SPREAD * rng.normal(size=NUMBERS)).astype("<f4")
        sql.execute(
            "INSERT INTO faces (id, photo, x, y, w, h, score, quality, landmarks, model)"
            " VALUES (?, ?, ?, 500, 300, 300, 0.9, ?, x'', ?)",
            (face, photo, 100.0 + 900 * place, float(rng.uniform(0.2, 0.95)), MODEL),
        )
        sql.execute("INSERT INTO embeddings VALUES (?, ?)", (face, vector.tobytes()))
        sure = float(1 - 0.6 * rng.random() ** 4)
        label = None if stranger else int(person) + 1
        sql.execute("INSERT INTO labels VALUES (?, ?, ?, 1)", (face, label, sure))
        others = [int(one) + 1 for one in who if int(one) + 1 != label]
        left = (1 - sure) / (len(others) + 1)
        rows = [(face, label, sure, 1.0, 0.0)]
        rows += [(face, other, left, -1.0, 0.0) for other in others]
        rows += [] if stranger else [(face, None, left, 0.0, 0.0)]
        sql.executemany("INSERT INTO weighed VALUES (?, ?, ?, ?, ?)", rows)
