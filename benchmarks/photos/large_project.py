"""A made-up project of any size: photos with captions, faces, names and how sure they are.

Embeddings are of invented people, so that likeness means something; labels are drawn, or left to be
solved. There are no pictures. Rows are written in pieces, so that a million faces take little
memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
PIECE = 5000
"""Photos that are written at a time."""


def make_project(
    path: Path, faces: int, people: int, seed: int = 0, *, solved: bool = True
) -> None:
    """Write a project with so many faces and names.

    Parameters
    ----------
    path : Path
        The project file, which must not exist.
    faces, people : int
    seed : int
    solved : bool
        Whether faces have labels, drawn at random.
    """
    names = [f"{given} {family}" for given, family in _name_parts(people)]
    with Project.open(path, write=True) as project:
        with project.transaction() as sql:
            sql.executemany("INSERT INTO people (id, name) VALUES (?, ?)", enumerate(names, 1))
            solve = ', "solve": "full"' if solved else ""
            sql.execute(
                "INSERT INTO runs VALUES (1, ?, ?, ?, ?, '{}')",
                (VERSION, f'{{"model": "{MODEL}"{solve}}}', AT, AT),
            )
        _add(project, names, faces, np.random.default_rng([seed, 1]), seed, solved)


def add_photos(path: Path, photos: int, people: int, seed: int = 0) -> None:
    """Add photos of the same people to a project that ``make_project`` made, not solved."""
    names = [f"{given} {family}" for given, family in _name_parts(people)]
    with Project.open(path, write=True) as project:
        before = project.count("photos")
        rng = np.random.default_rng([seed, 2, before])
        _add(project, names, photos * PER_PHOTO, rng, seed, solved=False)


def _add(
    project: Project,
    names: list[str],
    faces: int,
    rng: np.random.Generator,
    seed: int,
    solved: bool,
) -> None:
    """Add photos with so many faces after those that are there, in pieces."""
    looks = np.random.default_rng([seed, 0]).normal(size=(len(names), NUMBERS)).astype(np.float32)
    root = project.root_for(project.path.parent)
    last = project.count("photos")
    for photo, count in _sizes(faces, last):
        with project.transaction() as sql:
            who = _people(rng, len(names), len(photo))
            _photos(sql, root.id, photo.tolist(), count.tolist(), names, who.tolist())
            _faces(sql, rng, photo, count, looks, who, solved)


def _sizes(faces: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield numbers of photos, and of faces in each, in pieces."""
    count = np.full(-(-faces // PER_PHOTO), PER_PHOTO)
    if len(count):
        count[-1] = faces - PER_PHOTO * (len(count) - 1)
    for start in range(0, len(count), PIECE):
        part = count[start : start + PIECE]
        yield last + start + 1 + np.arange(len(part)), part


def _people(rng: np.random.Generator, people: int, photos: int) -> np.ndarray:
    """Return different people for each photo: those shown, and last one who is only mentioned."""
    who = rng.integers(people, size=(photos, PER_PHOTO + 1))
    while True:
        twice = np.flatnonzero((np.diff(np.sort(who, axis=1), axis=1) == 0).any(axis=1))
        if not len(twice):
            return who
        who[twice] = rng.integers(people, size=(len(twice), PER_PHOTO + 1))


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


def _photos(
    sql: sqlite3.Connection,
    root: int,
    photos: list[int],
    counts: list[int],
    names: list[str],
    who: list[list[int]],
) -> None:
    """Add photos whose captions name all their people, and one who is not there."""
    sql.executemany(
        "INSERT INTO photos (id, identity, width, height, model, orientation)"
        " VALUES (?, ?, 3000, 2000, ?, 1)",
        [(photo, f"photo {photo}", MODEL) for photo in photos],
    )
    sql.executemany(
        "INSERT INTO files (id, root, path, size, mtime_ns, photo) VALUES (?, ?, ?, 1, 1, ?)",
        [(photo, root, f"{2000 + photo % 20}/{photo:06}.jpg", photo) for photo in photos],
    )
    captions, mentions = [], []
    for photo, count, people in zip(photos, counts, who, strict=True):
        shown = [*people[:count], people[-1]]
        own = [names[person] for person in shown]
        text = f"{', '.join(own[:-1])} and {own[-1]} at the station."
        captions.append((photo, photo, text))
        for name, person in zip(own, shown, strict=True):
            start = text.index(name)
            mentions.append((photo, name, start, start + len(name), person + 1))
    sql.executemany("INSERT INTO captions VALUES (?, ?, ?, 'txt', 'en', 'made up')", captions)
    sql.executemany(
        'INSERT INTO mentions (caption, name, start, "end", person) VALUES (?, ?, ?, ?, ?)',
        mentions,
    )


def _faces(
    sql: sqlite3.Connection,
    rng: np.random.Generator,
    photos: np.ndarray,
    counts: np.ndarray,
    looks: np.ndarray,
    who: np.ndarray,
    solved: bool,
) -> None:
    """Add the faces of photos, with labels and candidates where they are solved."""
    place = np.tile(np.arange(PER_PHOTO), len(photos))
    there = place < np.repeat(counts, PER_PHOTO)
    photo, place = np.repeat(photos, PER_PHOTO)[there], place[there]
    person = who[:, :-1].ravel()[there]
    (last,) = sql.execute("SELECT coalesce(max(id), 0) FROM faces").fetchone()
    face = last + 1 + np.arange(len(photo))
    stranger = rng.random(len(face)) < NOBODY
    X = SPREAD * rng.normal(size=(len(face), NUMBERS))
    X += np.where(stranger[:, None], rng.normal(size=X.shape), looks[person])
    quality = rng.uniform(0.2, 0.95, len(face))
    sql.executemany(
        "INSERT INTO faces (id, photo, x, y, w, h, score, quality, landmarks, model)"
        f" VALUES (?, ?, ?, 500, 300, 300, 0.9, ?, x'', '{MODEL}')",
        zip(
            face.tolist(),
            photo.tolist(),
            (100.0 + 900 * place).tolist(),
            quality.tolist(),
            strict=True,
        ),
    )
    sql.executemany(
        "INSERT INTO embeddings VALUES (?, ?)",
        (
            (number, row.tobytes())
            for number, row in zip(face.tolist(), X.astype("<f4"), strict=True)
        ),
    )
    if solved:
        _labels(sql, rng, face, person, stranger, np.repeat(who, counts, axis=0))


def _labels(
    sql: sqlite3.Connection,
    rng: np.random.Generator,
    face: np.ndarray,
    person: np.ndarray,
    stranger: np.ndarray,
    mentioned: np.ndarray,
) -> None:
    """Add labels that are drawn, and the candidates of faces."""
    sure = 1 - 0.6 * rng.random(len(face)) ** 4
    labels, weighed = [], []
    for number, own, is_nobody, everybody, confidence in zip(
        face.tolist(),
        person.tolist(),
        stranger.tolist(),
        mentioned.tolist(),
        sure.tolist(),
        strict=True,
    ):
        label = None if is_nobody else own + 1
        labels.append((number, label, confidence))
        others = [one + 1 for one in everybody if one + 1 != label]
        left = (1 - confidence) / (len(others) + 1)
        weighed.append((number, label, confidence, 1.0))
        weighed += [(number, other, left, -1.0) for other in others]
        weighed += [] if is_nobody else [(number, None, left, 0.0)]
    sql.executemany("INSERT INTO labels VALUES (?, ?, ?, 1)", labels)
    sql.executemany("INSERT INTO weighed VALUES (?, ?, ?, ?, 0)", weighed)
