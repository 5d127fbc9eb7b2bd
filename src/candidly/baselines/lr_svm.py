"""LR-SVM: names for faces such that the faces of each name have low rank.

The problem, over assignments of faces to names and splits x = l + e of each face::

    sum over names i of |L_i|_*  +  lambda * sum over faces of |x - l|_1

with the rows of L_i the l of its faces. The nuclear norm is the least value, over positive
matrices M, of ``1/2 tr(L^T L M^-1) + 1/2 tr(M)``, taken at M = (L^T L)^(1/2). With M held, it
falls apart into a price of each face under each name::

    h_i(x) = min_l  1/2 l M_i^-1 l^T + lambda * |x - l|_1

so a photo's best labelling is an assignment problem. Prices, assignments and M in turns only
make the objective smaller, as with M = (L^T L + eps^2)^(1/2) the nuclear norm, smoothed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from candidly.baselines.compared import CandidateProblem
from candidly.baselines.photo_groups import AssignmentMethod, AssignmentRound, PhotoGroups
from candidly.parameters import COUNT, FRACTION, POSITIVE, SWITCH, Constraints
from candidly.registry import register
from candidly.solvers.arrays import Floats, Mask
from candidly.solvers.prox import soft_threshold

SMOOTH = 1e-3
"""eps: singular values far below it count as 0; rows have norm 1."""

TOL = 1e-3
"""Least relative decrease of the objective per round, if no label changes."""


class LRSVM(AssignmentMethod):
    """Low-rank assignment of names to faces (Zeng 2013), then a linear machine.

    Faces assigned to a name are a low-rank matrix plus sparse noise. The assignment that
    makes the sum of nuclear norms, and lambda times the noise, least is sought by turns: a
    name at most once in a photo, somebody named in every photo, null as needed. Without
    groups every instance is its own photo.

    Assumed: rows are scaled to norm 1, not centred; a null face has no rank term and is all
    noise, at a little less than its price (if it were free, null would take all faces of a photo
    except one); lambda is 1/sqrt(max(features, instances per class)); the nuclear norm is smoothed
    (by 0.001) and minimised by its variational form instead of augmented Lagrangians, so
    that every round makes the objective smaller; the first round starts from the soft labels.

    A sum of nuclear norms is smaller the more faces are with one name. Photos prevent that, as
    they use a name once; without groups large classes take over, and labels are then hardly
    better than chance (on Lost the true labels have a larger objective than those found).

    Parameters
    ----------
    noise_weight : float
        Multiple of lambda as above.
    inner_iter : int
        Steps towards a price, of the alternating direction method.
    null_weight : float
        Price of a null face, as a part of its price as noise: at 0.9 a name has to explain a
        tenth of a face to have it.
    at_least_one : bool
        Whether somebody is named in every photo, as published; it has no meaning without
        groups and a null class.
    max_iter, C, classifier, sparse_output, random_state
        As in :class:`AssignmentMethod`.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("LR-SVM").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.25
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **AssignmentMethod._parameter_constraints,
        "noise_weight": POSITIVE,
        "inner_iter": COUNT,
        "null_weight": FRACTION,
        "at_least_one": SWITCH,
    }

    def __init__(
        self,
        *,
        noise_weight: float = 1.0,
        max_iter: int = 30,
        inner_iter: int = 30,
        null_weight: float = 0.9,
        at_least_one: bool = True,
        C: float = 1.0,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            max_iter=max_iter,
            C=C,
            classifier=classifier,
            sparse_output=sparse_output,
            random_state=random_state,
        )
        self.noise_weight = noise_weight
        self.inner_iter = inner_iter
        self.null_weight = null_weight
        self.at_least_one = at_least_one

    def rounds(self, problem: CandidateProblem, photos: PhotoGroups) -> Iterator[AssignmentRound]:
        """Alternate between prices, assignments and the low-rank shapes of names."""
        X = _unit_rows(problem.X)
        N, c = problem.mask.shape
        lam = self.noise_weight / np.sqrt(max(X.shape[1], N / c))
        null = -1 if problem.null is None else problem.null
        faces = {i: np.flatnonzero(problem.mask[:, i]) for i in range(c) if i != null}
        root = np.sqrt(problem.P)
        shapes = {i: LowRankShape.of(root[rows, i, None] * X[rows]) for i, rows in faces.items()}
        nobody = self.null_weight * lam * np.abs(X).sum(axis=1)
        chosen, low, objective = np.full(N, -1), np.zeros_like(X), np.inf
        while True:
            price, split = np.zeros((N, c)), {}
            if problem.null is not None:
                price[:, null] = nobody
            for i, rows in faces.items():
                kept = chosen[rows] == i
                split[i] = shapes[i].split(X[rows], lam, self.inner_iter, low[rows], kept)
                price[rows, i] = shapes[i].prices(X[rows], split[i], lam)
            before, chosen = chosen, photos.best(-price)
            low = np.zeros_like(X)
            for i, rows in faces.items():
                mine = chosen[rows] == i
                low[rows[mine]] = split[i][mine]
                shapes[i] = LowRankShape.of(low[rows[mine]])
            noise = np.where(chosen == null, nobody, lam * np.abs(X - low).sum(axis=1))
            last, objective = objective, float(noise.sum())
            objective += sum(shape.norm for shape in shapes.values())
            yield AssignmentRound(chosen, objective, -price)
            if last - objective <= TOL * objective and np.array_equal(before, chosen):
                return


