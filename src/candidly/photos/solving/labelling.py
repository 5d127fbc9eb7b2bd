"""Open-set labelling of photos: their problems as candidate entries, and labels of faces.

The labeller is that of ``candidly.OpenSet``, with its settings. What photos add are priors: places
and sizes of faces, and how likely a mention is a person's name and shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.estimators import OpenSet
from candidly.estimators.scaling import PrincipalComponents
from candidly.photos.solving.placement import misplaced, odds
from candidly.photos.solving.problem import DecidedFace, PhotoProblem
from candidly.solvers.arrays import Floats
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import PRIORS, OpenSetLabelling, OpenSetResult, centre
from candidly.solvers.population import Population
from candidly.solvers.starts import shared_out
from candidly.solvers.two_covariances import Covariances, KnownPeople

SOLVER = OpenSetLabelling()
COMPONENTS = OpenSet().components
ORDER = 0.2
"""Log odds lost with each place that a name is off the order from left to right."""


@dataclass(frozen=True)
class CandidateScore:
    """A candidate of a face: its probability, its likeness, and which face has the name instead.

    ``name`` is None for nobody. ``likeness`` is the log likelihood ratio against anybody, 0 where
    the name has no other face to compare with; for nobody it is that of somebody known who is not
    mentioned. ``place`` is the log odds by place and size, 0 for a face like the others.
    ``taken_by`` is another face of the photo that has the name, once it is stored.
    """

    name: str | None
    probability: float
    likeness: float
    place: float
    taken_by: int | None = None


@dataclass(frozen=True)
class FaceLabel:
    """Label of a face (None for nobody), its confidence, and the candidates including nobody."""

    name: str | None
    confidence: float
    scores: tuple[CandidateScore, ...]

    def renamed(self, names: Mapping[str, str]) -> FaceLabel:
        """Return the label with other names for some people."""

        def new(name: str | None) -> str | None:
            return None if name is None else names.get(name, name)

        scores = tuple(replace(one, name=new(one.name)) for one in self.scores)
        return FaceLabel(new(self.name), self.confidence, scores)

    def probability(self, name: str | None) -> float:
        """Return the probability of a candidate; 0 for others."""
        return next((one.probability for one in self.scores if one.name == name), 0.0)


UNUSUAL = (
    "the faces are unlike those that the embedder is known for (drawn, or scanned?), so names "
    "rest on what these photos alone show"
)
FEW = (
    "of the faces that could have a name have one: captions name many people who are not shown, "
    "or their faces could not be told apart"
)


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of a project: row ``at[face]`` of X belongs to a face."""

    X: Floats
    at: Mapping[int, int]

    @classmethod
    def of(cls, numbers: Sequence[int], rows: Floats) -> Embeddings:
        """Return embeddings from numbers of faces and one row per face."""
        return cls(np.asarray(rows, dtype=float), {face: row for row, face in enumerate(numbers)})

    def of_faces(self, faces: Iterable[int]) -> Floats:
        """Return the embeddings of faces, one row per face."""
        return self.X[[self.at[face] for face in faces]]

    def in_components(self, faces: Iterable[int]) -> Embeddings:
        """Return the embeddings of faces along the directions in which these faces vary.

        They are those of :class:`candidly.OpenSet` where nothing is known beforehand.
        """
        faces = list(faces)
        X = self.of_faces(faces)
        return Embeddings.of(faces, PrincipalComponents(COMPONENTS).fit(X).transform(X))


FaceLabels = dict[int, FaceLabel]


@dataclass
class Labelled:
    """Labels of faces, and sentences on what makes them doubtful as a whole."""

    labels: FaceLabels = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)


