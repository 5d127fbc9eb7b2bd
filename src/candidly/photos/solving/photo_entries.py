"""Photos as arrays: candidates of faces with their odds, groups, and who is mentioned where.

Problems are read one after the other, and only numbers of them stay. So a project of any size is
solved as a small one is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.photos.solving.labels import FaceLabels, LabelArrays
from candidly.photos.solving.placement import misplaced, odds
from candidly.photos.solving.problem import DecidedFace, PhotoProblem, decided_faces
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.matchings import NEVER
from candidly.solvers.open_set import OpenSetResult
from candidly.solvers.starts import shared_out

ORDER = 0.2
"""Log odds lost with each place that a name is off the order from left to right."""

Flags = NDArray[np.bool_]


class PhotoEntries:
    """Photos as entries for a solver.

    Parameters
    ----------
    problems : iterable of PhotoProblem
        Read once.
    row : mapping of str to int, optional
        The row of each name; by default those of the candidates, in their order.

    Attributes
    ----------
    names : list of str
    photos : (P,) array of int
    photo_first : (P + 1,) array of int
        Where the faces of each photo begin.
    stamps : (P, 3) array of bytes
    faces : (N,) array of int
    entries : CandidateEntries
    place : (E,) array
        Log odds by place and size.
    doubtful : (E,) array of bool
        Entries of undecided faces whose name is likelier no person's.
    people : list of str
        Names that are mentioned, whether or not a face may have them.
    mentions, mention_first, unsure : arrays
        Place in ``people`` of the names of each photo, where they begin, and which are doubtful.
    decided : list of DecidedFace
    bound : dict of int to dict
        Decided faces of a photo, where it has some.
    """

    def __init__(
        self, problems: Iterable[PhotoProblem], row: Mapping[str, int] | None = None
    ) -> None:
        photos, faces, groups = array("q"), array("q"), array("q")
        counts, mentioned, mentions, unsure = array("q"), array("q"), array("q"), array("b")
        stamps = bytearray()
        instance, name, doubtful = array("i"), array("i"), array("b")
        place, order, shown, free = array("d"), array("d"), array("d"), array("d")
        own: dict[str, int] = {}
        people: dict[str, int] = {}
        self.decided: list[DecidedFace] = []
        self.bound: dict[int, dict[int, str | None]] = {}
        extra: list[int] = []
        for photo in problems:
            apart = misplaced(photo)
            for number, group in zip(photo.faces, _groups(photo, len(photos)), strict=True):
                groups.append(group)
                if group < 0:
                    extra.append(len(groups) - 1)
                faces.append(number)
            for at, (face, weights) in enumerate(odds(photo).items(), len(free)):
                free.append(0.0 if None in weights else NEVER)
                for who, weight in weights.items():
                    if who is not None:
                        instance.append(at)
                        name.append(own.setdefault(who, len(own)))
                        place.append(float(np.log(weight)))
                        order.append(apart[face].get(who, 0.0))
                        shown.append(photo.shown.get(who, 1.0))
                        doubtful.append(who in photo.doubtful and face not in photo.bound)
            for who in photo.names:
                mentions.append(people.setdefault(who, len(people)))
                unsure.append(who in photo.doubtful)
            photos.append(photo.photo)
            counts.append(len(photo.faces))
            mentioned.append(len(photo.names))
            stamps += "".join(part.ljust(16)[:16] for part in photo.stamp).encode()
            self.decided += decided_faces([photo])
            if photo.bound:
                self.bound[photo.photo] = photo.bound
        self.photos, self.faces = _of(photos), _of(faces)
        self.photo_first = np.append(0, np.cumsum(_of(counts)))
        self.stamps = np.frombuffer(bytes(stamps), dtype="S16").reshape(len(photos), 3)
        self.people, self.mentions = list(people), _of(mentions)
        self.mention_first = np.append(0, np.cumsum(_of(mentioned)))
        self.unsure = _of(unsure).astype(bool)
        self.place, self.doubtful = _of(place), _of(doubtful).astype(bool)
        self.names = sorted(own) if row is None else list(row)
        row = {who: i for i, who in enumerate(self.names)} if row is None else row
        rows = np.array([row[who] for who in own], dtype=np.intp)
        of_face = _of(groups).astype(np.intp)
        of_face[extra] = len(photos) + np.arange(len(extra))
        self.entries = CandidateEntries(
            _of(instance).astype(np.intp),
            rows[_of(name)] if len(name) else np.zeros(0, dtype=np.intp),
            self.place - ORDER * _of(order),
            _of(free),
            of_face,
            len(row),
            _of(shown),
        )

    def __len__(self) -> int:
        return len(self.photos)

    def with_names(self, more: Iterable[str]) -> PhotoEntries:
        """Return the same photos, with rows for other names as well."""
        names = sorted({*self.names, *more})
        row = {name: i for i, name in enumerate(names)}
        rows = np.array([row[name] for name in self.names], dtype=np.intp)
        name = rows[self.entries.name] if len(rows) else self.entries.name
        return self._like(replace(self.entries, name=name, n_names=len(names)), names=names)

    def without(self, gone: Flags) -> PhotoEntries:
        """Return the photos without some mentions; faces that are decided keep their names."""
        if not gone.any():
            return self
        e = self.entries
        place = {name: i for i, name in enumerate(self.people)}
        who = np.array([place.get(name, -1) for name in self.names], dtype=np.intp)
        photo = np.repeat(np.arange(len(self)), np.diff(self.photo_first))
        width = max(len(self.people), 1)
        some = np.flatnonzero(self.doubtful)
        dropped = np.repeat(np.arange(len(self)), np.diff(self.mention_first))[gone] * width
        dropped += self.mentions[gone]
        kept = np.ones(len(e), dtype=bool)
        kept[some] = ~np.isin(photo[e.instance[some]] * width + who[e.name[some]], dropped)
        used, rows = np.unique(e.name[kept], return_inverse=True)
        entries = replace(
            e,
            instance=e.instance[kept],
            name=rows,
            prior=e.prior[kept],
            shown=None if e.shown is None else e.shown[kept],
            n_names=len(used),
        )
        left = np.append(0, np.cumsum(~gone))[self.mention_first]
        return self._like(
            entries,
            names=[self.names[i] for i in used],
            place=self.place[kept],
            doubtful=self.doubtful[kept],
            mentions=self.mentions[~gone],
            unsure=self.unsure[~gone],
            mention_first=left,
        )

    def _like(self, entries: CandidateEntries, **values: object) -> PhotoEntries:
        made = object.__new__(PhotoEntries)
        made.__dict__ |= self.__dict__ | {"entries": entries} | values
        return made

    @property
    def photo_of(self) -> NDArray[np.int64]:
        """The photo of each face."""
        return np.repeat(self.photos, np.diff(self.photo_first))

    def faces_of(self, at: int) -> list[int]:
        """Return the faces of the photo at a place."""
        return self.faces[self.photo_first[at] : self.photo_first[at + 1]].tolist()

    def names_of(self, at: int) -> list[str]:
        """Return the names that are mentioned in the photo at a place."""
        some = self.mentions[self.mention_first[at] : self.mention_first[at + 1]]
        return [self.people[i] for i in some.tolist()]

    def mentioning(self, names: Iterable[str]) -> list[int]:
        """Return the places of the photos that mention some of the names."""
        wanted = set(names)
        flag = np.array([name in wanted for name in self.people], dtype=bool)
        if not flag.any():
            return []
        photo = np.repeat(np.arange(len(self)), np.diff(self.mention_first))
        return np.unique(photo[flag[self.mentions]]).tolist()

    def start(self, begin: FaceLabels, shown: float) -> NDArray[np.float64]:
        """Return soft labels to start from: earlier labels, or names shared out equally."""
        R = np.asarray(shared_out(self.entries, shown))
        first = self.entries.first
        for j, face in enumerate(self.faces.tolist()):
            if face in begin:
                label = begin[face]
                for e in range(first[j], first[j + 1]):
                    R[e] = label.probability(self.names[self.entries.name[e]])
        return R

    def labels(self, result: OpenSetResult) -> LabelArrays:
        """Return the label of each face, with its candidates, the likeliest first."""
        soft, rest = result.limited(self.entries)
        e, N = self.entries, len(self.faces)
        nobody = np.flatnonzero(e.free > NEVER)
        instance = np.concatenate([e.instance, nobody])
        probability = np.clip(np.concatenate([soft, rest[nobody]]), 0, 1)
        order = np.lexsort((-probability, instance))
        none = np.zeros(len(nobody))
        count = np.bincount(instance, minlength=N)
        # A face with one candidate is decided, or nobody is mentioned.
        sure = np.where(count == 1, 1.0, np.clip(result.confidence, 0, 1))
        return LabelArrays(
            self.names,
            self.faces,
            result.chosen.astype(np.int64),
            sure,
            np.append(0, np.cumsum(count)),
            np.concatenate([e.name, np.full(len(nobody), -1)])[order].astype(np.int32),
            probability[order],
            np.concatenate([result.likeness, result.other[nobody]])[order],
            np.concatenate([self.place, none])[order],
        )


def _groups(photo: PhotoProblem, number: int) -> Sequence[int]:
    """Return the group of each face: its photo, or -1 for a group of its own.

    A name is in a group once, but a user may decide otherwise: a mirror, a poster. A second face
    decided to be one person is its own group.
    """
    groups, there = [], set()
    for face in photo.faces:
        name = photo.bound.get(face)
        groups.append(-1 if name is not None and name in there else number)
        if name is not None:
            there.add(name)
    return groups


_KINDS = {"q": np.int64, "i": np.int32, "b": np.int8, "d": np.float64}


def _of(values: array[Any]) -> NDArray[Any]:
    """Return the numbers of an array of the standard library."""
    return (
        np.frombuffer(values, dtype=_KINDS[values.typecode])
        if len(values)
        else np.zeros(0, dtype=_KINDS[values.typecode])
    )
