"""Solves a project: everything together, or new photos against the people known so far."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field

from candidly import __version__
from candidly.photos.certainty import NamedFaces, certainty
from candidly.photos.project import Project, open_project
from candidly.photos.project.caption_counts import CaptionCounts, caption_counts
from candidly.photos.project.known_names import apply_lists, current_lists
from candidly.photos.records import Proposal
from candidly.photos.solving.confirmation import with_confirmed_names
from candidly.photos.solving.labelling import (
    Embeddings,
    FaceLabels,
    Labelled,
    fitting,
    label_photos,
)
from candidly.photos.solving.likeness import UnlikeFaces, judged_embeddings, unlike_people
from candidly.photos.solving.namesakes import keep_namesakes, namesakes
from candidly.photos.solving.problem import (
    OTHER_MODEL,
    PhotoProblem,
    decided_faces,
    likely_spellings,
    read_problems,
)
from candidly.photos.solving.statistics import project_population
from candidly.photos.solving.store import (
    NameChange,
    forget_photo,
    keep_changes,
    keep_photo_labels,
    read_embeddings,
    read_labels,
    read_stamps,
    solved_names,
    withdraw_barred_names,
)
from candidly.solvers.population import Population
from candidly.wording import count, one_or_more

Stamps = Mapping[int, tuple[str, str, str]]
Problems = Mapping[int, PhotoProblem]

FEW_FACES = 20_000
"""Number of faces up to which everything is solved together: it takes seconds to a minute."""
ENOUGH_NEW = 0.25
"""Fraction of new photos, of those solved so far, from which everything is solved together."""
WELL_KNOWN = 10
"""Number of photos of a person from which one more hardly changes what is known."""

DECIDED = "something was decided in this photo"
WORDS = "what is read about the photo changed"
LOOKS = "the photo was looked at again"
GONE = "nothing is written about the photo any more"
TOGETHER = "all photos were solved together again"
OTHERS = "more is known of others in the photo"


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
    on_step: Callable[[int, int], None] | None = None,
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


def _solve(
    project: Project, full: bool, cues: bool, on_step: Callable[[int, int], None] | None
) -> SolveSummary:
    with project.transaction() as sql:
        apply_lists(sql)  # to names that were read since
    with project.snapshot() as sql:
        problems = read_problems(sql, cues=cues)
        likely = likely_spellings(sql)
        stamps, before = read_stamps(sql), read_labels(sql)
        present = {photo for (photo,) in sql.execute("SELECT photo FROM files WHERE gone = 0")}
        captions = caption_counts(sql)
        other = {photo for (photo,) in sql.execute(OTHER_MODEL)}
        population, unknown = project_population(sql)
    due = {photo for photo, problem in problems.items() if stamps.get(photo) != problem.stamp}
    here = {face for problem in problems.values() for face in problem.faces}
    solved = problems.keys() & stamps.keys()
    together = len(here) <= FEW_FACES or len(due) > ENOUGH_NEW * len(solved)
    known = {face: label for face, label in before.items() if face in here}
    full = full or (bool(due) and (together or not known))
    chosen = set(problems) if full else due | _affected(due, problems, likely, stamps)
    photos = [problems[photo] for photo in sorted(chosen)]
    run = project.begin_run(__version__, {"solve": "full" if full else "new", "cues": cues})
    again = set() if full else {f for photo in chosen - due for f in problems[photo].faces}
    embeddings = read_embeddings(project)
    population, misfit = fitting(population, problems.values(), embeddings)
    labelled = _label(
        photos,
        embeddings,
        likely,
        problems,
        population,
        None if full else known,
        again,
        on_step,
    )
    now = labelled.labels
    counted = NamedFaces.of((label.name, label.confidence) for label in now.values())
    done = SolveSummary(run, full, len(photos), **asdict(counted), captions=captions)
    done.kept = _kept_names(project, photos)
    done.doubts = [*misfit, *labelled.doubts, *filter(None, [unknown])] if photos else []
    done.unlike = _unlike(project, {**known, **now}, now)
    silent = (stamps.keys() & present) - problems.keys() - other  # they have no caption any more
    if other & present:
        done.kept.append(_not_looked_at(len(other & present)))
    alike = _namesakes(project, {**known, **now}, problems)
    _write(project, done, photos, now, stamps, due, silent, alike)
    project.end_run(run, done.counts, done.kept, done.doubts)
    return done


def _not_looked_at(photos: int) -> str:
    return (
        f"{count(photos, 'photo')} {one_or_more(photos, 'has', 'have')} faces of another detector "
        "or embedder, or forgotten ones: names there stay as they were; candidly name with the "
        "whole folder looks again"
    )


def _unlike(project: Project, labels: FaceLabels, now: FaceLabels) -> list[UnlikeFaces]:
    """Return people with a face solved now whose faces do not look alike; guesses do not count."""
    people = {label.name for label in now.values()}
    names = {face: name for face, name in _believed(labels).items() if name in people}
    return unlike_people(project, names)


def _namesakes(project: Project, labels: FaceLabels, problems: Problems) -> list[Proposal]:
    """Return people with one forename who look alike; guesses do not count."""
    names = _believed(labels)
    photos = {face: photo for photo, problem in problems.items() for face in problem.faces}
    return namesakes(judged_embeddings(project, names), names, photos)


def _believed(labels: FaceLabels) -> dict[int, str]:
    """Return the names that are sure or likely."""
    return {
        face: label.name
        for face, label in labels.items()
        if label.name is not None and certainty(label.name, label.confidence) != "unknown"
    }


def _affected(
    due: set[int], problems: Problems, likely: Mapping[str, str], stamps: Stamps
) -> set[int]:
    """Return photos with people of the new photos who are not well known, in any spelling.

    One more face of such a person may settle an old one, and a decision one of anybody in its
    photo. They start from their earlier labels.
    """
    often = _photos_of(problems)

    def spelled(problem: PhotoProblem) -> set[str]:
        return {*problem.names, *(likely[name] for name in problem.names if name in likely)}

    people = {
        name for photo in due for name in spelled(problems[photo]) if often[name] < WELL_KNOWN
    }
    for problem in (problems[photo] for photo in due):
        before = stamps.get(problem.photo)
        if before is not None and before[2] != problem.decisions:
            people |= {*spelled(problem), *filter(None, problem.bound.values())}
    return {
        photo
        for photo, problem in problems.items()
        if photo not in due and not people.isdisjoint(spelled(problem))
    }


def _photos_of(problems: Problems, *, sure: bool = False) -> Counter[str]:
    """Return in how many photos each person may be; ``sure`` leaves out doubtful names."""
    return Counter(
        name
        for problem in problems.values()
        for name in problem.names
        if not (sure and name in problem.doubtful)
    )


def _label(
    photos: list[PhotoProblem],
    embeddings: Embeddings,
    likely: Mapping[str, str],
    problems: Problems,
    population: Population | None,
    known: FaceLabels | None,
    again: Iterable[int],
    on_step: Callable[[int, int], None] | None,
) -> Labelled:
    """Return labels, found again with likely spellings where a face confirms them.

    A person whose name is misspelt once is known from other photos under another name, so that
    the face is like a person who is not mentioned: without this it would be nobody. Where neither
    spelling is more frequent, the name stays as the photo has it. Doubtful names that no face
    confirms are left out.
    """
    decided = decided_faces(problems.values())

    def label(some: list[PhotoProblem]) -> Labelled:
        return label_photos(some, embeddings, population, known, again, decided, on_step)

    often = _photos_of(problems, sure=True)
    photos = with_confirmed_names(photos, problems, known or {}, lambda some: label(some).labels)
    first = label(photos)
    spelled = {problem.photo: _misspelt(problem, likely) for problem in photos}
    doubtful = [
        problem.respelled(spelled[problem.photo]) for problem in photos if spelled[problem.photo]
    ]
    other = label_photos(
        doubtful, embeddings, population, {**(known or {}), **first.labels}, decided=decided
    ).labels
    confirmed = {
        problem.photo: problem
        for problem in doubtful
        if any(
            best.name in spelled[problem.photo].values() and best.likeness > 0
            for best in (other[face].scores[0] for face in problem.faces)
        )
    }
    if not confirmed:
        return first
    respelled = [confirmed.get(problem.photo, problem) for problem in photos]
    found = label(respelled)
    for photo, problem in confirmed.items():
        back = {
            right: name for name, right in spelled[photo].items() if often[right] <= often[name]
        }
        found.labels |= {face: found.labels[face].renamed(back) for face in problem.faces}
    return found


def _misspelt(problem: PhotoProblem, likely: Mapping[str, str]) -> dict[str, str]:
    """Return names of a photo that are likely misspellings of a person not mentioned there."""
    return {
        name: likely[name]
        for name in problem.names
        if name in likely and likely[name] not in problem.names
    }


def _kept_names(project: Project, photos: list[PhotoProblem]) -> list[str]:
    """Return sentences on names that stay as exported or decided, against other evidence."""
    with project.snapshot() as sql:
        exported = dict(
            sql.execute("SELECT face, name FROM exported JOIN known ON known.id = person")
        )
        decided = [
            f"face {face} has no name, though {by} decided one: a list says not to name this "
            "person; the name is back when the list no longer says so"
            for face, by in sql.execute(
                'SELECT face, "by" FROM standing JOIN known ON known.id = person'
                " WHERE what = 'is' AND barred AND standing.id ="
                " (SELECT max(other.id) FROM standing other WHERE other.face = standing.face)"
            )
        ]
    return decided + [
        f"face {face} stays {exported[face]}, as it was exported, though nothing written about "
        "the photo names them now: decide about it to change that"
        for problem in photos
        for face in problem.faces
        if problem.bound.get(face) is not None
        and problem.bound[face] == exported.get(face)
        and exported[face] not in problem.names
    ]


def _write(
    project: Project,
    done: SolveSummary,
    photos: list[PhotoProblem],
    now: FaceLabels,
    stamps: Stamps,
    due: set[int],
    silent: set[int],
    alike: list[Proposal],
) -> None:
    with project.transaction() as sql:
        lists = current_lists(sql)
        before = dict(
            sql.execute("SELECT face, name FROM labels LEFT JOIN known ON known.id = person")
        )
        done.changes = _changes(done, photos, before, now, stamps, due)
        said = {face for (face,) in sql.execute("SELECT face FROM decisions")}  # also undone ones
        for photo in silent:
            done.changes += [
                NameChange(done.run, face, name, None, DECIDED if face in said else GONE)
                for face, name in solved_names(sql, photo).items()
                if name is not None
            ]
            forget_photo(sql, photo)
        for problem in photos:
            why = _change_in_photo(problem, stamps) or LOOKS
            done.changes += [
                NameChange(done.run, face, name, None, why)
                for face, name in solved_names(sql, problem.photo).items()
                if name is not None and face not in problem.faces
            ]
            keep_photo_labels(sql, done.run, problem, now)
        done.changes += withdraw_barred_names(sql, done.run, lists)
        done.changes = keep_changes(sql, done.changes)
        keep_namesakes(sql, alike)


# Which names changed, and why


def _changes(
    done: SolveSummary,
    photos: Iterable[PhotoProblem],
    before: Mapping[int, str | None],
    now: FaceLabels,
    stamps: Stamps,
    due: set[int],
) -> list[NameChange]:
    """Return the faces whose name changed; a face that is not in ``before`` had no label."""
    evidence = _NewEvidence([problem for problem in photos if problem.photo in due], stamps)
    found = []
    for problem in photos:
        for face in problem.faces:
            if face not in before or before[face] == now[face].name:
                continue
            old, new = before[face], now[face].name
            people = [name for name in (new, old) if name is not None]
            why = _change_in_photo(problem, stamps) or evidence.about(people)
            why = why or (TOGETHER if done.full else OTHERS)
            found.append(NameChange(done.run, face, old, new, why))
    return found


class _NewEvidence:
    """People in photos that are new, and in photos with new decisions."""

    def __init__(self, photos: Iterable[PhotoProblem], stamps: Stamps) -> None:
        self.new: Counter[str] = Counter()
        self.decided: set[str] = set()
        for problem in photos:
            before = stamps.get(problem.photo)
            if before is not None and before[2] != problem.decisions:
                self.decided |= {*problem.names, *filter(None, problem.bound.values())}
            else:
                self.new.update(problem.names.keys())

    def about(self, people: Iterable[str]) -> str | None:
        """Return a new photo or decision about these people that may explain a change, or None."""
        for name in people:
            if name in self.decided:
                return f"something was decided in a photo that names {name}"
            if name in self.new:
                count = self.new[name]
                return f"{count} new photo{'s' * (count > 1)} with {name}"
        return None


def _change_in_photo(problem: PhotoProblem, stamps: Stamps) -> str | None:
    """Return what changed in the photo itself, or None."""
    before = stamps.get(problem.photo)
    if before is None:  # it was scanned, and nobody was named in it
        return WORDS if problem.names else DECIDED
    words, looks, decided = before
    if decided != problem.decisions:
        return DECIDED
    if words != problem.words:
        return WORDS
    return LOOKS if looks != problem.looks else None
