"""Contents of the report, read from a project in one snapshot, and counts of its people."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from candidly.photos.ingesting.choices import stored_choices
from candidly.photos.project import Project
from candidly.photos.project.queries import (
    SURE,
    candidates,
    decision_on,
    faces,
    failures,
    file_of,
    proposals,
)
from candidly.photos.records import Proposal
from candidly.photos.solving import NameChange, changes, last_solve
from candidly.photos.solving.problem import likely_spellings

UNNAMED = "somebody who is not to be named"
LIKELY = 0.2
"""Probability from which a name conflicts with another face that has it."""


@dataclass(frozen=True)
class PersonCounts:
    """A person with numbers of faces and mentions.

    ``faces`` have the name, of which ``confirmed`` by a decision and ``sure`` by their confidence;
    ``photos`` mention it; ``likely`` are names that likely belong to the same person.
    """

    name: str
    faces: int
    confirmed: int
    sure: int
    photos: int
    likely: tuple[str, ...]


@dataclass(frozen=True)
class ReportFace:
    """A face on the page; ``second`` is the second best candidate, None for nobody."""

    face: int
    file: str
    name: str | None
    confidence: float
    confirmed: bool
    second: tuple[str | None, float] | None


@dataclass(frozen=True)
class NameConflict:
    """A name that is likely for several faces of a photo: its probability, and their labels."""

    file: str
    name: str
    faces: tuple[tuple[int, float, str | None], ...]


@dataclass(frozen=True)
class ReportContents:
    """Everything that the page shows; lists are in the order in which to look at them."""

    figures: dict[str, int]
    people: list[tuple[PersonCounts, list[ReportFace]]]
    conflicts: list[NameConflict]
    absent: list[tuple[str, list[str]]]
    proposals: list[Proposal]
    nobody: list[ReportFace]
    changes: list[NameChange]
    failures: list[tuple[str, str]]
    problems: list[str]
    run: str


def read_contents(project: Project) -> ReportContents:
    """Return the contents of the report."""
    with project.snapshot() as sql:
        shown = _faces(project, sql)
        own: dict[str, list[ReportFace]] = defaultdict(list)
        for face in sorted(shown, key=lambda face: (face.confirmed, face.confidence)):
            if face.name is not None:
                own[face.name].append(face)
        everybody = people(project)
        with_faces = [(person, own[person.name]) for person in everybody if person.name in own]
        with_faces.sort(key=lambda pair: (pair[1][0].confirmed, pair[1][0].confidence))
        failed = failures(sql)
        figures = {
            "photos": _count(sql, "SELECT count(DISTINCT photo) FROM files WHERE gone = 0"),
            "faces": _count(
                sql,
                "SELECT count(*) FROM faces WHERE photo IN"
                " (SELECT photo FROM files WHERE gone = 0)",
            ),
            "named": sum(face.name is not None for face in shown),
            "confirmed": sum(face.confirmed for face in shown if face.name is not None),
            "sure": sum(face.confidence >= SURE for face in shown if face.name is not None),
            "nobody": sum(face.name is None for face in shown),
            "people": len(with_faces),
            "failed": len(failed),
        }
        return ReportContents(
            figures,
            with_faces,
            _conflicts(sql, {face.face: face.name for face in shown}),
            _absent(sql, shown),
            list(proposals(project)),
            sorted((face for face in shown if face.name is None), key=lambda f: f.confidence),
            _changes(project),
            failed,
            _problems(sql),
            _run(sql),
        )


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
        (LIKELY,),
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
    lists = stored_choices(project).lists()

    def shown(name: str | None) -> str | None:
        return name if name is None or lists.permits(name) else UNNAMED

    return [
        replace(one, before=shown(one.before), after=shown(one.after)) for one in changes(project)
    ]


def _problems(sql: sqlite3.Connection) -> list[str]:
    """Return what went wrong in the last run that ingested, and in the last that solved."""
    rows = sql.execute(
        "SELECT text FROM problems WHERE run IN (SELECT max(id) FROM runs WHERE"
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
    """Return all people, those with most faces first."""
    count: dict[str, Counter[str]] = defaultdict(Counter)
    with project.snapshot() as sql:
        for face in faces(project):
            if face.name is not None:
                own = count[face.name]
                own["faces"] += 1
                own["confirmed"] += decision_on(sql, face.id).name == face.name
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
        PersonCounts(
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
