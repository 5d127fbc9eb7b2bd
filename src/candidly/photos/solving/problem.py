"""The problem of each photo: its faces, the people who may be in it, and decisions."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from candidly.photos.geometry import Box
from candidly.photos.project.face_names import DECIDED, FaceDecision, combine_decisions
from candidly.photos.project.queries import in_batches
from candidly.photos.records import NAMED, Cue

BATCH = 2000
"""Photos that are read at a time."""
_PRESENT = "files.gone = 0"
_FACES_ASKED = "SELECT id FROM faces WHERE photo IN (SELECT value FROM json_each(?))"
# Photos that the detector and embedder last used have not looked at, while others have: their names
# stay as they are until it does.
OTHER_MODEL = """SELECT id FROM photos WHERE id IN (SELECT photo FROM faces) AND model IS NOT
    coalesce((SELECT json_extract(settings, '$.model') FROM runs
        WHERE json_extract(settings, '$.model') IS NOT NULL ORDER BY id DESC LIMIT 1), model, '')"""


@dataclass(frozen=True)
class PhotoProblem:
    """What is known about a photo before it is solved.

    Parameters
    ----------
    photo : int
    faces : dict of int to Box
        Faces to name: those that have an embedding and are not to be ignored.
    names : dict of str to Cue or None
        People who may be in it, with the place that the text gives to them.
    shown : dict of str to float
        How likely some of these people are named and shown, against somebody mentioned plainly,
        where every text says that they may not be shown ("did not attend"), or is doubtful as to
        whether it names them.
    bound : dict of int to str or None
        Decided faces: a name, or None for nobody.
    refused : frozenset of (int, str)
        Faces with a person that they are not.
    drawn : frozenset of str
        People on faces without an embedding; they are on no other face.
    listed : frozenset of str
        People whom only a list or a region names: their order says nothing.
    doubtful : frozenset of str
        Names that are likelier no person's.
    words, looks, decisions : str
        Stamps of the captions, of the faces and of the decisions.
    """

    photo: int
    faces: dict[int, Box]
    names: dict[str, Cue | None]
    bound: dict[int, str | None] = field(default_factory=dict)
    refused: frozenset[tuple[int, str]] = frozenset()
    drawn: frozenset[str] = frozenset()
    shown: dict[str, float] = field(default_factory=dict)
    listed: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    words: str = ""
    looks: str = ""
    decisions: str = ""

    @property
    def stamp(self) -> tuple[str, str, str]:
        """Stamps that change when the photo has to be solved again."""
        return self.words, self.looks, self.decisions

    def candidates(self, face: int) -> list[str]:
        """Return the people a face may be, without nobody; only the name where it is decided."""
        if face in self.bound:
            name = self.bound[face]
            return [] if name is None else [name]
        return [name for name in self.names if not self.excludes(face, name)]

    def excludes(self, face: int, name: str | None) -> bool:
        """Return whether an undecided face cannot have a name: refused, or another face has it."""
        if name is None:
            return False
        taken = name in self.drawn or name in self.bound.values()
        return taken or (face, name) in self.refused

    def without(self, names: Collection[str]) -> PhotoProblem:
        """Return the problem without some of the people who may be in it."""
        return replace(
            self,
            names={name: cue for name, cue in self.names.items() if name not in names},
            doubtful=self.doubtful.difference(names),
        )

    def respelled(self, likely: Mapping[str, str]) -> PhotoProblem:
        """Return the problem with names in their likely spelling."""
        names = {likely.get(name, name): cue for name, cue in self.names.items()}
        spelled = [(likely.get(name, name), self.shown.get(name, 1.0)) for name in self.names]
        listed = frozenset(likely.get(name, name) for name in self.listed)
        sure = {likely.get(name, name) for name in self.names if name not in self.doubtful}
        return replace(
            self,
            names=names,
            shown=_less_than_plain(spelled),
            listed=listed,
            doubtful=frozenset(names) - sure,
        )


class DecidedFace(NamedTuple):
    """A face of which it is known whether it is a person."""

    face: int
    name: str
    right: bool


def decided_faces(photos: Iterable[PhotoProblem]) -> list[DecidedFace]:
    """Return who decided faces are, and who they are not: refused, or another who is mentioned."""
    found = []
    for photo in photos:
        for face, name in photo.bound.items():
            if name is not None:
                found.append(DecidedFace(face, name, True))
            found += [DecidedFace(face, other, False) for other in photo.names if other != name]
        found += [
            DecidedFace(face, name, False)
            for face, name in sorted(photo.refused)
            if face in photo.faces and face not in photo.bound
        ]
    return found


def read_problems(
    sql: sqlite3.Connection,
    photos: Iterable[int] | None = None,
    *,
    cues: bool = True,
    wordless: bool = False,
) -> dict[int, PhotoProblem]:
    """Return the problems of photos by their number, as :func:`each_problem` yields them."""
    return {one.photo: one for one in each_problem(sql, photos, cues=cues, wordless=wordless)}


def each_problem(
    sql: sqlite3.Connection,
    photos: Iterable[int] | None = None,
    *,
    cues: bool = True,
    wordless: bool = False,
) -> Iterator[PhotoProblem]:
    """Yield the problems of existing photos with captions or decisions, some at a time.

    A photo without a caption has only the faces that are decided, if any.

    Parameters
    ----------
    sql : Connection
    photos : iterable of int, optional
        Which photos, in any order; all by default.
    cues : bool
        Whether to use the places that texts give to people.
    wordless : bool
        Only photos without captions, with all their faces.
    """
    if photos is None:
        photos = (number for (number,) in sql.execute("SELECT id FROM photos ORDER BY id"))
    else:
        photos = sorted(photos)
    for some in in_batches(photos, BATCH):
        yield from _problems(sql, json.dumps(some), cues, wordless)


def _problems(
    sql: sqlite3.Connection, photos: str, cues: bool, wordless: bool
) -> Iterator[PhotoProblem]:
    """Yield the problems of photos whose numbers are a JSON list."""
    names, listed, shown, doubtful, written = _names(sql, photos, cues)
    answers, stamps = _decisions(sql, photos)
    regions = _regions(sql, photos)
    exported = dict(
        sql.execute(
            "SELECT face, name FROM exported JOIN known ON known.id = person"
            f" WHERE NOT barred AND face IN ({_FACES_ASKED})",
            (photos,),
        )
    )
    for photo, rows in _faces(sql, photos).items():
        bound: dict[int, str | None] = {}
        faces, refused, drawn = {}, set(), set()
        for face, box, _, embedded in rows:
            decision = answers.get(face, FaceDecision())
            if decision.ignored:
                continue
            refused |= {(face, name) for name in decision.refused}
            name = decision.name
            if name is None and not decision.nobody:
                known = [exported.get(face), *regions.get(face, ())]
                name = next((n for n in known if n is not None and n not in decision.refused), None)
            if embedded:
                faces[face] = box
                if name is not None or decision.nobody:
                    bound[face] = name
            elif name is not None:
                drawn.add(name)
        decisions = _stamp([(face, stamps.get(face), exported.get(face)) for face, *_ in rows])
        if photo not in written and not wordless:
            faces = {face: box for face, box in faces.items() if face in bound}
        if (photo not in written) if wordless else (photo in written or bound):
            yield PhotoProblem(
                photo,
                faces,
                names.get(photo, {}),
                bound,
                frozenset(refused),
                frozenset(drawn),
                shown.get(photo, {}),
                frozenset(listed.get(photo, ())),
                frozenset(doubtful.get(photo, ())),
                _words_stamp(
                    names.get(photo, {}),
                    shown.get(photo, {}),
                    rows,
                    regions,
                    sorted(refused),
                    bound,
                ),
                _stamp([(face, model) for face, _, model, _ in rows]),
                decisions,
            )


def likely_spellings(sql: sqlite3.Connection) -> dict[str, str]:
    """Return the likely spelling of names that have one; of several the most frequent."""
    rows = sql.execute(
        "SELECT one.name, other.name FROM proposals JOIN known one ON one.id = person"
        " JOIN known other ON other.id = likely WHERE one.name != other.name AND NOT looks"
        " ORDER BY (SELECT count(*) FROM mentions WHERE mentions.person = likely"
        f" AND probability >= {NAMED}), other.id"
    )
    return dict(rows)


def _faces(sql: sqlite3.Connection, photos: str) -> dict[int, list[tuple[int, Box, str, bool]]]:
    """Return number, box, model and whether there is an embedding, for the faces of each photo."""
    found = defaultdict(list)
    last = sql.execute(
        "SELECT json_extract(settings, '$.model') FROM runs"
        " WHERE json_extract(settings, '$.model') IS NOT NULL ORDER BY id DESC LIMIT 1"
    ).fetchone()
    rows = sql.execute(
        "SELECT photo, faces.id, x, y, w, h, faces.model, embeddings.face IS NOT NULL"
        " AND faces.model = coalesce(:last, faces.model)"
        " FROM faces JOIN photos ON photos.id = photo"
        " LEFT JOIN embeddings ON embeddings.face = faces.id"
        " WHERE photo IN (SELECT value FROM json_each(:photos)) AND NOT photos.barred"
        f" AND EXISTS (SELECT 1 FROM files WHERE files.photo = faces.photo AND {_PRESENT})"
        " AND photos.model IS coalesce(:last, photos.model, '') ORDER BY photo, faces.id",
        {"photos": photos, "last": None if last is None else last[0]},
    )
    for photo, face, x, y, w, h, model, embedded in rows:
        found[photo].append((face, Box(x, y, w, h), model, bool(embedded)))
    return found


def _names(
    sql: sqlite3.Connection, photos: str, cues: bool
) -> tuple[
    dict[int, dict[str, Cue | None]],
    dict[int, set[str]],
    dict[int, dict[str, float]],
    dict[int, set[str]],
    set[int],
]:
    """Return the people who may be in each photo, and the photos with captions.

    Between the two are the people whom only a list names, how likely some are shown, and names
    that are doubtful.
    """
    names: dict[int, dict[str, Cue | None]] = defaultdict(dict)
    listed: dict[int, set[str]] = defaultdict(set)
    chances: dict[int, list[tuple[str, float]]] = defaultdict(list)
    sure: dict[int, set[str]] = defaultdict(set)
    where = (
        "JOIN captions ON captions.id = caption JOIN files ON files.id = file"
        f" JOIN known ON known.id = person WHERE {_PRESENT} AND NOT barred"
        " AND photo IN (SELECT value FROM json_each(?))"
    )
    for photo, name, side, place, of, row, shown, probability in sql.execute(
        'SELECT photo, known.name, side, place, "of", "row", shown, probability FROM mentions'
        f" {where} ORDER BY mentions.id",
        (photos,),
    ):
        chances[photo].append((name, shown * probability))
        if probability >= NAMED:
            sure[photo].add(name)
        cue = Cue(side, place, of, row) if cues and side is not None else None
        if names[photo].get(name) is None:
            names[photo][name] = cue
    for table in ("given", "regions"):
        rows = sql.execute(
            f"SELECT photo, known.name FROM {table} {where} ORDER BY {table}.id", (photos,)
        )
        for photo, name in rows:
            if name not in names[photo]:
                names[photo][name] = None
                listed[photo].add(name)
            chances[photo].append((name, 1.0))
            sure[photo].add(name)
    written = {
        photo
        for (photo,) in sql.execute(
            "SELECT photo FROM captions JOIN files ON files.id = file"
            f" WHERE {_PRESENT} AND text != '' AND photo IN (SELECT value FROM json_each(?))",
            (photos,),
        )
    }
    shown_in = {photo: _less_than_plain(pairs) for photo, pairs in chances.items()}
    doubtful = {photo: own.keys() - sure[photo] for photo, own in names.items()}
    return names, listed, shown_in, doubtful, written | set(names)


def _less_than_plain(chances: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return how likely names are shown that are nowhere mentioned plainly.

    Examples
    --------
    >>> _less_than_plain([("Ann", 0.03), ("Bob", 0.15), ("Bob", 0.25), ("Ann", 1.0)])
    {'Bob': 0.25}
    """
    most: dict[str, float] = {}
    for name, shown in chances:
        most[name] = max(shown, most.get(name, 0.0))
    return {name: shown for name, shown in most.items() if shown < 1}


