"""MIMLSVM: photos as distances to representative photos, one machine per class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval

from candidly.baselines.compared import (
    SETS_IN_GROUPS,
    CandidateProblem,
    ComparedMethod,
    Labelling,
    softmax_over,
)
from candidly.baselines.feature_scaling import FeatureScaling, standardise
from candidly.parameters import COUNT, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers.arrays import Floats, Mask

Ints = NDArray[np.intp]

BLOCK = 2**22
"""Largest number of distances between faces held in memory at a time."""


class MIMLSVM(ComparedMethod):
    """Multi-instance multi-label learning by representative photos (Zhou & Zhang 2006).

    Photos are clustered by k-medoids under the largest of all Hausdorff distances (that of
    the face farthest from the other photo); a photo becomes its distances to the medoids,
    and one binary support vector machine per class learns which photos have it among their
    candidates. A face is scored as a photo of one, and gets its best candidate. Without
    groups every instance is its own photo.

    Assumed: features are standardised; distances to the medoids are divided so that they
    have a total variance of 1, the units of ``gamma``; C = 1; a class that every photo could
    have, as null mostly is, has no negatives and so no machine: it is taken where nothing
    else is allowed. Machines share one kernel matrix, of photos times photos.

    Parameters
    ----------
    fraction : float
        Number of medoids, as a fraction of the photos.
    max_medoids : int
        Largest number of medoids.
    gamma : float
        Parameter of the Gaussian kernel.
    C : float
        Parameter C of the support vector machines.
    max_iter : int
        Largest number of rounds of k-medoids.
    classifier, sparse_output, random_state
        As in every compared method; medoids start at random photos, and by default its own
        machines predict.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("MIMLSVM").set_params(random_state=0)
    >>> model = model.fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    takes = replace(SETS_IN_GROUPS, priors=False)

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "fraction": [Interval(Real, 0, 1, closed="right")],
        "max_medoids": COUNT,
        "gamma": POSITIVE,
        "C": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        fraction: float = 0.2,
        max_medoids: int = 500,
        gamma: float = 0.2,
        C: float = 1.0,
        max_iter: int = 20,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.fraction = fraction
        self.max_medoids = max_medoids
        self.gamma = gamma
        self.C = C
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Cluster the photos and train on their candidates; the label has the largest score."""
        scaling = standardise(problem.X)
        bags = PhotoBags.of(scaling(problem.X), problem.groups)
        k = max(1, min(round(self.fraction * len(bags)), self.max_medoids))
        medoids = bags[k_medoids(bags, k, self.max_iter, problem.rng)]
        features = bags.distances(medoids)
        spread = np.sqrt(features.var(axis=0).sum())
        spread = spread if spread > 0 else 1.0
        listed = np.zeros((len(bags), problem.mask.shape[1]), dtype=bool)
        np.logical_or.at(listed, problem.groups, problem.mask)
        weights, offset = self._train(rbf_kernel(features / spread, gamma=self.gamma), listed)
        machines = _Machines(scaling, medoids, features, spread, self.gamma, weights, offset)
        scores = machines.scores(problem.X)
        # A class that every photo could have comes below all that machines say.
        everywhere = listed.all(axis=0)
        lowest = scores[:, np.isfinite(offset)].min(initial=0) - 1
        scores[:, everywhere] = lowest
        machines = replace(machines, offset=np.where(everywhere, lowest, offset))
        return Labelling(softmax_over(problem.mask, scores), machines)

    def _train(self, kernel: Floats, listed: Mask) -> tuple[Floats, Floats]:
        """Return the weight of every photo in each class's machine, (c, photos), and offsets."""
        count = listed.sum(axis=0)
        weights, offset = np.zeros(listed.T.shape), np.full(len(count), -np.inf)
        for j in np.flatnonzero((count > 0) & (count < len(listed))):
            machine = SVC(C=self.C, kernel="precomputed").fit(kernel, listed[:, j])
            weights[j, machine.support_] = machine.dual_coef_[0]
            offset[j] = machine.intercept_[0]
        return weights, offset


@dataclass(frozen=True)
class PhotoBags:
    """Photos: their faces, sorted by photo, and where each photo begins."""

    X: Floats
    first: Ints

    @classmethod
    def of(cls, X: Floats, groups: Ints) -> PhotoBags:
        """Return the photos, their faces sorted by photo."""
        order = np.argsort(groups, kind="stable")
        return cls(X[order], np.searchsorted(groups[order], np.arange(groups.max() + 2)))

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, photos: Ints) -> PhotoBags:
        size = np.diff(self.first)[photos]
        first = np.concatenate([[0], np.cumsum(size)])
        faces = np.arange(first[-1]) + np.repeat(self.first[photos] - first[:-1], size)
        return PhotoBags(self.X[faces], first)

    def distances(self, others: PhotoBags) -> Floats:
        """Return the largest Hausdorff distance of every photo to every other, in blocks.

        max(max_a min_b |a - b|, max_b min_a |a - b|) for the faces a and b of two photos.
        """
        step = max(1, BLOCK // max(1, len(others.X) * int(np.diff(self.first).max())))
        blocks = np.array_split(np.arange(len(self)), -(-len(self) // step))
        return np.vstack([self[block]._distances(others) for block in blocks])

    def _distances(self, others: PhotoBags) -> Floats:
        between = pairwise_distances(self.X, others.X)
        rows, columns = self.first[:-1], others.first[:-1]
        there = np.maximum.reduceat(np.minimum.reduceat(between, columns, axis=1), rows, axis=0)
        back = np.maximum.reduceat(np.minimum.reduceat(between, rows, axis=0), columns, axis=1)
        return np.maximum(there, back)


def k_medoids(bags: PhotoBags, k: int, max_iter: int, rng: np.random.Generator) -> Ints:
    """Return the medoids of k clusters: photos to the nearest, then the most central of each.

    Every round makes the sum of distances to the nearest medoid smaller, or ends.
    """
    medoids = np.sort(rng.choice(len(bags), size=k, replace=False))
    for _ in range(max_iter):
        nearest = bags.distances(bags[medoids]).argmin(axis=1)
        nearest[medoids] = np.arange(k)  # copies of a medoid must not take it from its cluster
        order = np.argsort(nearest, kind="stable")
        clusters = np.split(order, np.cumsum(np.bincount(nearest, minlength=k))[:-1])
        central = [
            members[bags[members].distances(bags[members]).sum(axis=1).argmin()]
            if len(members) > 2
            else medoid
            for members, medoid in zip(clusters, medoids, strict=True)
        ]
        if np.array_equal(central, medoids):
            break
        medoids = np.array(central)
    return medoids


@dataclass(frozen=True)
class _Machines:
    scaling: FeatureScaling
    medoids: PhotoBags
    features: Floats
    spread: float
    gamma: float
    weights: Floats
    offset: Floats

    def scores(self, X: Floats) -> Floats:
        """Return one score per class for each row, taken as a photo of one face."""
        alone = PhotoBags.of(self.scaling(X), np.arange(len(X)))
        found = alone.distances(self.medoids) / self.spread
        kernel = rbf_kernel(found, self.features / self.spread, gamma=self.gamma)
        return kernel @ self.weights.T + self.offset


register(
    "MIMLSVM",
    MIMLSVM,
    "Zhou & Zhang (2006)",
    "one Gaussian support vector machine per class; memory quadratic in photos",
    "a baseline for photos whose candidates are known only as a whole",
)