class PhotoEntries:
    """Photos as entries for a solver: candidates with their odds, and groups.

    ``row`` is the row of each name.
    """

    def __init__(self, photos: Sequence[PhotoProblem], row: Mapping[str, int]) -> None:
        self.names = list(row)
        self.faces: list[int] = []
        self.place: list[float] = []
        instance, name, order, shown, free = [], [], [], [], []
        for photo in photos:
            apart = misplaced(photo)
            for face, weights in odds(photo).items():
                free.append(0.0 if None in weights else NEVER)
                for who, weight in weights.items():
                    if who is not None:
                        instance.append(len(self.faces))
                        name.append(row[who])
                        self.place.append(float(np.log(weight)))
                        order.append(apart[face].get(who, 0.0))
                        shown.append(photo.shown.get(who, 1.0))
                self.faces.append(face)
        self.entries = CandidateEntries(
            np.array(instance, dtype=np.intp),
            np.array(name, dtype=np.intp),
            np.array(self.place) - ORDER * np.array(order),
            np.array(free),
            _groups(photos),
            len(row),
            np.array(shown),
        )

    def start(self, begin: FaceLabels) -> NDArray[np.float64]:
        """Return soft labels to start from: earlier labels, or names shared out equally."""
        R = np.asarray(shared_out(self.entries, SOLVER.shown))
        for number, (j, i) in enumerate(zip(self.entries.instance, self.entries.name, strict=True)):
            label = begin.get(self.faces[j])
            if label is not None:
                R[number] = label.probability(self.names[i])
        return R

    def labels(self, result: OpenSetResult) -> FaceLabels:
        """Return the label of each face, with its candidates, the likeliest first."""
        soft, rest = result.limited(self.entries)
        scores: list[list[CandidateScore]] = [[] for _ in self.faces]
        for number, (j, i) in enumerate(zip(self.entries.instance, self.entries.name, strict=True)):
            like = float(result.likeness[number])
            scores[j].append(
                CandidateScore(self.names[i], _part(soft[number]), like, self.place[number])
            )
        found = {}
        for j, face in enumerate(self.faces):
            if self.entries.free[j] > NEVER:
                scores[j].append(CandidateScore(None, _part(rest[j]), float(result.other[j]), 0.0))
            scores[j].sort(key=lambda one: -one.probability)
            who = None if result.chosen[j] < 0 else self.names[result.chosen[j]]
            only = len(scores[j]) == 1  # decided, or nobody is mentioned
            sure = 1.0 if only else _part(result.confidence[j])
            found[face] = FaceLabel(who, sure, tuple(scores[j]))
        return found


def label_photos(
    photos: Iterable[PhotoProblem],
    embeddings: Embeddings,
    population: Population | None = None,
    before: FaceLabels | None = None,
    again: Iterable[int] = (),
    decided: Sequence[DecidedFace] = (),
    on_step: Callable[[int, int], None] | None = None,
) -> Labelled:
    """Return the label of every face of some photos.

    Parameters
    ----------
    photos : iterable of PhotoProblem
    embeddings : Embeddings
        Embeddings of their faces, and of those in ``before``.
    population : Population, optional
        How embeddings vary, known beforehand; ``fitting`` says whether it may be used.
    before : dict of int to FaceLabel, optional
        Earlier labels of the project, at least one: they show how faces vary, and faces that
        are not labelled now are compared with.
    again : iterable of int
        Faces that start from their earlier label, which is not used otherwise.
    decided : sequence of DecidedFace
        Faces of the project of which it is known whether they are somebody.
    on_step : callable, optional
        Called with the number of iterations done, and their largest number.
    """
    photos = [photo for photo in photos if photo.faces]
    if not photos:
        return Labelled()
    row = {name: i for i, name in enumerate(_all_names(photos, before or {}))}
    problem = PhotoEntries(photos, row)
    if population is None:
        known_faces = [*(before or ()), *(one.face for one in decided)]
        embeddings = embeddings.in_components(dict.fromkeys([*problem.faces, *known_faces]))
    X = embeddings.of_faces(problem.faces)
    if before is None:
        mean, known, start = centre(X, population), None, None
    else:
        mean, known = _known(problem, before, embeddings, population, row)
        start = problem.start({face: before[face] for face in again if face in before})
    result = SOLVER.solve(
        (X - mean).T,
        problem.entries,
        population=population,
        known=known,
        start=start,
        decided=_decided(decided, embeddings, mean, row),
        on_step=on_step,
    )
    if before is not None:
        result = _no_surer(result, problem, before)
    few = before is None and result.few_found
    doubts = [f"only {100 * result.found:.0f}% {FEW}"] if few else []
    return Labelled(problem.labels(result), doubts)


