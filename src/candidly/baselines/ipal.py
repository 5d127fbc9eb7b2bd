"""IPAL: labels are passed on between instances that are combinations of each other."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import Interval

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.feature_scaling import FeatureScaling, to_unit_interval
from candidly.baselines.local_weights import graph, neighbours, non_negative_weights
from candidly.parameters import COUNT, Constraints
from candidly.registry import register
from candidly.solvers import CandidateSets
from candidly.solvers.arrays import Floats
from candidly.solvers.constraints import normalise


class IPAL(ComparedMethod):
    """Instance-based partial label learning by propagation (Zhang & Yu 2015).

    Every instance is reconstructed from its neighbours by non-negative least squares, and
    takes over their labels by these weights, as far as its candidates allow. A label that
    spread too far is scaled back to what it had at the start. A new instance gets the label
    whose neighbours alone reconstruct it best.

    Features are scaled to [0, 1], since neighbours depend on distances. Assumed: propagation
    starts from the priors where there are any; an instance of which its neighbours reconstruct
    nothing keeps its candidates as they are; duplicates among neighbours share their weight.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours that an instance is reconstructed from.
    alpha : float
        Part of a label that comes from the neighbours, from 0 to below 1.
    max_iter : int
        Rounds of propagation.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("IPAL").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "n_neighbors": COUNT,
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        alpha: float = 0.95,
        max_iter: int = 100,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Propagate labels between neighbours, and scale back labels that spread too far."""
        scaling = to_unit_interval(problem.X)
        X, P = scaling(problem.X), problem.P
        sets = CandidateSets.of_mask(problem.mask.T)
        start, H_T = sets.entries_of(P.T), shares(X, self.n_neighbors)
        F = sets.matrix(propagate(H_T, start, sets, self.alpha, self.max_iter)).T
        mass = F.sum(axis=0)
        F = F * (P.sum(axis=0) / np.where(mass > 0, mass, 1))
        chosen = np.where(problem.mask, F, -1).argmax(axis=1)
        return Labelling(F, _Reconstruction(scaling, X, chosen, P.shape[1], self.n_neighbors))


def shares(X: Floats, k: int) -> sparse.csr_array:
    """Return H^T, (N, N): row i has the share of each neighbour in instance i, summing to 1."""
    index = neighbours(X, k)
    weight = non_negative_weights(X, X, index)
    total = weight.sum(axis=1, keepdims=True)
    weight = weight / np.where(total > 0, total, 1)
    return graph(weight, index)


def propagate(
    H_T: sparse.csr_array, P: Floats, sets: CandidateSets, alpha: float, max_iter: int
) -> Floats:
    """Iterate F <- alpha H^T F + (1 - alpha) P on the candidates; both are (E,)."""
    # What an entry gets from the same class of a neighbour, as a matrix of entries.
    size = np.diff(H_T.indptr)[sets.instance]
    entry = np.repeat(np.arange(len(sets)), size)
    first = np.repeat(H_T.indptr[sets.instance] - np.cumsum(size) + size, size)
    at = first + np.arange(len(entry))
    source = sets.number(sets.classes[entry], H_T.indices[at])
    found = source >= 0
    links = sparse.csr_array(
        (H_T.data[at[found]], (entry[found], source[found])), shape=(len(sets), len(sets))
    )
    F = P
    for _ in range(max_iter):
        F = normalise(alpha * (links @ F) + (1 - alpha) * P, P, sets)
    return F


@dataclass(frozen=True)
class _Reconstruction:
    scaling: FeatureScaling
    X: Floats
    chosen: NDArray[np.intp]
    n_classes: int
    k: int

    def scores(self, X: Floats) -> Floats:
        """Return minus the squared residual of each row on its neighbours of each label."""
        X = self.scaling(X)
        near = NearestNeighbors(n_neighbors=min(self.k, len(self.X))).fit(self.X)
        index = near.kneighbors(X, return_distance=False)
        weight = non_negative_weights(X, self.X, index)
        found = np.empty((len(X), self.n_classes))
        for label in range(self.n_classes):
            of_label = np.where(self.chosen[index] == label, weight, 0)
            A = graph(of_label, index, len(self.X))
            found[:, label] = -np.square(X - A @ self.X).sum(axis=1)
        return found


register(
    "IPAL",
    IPAL,
    "Zhang & Yu (2015)",
    "a neighbour search and a small least squares problem per instance; no N x N matrix",
    "dense clusters and curved classes; weak where instances are few or labels unbalanced",
)
