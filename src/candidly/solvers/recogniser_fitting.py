"""Fitting of a recogniser to named faces, and its test on held-out photos.

Photos are divided into folds; the faces of a fold are recognised by the people of the others. A
person who is in no other fold is a stranger there. A face that no caption names may be anybody,
including a known person, so it cannot be a test case; but about as many strangers are to be
expected as there are faces without a name. Faces of known people, each with its own name left out,
stand for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import minimize

from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.matchings import NEVER
from candidly.solvers.recogniser import Array, Recogniser, posterior, shares
from candidly.solvers.two_covariances import KnownPeople

FOLDS = 5
ENOUGH = 0.5
"""Number of faces, each counted by its certainty, from which a person is known."""
STRANGERS = 0.1
"""Smallest expected fraction of strangers, however well an album is captioned."""
WRONG = 0.05
"""Probability that a name that was found is wrong."""
TOP = 20
"""Number of most likely people that a test case keeps."""
BATCH = 500
SHRINKAGE = 1.0
"""Weight, in instances per dimension, of the prior that all directions are equal.

It is smaller than in solving, since the labels are certain.
"""
UNFITTED = (0.5, 0.0)
"""Power and odds if there is nothing to fit them to."""


class TooFewFacesError(ValueError):
    """Raised if there are too few faces to learn from; the message says what to do."""


@dataclass(frozen=True)
class HeldOutResult:
    """Result on held-out photos, as fractions from 0 to 1.

    ``faces`` is the number of faces tested. Of those of known people, ``right`` got their name
    and ``missed`` none; of strangers, ``named`` got one. ``error`` is over both, with the expected
    fraction of ``strangers``; ``precision`` is the fraction of names that are right, and
    ``confidence`` the mean confidence of all answers.
    """

    faces: int
    right: float
    missed: float
    named: float
    strangers: float
    error: float
    precision: float
    confidence: float


@dataclass(frozen=True)
class _HeldOutCases:
    """Test cases: the K most likely people, and the row of the right one; K is a stranger."""

    llr: Array
    share: Array
    target: NDArray[np.intp]
    weight: Array
    fold: NDArray[np.intp]

    def of(self, which: Mask) -> _HeldOutCases:
        return _HeldOutCases(
            self.llr[:, which],
            self.share[:, which],
            self.target[which],
            self.weight[which],
            self.fold[which],
        )


def fit(
    X: Floats,
    names: Sequence[Any],
    sure: Sequence[float],
    photos: Sequence[int],
    random_state: int = 0,
) -> tuple[Recogniser, HeldOutResult]:
    """Fit a recogniser to named faces, and test it on held-out photos.

    Parameters
    ----------
    X : (N, k) array
        Embeddings, one row per face.
    names : sequence of str or int, or None
        Who each face is; None if no caption names it.
    sure : sequence of float
        How certain each name is.
    photos : sequence of int
        The photo of each face.
    random_state : int
        Seed of the folds.

    Returns
    -------
    Recogniser, HeldOutResult

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> who = np.arange(80) % 4
    >>> X = rng.normal(size=(4, 8))[who] + 0.2 * rng.normal(size=(80, 8))
    >>> model, tested = fit(X, [f"p{k}" for k in who], np.ones(80), np.arange(80))
    >>> model.names, tested.right > 0.9
    (['p0', 'p1', 'p2', 'p3'], True)
    """
    faces = _NamedFaces.of(X, names, sure, ENOUGH)
    cases = _cases(faces, _folds(np.asarray(photos), random_state), float((faces.rows < 0).sum()))
    return faces.recogniser(*_calibrate(cases)), _test(cases, faces.named)


def learn(X: Floats, names: Sequence[Any], counts: ArrayLike, strangers: float) -> Recogniser:
    """Fit a recogniser to all named instances, however few, without a test.

    Parameters
    ----------
    X, names
        As in :func:`fit`; every instance counts as one photo.
    counts : (N,) array
        Weight of each instance.
    strangers : float
        Expected number of strangers, if there are as many others as have a name.
    """
    faces = _NamedFaces.of(X, names, counts, 0.0)
    try:
        fitted = _calibrate(_cases(faces, _folds(np.arange(len(X)), 0), strangers))
    except TooFewFacesError:
        fitted = UNFITTED
    return faces.recogniser(*fitted)


@dataclass(frozen=True)
class _NamedFaces:
    """Centred features, one column per face, and who they are."""

    centre: Array
    X: Array
    people: list[Any]
    rows: NDArray[np.intp]
    R: sparse.csr_array
    enough: float

    @classmethod
    def of(cls, X: Floats, names: Sequence[Any], sure: ArrayLike, enough: float) -> _NamedFaces:
        centre = np.asarray(X, dtype=float).mean(axis=0)
        people = sorted({name for name in names if name is not None})
        row = {name: i for i, name in enumerate(people)}
        rows = np.array([-1 if name is None else row[name] for name in names], dtype=np.intp)
        R = _soft(rows, np.asarray(sure, dtype=float), len(people))
        centred = np.asarray(X, dtype=float).T - centre[:, None]
        return cls(centre, centred, people, rows, R, enough)

    @property
    def named(self) -> int:
        return int((self.rows >= 0).sum())

    def known(self, R: sparse.csr_array) -> KnownPeople:
        return KnownPeople.of(self.X, R, prior=SHRINKAGE * len(self.X))

    def are_known(self, known: KnownPeople) -> Mask:
        return np.asarray((known.count > 0) & (known.count >= self.enough))

    def recogniser(self, power: float, odds: float) -> Recogniser:
        known = self.known(self.R)
        keep = self.are_known(known)
        known = replace(known, count=known.count[keep], total=known.total[keep])
        kept = [name for name, is_kept in zip(self.people, keep, strict=True) if is_kept]
        most = 1 - 1 / (self.named + 2)  # by the rule of succession
        return Recogniser(kept, self.centre, known, power, odds, most)


def _soft(rows: NDArray[np.intp], sure: Array, c: int) -> sparse.csr_array:
    named = np.flatnonzero(rows >= 0)
    return sparse.csr_array((sure[named], (rows[named], named)), shape=(c, len(rows)))


def _folds(photos: NDArray[np.int64], random_state: int) -> NDArray[np.intp]:
    different, place = np.unique(photos, return_inverse=True)
    if len(different) < 2:
        raise TooFewFacesError("people are learnt from several photos; name more of them first")
    dealt = np.random.default_rng(random_state).permutation(len(different))
    return np.asarray((dealt % min(FOLDS, len(different)))[place], dtype=np.intp)


def _cases(faces: _NamedFaces, fold: NDArray[np.intp], strangers: float) -> _HeldOutCases:
    parts: list[tuple[_HeldOutCases, Mask]] = []
    for number in range(int(fold.max()) + 1):
        known = faces.known(sparse.csr_array(faces.R * (fold != number)))
        count = np.where(faces.are_known(known), known.count, 0.0)
        here = np.flatnonzero((fold == number) & (faces.rows >= 0))
        for start in range(0, len(here), BATCH):
            at = here[start : start + BATCH]
            llr = known.likelihood_ratios(faces.X[:, at])
            parts += _cases_of(llr, count, faces.rows[at], number)
    seen = sum(int((one.target < len(one.llr)).sum()) for one, _ in parts)
    if not seen:
        raise TooFewFacesError(
            "nobody is named in two photos, so there is nobody to recognise; name more photos first"
        )
    # As many strangers as there are faces without a name, and at least a few.
    expected = max(strangers, STRANGERS * seen) / seen
    return _HeldOutCases(
        np.concatenate([one.llr for one, _ in parts], axis=1),
        np.concatenate([one.share for one, _ in parts], axis=1),
        np.concatenate([one.target for one, _ in parts]),
        np.concatenate([np.where(tried, expected, one.weight) for one, tried in parts]),
        np.concatenate([one.fold for one, _ in parts]),
    )


def _cases_of(
    llr: Array, count: Array, rows: NDArray[np.intp], number: int
) -> list[tuple[_HeldOutCases, Mask]]:
    """Return all faces as test cases, and those of known people again without their name."""
    share = shares(count)
    llr[count == 0] = NEVER
    at = np.arange(len(rows))
    seen = count[rows] > 0
    found = []
    for own in (True, False):
        tried = at if own else at[seen]
        scores = llr[:, tried].copy()
        target_rows, there = rows[tried], seen[tried]
        if own:
            # The right name is always among the people kept.
            order = scores.copy()
            order[target_rows[there], np.flatnonzero(there)] = np.inf
        else:
            scores[target_rows, np.arange(len(tried))] = NEVER
            order = scores
        best = np.argsort(-order, axis=0, kind="stable")[:TOP]
        target = np.where(there & own, 0, len(best)).astype(np.intp)
        case = _HeldOutCases(
            np.take_along_axis(scores, best, axis=0),
            np.where(np.take_along_axis(scores, best, axis=0) > NEVER, share[best], 0.0),
            target,
            np.ones(len(tried)),
            np.full(len(tried), number),
        )
        possible = np.asarray(scores.max(axis=0) > NEVER)  # if nobody is known, all are right
        case = _pad(case).of(possible)
        found.append((case, np.full(len(case.weight), not own)))
    return found


def _pad(case: _HeldOutCases) -> _HeldOutCases:
    """Return the cases with TOP rows, so that batches can be joined."""
    missing = TOP - len(case.llr)
    if missing <= 0:
        return case
    n = case.llr.shape[1]
    target = np.where(case.target == len(case.llr), TOP, case.target)
    return replace(
        case,
        llr=np.vstack([case.llr, np.full((missing, n), NEVER)]),
        share=np.vstack([case.share, np.zeros((missing, n))]),
        target=target.astype(np.intp),
    )


def _calibrate(cases: _HeldOutCases) -> tuple[float, float]:
    """Return the power and odds under which the right answers are most probable.

    Names may be wrong: without ``WRONG``, one face unlike the person whose name it has would
    reduce the power to almost 0.
    """
    known = cases.target < len(cases.llr)
    if known.all() or not known.any():
        return UNFITTED  # the line between two kinds cannot be drawn with one alone
    weight, at = cases.weight / cases.weight.sum(), np.arange(len(known))
    llr = np.where(cases.llr > NEVER, cases.llr, 0.0)
    own = np.where(known, llr[np.minimum(cases.target, len(llr) - 1), at], 0.0)
    guess = WRONG / (1 + (cases.llr > NEVER).sum(axis=0))

    def loss(x: Array) -> tuple[float, Array]:
        P = posterior(cases.llr, cases.share, x[0], x[1])
        right = (1 - WRONG) * P[cases.target, at]
        counts = weight * right / (right + guess)
        slope = [
            float((counts * (own - (P[:-1] * llr).sum(axis=0))).sum()),
            float((counts * (known - P[:-1].sum(axis=0))).sum()),
        ]
        return float(-(weight * np.log(right + guess)).sum()), -np.array(slope)

    # A power above 1 would mean that features are more than independent.
    bounds = [(0.01, 1), (-30, 30)]
    tries = [
        minimize(loss, [power, 0.0], jac=True, method="L-BFGS-B", bounds=bounds)
        for power in (0.5, 0.1, 0.02)
    ]
    best = min(tries, key=lambda one: one.fun)
    return float(best.x[0]), float(best.x[1])


def _test(cases: _HeldOutCases, faces: int) -> HeldOutResult:
    """Test each fold with the power and odds of the other folds."""
    right = np.zeros(len(cases.weight), dtype=bool)
    named, sure = right.copy(), np.zeros(len(right))
    for number in np.unique(cases.fold):
        here = cases.fold == number
        power, odds = _calibrate(cases.of(~here))
        own = cases.of(here)
        P = posterior(own.llr, own.share, power, odds)
        best = P.argmax(axis=0)
        right[here], named[here], sure[here] = best == own.target, best < len(P) - 1, P.max(axis=0)
    known, weight = cases.target < len(cases.llr), cases.weight
    everything = np.ones(len(right), dtype=bool)
    return HeldOutResult(
        faces=faces,
        right=_mean(right, weight, known),
        missed=_mean(~named, weight, known),
        named=_mean(named, weight, ~known),
        strangers=_mean(~known, weight, everything),
        error=_mean(~right, weight, everything),
        precision=_mean(right, weight, named),
        confidence=_mean(sure, weight, everything),
    )


def _mean(values: Mask | Array, weight: Array, which: Mask) -> float:
    return (
        float(np.average(values[which].astype(float), weights=weight[which]))
        if which.any()
        else 0.0
    )
