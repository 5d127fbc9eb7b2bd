"""Contents of the report, read from a project in one snapshot, and counts of its people."""

from __future__ import annotations

import heapq
import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TypeVar

from candidly.photos.certainty import Certainty, NamedFaces, certainty
from candidly.photos.geometry import Box
from candidly.photos.names import Lists
from candidly.photos.project import Project
from candidly.photos.project.caption_counts import caption_counts
from candidly.photos.project.face_names import decision_on, name_and_confidence
from candidly.photos.project.known_names import current_lists
from candidly.photos.project.name_counts import (
    CurrentFace,
    FaceCounts,
    current_faces,
    faces_in,
    faces_of,
    name_counts,
    photos_that_mention,
)
from candidly.photos.project.queries import (
    candidates,
    caption_pieces,
    failures,
    file_of,
    in_batches,
    proposals,
)
from candidly.photos.records import NAMED, Proposal
from candidly.photos.solving import NameChange, changes, last_solve
from candidly.photos.solving.likeness import FEWEST, UnlikeFaces, flags, unlike_people
from candidly.photos.solving.problem import likely_spellings

UNNAMED = "somebody who is not to be named"
MOST_PHOTOS = 20
"""Number of whole photos on the page: those of the least sure faces."""
MOST_PEOPLE = 4000
"""Number of people on the page, each with a face at least."""
MOST_UNNAMED = 120
"""Number of faces on the page that nobody named."""
MOST_DOUBTFUL = 500
"""Number of faces whose photos may be the least sure ones."""
MOST_CONFLICTS = 60
MOST_CHANGES = 200
MOST_ABSENT = 2000
"""Number of photos up to which those are counted in which a name is on no face."""
PEOPLE_AT_ONCE = 500
Item = TypeVar("Item")
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
    people: Shortened[tuple[PersonCounts, list[ReportFace]]]
    conflicts: Shortened[NameConflict]
    absent: Shortened[tuple[str, list[str]]]
    proposals: list[Proposal]
    nobody: Shortened[ReportFace]
    photos: list[ReportPhoto]
    changes: Shortened[NameChange]
    failures: list[tuple[str, str]]
    problems: list[str]
    run: str


class Shortened(list[Item]):
    """The first items of a list that may be long; ``total`` is how many there are at least."""

    def __init__(self, items: Iterable[Item], total: int) -> None:
        super().__init__(items)
        self.total = max(total, len(self))


def read_contents(project: Project) -> ReportContents:
    """Return the contents of the report; of long lists only what a page can show."""
    with project.snapshot() as sql:
        counts = name_counts(sql)
        counted, sums = _Tally(sql), _count
        everybody = sorted(counts, key=lambda one: (-counts[one].sure, -counts[one].likely, one))
        listed = person_counts(project, sql, everybody[:MOST_PEOPLE], counts)
        with_faces = [(one, _faces_of(sql, one.name)) for one in listed]
        with_faces = [(one, faces) for one, faces in with_faces if faces]
        with_faces.sort(key=_likeliest)
        failed = failures(sql)
        total = sums(
            sql,
            "SELECT count(*) FROM faces WHERE photo IN (SELECT photo FROM files WHERE gone = 0)",
        )
        figures = {
            "photos": sums(sql, "SELECT count(DISTINCT photo) FROM files WHERE gone = 0"),
            "people": len(counts),
            "faces": total,
            "named": counted.names.named,
            "sure": counted.names.sure,
            "likely": counted.names.likely,
            "unknown": total - counted.told,
            "confirmed": sum(one.confirmed for one in counts.values()),
            "failed": len(failed),
        }
        return ReportContents(
            figures,
            _notes(sql, counted.names, [person for person, _ in with_faces]),
            Shortened(with_faces, len(counts)),
            _conflicts(sql),
            _absent(sql),
            list(proposals(project)),
            Shortened([_report_face(sql, one) for one in counted.nobody], counted.unnamed),
            _doubtful_photos(sql, counted.doubtful),
            _changes(project),
            failed,
            _problems(sql),
            _run(sql),
        )