@dataclass(frozen=True)
class LowRankShape:
    """Shape M = (L^T L + eps^2)^(1/2) of one name: V diag(s) V^T, and eps elsewhere.

    Attributes
    ----------
    V : (m, r) array
    s : (r,) array
    """

    V: Floats
    s: Floats

    @classmethod
    def of(cls, L: Floats) -> LowRankShape:
        """Return the best M for these rows."""
        _, sigma, Vt = np.linalg.svd(L, full_matrices=False)
        seen = sigma > 1e-3 * SMOOTH
        return cls(Vt[seen].T, np.sqrt(sigma[seen] ** 2 + SMOOTH**2))

    @property
    def norm(self) -> float:
        """Return the smoothed nuclear norm: the sum of sqrt(sigma^2 + eps^2) - eps."""
        return float((self.s - SMOOTH).sum())

    def prices(self, X: Floats, low: Floats, lam: float) -> Floats:
        """Return 1/2 l M^-1 l^T + lambda |x - l|_1 of each row."""
        along = low @ self.V
        off = np.maximum((low**2).sum(axis=1) - (along**2).sum(axis=1), 0)
        rank = (along**2 / self.s).sum(axis=1) + off / SMOOTH
        return rank / 2 + lam * np.abs(X - low).sum(axis=1)

    def split(self, X: Floats, lam: float, steps: int, known: Floats, where: Mask) -> Floats:
        """Return the low-rank part of each row at about its least price, at most that of ``known``.

        Alternating directions with penalty 1: the rank term's step scales directions by
        s/(1 + s), the noise's is a soft threshold. ``where`` marks the rows that have a
        known part.
        """
        off = SMOOTH / (1 + SMOOTH)
        gain = self.s / (1 + self.s) - off
        noise, dual, low = np.zeros_like(X), np.zeros_like(X), X
        for _ in range(steps):
            target = X - noise + dual
            low = (target @ self.V * gain) @ self.V.T + off * target
            noise = soft_threshold(X - low + dual, lam)
            dual += X - low - noise
        worse = where & (self.prices(X, known, lam) < self.prices(X, low, lam))
        return np.where(worse[:, None], known, low)


def _unit_rows(X: Floats) -> Floats:
    peak = np.abs(X).max(axis=1, keepdims=True)
    X = X / np.where(peak > 0, peak, 1)  # squares of huge or tiny values would not fit
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)


register(
    "LR-SVM",
    LRSVM,
    "Zeng et al. (2013)",
    "a small singular value decomposition per class and round",
    "photos with captions; many pictures per name, each name of low rank",
)