def _decided(
    decided: Iterable[DecidedFace], embeddings: Embeddings, mean: Floats, row: Mapping[str, int]
) -> DecidedInstances | None:
    """Return what is decided about the names of the problem, or None where nothing is."""
    own = [one for one in decided if one.name in row]
    if not own:
        return None
    return DecidedInstances(
        (embeddings.of_faces(one.face for one in own) - mean).T,
        np.array([row[one.name] for one in own]),
        np.array([one.right for one in own]),
    )


def _no_surer(result: OpenSetResult, problem: PhotoEntries, before: FaceLabels) -> OpenSetResult:
    """Return the result with no name surer than it is on the faces that are not labelled now.

    Two people who are always mentioned together could be exchanged there, too.
    """
    now, most = set(problem.faces), dict[str | None, float]()
    for face, label in before.items():
        if label.name is not None and face not in now:
            most[label.name] = max(label.confidence, most.get(label.name, 0.0))
    names = [None if i < 0 else problem.names[i] for i in result.chosen]
    limit = np.array([most.get(name, 1.0) for name in names])
    limit[problem.entries.free <= NEVER] = 1  # decided
    return replace(result, confidence=np.minimum(result.confidence, limit))


def fitting(
    population: Population | None, photos: Iterable[PhotoProblem], embeddings: Embeddings
) -> tuple[Population | None, list[str]]:
    """Return the population, unless faces of these photos cannot be of it, and a doubt then."""
    photos = [photo for photo in photos if photo.faces]
    if population is None or not photos:
        return population, []
    share: dict[str, float] = defaultdict(float)
    for photo in photos:
        for face in photo.faces:
            names = [name for name in photo.candidates(face) if name not in photo.doubtful]
            for name in names:
                share[name] += 1 / len(names)
    X = embeddings.of_faces(face for photo in photos for face in photo.faces)
    why = population.misfit(X, np.array(list(share.values())))
    return (population, []) if why is None else (None, [f"{UNUSUAL}: {why}"])


def _known(
    problem: PhotoEntries,
    before: FaceLabels,
    embeddings: Embeddings,
    population: Population | None,
    row: Mapping[str, int],
) -> tuple[Floats, KnownPeople]:
    """Return the mean of earlier faces, and the people of those that are not labelled now.

    How faces vary is taken from earlier labels: a few photos would confirm their own mistakes.
    """
    faces = sorted(before)
    X = embeddings.of_faces(faces)
    mean = centre(X, population)
    X = (X - mean).T
    R = _soft([before[face] for face in faces], row)
    covariances = Covariances.of(X, R, PRIORS[0][0] * len(X), population)
    now = set(problem.faces)
    fixed = np.array([face not in now for face in faces])
    none = np.zeros(0)
    people = KnownPeople(covariances.basis, covariances.between, none, none)
    return mean, people.counting(X[:, fixed], R[:, fixed])


def _soft(labels: Sequence[FaceLabel], row: Mapping[str, int]) -> sparse.csr_array:
    """Return soft labels without nobody: one column per face."""
    i, j, value = [], [], []
    for column, label in enumerate(labels):
        for one in label.scores:
            if one.name is not None:
                i.append(row[one.name])
                j.append(column)
                value.append(one.probability)
    return sparse.csr_array((np.array(value, float), (i, j)), shape=(len(row), len(labels)))


def _all_names(photos: Sequence[PhotoProblem], before: FaceLabels) -> list[str]:
    """Return the names of the candidates, and of people known from elsewhere."""
    names = {name for photo in photos for face in photo.faces for name in photo.candidates(face)}
    for label in before.values():
        names |= {one.name for one in label.scores if one.name is not None}
    return sorted(names)


def _part(value: float) -> float:
    return float(np.clip(value, 0, 1))


def _groups(photos: Sequence[PhotoProblem]) -> NDArray[np.intp]:
    """Return the photo of each face; a second face decided to be one person is its own group.

    A name is in a group once, but a user may decide otherwise: a mirror, a poster.
    """
    groups, extra = [], len(photos)
    for number, photo in enumerate(photos):
        there: set[str] = set()
        for face in photo.faces:
            name = photo.bound.get(face)
            if name is not None and name in there:
                groups.append(extra)
                extra += 1
            else:
                groups.append(number)
            if name is not None:
                there.add(name)
    return np.array(groups, dtype=np.intp)
