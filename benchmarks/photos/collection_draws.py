"""Small collections drawn from a large one: at random, by person, and stills of groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.photos.face_canvases import newsroom
from candidly.candidates import Candidates
from candidly.datasets import simulate_captions
from candidly.datasets.caption_simulation import NOBODY
from candidly.datasets.store import data_folder, locate

OFTEN = 4  # photos that mention somebody by whom photos are drawn
STILLS = 5
SAME_FACE = 0.99  # cosine of embeddings of one face, stored twice
GROUP = range(3, 7)  # faces in a still


@dataclass(frozen=True)
class FaceCollection:
    """Photos as ``truth.json`` describes them, and the embeddings of their faces.

    Parameters
    ----------
    records : list of dict
        One per photo, with ``file``, ``tags``, ``mentioned`` and ``faces``.
    X : (N, m) array
        One row per face, in the order of the records.
    """

    records: list[dict[str, Any]]
    X: NDArray[np.float64]

    def take(self, photos: Sequence[int]) -> FaceCollection:
        """Return some of the photos, in the order given."""
        ends = np.cumsum([0, *(len(record["faces"]) for record in self.records)])
        rows = [np.arange(ends[at], ends[at + 1]) for at in photos]
        return FaceCollection(
            [self.records[at] for at in photos], self.X[np.concatenate([*rows, []]).astype(int)]
        )

    def renamed(self, seed: int) -> FaceCollection:
        """Return the collection with other names, whose order is drawn.

        Who of several people mentioned once is who cannot be told, and goes by the order of names.
        """
        names = sorted({name for record in self.records for name in record["mentioned"]})
        order = np.random.default_rng(seed).permutation(len(names))
        new = {name: f"person {at:05d}" for name, at in zip(names, order, strict=True)}
        return replace(
            self,
            records=[
                {
                    **record,
                    "mentioned": [new[name] for name in record["mentioned"]],
                    "faces": [{**face, "name": new.get(face["name"])} for face in record["faces"]],
                }
                for record in self.records
            ],
        )

    @property
    def candidates(self) -> Candidates:
        """Names that the caption mentions and nobody, for every face; photos are groups."""
        faces = [record for record in self.records for _ in record["faces"]]
        return Candidates.from_sets(
            [[*record["mentioned"], NOBODY] for record in faces],
            null=NOBODY,
            groups=[record["file"] for record in faces],
        )


def newsroom_faces() -> FaceCollection:
    """Return the newsroom photos with embeddings at their true boxes."""
    with np.load(locate("newsroom", "newsroom/embeddings.npz")) as stored:
        return FaceCollection(newsroom(), stored["X"].astype(float))


def other_faces(seed: int) -> FaceCollection:
    """Return LFW photos that are no newsroom photos, with simulated captions.

    Photos with faces from which the variation of embeddings is learnt are left out.
    """
    with np.load(locate("lfw-news", "lfw_news/sface128.npz")) as stored:
        X, people, photos = stored["X"].astype(float), stored["name"], stored["photo"]
    with np.load(data_folder() / "faces" / "sface_people.npz") as learnt:
        used = (X @ learnt["X"].T.astype(float)).max(axis=1) > SAME_FACE
    files = np.array([photo.replace("/big/", "_").replace("/", "-") for photo in photos.tolist()])
    out = {record["file"] for record in newsroom()}
    out |= set(files[used].tolist())
    kept = np.flatnonzero([file not in out for file in files.tolist()])
    kept = kept[np.argsort(files[kept], kind="stable")]
    news = simulate_captions(people[kept], files[kept], random_state=seed)
    records: dict[str, dict[str, Any]] = {}
    for file, person, name, names in zip(
        files[kept].tolist(),
        people[kept].tolist(),
        news.y.tolist(),
        news.candidates.sets(),
        strict=True,
    ):
        record = records.setdefault(
            file, {"file": file, "tags": [], "mentioned": sorted(names - {NOBODY}), "faces": []}
        )
        record["faces"].append({"name": None if name == NOBODY else name, "person": person})
    return FaceCollection(list(records.values()), X[kept])


def at_random(records: Sequence[dict[str, Any]], count: int, seed: Sequence[int]) -> list[int]:
    """Return which photos are drawn, each as likely as any other."""
    return sorted(np.random.default_rng(seed).permutation(len(records))[:count].tolist())


def by_person(records: Sequence[dict[str, Any]], count: int, seed: Sequence[int]) -> list[int]:
    """Return all photos that mention people drawn at random, person by person, cut to a number.

    People are those mentioned in at least OFTEN photos.
    """
    mentions: dict[str, list[int]] = defaultdict(list)
    for at, record in enumerate(records):
        for name in record["mentioned"]:
            mentions[name].append(at)
    often = sorted(name for name, photos in mentions.items() if len(photos) >= OFTEN)
    drawn: dict[int, None] = {}
    for name in np.random.default_rng(seed).permutation(often).tolist():
        drawn.update(dict.fromkeys(mentions[name]))
        if len(drawn) >= count:
            break
    return sorted(list(drawn)[:count])


def group_stills(collection: FaceCollection, seed: Sequence[int]) -> FaceCollection:
    """Return five photos of groups, everybody in one of them and mentioned, in no order."""
    rng = np.random.default_rng(seed)
    chosen: list[int] = []
    seen: set[str] = set()
    for at in rng.permutation(len(collection.records)).tolist():
        record = collection.records[at]
        people = {face["person"] for face in record["faces"]}
        if len(people) == len(record["faces"]) and len(people) in GROUP and not people & seen:
            chosen.append(at)
            seen |= people
        if len(chosen) == STILLS:
            break
    stills = collection.take(chosen)
    records = []
    for record in stills.records:
        faces = [{**face, "name": face["person"]} for face in record["faces"]]
        names = rng.permutation([face["person"] for face in faces]).tolist()
        text = f"{', '.join(names[:-1])} and {names[-1]}."
        records.append({**record, "faces": faces, "mentioned": names, "caption": text})
        records[-1].pop("spelled", None)
    return FaceCollection(records, stills.X)


def times_shown(records: Sequence[dict[str, Any]]) -> list[int]:
    """Return for every face how many faces of its person the photos have."""
    people = [face["person"] for record in records for face in record["faces"]]
    often = Counter(people)
    return [often[person] for person in people]
