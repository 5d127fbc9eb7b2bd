"""Solves a project: everything together, or new photos against the people known so far."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from candidly import __version__
from candidly.photos.certainty import NamedFaces
from candidly.photos.project import Project, open_project
from candidly.photos.project.caption_counts import CaptionCounts, caption_counts
from candidly.photos.project.known_names import apply_lists
from candidly.photos.project.queries import in_batches
from candidly.photos.records import Proposal
from candidly.photos.solving.choosing import Work, choose_photos, decided_about
from candidly.photos.solving.face_features import COMPONENTS
from candidly.photos.solving.known import KnownFaces, keep_known, read_known
from candidly.photos.solving.labelling import (
    UNUSUAL,
    Labelled,
    OnStep,
    fitting,
    label_new,
    label_together,
    solving_cost,
)
from candidly.photos.solving.labels import LabelArrays
from candidly.photos.solving.likeness import (
    NamedArrays,
    UnlikeFaces,
    has_known_cosines,
    unlike_in,
)
from candidly.photos.solving.namesakes import keep_namesakes, namesakes
from candidly.photos.solving.photo_entries import PhotoEntries
from candidly.photos.solving.problem import OTHER_MODEL, each_problem, likely_spellings
from candidly.photos.solving.spelling import label_as_spelled
from candidly.photos.solving.statistics import comparable_model, project_population
from candidly.photos.solving.store import (
    BATCH,
    RECOGNISED,
    NameChange,
    faces_labelled,
    photos_naming,
    read_label_arrays,
    surest_labels,
)
from candidly.photos.solving.vectors import (
    Vectors,
    read_vectors,
    read_vectors_of,
    working_folder,
)
from candidly.photos.solving.writing import write_labels
from candidly.solvers.cost import LONG, Cost
from candidly.telling import heard_by, teller
from candidly.wording import count, one_or_more

FEW_FACES = 20_000
"""Number of faces up to which everything is solved together: it takes seconds to a minute."""


@dataclass
class SolveSummary:
    """Result of a solve: photos and faces solved, faces named, names that changed.

    Of the ``named`` faces some are ``sure``, some ``likely``, the others guesses (``certainty``).
    ``kept`` has sentences about names that were exported or decided and stay, though nothing in
    the photo supports them any more; ``doubts`` has sentences about the result as a whole;
    ``unlike`` has people of whom a face was solved and whose faces do not look alike; ``captions``
    counts all photos of the project without captions or names.
    """

    run: int
    full: bool
    photos: int = 0
    faces: int = 0
    named: int = 0
    sure: int = 0
    likely: int = 0
    changes: list[NameChange] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    unlike: list[UnlikeFaces] = field(default_factory=list)
    captions: CaptionCounts = field(default_factory=CaptionCounts)

    @property
    def names(self) -> NamedFaces:
        """How many faces were named, and how surely."""
        return NamedFaces(self.faces, self.named, self.sure, self.likely)

    @property
    def counts(self) -> dict[str, int]:
        """Return all results as numbers."""
        lists = ("changes", "kept", "doubts", "unlike")
        return {
            "photos": self.photos,
            **asdict(self.names),
            **{name: len(getattr(self, name)) for name in lists},
        }


def solve(
    project: Project | str | os.PathLike[str] | None = None,
    *,
    full: bool = False,
    cues: bool = True,
    on_step: OnStep | None = None,
) -> SolveSummary:
    """Find the names of the faces of a project, and store them.

    Where something is new, everything is solved together, up to ``FEW_FACES`` faces. In a larger
    project new photos, and photos of people in them who are little known, are compared with the
    people known so far, unless much is new.

    Parameters
    ----------
    project : Project or path, optional
        A project opened for writing, or its file; None for the one in the user's data folder.
    full : bool
        Solve everything together.
    cues : bool
        Use what captions say about places in the picture.
    on_step : callable, optional
        Called with the number of steps done, and their largest number.

    Returns
    -------
    SolveSummary

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Project.open(f"{folder}/empty.candidly", write=True) as project:
    ...         solve(project).counts
    {'photos': 0, 'faces': 0, 'named': 0, 'sure': 0, 'likely': 0, 'changes': 0, 'kept': 0, ...}
    """
    with open_project(project, write=True) as opened:
        return _solve(opened, full, cues, on_step)


def _solve(project: Project, full: bool, cues: bool, on_step: OnStep | None) -> SolveSummary:
    with project.transaction() as sql:
        apply_lists(sql)  # to names that were read since
    with project.snapshot() as sql:
        likely = likely_spellings(sql)
        captions = caption_counts(sql)
        work = choose_photos(sql, likely, full=full, cues=cues, few=FEW_FACES)
    settings = {"solve": "full" if work.full else "new", "cues": cues}
    run = project.begin_run(__version__, settings)
    with working_folder(project, len(work.photos.faces)) as place:
        with project.snapshot() as sql:
            kind = _Together if work.full else _AgainstKnown if work.known else _Nothing
            labeller = kind(project, sql, work, cues, place, on_step)
            _foretell(labeller.cost(), len(work.photos.faces))
            labelled = label_as_spelled(sql, work.photos, likely, labeller, cues)
            now = labelled.labels
            done = SolveSummary(
                run, work.full, len(work.photos), **asdict(now.counted()), captions=captions
            )
            done.kept = _kept_names(sql, work.photos)
            done.doubts = [*labeller.doubts, *labelled.doubts] if len(work.photos) else []
            done.unlike, alike = labeller.likenesses(now)
            known = labeller.sums(labelled)
        with project.transaction() as sql:
            done.changes = write_labels(sql, run, work, now)
            keep_namesakes(sql, alike, None if work.full else set(now.names))
            if known is not None:
                model = comparable_model(sql) or ""
                keep_known(sql, run, model, known, None if work.full else labeller.changed(now))
    project.end_run(run, done.counts, done.kept, done.doubts)
    return done


def _foretell(cost: Cost, faces: int) -> None:
    """Say how long a long solve will take, and how much memory, to whoever listens."""
    if heard_by() is not None and cost.seconds() >= LONG:
        teller(0)(cost.forecast(f"naming {faces:,} faces"))


class _Together:
    """Labels everything together."""

    def __init__(
        self,
        project: Project,
        sql: sqlite3.Connection,
        work: Work,
        cues: bool,
        place: Path | None,
        on_step: OnStep | None,
    ) -> None:
        self.work, self.place, self.on_step = work, place, on_step
        population, unknown = project_population(sql)
        self.judged = has_known_cosines(comparable_model(sql) or "")
        self.vectors = read_vectors(project, place)
        self.population, misfit = fitting(population, work.photos, self.vectors)
        self.doubts = [*misfit, *filter(None, [unknown])]
        self.keeps = len(work.photos.faces) > FEW_FACES

    def cost(self) -> Cost:
        """Return what it takes to label all photos."""
        k = min(self.vectors.X.shape[1], COMPONENTS)
        return solving_cost(self.work.photos, k, on_disk=self.place is not None)

    def label(self, photos: PhotoEntries) -> Labelled:
        """Return labels of all photos."""
        return label_together(photos, self.vectors, self.population, self.place, self.on_step)

    def around(self, photos: PhotoEntries) -> tuple[PhotoEntries, LabelArrays]:
        """Return all photos; there are no others."""
        return photos, LabelArrays.none()

    def label_some(self, photos: PhotoEntries, first: Labelled) -> LabelArrays:
        """Return labels of some photos, compared with the others as they are labelled."""
        assert first.known is not None
        others = first.labels.without(photos.faces)
        known = first.known.changed_by(others, self.vectors, 1)
        return label_new(photos, self.vectors, known, decided=self.work.photos.decided).labels

    def likenesses(self, now: LabelArrays) -> tuple[list[UnlikeFaces], list[Proposal]]:
        """Return people whose faces do not look alike, and those with one forename who do."""
        return _likenesses(self.vectors if self.judged else None, now, self.work.photos)

    def sums(self, labelled: Labelled) -> KnownFaces | None:
        """Return what a second day compares with, where the project is large enough for it."""
        if not self.keeps or labelled.known is None:
            return None
        return labelled.known.changed_by(labelled.labels, self.vectors, 1)

    def changed(self, now: LabelArrays) -> set[str]:
        """Return the people whose sums changed."""
        return set(now.names)


class _Nothing:
    """Labels nothing, where nothing is new."""

    doubts: Sequence[str] = ()

    def __init__(self, *_: object) -> None:
        pass

    def cost(self) -> Cost:
        """Return that it takes nothing."""
        return Cost()

    def label(self, photos: PhotoEntries) -> Labelled:
        """Return no labels."""
        return Labelled()

    def around(self, photos: PhotoEntries) -> tuple[PhotoEntries, LabelArrays]:
        """Return nothing."""
        return photos, LabelArrays.none()

    def label_some(self, photos: PhotoEntries, first: Labelled) -> LabelArrays:
        """Return nothing."""
        return LabelArrays.none()

    def likenesses(self, now: LabelArrays) -> tuple[list[UnlikeFaces], list[Proposal]]:
        """Return nobody."""
        return [], []

    def sums(self, labelled: Labelled) -> KnownFaces | None:
        """Return nothing."""
        return None

    def changed(self, now: LabelArrays) -> set[str]:
        """Return nobody."""
        return set()


class _AgainstKnown:
    """Labels new photos, and those they concern, against the people known so far."""

    def __init__(
        self,
        project: Project,
        sql: sqlite3.Connection,
        work: Work,
        cues: bool,
        place: Path | None,
        on_step: OnStep | None,
    ) -> None:
        self.sql, self.work, self.cues, self.on_step = sql, work, cues, on_step
        photos = work.photos
        self.doubts = _doubts_that_stay(sql)
        self.judged = has_known_cosines(comparable_model(sql) or "")
        self.before = read_label_arrays(sql, _counted_faces(sql, photos.photos.tolist()))
        left = read_label_arrays(sql, _counted_faces(sql, work.gone))
        self.decided = decided_about(sql, photos.names, cues)
        faces = {*photos.faces.tolist(), *(one.face for one in self.decided)}
        self.vectors = read_vectors_of(sql, {*faces, *self.before, *left})
        self.known = read_known(sql)
        self._gone = {*self.before.names, *left.names}
        for labels in (self.before, left):
            self.known = self.known.changed_by(labels, self.vectors, -1)
        due = np.isin(photos.photo_of, np.array(sorted(work.due), dtype=np.int64))
        again = set(photos.faces[~due].tolist())
        self.begin = {face: self.before[face] for face in self.before if face in again}

    def cost(self) -> Cost:
        """Return what it takes to label the photos to solve."""
        photos = self.work.photos.with_names(self.known.names)
        return solving_cost(photos, len(self.known.between), on_disk=False)

    def label(self, photos: PhotoEntries) -> Labelled:
        """Return labels of the photos to solve."""
        return label_new(
            photos,
            self.vectors,
            self.known,
            begin=self.begin,
            decided=self.decided,
            surest=self._surest,
            on_step=self.on_step,
        )

    def _surest(self, names: set[str]) -> dict[str, float]:
        """Return how sure names are at most on the faces of other photos."""
        now = set(self.work.photos.faces.tolist())
        return surest_labels(self.sql, names, now)

    def around(self, photos: PhotoEntries) -> tuple[PhotoEntries, LabelArrays]:
        """Return all photos that mention doubtful names of these, and the labels of others."""
        doubtful = {photos.people[i] for i in np.unique(photos.mentions[photos.unsure]).tolist()}
        numbers = {photo for own in photos_naming(self.sql, doubtful).values() for photo in own}
        numbers |= set(photos.photos.tolist())
        around = PhotoEntries(each_problem(self.sql, numbers, cues=self.cues))
        others = set(around.faces.tolist()) - set(photos.faces.tolist())
        return around, read_label_arrays(self.sql, sorted(others))

    def label_some(self, photos: PhotoEntries, first: Labelled) -> LabelArrays:
        """Return labels of some photos, compared with the others as they are labelled."""
        others = first.labels.without(photos.faces)
        known = self.known.changed_by(others, self.vectors, 1)
        return label_new(photos, self.vectors, known, decided=self.decided).labels

    def likenesses(self, now: LabelArrays) -> tuple[list[UnlikeFaces], list[Proposal]]:
        """Return people whose faces do not look alike, and those with one forename who do.

        Only people with a face solved now are looked at.
        """
        people = {now.names[i] for i in np.unique(now.chosen[now.chosen >= 0]).tolist()}
        if not self.judged or not people:
            return [], []
        faces = faces_labelled(self.sql, people, set(now.faces.tolist()))
        others = read_label_arrays(self.sql, faces)
        vectors = read_vectors_of(self.sql, {*now.faces.tolist(), *faces})
        return _likenesses(vectors, now, self.work.photos, others, _photos_of(self.sql, faces))

    def sums(self, labelled: Labelled) -> KnownFaces:
        """Return what the next day compares with."""
        return self.known.changed_by(labelled.labels, self.vectors, 1)

    def changed(self, now: LabelArrays) -> set[str]:
        """Return the people whose sums changed."""
        return {*now.names_used(), *self._gone}


def _likenesses(
    vectors: Vectors | None,
    now: LabelArrays,
    photos: PhotoEntries,
    others: LabelArrays | None = None,
    other_photos: Mapping[int, int] | None = None,
) -> tuple[list[UnlikeFaces], list[Proposal]]:
    """Return people whose faces do not look alike, and people with one forename who look alike.

    Guesses do not count, nor other people than those with a face in ``now``.
    """
    if vectors is None:
        return [], []
    named = NamedArrays.of(now, photos.photo_of[np.argsort(photos.faces, kind="stable")])
    if others is not None and len(others):
        there = [(other_photos or {})[face] for face in sorted(others)]
        named = named.joined(NamedArrays.of(others, np.array(there)))
    return unlike_in(vectors, named), namesakes(vectors, named)


def _not_looked_at(photos: int) -> str:
    return (
        f"{count(photos, 'photo')} {one_or_more(photos, 'has', 'have')} faces of another detector "
        "or embedder, or forgotten ones: names there stay as they were; candidly name with the "
        "whole folder looks again"
    )


def _kept_names(sql: sqlite3.Connection, photos: PhotoEntries) -> list[str]:
    """Return sentences on names that stay as exported or decided, against other evidence."""
    found = [
        f"face {face} has no name, though {by} decided one: a list says not to name this "
        "person; the name is back when the list no longer says so"
        for face, by in sql.execute(
            'SELECT face, "by" FROM standing JOIN known ON known.id = person'
            " WHERE what = 'is' AND barred AND standing.id ="
            " (SELECT max(other.id) FROM standing other WHERE other.face = standing.face)"
        )
    ]
    (other,) = sql.execute(
        "SELECT count(*) FROM photos WHERE EXISTS (SELECT 1 FROM files WHERE photo = photos.id"
        f" AND gone = 0) AND id IN ({OTHER_MODEL})"
    ).fetchone()
    last = [_not_looked_at(other)] if other else []
    if not photos.bound:
        return found + last
    exported = dict(sql.execute("SELECT face, name FROM exported JOIN known ON known.id = person"))
    for at, photo in enumerate(photos.photos.tolist()):
        if photo not in photos.bound:
            continue
        names = photos.names_of(at)
        found += [
            f"face {face} stays {name}, as it was exported, though nothing written about "
            "the photo names them now: decide about it to change that"
            for face, name in photos.bound[photo].items()
            if name is not None and name == exported.get(face) and name not in names
        ]
    return found + last


def _doubts_that_stay(sql: sqlite3.Connection) -> list[str]:
    """Return the doubts of the last full solve about how faces vary, and of the embedder."""
    rows = sql.execute(
        "SELECT text FROM problems WHERE doubt = 1 AND run = (SELECT max(id) FROM runs"
        " WHERE finished IS NOT NULL AND json_extract(settings, '$.solve') = 'full') ORDER BY id"
    )
    misfit = [text for (text,) in rows if text.startswith(UNUSUAL)]
    _, unknown = project_population(sql)
    return [*misfit, *filter(None, [unknown])]


def _counted_faces(sql: sqlite3.Connection, photos: list[int]) -> list[int]:
    """Return the faces whose labels are in the sums, of some photos."""
    found: list[int] = []
    for some in in_batches(photos, BATCH):
        found += [
            face
            for (face,) in sql.execute(
                "SELECT face FROM labels JOIN faces ON faces.id = face JOIN solved"
                " ON solved.photo = faces.photo WHERE counted AND labels.run IN (SELECT id FROM"
                " runs WHERE json_extract(settings, '$.solve') IS NOT ?)"
                " AND solved.photo IN (SELECT value FROM json_each(?)) ORDER BY face",
                (RECOGNISED, json.dumps(some)),
            )
        ]
    return found


def _photos_of(sql: sqlite3.Connection, faces: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for some in in_batches(faces, BATCH):
        found |= dict(
            sql.execute(
                "SELECT id, photo FROM faces WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(some),),
            )
        )
    return found
