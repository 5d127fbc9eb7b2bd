"""Labels of faces: one with its candidates, and those of many faces as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.photos.certainty import NamedFaces

Numbers = NDArray[np.int64]


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


FaceLabels = Mapping[int, FaceLabel]
LabelRecord = tuple[int, str | None, float]
ScoreRecord = tuple[int, str | None, float, float, float]


class LabelArrays(Mapping[int, FaceLabel]):
    """Labels of many faces: arrays, read as a mapping of a face's number to its label.

    A million labels with four candidates each take 200 MB so, and several GB as objects.

    Parameters
    ----------
    names : list of str
    faces : (N,) array of int
    chosen : (N,) array of int
        Place of the name in ``names``, -1 for nobody.
    confidence : (N,) array
    first : (N + 1,) array of int
        Where the candidates of each face begin, the likeliest first.
    name, probability, likeness, place : (S,) arrays
        Of each candidate; the name is -1 for nobody.
    """

    def __init__(
        self,
        names: list[str],
        faces: Numbers,
        chosen: Any,
        confidence: Any,
        first: Any,
        name: Any,
        probability: Any,
        likeness: Any,
        place: Any,
    ) -> None:
        self.names: list[str] = names
        self.faces: Numbers = faces
        self.chosen, self.confidence, self.first = chosen, confidence, first
        self.name, self.probability = name, probability
        self.likeness, self.place = likeness, place
        self.other: dict[int, FaceLabel] = {}  # labels that were put in the place of these
        self._order = np.argsort(faces, kind="stable")
        self._sorted = faces[self._order]

    @classmethod
    def none(cls) -> LabelArrays:
        """Return no labels."""
        no, none = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls([], no, no, none, np.zeros(1, dtype=np.int64), no, none, none, none)

    def __len__(self) -> int:
        return len(self.faces)

    def __iter__(self) -> Iterator[int]:
        return iter(self.faces.tolist())

    def __contains__(self, face: object) -> bool:
        return isinstance(face, int) and self._row(face) is not None

    def __getitem__(self, face: int) -> FaceLabel:
        if face in self.other:
            return self.other[face]
        row = self._row(face)
        if row is None:
            raise KeyError(face)
        scores = tuple(
            CandidateScore(self._name(self.name[s]), *values)
            for s, *values in zip(
                range(self.first[row], self.first[row + 1]),
                *(
                    part[self.first[row] : self.first[row + 1]].tolist()
                    for part in (self.probability, self.likeness, self.place)
                ),
                strict=True,
            )
        )
        return FaceLabel(self._name(self.chosen[row]), float(self.confidence[row]), scores)

    def _row(self, face: int) -> int | None:
        at = int(np.searchsorted(self._sorted, face))
        return int(self._order[at]) if at < len(self) and self._sorted[at] == face else None

    def _name(self, place: int) -> str | None:
        return None if place < 0 else self.names[place]

    def rename(self, faces: Iterable[int], names: Mapping[str, str]) -> None:
        """Give other names to people at some faces."""
        for face in faces:
            self.other[face] = self[face].renamed(names)
            row = self._row(face)
            name = self.other[face].name
            if row is not None and name is not None and name != self._name(self.chosen[row]):
                if name not in self.names:
                    self.names = [*self.names, name]
                self.chosen[row] = self.names.index(name)

    def rows_of(self, faces: Numbers) -> NDArray[np.intp]:
        """Return the rows of faces, -1 for those without a label."""
        if not len(self):
            return np.full(len(faces), -1, dtype=np.intp)
        at = np.minimum(np.searchsorted(self._sorted, faces), len(self) - 1)
        return np.where(self._sorted[at] == faces, self._order[at], -1)

    @property
    def instance(self) -> NDArray[np.intp]:
        """The row of each candidate."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def records(self, faces: Numbers) -> tuple[list[LabelRecord], list[ScoreRecord]]:
        """Return labels and candidates of faces as rows: face, name and numbers."""
        own = faces
        if self.other:
            own = faces[~np.isin(faces, list(self.other))]
        rows = self.rows_of(own)
        size = self.first[rows + 1] - self.first[rows]
        at = np.repeat(self.first[rows] - (np.cumsum(size) - size), size) + np.arange(size.sum())
        names = np.array([*self.names, None], dtype=object)
        labels = list(
            zip(own.tolist(), names[self.chosen[rows]], self.confidence[rows].tolist(), strict=True)
        )
        columns = (self.probability, self.likeness, self.place)
        scores = list(
            zip(
                np.repeat(own, size).tolist(),
                names[self.name[at]],
                *(one[at].tolist() for one in columns),
                strict=True,
            )
        )
        for face, label in self.other.items():
            if face in faces:
                labels.append((face, label.name, label.confidence))
                scores += [
                    (face, one.name, one.probability, one.likeness, one.place)
                    for one in label.scores
                ]
        return labels, scores

    def names_used(self) -> set[str]:
        """Return the names of all candidates."""
        used = np.unique(self.name)
        return {self.names[i] for i in used[used >= 0].tolist()}

    def without(self, faces: Numbers) -> LabelArrays:
        """Return the labels of all other faces."""
        kept = ~np.isin(self.faces, faces)
        scores = np.repeat(kept, np.diff(self.first))
        return LabelArrays(
            self.names,
            self.faces[kept],
            self.chosen[kept],
            self.confidence[kept],
            np.append(0, np.cumsum(np.diff(self.first)[kept])),
            self.name[scores],
            self.probability[scores],
            self.likeness[scores],
            self.place[scores],
        )

    def counted(self) -> NamedFaces:
        """Return how many faces are named, and how surely."""
        return NamedFaces.of(
            (None if place < 0 else "", confidence)
            for place, confidence in zip(
                self.chosen.tolist(), self.confidence.tolist(), strict=True
            )
        )
