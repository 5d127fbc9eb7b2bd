"""MMS: the maximum margin between labellings of a photo that are allowed and that are not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from candidly.baselines.compared import (
    SETS_IN_GROUPS,
    CandidateProblem,
    ComparedMethod,
    Labelling,
    softmax_over,
)
from candidly.baselines.feature_scaling import standardise
from candidly.baselines.linear_machines import LinearScores, with_bias
from candidly.baselines.photo_groups import PhotoGroups, one_hot
from candidly.parameters import COUNT, POSITIVE, Constraints, optional
from candidly.registry import register
from candidly.solvers.arrays import Floats, Mask

Ints = NDArray[np.intp]


class MMS(ComparedMethod):
    """Maximum margin over sets of labellings (Luo & Orabona 2010).

    A photo X with allowed labellings Z (each face one of its candidates, a name at most
    once, not all null) has F(X, z) = the sum over its faces of w_z x, and the problem is::

        lambda/2 |w|^2 + mean [max_{z not in Z} (loss(z) + F(X, z)) - max_{z in Z} F(X, z)]_+

    Each round fixes the best labellings in Z (the average of all of Z to begin with) and
    minimises what is left, which is convex, by stochastic subgradients (Pegasos); the best
    round by the whole objective is kept. Without groups every instance is its own photo, and
    the loss compares the best candidate with the best other class; null, which every set has
    and so could stand for all, is then not used.

    Features are standardised; the offset is one more feature of 1. Assumed: loss(z) counts
    faces labelled off their candidates, and is 1 where the labels are candidates and only
    their combination is not allowed (up to two faces that is the number of faces to relabel).
    Steps take ``batch_size`` photos at a time, without Pegasos' optional projection, and the
    iterates of the last half of a round are averaged. Rounds end early where the best
    labellings stay the same.

    Parameters
    ----------
    regularization : float, optional
        lambda; 1 over the number of photos by default.
    max_rounds : int
        Rounds of fixing the best labellings.
    epochs : int
        Passes over the photos in a round.
    batch_size : int
        Photos in a step.
    classifier, sparse_output, random_state
        As in every compared method; photos are drawn in random order, and by default w
        predicts.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("MMS").set_params(random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    takes = replace(SETS_IN_GROUPS, priors=False)

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "regularization": optional(POSITIVE),
        "max_rounds": COUNT,
        "epochs": COUNT,
        "batch_size": COUNT,
    }

    def __init__(
        self,
        *,
        regularization: float | None = None,
        max_rounds: int = 5,
        epochs: int = 100,
        batch_size: int = 16,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.regularization = regularization
        self.max_rounds = max_rounds
        self.epochs = epochs
        self.batch_size = batch_size

    def label(self, problem: CandidateProblem) -> Labelling:
        """Alternate between the best allowed labellings and Pegasos; the best round labels."""
        scaling = standardise(problem.X)
        photos = PhotoGroups.of(_all_named(problem))
        X = with_bias(scaling(problem.X))
        bags = CandidateSlots.of(X, photos)
        lam = 1 / bags.count if self.regularization is None else self.regularization
        target = photos.average()
        best: Floats = np.zeros((problem.mask.shape[1], X.shape[1]))
        least, objective = np.inf, []
        for _ in range(self.max_rounds):
            w = self._pegasos(bags, bags.of_target(target), lam, problem.rng)
            scores = X @ w.T
            chosen = photos.best(scores)
            objective.append(bags.objective(w, one_hot(chosen, len(w)), lam))
            if objective[-1] < least:
                best, least = w, objective[-1]
            before, target = target, _with_ties(photos, scores, chosen)
            if np.array_equal(before, target):
                break
        scores = X @ best.T
        found = LinearScores(scaling, best.T)
        labels = _settled(photos, softmax_over(photos.mask, scores), photos.best(scores))
        return Labelling(labels, found, objective, scores)

    def _group_rules(self) -> tuple[bool, bool]:
        return True, True

    def _pegasos(
        self, bags: CandidateSlots, target: Floats, lam: float, rng: np.random.Generator
    ) -> Floats:
        """Minimise with the labellings to prefer, ``target``, fixed.

        Steps of 1/(lambda t) make w the mean of all subgradients so far over -lambda. So a
        step only adds to the sum, at a few classes, and its share in the averaged iterates
        of the last half is known beforehand.
        """
        steps = self.epochs * -(-bags.count // self.batch_size)
        since = steps // 2
        inverse = 1 / np.arange(1, steps + 1)
        inverse[:since] = 0
        share = np.cumsum(inverse[::-1])[::-1] / (lam * (steps - since))
        total = np.zeros((bags.n_classes, bags.X.shape[1]))
        average = np.zeros_like(total)
        t = 0
        for _ in range(self.epochs):
            order = rng.permutation(bags.count)
            for start in range(0, bags.count, self.batch_size):
                photos = order[start : start + self.batch_size]
                classes, step = bags.subgradient(total, 1 / (lam * max(t, 1)), photos, target)
                step /= -len(photos)
                total[classes] += step
                average[classes] += share[t] * step
                t += 1
        return average


@dataclass(frozen=True)
class CandidateSlots:
    """Photos as arrays: faces sorted by photo, the candidates of each in slots.

    A slot that a face has no candidate for holds its first one again, and ``real`` is False.
    Entries are the (face, slot) of names that several faces of a photo could have, sorted by
    photo and name; ``pair`` numbers the (photo, name) they belong to.
    """

    X: Floats
    n_classes: int
    order: Ints
    first: Ints
    slots: Ints
    real: Mask
    null_slot: Ints
    one_named: Mask
    entry_first: Ints
    entry_face: Ints
    entry_slot: Ints
    pair: Ints

    @classmethod
    def of(cls, X: Floats, photos: PhotoGroups) -> Self:
        """Return the slots of photos with features X."""
        order = np.argsort(photos.groups, kind="stable")
        mask, groups = photos.mask[order], photos.groups[order]
        size = mask.sum(axis=1)
        slots = np.argsort(~mask, axis=1, kind="stable")[:, : size.max()]
        real = np.arange(slots.shape[1]) < size[:, None]
        slots = np.where(real, slots, slots[:, :1])
        null = -1 if photos.null is None else photos.null
        is_null = real & (slots == null)
        null_slot = np.where(is_null.any(axis=1), is_null.argmax(axis=1), -1)
        count = len(photos.one_named)
        face, slot = np.nonzero(real & ~is_null)
        key = groups[face] * mask.shape[1] + slots[face, slot]
        _, pair, uses = np.unique(key, return_inverse=True, return_counts=True)
        several = np.flatnonzero(uses[pair] > 1)
        several = several[np.argsort(pair[several], kind="stable")]
        face, slot, pair = face[several], slot[several], pair[several]
        return cls(
            X[order],
            mask.shape[1],
            order,
            np.searchsorted(groups, np.arange(count + 1)),
            slots,
            real,
            null_slot,
            photos.one_named,
            np.searchsorted(groups[face], np.arange(count + 1)),
            face,
            slot,
            pair,
        )

    @property
    def count(self) -> int:
        """Return the number of photos."""
        return len(self.one_named)

    def of_target(self, target: Floats) -> Floats:
        """Return the weight of every slot in the labellings to prefer."""
        weight = np.take_along_axis(target[self.order], self.slots, axis=1)
        return np.where(self.real, weight, 0)

    def objective(self, w: Floats, target: Floats, lam: float) -> float:
        """Return the whole objective, with the labellings of ``target`` as the best in Z."""
        weight, total = self.of_target(target), 0.0
        for photos in np.array_split(np.arange(self.count), -(-self.count // 512)):
            faces, where = _ranges(self.first, photos)
            value, _ = self._rivals(w, 1, photos, faces, where, weight)
            total += np.maximum(value, 0).sum()
        return float(lam / 2 * (w**2).sum() + total / self.count)

    def subgradient(
        self, w: Floats, scale: float, photos: Ints, target: Floats
    ) -> tuple[Ints, Floats]:
        """Return the subgradient of the hinges of some photos at scale * w: rival minus target.

        Returns the classes whose part is not 0, and those parts.
        """
        faces, where = _ranges(self.first, photos)
        value, rival = self._rivals(w, scale, photos, faces, where, target)
        loses = (value > 0)[where]
        faces, rival = faces[loses], rival[loses]
        listed = np.column_stack([rival, self.slots[faces]])
        weight = np.column_stack([np.ones(len(faces)), -target[faces]])
        classes, at = np.unique(listed, return_inverse=True)
        cell = at.reshape(listed.shape) * len(faces) + np.arange(len(faces))[:, None]
        shape = (len(classes), len(faces))
        spread = np.bincount(cell.ravel(), weight.ravel(), shape[0] * shape[1]).reshape(shape)
        return classes, spread @ self.X[faces]

    def _rivals(
        self, w: Floats, scale: float, photos: Ints, faces: Ints, where: Ints, target: Floats
    ) -> tuple[Floats, Ints]:
        """Return by how much the best labelling not in Z beats the target, and that labelling."""
        row = np.arange(len(faces))
        scores = scale * (self.X[faces] @ w.T)
        slots = self.slots[faces]
        inside = scores[row[:, None], slots]
        wanted = (inside * target[faces]).sum(axis=1)
        first = np.flatnonzero(np.diff(where, prepend=-1))
        inside[~self.real[faces]] = -np.inf
        at = inside.argmax(axis=1)
        best, label = inside[row, at], slots[row, at]
        scores[row[:, None], slots] = -np.inf
        other = scores.argmax(axis=1)
        loss = best - (scores[row, other] + 1)  # loss of leaving the candidates; inf if impossible
        leaves = loss < 0
        # Somebody has to leave: where all would stay, the one who loses least.
        stay = ~np.logical_or.reduceat(leaves, first)
        least = _first_least(loss, first, where)
        leaves[least[stay]] = True
        value = np.add.reduceat(best, first) - np.add.reduceat(np.where(leaves, loss, 0), first)
        rival = np.where(leaves, other, label)
        if len(self.pair) or self.one_named.any():
            self._not_allowed(photos, faces, where, first, inside, best, label, value, rival)
        return value - np.add.reduceat(wanted, first), rival

    def _not_allowed(
        self,
        photos: Ints,
        faces: Ints,
        where: Ints,
        first: Ints,
        inside: Floats,
        best: Floats,
        label: Ints,
        value: Floats,
        rival: Ints,
    ) -> None:
        """Put labellings with a name twice, or all null, into value and rival where better."""
        total = np.add.reduceat(best, first) + 1
        entry, where_entry = _ranges(self.entry_first, photos)
        # Batch places of the faces of entries: faces of a photo are contiguous in both.
        place = first[where_entry] + self.entry_face[entry] - self.first[photos[where_entry]]
        loss = best[place] - inside[place, self.entry_slot[entry]]
        by_loss = np.lexsort((loss, self.pair[entry], where_entry))
        starts = np.flatnonzero(np.diff(self.pair[entry], prepend=-1))  # each has two or more
        one, two = by_loss[starts], by_loss[starts + 1]
        twice, photo = total[where_entry[starts]] - loss[one] - loss[two], where_entry[starts]
        if len(starts):
            of_photo = np.flatnonzero(np.diff(photo, prepend=-1))
            top = _first_least(-twice, of_photo, np.cumsum(np.diff(photo, prepend=-1) != 0) - 1)
            top = top[twice[top] > value[photo[top]]]
            value[photo[top]] = twice[top]
            better = np.isin(where, photo[top])
            rival[better] = label[better]
            for end in (one[top], two[top]):
                rival[place[end]] = self.slots[faces[place[end]], self.entry_slot[entry[end]]]
        if self.one_named.any():
            slot = self.null_slot[faces]
            null = np.where(slot >= 0, inside[np.arange(len(faces)), slot], -np.inf)
            nobody = np.add.reduceat(null, first) + 1
            better = self.one_named[photos] & (nobody > value)
            value[better] = nobody[better]
            all_null = better[where]
            rival[all_null] = self.slots[faces[all_null], slot[all_null]]


def _ranges(first: Ints, photos: Ints) -> tuple[Ints, Ints]:
    """Return the numbers first[p] to first[p + 1] of every photo p, and the photo of each."""
    size = first[photos + 1] - first[photos]
    where = np.repeat(np.arange(len(photos)), size)
    before = np.cumsum(size) - size
    return np.arange(len(where)) - before[where] + first[photos][where], where


def _first_least(values: Floats, first: Ints, where: Ints) -> Ints:
    """Return the place of the least value of each segment; of equal ones the first."""
    if len(first) == len(values):
        return first
    least = np.flatnonzero(values == np.minimum.reduceat(values, first)[where])
    return least[np.flatnonzero(np.diff(where[least], prepend=-1))]


def _all_named(problem: CandidateProblem) -> CandidateProblem:
    """Return the problem in which, without groups, every instance has to have a name."""
    if problem.null is None or problem.one_named is not None:
        return problem
    could = np.delete(problem.mask, problem.null, axis=1).any(axis=1)
    return replace(problem, one_named=(np.bincount(problem.groups, could) > 0)[problem.groups])


def _with_ties(photos: PhotoGroups, scores: Floats, chosen: Ints) -> Floats:
    """Return the labellings to prefer: the best in Z, or the mean of Z where scores are equal.

    Scores are equal up to rounding: at w = 0, and where candidates always come together.
    """
    top = np.where(photos.mask, scores, -np.inf).max(axis=1, keepdims=True)
    equal = photos.mask & (scores >= top - 1e-9 * (1 + np.abs(top)))
    target = one_hot(chosen, scores.shape[1])
    alone = np.bincount(photos.groups)[photos.groups] == 1
    target[alone] = (equal / equal.sum(axis=1, keepdims=True))[alone]
    careless = np.bincount(photos.groups, weights=(equal != photos.mask).any(axis=1)) == 0
    whole = careless[photos.groups] & ~alone
    if whole.any():
        target[whole] = photos.average()[whole]
    return target


def _settled(photos: PhotoGroups, soft: Floats, chosen: Ints) -> Floats:
    """Return soft labels that favour the chosen ones, in photos whose faces compete."""
    competing = np.isin(photos.groups, photos.broken(soft.argmax(axis=1)))
    hard = one_hot(chosen, soft.shape[1])
    return np.where(competing[:, None], (2 * hard + soft) / 3, soft)


register(
    "MMS",
    MMS,
    "Luo & Orabona (2010)",
    "500 passes over the instances, each linear in classes times features",
    "photos with captions, and linearly separable classes",
)
