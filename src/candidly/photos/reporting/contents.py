"""Contents of the report, read from a project in one snapshot, and counts of its people."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from candidly.photos.certainty import Certainty, NamedFaces
from candidly.photos.geometry import Box
from candidly.photos.names import Lists
from candidly.photos.project import Project
from candidly.photos.project.caption_counts import caption_counts
from candidly.photos.project.face_names import decision_on
from candidly.photos.project.known_names import current_lists
from candidly.photos.project.queries import (
    FaceRow,
    candidates,
    caption_pieces,
    faces,
    failures,
    file_of,
    proposals,
)
from candidly.photos.records import NAMED, Proposal
from candidly.photos.solving import NameChange, changes, last_solve
from candidly.photos.solving.likeness import UnlikeFaces, flags, unlike_people
from candidly.photos.solving.problem import likely_spellings

UNNAMED = "somebody who is not to be named"
MOST_PHOTOS = 20
"""Number of whole photos on the page: those of the least sure faces."""
CONFLICTING = 0.2
"""Probability from which a name conflicts with another face that has it."""


@dataclass(frozen=True)
class PersonCounts:
    """A person with numbers of faces and mentions.

    ``faces`` have the name, of which ``confirmed`` by a decision, and by their confidence ``sure``
    and ``likely_faces``; ``photos`` mention it; ``likely`` are names that likely belong to the same
    person; ``unlike`` are the faces in two groups, where they do not look alike.
    """

    name: str
    faces: int
    confirmed: int
    sure: int
    likely_faces: int
    photos: int
    likely: tuple[str, ...]
    unlike: UnlikeFaces | None = None


@dataclass(frozen=True)
class ReportFace:
    """A face on the page; ``second`` is the second best candidate, None for nobody."""

    face: int
    file: str
    name: str | None
    confidence: float
    certainty: Certainty
    confirmed: bool
    second: tuple[str | None, float] | None


@dataclass(frozen=True)
class NameConflict:
    """A name that is likely for several faces of a photo: its probability, and their labels."""

    file: str
    name: str
    faces: tuple[tuple[int, float, str | None], ...]


@dataclass(frozen=True)
class ReportPhoto:
    """A photo to look at: its caption in pieces, of which some are names, and its faces.

    A face has its box in parts of the picture's size, its name (None for nobody) and how sure it
    is.
    """

    photo: int
    file: str
    caption: tuple[tuple[str, bool], ...]
    faces: tuple[tuple[Box, str | None, Certainty], ...]


@dataclass(frozen=True)
class ReportContents:
    """Everything that the page shows; lists begin with the likeliest.

    ``notes`` are sentences about how far the names can be trusted, for the top of the page.
    """

    figures: dict[str, int]
    notes: list[str]
    people: list[tuple[PersonCounts, list[ReportFace]]]
    conflicts: list[NameConflict]
    absent: list[tuple[str, list[str]]]
    proposals: list[Proposal]
    nobody: list[ReportFace]
    photos: list[ReportPhoto]
    changes: list[NameChange]
    failures: list[tuple[str, str]]
    problems: list[str]
    run: str


def read_contents(project: Project) -> ReportContents:
    """Return the contents of the report."""
    with project.snapshot() as sql:
        shown = _faces(project, sql)
        own: dict[str, list[ReportFace]] = defaultdict(list)
        for face in sorted(shown, key=lambda face: (not face.confirmed, -face.confidence)):
            if face.name is not None:
                own[face.name].append(face)
        with_faces = [(one, own[one.name]) for one in people(project) if one.name in own]
        with_faces.sort(key=_likeliest)
        failed = failures(sql)
        counted = NamedFaces.of((face.name, face.confidence) for face in shown)
        total = _count(
            sql,
            "SELECT count(*) FROM faces WHERE photo IN (SELECT photo FROM files WHERE gone = 0)",
        )
        figures = {
            "photos": _count(sql, "SELECT count(DISTINCT photo) FROM files WHERE gone = 0"),
            "people": len(with_faces),
            "faces": total,
            "named": counted.named,
            "sure": counted.sure,
            "likely": counted.likely,
            "unknown": total - sum(face.certainty != "unknown" for face in shown),
            "confirmed": sum(face.confirmed for face in shown if face.name is not None),
            "failed": len(failed),
        }
        return ReportContents(
            figures,
            _notes(sql, counted, [person for person, _ in with_faces]),
            with_faces,
            _conflicts(sql, {face.face: face.name for face in shown}),
            _absent(sql, shown),
            list(proposals(project)),
            sorted((face for face in shown if face.name is None), key=lambda f: f.confidence),
            _doubtful_photos(sql, shown),
            _changes(project),
            failed,
            _problems(sql),
            _run(sql),
        )


def _likeliest(pair: tuple[PersonCounts, list[ReportFace]]) -> tuple[float, ...]:
    """Return the key that brings people with most sure faces first, then most likely ones."""
    person, faces = pair
    return -person.sure, -person.likely_faces, -faces[0].confidence


def _notes(
    sql: sqlite3.Connection, counted: NamedFaces, everybody: list[PersonCounts]
) -> list[str]:
    """Return how sure the names are, doubts, who does not look alike, and missing captions."""
    warning = counted.warning()
    found = [] if warning is None else [warning]
    found += [counted.in_words()] if counted.faces else []
    found += _doubts(sql)
    unlike = [one.unlike for one in everybody if one.unlike is not None]
    found += flags(sorted(unlike, key=lambda one: one.cosine))
    return found + caption_counts(sql).sentences()


def _doubts(sql: sqlite3.Connection) -> list[str]:
    """Return the doubts about the last result: those of the last full solve, and since."""
    rows = sql.execute(
        "SELECT text FROM problems WHERE doubt = 1 AND run >= coalesce((SELECT max(id) FROM runs"
        " WHERE finished IS NOT NULL AND json_extract(settings, '$.solve') = 'full'), 0)"
        " GROUP BY text ORDER BY min(id)"
    )
    return [text for (text,) in rows]


def _faces(project: Project, sql: sqlite3.Connection) -> list[ReportFace]:
    """Return the faces that have a label or a decision."""
    second: dict[int, list[tuple[str | None, float]]] = defaultdict(list)
    for face, name, probability in sql.execute(
        "SELECT face, name, probability FROM weighed LEFT JOIN known ON known.id = person"
        " WHERE barred IS NOT 1 ORDER BY face, probability DESC"
    ):
        second[face].append((name, probability))
    found = []
    for face in faces(project):
        if face.confidence is None:
            continue
        decision = decision_on(sql, face.id)
        confirmed = decision.nobody or decision.name is not None
        other = next((pair for pair in second[face.id] if pair[0] != face.name), None)
        found.append(
            ReportFace(
                face.id,
                face.file,
                face.name,
                face.confidence,
                face.certainty,
                confirmed,
                None if confirmed else other,
            )
        )
    return found


def _conflicts(sql: sqlite3.Connection, became: dict[int, str | None]) -> list[NameConflict]:
    """Return names that are likely for several faces, the closest first."""
    found: dict[tuple[int, str], list[tuple[int, float]]] = defaultdict(list)
    for photo, name, face, probability in sql.execute(
        "SELECT photo, name, face, probability FROM weighed JOIN faces ON faces.id = face"
        " JOIN known ON known.id = person WHERE NOT barred AND probability >= ?"
        " AND photo IN (SELECT photo FROM files WHERE gone = 0)"
        " ORDER BY probability DESC, face",
        (CONFLICTING,),
    ):
        found[photo, name].append((face, probability))
    several = [(name, pairs) for (_, name), pairs in found.items() if len(pairs) > 1]
    several.sort(key=lambda item: -item[1][1][1])
    return [
        NameConflict(
            file_of(sql, pairs[0][0]),
            name,
            tuple((face, probability, became.get(face)) for face, probability in pairs),
        )
        for name, pairs in several
    ]


def _doubtful_photos(sql: sqlite3.Connection, shown: list[ReportFace]) -> list[ReportPhoto]:
    """Return the photos of the least sure faces that nobody decided."""
    doubtful = [face for face in shown if not face.confirmed and face.certainty != "sure"]
    found: dict[int, ReportPhoto] = {}
    by_face = {face.face: face for face in shown}
    lists = current_lists(sql)
    for one in sorted(doubtful, key=lambda face: face.confidence):
        photo, width, height = sql.execute(
            "SELECT photo, width, height FROM faces JOIN photos ON photos.id = photo"
            " WHERE faces.id = ?",
            (one.face,),
        ).fetchone()
        if photo in found:
            continue
        if len(found) == MOST_PHOTOS:
            break
        rows = sql.execute("SELECT id, x, y, w, h FROM faces WHERE photo = ? ORDER BY x", (photo,))
        found[photo] = ReportPhoto(
            photo,
            one.file,
            tuple(_caption(sql, photo, one.file, lists)),
            tuple(
                (
                    Box(x / width, y / height, w / width, h / height),
                    by_face[face].name,
                    by_face[face].certainty,
                )
                for face, x, y, w, h in rows.fetchall()
                if face in by_face
            ),
        )
    return list(found.values())


def _caption(
    sql: sqlite3.Connection, photo: int, file: str, lists: Lists
) -> Iterator[tuple[str, bool]]:
    """Yield the caption of a photo in pieces, without people who may not be named."""
    if not lists.permits_folder(file):
        return
    hidden = set()
    for name, text, start, end in sql.execute(
        'SELECT name, text, start, "end" FROM mentions JOIN captions ON captions.id = caption'
        " JOIN files ON files.id = file WHERE photo = ?",
        (photo,),
    ):
        if not lists.permits(name):
            hidden |= {name, text[start:end]}
    for piece, mention in caption_pieces(sql, photo):
        shown = piece
        for words in sorted(hidden, key=len, reverse=True):
            shown = shown.replace(words, UNNAMED) if words else shown
        yield shown, mention is not None and shown == piece


def _absent(sql: sqlite3.Connection, shown: list[ReportFace]) -> list[tuple[str, list[str]]]:
    """Return the mentioned names of each file that no face got."""
    likely = likely_spellings(sql)
    got: dict[str, set[str]] = defaultdict(set)
    for face in shown:
        if face.name is not None:
            got[face.file].add(face.name)
    found = []
    for photo, path in sql.execute(
        "SELECT photo, path FROM files WHERE gone = 0 AND photo IS NOT NULL"
        " GROUP BY photo HAVING files.id = min(files.id) ORDER BY root, path"
    ).fetchall():
        file = os.fsdecode(path)
        names = [
            name
            for name in candidates(sql, photo)
            if name not in got[file] and likely.get(name) not in got[file]
        ]
        if names:
            found.append((file, names))
    return found


def _changes(project: Project) -> list[NameChange]:
    """Return names that changed, without people who may not be named."""
    with project.snapshot() as sql:
        lists = current_lists(sql)

    def shown(name: str | None) -> str | None:
        return name if name is None or lists.permits(name) else UNNAMED

    return [
        replace(one, before=shown(one.before), after=shown(one.after)) for one in changes(project)
    ]


def _problems(sql: sqlite3.Connection) -> list[str]:
    """Return what went wrong in the last run that ingested, and in the last that solved."""
    rows = sql.execute(
        "SELECT text FROM problems WHERE doubt = 0 AND run IN (SELECT max(id) FROM runs WHERE"
        " json_extract(settings, '$.root') IS NOT NULL UNION SELECT ?) ORDER BY id",
        (last_solve(sql),),
    )
    return [text for (text,) in rows]


def _run(sql: sqlite3.Connection) -> str:
    row = sql.execute(
        "SELECT id, version, settings, finished FROM runs WHERE id = ?", (last_solve(sql),)
    ).fetchone()
    if row is None:
        return "Nothing is solved yet: candidly name PHOTOS does it"
    number, version, settings, finished = row
    how = json.loads(settings).get("solve")
    moment = f"{finished[:10]} {finished[11:16]} UTC"
    return f"Names of run {number} ({how}), candidly {version}, {moment}"


def _count(sql: sqlite3.Connection, query: str) -> int:
    return int(sql.execute(query).fetchone()[0])


def people(project: Project) -> list[PersonCounts]:
    """Return all people who are named or have faces, those with most faces first."""
    count: dict[str, Counter[str]] = defaultdict(Counter)
    with project.snapshot() as sql:
        found = [face for face in faces(project) if face.name is not None]
        for face in found:
            own = count[str(face.name)]
            own["faces"] += 1
            own["confirmed"] += decision_on(sql, face.id).name == face.name
            own[face.certainty] += 1
        for name, photos, likely_named in sql.execute(
            "SELECT name, count(DISTINCT photo), max(probability) FROM ("
            + " UNION ".join(
                f"SELECT person, photo, {probability} AS probability FROM {table}"
                " JOIN captions ON captions.id = caption"
                " JOIN files ON files.id = file WHERE gone = 0"
                for table, probability in (
                    ("mentions", "probability"),
                    ("given", 1),
                    ("regions", 1),
                )
            )
            + ") JOIN known ON known.id = person GROUP BY name"
        ):
            if likely_named >= NAMED or name in count:
                count[name]["photos"] = photos
        likely = defaultdict(list)
        for pair in proposals(project):
            likely[pair.name].append(pair.likely)
            likely[pair.likely].append(pair.name)
        unlike = _unlike(project, found)
    everybody = [
        PersonCounts(
            name,
            own["faces"],
            own["confirmed"],
            own["sure"],
            own["likely"],
            own["photos"],
            tuple(sorted(set(likely[name]))),
            unlike.get(name),
        )
        for name, own in count.items()
    ]
    return sorted(everybody, key=lambda person: (-person.faces, -person.photos, person.name))


def _unlike(project: Project, named: list[FaceRow]) -> dict[str, UnlikeFaces]:
    """Return the people whose sure and likely faces do not look alike."""
    names = {face.id: face.name for face in named if face.name and face.certainty != "unknown"}
    return {one.name: one for one in unlike_people(project, names)}
