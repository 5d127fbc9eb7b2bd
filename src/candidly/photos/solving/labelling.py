"""Open-set labelling of photos: their entries with features, and labels of faces.

The labeller is that of ``candidly.OpenSet``, with its settings. What photos add are priors: places
and sizes of faces, and how likely a mention is a person's name and shown.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from candidly.distributed import label_open_set
from candidly.distributed.open_set_fit import bytes_of_all
from candidly.distributed.solving import BASE, BROADCASTS
from candidly.heap import give_back
from candidly.photos.solving.face_features import EmbeddingMoments, of_few, of_many
from candidly.photos.solving.known import KnownFaces
from candidly.photos.solving.labels import FaceLabels, LabelArrays
from candidly.photos.solving.photo_entries import PhotoEntries
from candidly.photos.solving.problem import DecidedFace
from candidly.photos.solving.vectors import Vectors, mapped
from candidly.solvers.arrays import Floats
from candidly.solvers.cost import Cost, open_set_cost
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import OpenSetLabelling, OpenSetResult
from candidly.solvers.population import Population
from candidly.threads import one_blas_thread

SOLVER = OpenSetLabelling()
IN_SHARDS = 200e6
"""Bytes for what is in memory of features on disk."""
PER_ENTRY, OF_NAMES = 180, 6
"""Bytes of a candidate then, and arrays of a number for each name and feature, as measured."""

UNUSUAL = (
    "the faces are unlike those that the embedder is known for (drawn, or scanned?), so names "
    "rest on what these photos alone show"
)
FEW = (
    "of the faces that could have a name have one: captions name many people who are not shown, "
    "or their faces could not be told apart"
)

OnStep = Callable[[int, int], None]


@dataclass
class Labelled:
    """Labels of faces, sentences on what makes them doubtful as a whole, and what they rest on.

    ``known`` has the coordinates in which the faces were compared, and nobody yet.
    """

    labels: LabelArrays = field(default_factory=LabelArrays.none)
    doubts: list[str] = field(default_factory=list)
    known: KnownFaces | None = None


def label_together(
    photos: PhotoEntries,
    vectors: Vectors,
    population: Population | None = None,
    place: Path | None = None,
    on_step: OnStep | None = None,
) -> Labelled:
    """Return the label of every face of photos that are solved together.

    Parameters
    ----------
    photos : PhotoEntries
    vectors : Vectors
        Embeddings of their faces.
    population : Population, optional
        How embeddings vary, known beforehand; ``fitting`` says whether it may be used.
    place : Path, optional
        Folder for features that are mapped into memory; None where they are held in it.
    on_step : callable, optional
        Called with the number of iterations done, and their largest number.
    """
    if not len(photos.faces):
        return Labelled()
    own = {face: j for j, face in enumerate(photos.faces.tolist())} if photos.decided else {}
    decided = [one for one in photos.decided if one.face in own]
    X: Floats
    if place is None:
        X, to = of_few(vectors.of_faces(photos.faces.tolist()), population)
    else:
        to = of_many(EmbeddingMoments.of(vectors, photos.faces), population)
        path = mapped(vectors, photos.faces, to, to.A.shape[1], place)
        X = np.load(path, mmap_mode="r")
    known_faces = _decided(decided, lambda faces: X[[own[face] for face in faces]], photos.names)
    if place is None:
        result = SOLVER.solve(
            X.T, photos.entries, population=population, decided=known_faces, on_step=on_step
        )
    else:
        give_back()
        result = _on_disk(path, photos.entries, population, known_faces, on_step)
        give_back()
    doubts = [f"only {100 * result.found:.0f}% {FEW}"] if result.few_found else []
    covariances = result.covariances
    none = np.zeros((0, len(covariances.between)))
    known = KnownFaces(
        to.then(covariances.basis),
        covariances.between,
        0.0 if population is None else population.even,
        [],
        none[:, 0],
        none,
    )
    return Labelled(photos.labels(result), doubts, known)


def solving_cost(photos: PhotoEntries, k: int, *, on_disk: bool) -> Cost:
    """Return what it takes to label photos by k features, twice where names are doubtful."""
    e, N = photos.entries, len(photos.faces)
    cost = open_set_cost(N, k, len(e), e.n_names, SOLVER.max_iter, 4)
    of_names = 8.0 * OF_NAMES * e.n_names * k
    memory = BASE + of_names + (IN_SHARDS + PER_ENTRY * len(e) if on_disk else cost.memory)
    return (2 if photos.unsure.any() else 1) * replace(cost, memory=memory)


def _on_disk(
    path: Path,
    entries: CandidateEntries,
    population: Population | None,
    decided: DecidedInstances | None,
    on_step: OnStep | None,
) -> OpenSetResult:
    """Return what the solver returns, with features that are in a file.

    Shards have the candidates of a face in the order of names, photos in that of captions.
    """
    order = np.lexsort((entries.name, entries.instance)).astype(np.int32)
    ordered = replace(
        entries,
        name=entries.name[order].astype(np.int32),
        prior=entries.prior[order],
        shown=None if entries.shown is None else entries.shown[order],
    )
    N, k = np.load(path, mmap_mode="r").shape
    held, between = bytes_of_all(N, len(entries))
    with_shards = IN_SHARDS + 8 * BROADCASTS * entries.n_names * k + held
    with one_blas_thread():
        found = label_open_set(
            path,
            ordered,
            np.zeros(k),
            solver=SOLVER,
            population=population,
            decided=decided,
            max_memory=BASE + max(with_shards, between),
            folder=path.parent / "solve",
            on_progress=on_step and (lambda news: on_step(news.passes, news.most)),
        )
    shutil.rmtree(path.parent / "solve", ignore_errors=True)
    soft, likeness = np.empty_like(found.soft), np.empty_like(found.likeness)
    soft[order], likeness[order] = found.soft, found.likeness
    return replace(found, soft=soft, likeness=likeness)


def label_new(
    photos: PhotoEntries,
    vectors: Vectors,
    known: KnownFaces,
    *,
    begin: FaceLabels | None = None,
    decided: Iterable[DecidedFace] = (),
    surest: Callable[[set[str]], Mapping[str, float]] | None = None,
    on_step: OnStep | None = None,
) -> Labelled:
    """Return the label of every face of photos that are compared with people known from others.

    How faces vary is known, too: a few photos would confirm their own mistakes.

    Parameters
    ----------
    photos : PhotoEntries
    vectors : Vectors
        Embeddings of their faces, and of those decided.
    known : KnownFaces
        People by the faces of other photos.
    begin : mapping of int to FaceLabel, optional
        Labels to start from.
    decided : iterable of DecidedFace
        Faces of the project of which it is known whether they are somebody.
    surest : callable, optional
        Returns how sure names are at most on the faces of other photos: two people who are always
        mentioned together could be exchanged there, too.
    on_step : callable, optional
    """
    if not len(photos.faces):
        return Labelled(known=known)
    photos = photos.with_names(known.names)
    row = {name: i for i, name in enumerate(photos.names)}
    decided = [one for one in decided if one.name in row and one.face in vectors]
    faces = np.union1d(photos.faces, np.array([one.face for one in decided], dtype=np.int64))
    Z = known.map(vectors.of_faces(faces.tolist()))
    result = SOLVER.solve(
        Z[np.searchsorted(faces, photos.faces)].T,
        photos.entries,
        population=_even(known),
        known=known.people(row),
        start=photos.start(begin or {}, SOLVER.shown),
        decided=_decided(decided, lambda some: Z[np.searchsorted(faces, some)], photos.names),
        on_step=on_step,
    )
    if surest is not None:
        result = _no_surer(result, photos, surest)
    return Labelled(photos.labels(result), known=known)


def _even(known: KnownFaces) -> Population | None:
    """Return a population with the ratio that says nothing; its covariances are not used."""
    k = len(known.between)
    return None if known.even == 0 else Population(np.zeros(k), np.eye(k), np.eye(k), known.even)


def _decided(
    decided: list[DecidedFace], features: Callable[[list[int]], Floats], names: list[str]
) -> DecidedInstances | None:
    """Return what is decided about the names of the problem, or None where nothing is."""
    row = {name: i for i, name in enumerate(names)} if decided else {}
    own = [one for one in decided if one.name in row]
    if not own:
        return None
    return DecidedInstances(
        np.asarray(features([one.face for one in own]), dtype=float).T,
        np.array([row[one.name] for one in own]),
        np.array([one.right for one in own]),
    )


def _no_surer(
    result: OpenSetResult,
    photos: PhotoEntries,
    surest: Callable[[set[str]], Mapping[str, float]],
) -> OpenSetResult:
    """Return the result with no name surer than it is on the faces that are not labelled now."""
    names = [None if i < 0 else photos.names[i] for i in result.chosen.tolist()]
    most = surest({name for name in names if name is not None})
    limit = np.array([1.0 if name is None else most.get(name, 1.0) for name in names])
    limit[photos.entries.free <= NEVER] = 1  # decided
    return replace(result, confidence=np.minimum(result.confidence, limit))


def fitting(
    population: Population | None, photos: PhotoEntries, vectors: Vectors
) -> tuple[Population | None, list[str]]:
    """Return the population, unless faces of these photos cannot be of it, and a doubt then."""
    if population is None or not len(photos.faces):
        return population, []
    e = photos.entries
    instance, name = e.instance[~photos.doubtful], e.name[~photos.doubtful]
    count = np.bincount(instance, minlength=len(photos.faces))
    share = np.bincount(name, 1 / count[instance], minlength=e.n_names)
    moments = EmbeddingMoments.of(vectors, photos.faces)
    size = moments.size_from(population.mean)
    why = population.misfit_of(moments.mean, size, moments.count, share[share > 0])
    return (population, []) if why is None else (None, [f"{UNUSUAL}: {why}"])