def _decisions(
    sql: sqlite3.Connection, photos: str
) -> tuple[dict[int, FaceDecision], dict[int, list[int]]]:
    """Return the decision about each face, and the numbers of those that stand."""
    all_of: dict[int, list[tuple[str, str | None]]] = defaultdict(list)
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, face, what, name in sql.execute(
        f"SELECT standing.id, face, {DECIDED} FROM standing"
        f" LEFT JOIN known ON known.id = person WHERE face IN ({_FACES_ASKED})"
        " ORDER BY standing.id",
        (photos,),
    ):
        all_of[face].append((what, name))
        numbers[face].append(number)
    return {face: combine_decisions(rows) for face, rows in all_of.items()}, numbers


def _regions(sql: sqlite3.Connection, photos: str) -> dict[int, list[str]]:
    """Return the names that the metadata gives to faces."""
    found = defaultdict(list)
    for face, name in sql.execute(
        "SELECT face, known.name FROM regions JOIN known ON known.id = person"
        " JOIN captions ON captions.id = caption JOIN files ON files.id = file"
        f" WHERE face IN ({_FACES_ASKED}) AND {_PRESENT} AND NOT barred ORDER BY regions.id",
        (photos,),
    ):
        found[face].append(name)
    return found


def _words_stamp(
    names: Mapping[str, Cue | None],
    shown: Mapping[str, float],
    faces: Iterable[tuple[int, Box, str, bool]],
    regions: Mapping[int, list[str]],
    refused: list[tuple[int, str]],
    bound: Mapping[int, str | None],
) -> str:
    people = [(name, cue and astuple(cue), shown.get(name)) for name, cue in names.items()]
    own = [(face, regions[face]) for face, *_ in faces if face in regions]
    return _stamp([people, own, refused, sorted(bound.items())])  # an alias may rename a person


def _stamp(values: object) -> str:
    return blake2b(json.dumps(values).encode(), digest_size=8).hexdigest()