class _Tally:
    """What one pass over all faces tells: how many are named, and the least sure ones."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        self.told = self.unnamed = 0
        nobody: list[tuple[float, int, CurrentFace]] = []
        doubtful: list[tuple[float, int, CurrentFace]] = []

        def each() -> Iterator[tuple[str | None, float]]:
            for face in current_faces(sql):
                sure = certainty(
                    face.name, face.confidence, decided=face.name is None and face.confirmed
                )
                self.told += sure != "unknown"
                if face.name is None:
                    self.unnamed += 1
                    _keep(nobody, face, MOST_UNNAMED)
                if not face.confirmed and sure != "sure":
                    _keep(doubtful, face, MOST_DOUBTFUL)
                yield face.name, face.confidence

        self.names = NamedFaces.of(each())
        self.nobody, self.doubtful = (
            [face for *_, face in sorted(heap, key=lambda one: (-one[0], -one[1]))]
            for heap in (nobody, doubtful)
        )


def _keep(heap: list[tuple[float, int, CurrentFace]], face: CurrentFace, most: int) -> None:
    """Keep a face if it is among the least sure ones so far."""
    one = (-face.confidence, -face.face, face)
    if len(heap) < most:
        heapq.heappush(heap, one)
    elif one[:2] > heap[0][:2]:
        heapq.heapreplace(heap, one)


def _report_face(sql: sqlite3.Connection, face: CurrentFace) -> ReportFace:
    """Return a face as the page shows it."""
    second = None
    if not face.confirmed:
        rows = sql.execute(
            "SELECT name, probability FROM weighed LEFT JOIN known ON known.id = person"
            " WHERE face = ? AND barred IS NOT 1 ORDER BY probability DESC",
            (face.face,),
        ).fetchall()
        second = next(((name, share) for name, share in rows if name != face.name), None)
    decided = face.name is None and face.confirmed
    sure = certainty(face.name, face.confidence, decided=decided)
    file = file_of(sql, face.face)
    return ReportFace(face.face, file, face.name, face.confidence, sure, face.confirmed, second)


def _faces_of(sql: sqlite3.Connection, name: str) -> list[ReportFace]:
    """Return the faces of a person, those confirmed and the surest first."""
    found = []
    for face, photo, confidence in faces_of(sql, name):
        confirmed = decision_on(sql, face).name is not None
        found.append(_report_face(sql, CurrentFace(face, photo, name, confidence, confirmed)))
    order = {one.file: None for one in found}
    place = {file: at for at, file in enumerate(sorted(order))}
    found.sort(key=lambda one: (not one.confirmed, -one.confidence, place[one.file]))
    return found


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


def _conflicts(sql: sqlite3.Connection) -> Shortened[NameConflict]:
    """Return names that are likely for several faces, the closest first."""
    rows = sql.execute(
        "SELECT photo, name, face, probability FROM faces CROSS JOIN weighed ON face = faces.id"
        " JOIN known ON known.id = person WHERE NOT barred AND probability >= ?"
        " AND EXISTS (SELECT 1 FROM files WHERE files.photo = faces.photo AND gone = 0)"
        " ORDER BY faces.photo",
        (CONFLICTING,),
    )
    total = 0

    def each() -> Iterator[tuple[float, int, str, list[tuple[int, float]]]]:
        nonlocal total
        for photo, own in groupby(rows, key=lambda row: int(row[0])):
            found: dict[str, list[tuple[int, float]]] = defaultdict(list)
            for _, name, face, probability in own:
                found[name].append((face, probability))
            for name, pairs in found.items():
                if len(pairs) > 1:
                    total += 1
                    pairs.sort(key=lambda pair: (-pair[1], pair[0]))
                    yield -pairs[1][1], photo, name, pairs

    closest = heapq.nsmallest(MOST_CONFLICTS, each())
    return Shortened(
        [
            NameConflict(
                file_of(sql, pairs[0][0]),
                name,
                tuple(
                    (face, probability, name_and_confidence(sql, face)[0])
                    for face, probability in pairs
                ),
            )
            for _, _, name, pairs in closest
        ],
        total,
    )


def _doubtful_photos(sql: sqlite3.Connection, doubtful: list[CurrentFace]) -> list[ReportPhoto]:
    """Return the photos of the least sure faces that nobody decided."""
    found: dict[int, ReportPhoto] = {}
    lists = current_lists(sql)
    for one in doubtful:
        if one.photo in found:
            continue
        if len(found) == MOST_PHOTOS:
            break
        (width, height) = sql.execute(
            "SELECT width, height FROM photos WHERE id = ?", (one.photo,)
        ).fetchone()
        known = {face.face: _report_face(sql, face) for face in faces_in(sql, one.photo)}
        rows = sql.execute(
            "SELECT id, x, y, w, h FROM faces WHERE photo = ? ORDER BY x", (one.photo,)
        )
        file = file_of(sql, one.face)
        found[one.photo] = ReportPhoto(
            one.photo,
            file,
            tuple(_caption(sql, one.photo, file, lists)),
            tuple(
                (
                    Box(x / width, y / height, w / width, h / height),
                    known[face].name,
                    known[face].certainty,
                )
                for face, x, y, w, h in rows.fetchall()
                if face in known
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


def _absent(sql: sqlite3.Connection) -> Shortened[tuple[str, list[str]]]:
    """Return the mentioned names of each file that no face got; of many files the first ones."""
    likely = likely_spellings(sql)
    found = []
    for photo, path in sql.execute(
        "SELECT photo, path FROM files INDEXED BY sqlite_autoindex_files_1 WHERE gone = 0"
        " AND photo IS NOT NULL AND NOT EXISTS (SELECT 1 FROM files other WHERE other.photo ="
        " files.photo AND other.gone = 0 AND other.id < files.id) ORDER BY root, path"
    ):
        got = {one.name for one in faces_in(sql, photo)}
        names = [
            name
            for name in candidates(sql, photo)
            if name not in got and likely.get(name) not in got
        ]
        if names:
            found.append((os.fsdecode(path), names))
            if len(found) > MOST_ABSENT:  # the others are not counted
                break
    return Shortened(found[:MOST_ABSENT], len(found))


def _changes(project: Project) -> Shortened[NameChange]:
    """Return names that changed, without people who may not be named."""
    with project.snapshot() as sql:
        lists = current_lists(sql)
        (total,) = sql.execute(
            "SELECT count(*) FROM changes WHERE run >= ?", (last_solve(sql) or 0,)
        ).fetchone()

    def shown(name: str | None) -> str | None:
        return name if name is None or lists.permits(name) else UNNAMED

    first = islice(changes(project), MOST_CHANGES)
    return Shortened(
        [replace(one, before=shown(one.before), after=shown(one.after)) for one in first], total
    )


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


def people(project: Project, most: int | None = None) -> Shortened[PersonCounts]:
    """Return people who are named or have faces, those with most faces first.

    Parameters
    ----------
    project : Project
    most : int, optional
        Number of people; everybody by default. ``total`` of what is returned counts everybody, or
        where it is shortened all who have faces.
    """
    with project.snapshot() as sql:
        counts = name_counts(sql)
        if most is not None and len(counts) > most:
            least = sorted((one.faces for one in counts.values()), reverse=True)[most - 1]
            names = [name for name, one in counts.items() if one.faces >= least]
            if len(names) > 4 * most:  # of many with equally few faces any will do
                names = sorted(names, key=lambda name: (-counts[name].faces, name))[: 4 * most]
            pairs = [(name, photos_that_mention(sql, name)) for name in names]
            pairs.sort(key=lambda pair: (-counts[pair[0]].faces, -pair[1], pair[0]))
            listed = [name for name, _ in pairs[:most]]
            return Shortened(person_counts(project, sql, listed, counts), len(counts))
        found = person_counts(project, sql, None, counts)
        return Shortened(found, len(found))


def person_counts(
    project: Project,
    sql: sqlite3.Connection,
    names: Sequence[str] | None,
    counts: Mapping[str, FaceCounts],
) -> list[PersonCounts]:
    """Return some people, or everybody who is named, with their counts, those with most first."""
    if names is None:
        photos = _photos_of_everybody(sql, counts)
    else:
        photos = {name: photos_that_mention(sql, name) for name in names}
    likely = defaultdict(set)
    for pair in proposals(project):
        likely[pair.name].add(pair.likely)
        likely[pair.likely].add(pair.name)
    unlike: dict[str, UnlikeFaces] = {}
    for some in in_batches([name for name in photos if name in counts], PEOPLE_AT_ONCE):
        several = [name for name in some if counts[name].faces >= FEWEST]
        own = {
            face: name
            for name in several
            for face, _, confidence in faces_of(sql, name)
            if certainty(name, confidence) != "unknown"
        }
        unlike |= {one.name: one for one in unlike_people(project, own)}
    found = []
    for name, mentions in photos.items():
        own_counts = counts.get(name, FaceCounts())
        found.append(
            PersonCounts(
                name,
                own_counts.faces,
                own_counts.confirmed,
                own_counts.sure,
                own_counts.likely,
                mentions,
                tuple(sorted(likely[name])) if name in likely else (),
                unlike.get(name),
            )
        )
    return sorted(found, key=lambda person: (-person.faces, -person.photos, person.name))


def _photos_of_everybody(
    sql: sqlite3.Connection, counts: Mapping[str, FaceCounts]
) -> dict[str, int]:
    """Return the people who are named or have faces, with how many photos mention them."""
    found = dict.fromkeys(counts, 0)
    for name, photos, likely_named in sql.execute(
        "SELECT name, count(DISTINCT photo), max(probability) FROM ("
        + " UNION ".join(
            f"SELECT person, photo, {probability} AS probability FROM {table}"
            " JOIN captions ON captions.id = caption"
            " JOIN files ON files.id = file WHERE gone = 0"
            for table, probability in (("mentions", "probability"), ("given", 1), ("regions", 1))
        )
        + ") JOIN known ON known.id = person GROUP BY name"
    ):
        if likely_named >= NAMED or name in counts:
            found[name] = photos
    return found
