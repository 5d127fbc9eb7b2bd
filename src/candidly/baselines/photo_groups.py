"""Photos as groups of faces: the labellings they allow, and methods that assign names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.compared import SETS_IN_GROUPS, CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.linear_machines import linear_svm
from candidly.parameters import COUNT, POSITIVE, Constraints
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.assignment import assign_group
from candidly.solvers.matchings import mean_matching

MAX_MATCHINGS = 3000
"""Number of labellings of a photo up to which all are listed for their average."""


class AssignmentRound(NamedTuple):
    """The label of every face, the objective, and one score per face and class."""

    chosen: NDArray[np.intp]
    objective: float
    scores: Floats


class AssignmentMethod(ComparedMethod):
    """Base of the methods that assign names photo by photo, then train a linear machine.

    Assigning names and fitting what they are scored by alternate, in :meth:`rounds`. Without
    groups every instance is its own photo.

    Parameters
    ----------
    max_iter : int
        Largest number of rounds of assigning and fitting.
    C : float
        Parameter C of the support vector machine that predicts.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.
    """

    takes = SETS_IN_GROUPS

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "max_iter": COUNT,
        "C": POSITIVE,
    }

    def __init__(
        self,
        *,
        max_iter: int,
        C: float = 1.0,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.max_iter = max_iter
        self.C = C

    @abstractmethod
    def rounds(self, problem: CandidateProblem, photos: PhotoGroups) -> Iterator[AssignmentRound]:
        """Yield what each round finds, until nothing changes."""

    def label(self, problem: CandidateProblem) -> Labelling:
        """Assign names in rounds; the label is the name assigned in the last round."""
        objective = []
        for found in islice(self.rounds(problem, PhotoGroups.of(problem)), self.max_iter):
            objective.append(found.objective)
        labels = one_hot(found.chosen, problem.mask.shape[1])
        trainer = linear_svm(self.C).fit
        return Labelling(labels, None, objective, found.scores, trainer=trainer)


@dataclass(frozen=True)
class PhotoGroups:
    """Faces grouped by photo, and the labellings allowed there.

    A face gets one of its candidates, and no name occurs twice in a photo; null may occur as
    often as needed, except for all faces of a photo in which somebody has to be named.

    Attributes
    ----------
    mask : (N, c) array of bool
        Candidates. A face alone in its photo that has to be named does not have null.
    groups : (N,) array of int
        Photo of each face, numbered from 0.
    null : int or None
        Column of the null class.
    one_named : (photos,) array of bool
        Photos of several faces in which null for all is not allowed.
    """

    mask: Mask
    groups: NDArray[np.intp]
    null: int | None
    one_named: Mask

    @classmethod
    def of(cls, problem: CandidateProblem) -> Self:
        """Return the photos of a problem."""
        mask, groups, null = problem.mask, problem.groups, problem.null
        faces = np.bincount(groups)
        one_named = np.zeros(len(faces), dtype=bool)
        if problem.one_named is not None and null is not None:
            one_named[groups[problem.one_named]] = True
            alone = one_named[groups] & (faces[groups] == 1)
            mask = mask.copy()
            mask[alone, null] = False
        return cls(mask, groups, null, one_named & (faces > 1))

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """Return the faces of each photo."""
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.groups))[:-1])

    def best(self, scores: Floats) -> NDArray[np.intp]:
        """Return the label of every face, in the allowed labelling with the largest total score.

        Only photos whose faces claim one name, or all null where that is not allowed, need
        solving. Where nothing is allowed, as after elimination, each face gets its best label.
        """
        chosen = np.where(self.mask, scores, -np.inf).argmax(axis=1)
        for photo in self.broken(chosen):
            faces = self.members[photo]
            found = assign_group(scores[faces].T, self.mask[faces].T, self.null)
            chosen[faces] = chosen[faces] if found is None else found
            if self.one_named[photo] and (chosen[faces] == self.null).all():
                chosen[faces] = self._one_named(scores[faces], self.mask[faces])
        return chosen

    def broken(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the photos in which these labels are not allowed together."""
        named = chosen != (-1 if self.null is None else self.null)
        key = self.groups[named] * self.mask.shape[1] + chosen[named]
        value, count = np.unique(key, return_counts=True)
        twice = value[count > 1] // self.mask.shape[1]
        nobody = np.bincount(self.groups, weights=named) == 0
        return np.union1d(twice, np.flatnonzero(self.one_named & nobody))

    def average(self) -> Floats:
        """Return the share of each label in all allowed labellings, (N, c).

        Photos with more than a few thousand labellings are approximated by faces that choose
        alone, with names scaled down to one use.
        """
        share = self.mask / self.mask.sum(axis=1, keepdims=True)
        faces = np.bincount(self.groups)
        for photo in np.flatnonzero(faces > 1):
            rows = self.members[photo]
            several = self.mask[rows].sum(axis=0) > 1
            if self.null is not None:
                several[self.null] = False
            if several.any() or self.one_named[photo]:
                share[rows] = self._average_of(rows, bool(self.one_named[photo]))
        return share

    def _average_of(self, rows: NDArray[np.intp], one_named: bool) -> Floats:
        mask = self.mask[rows]
        named, free = mask.copy(), np.zeros(len(rows), dtype=bool)
        if self.null is not None:
            named[:, self.null], free = False, mask[:, self.null]
        names = np.flatnonzero(named.any(axis=0))
        each = mean_matching(np.column_stack([mask[:, names], free]), MAX_MATCHINGS, one_named)
        share = np.zeros(mask.shape)
        share[:, names] = each[:, :-1]
        if self.null is not None:
            share[:, self.null] = each[:, -1]
        share = np.where(mask, np.maximum(share, 0), 0)
        return share / share.sum(axis=1, keepdims=True)

    def _one_named(self, scores: Floats, mask: Mask) -> NDArray[np.intp]:
        """Return null for all faces except the one that loses least by a name; all prefer null."""
        null = -1 if self.null is None else self.null
        chosen = np.full(len(scores), null)
        loss = np.where(mask, scores[:, null, None] - scores, np.inf)
        loss[:, null] = np.inf
        face, name = np.unravel_index(loss.argmin(), loss.shape)
        chosen[face] = name
        return chosen


def one_hot(chosen: NDArray[np.intp], n_classes: int) -> Floats:
    """Return one row per instance, with a 1 at the label chosen."""
    return (chosen[:, None] == np.arange(n_classes)).astype(np.float64)
