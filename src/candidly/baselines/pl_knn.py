"""PL-KNN: nearest neighbours vote for all their candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling
from candidly.baselines.feature_scaling import FeatureScaling, to_unit_interval
from candidly.parameters import COUNT, Constraints
from candidly.registry import register
from candidly.solvers.arrays import Floats


class PLKNN(ComparedMethod):
    """Nearest neighbours, each voting for all its candidates (Hüllermeier & Beringer 2006).

    A neighbour at distance d votes with 1 - d / (sum of the distances). Features are scaled
    to [0, 1], since neighbours and votes depend on distances. Assumed: an instance does not
    vote for itself when it is labelled, votes count the neighbour's soft labels times its
    number of candidates (one each, as published, without priors), and equidistant neighbours
    at 0 all vote 1. Candidates with equal votes are common, since neighbours often share
    their candidates: they keep equal soft labels, and the label is drawn among them.

    Parameters
    ----------
    n_neighbors : int
        Neighbours that vote.
    classifier, sparse_output, random_state
        As in every compared method; ties are drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("PL-KNN").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.2
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "n_neighbors": COUNT,
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.n_neighbors = n_neighbors

    def label(self, problem: CandidateProblem) -> Labelling:
        """Count the votes of the neighbours of each instance, without its own."""
        scaling = to_unit_interval(problem.X)
        X, N = scaling(problem.X), len(problem.X)
        ballots = problem.P * problem.mask.sum(axis=1, keepdims=True)
        k = min(self.n_neighbors, N)
        near = NearestNeighbors(n_neighbors=k).fit(X)
        if N == 1:
            return Labelling(problem.P, _Voters(scaling, near, ballots))
        others = NearestNeighbors(n_neighbors=min(k, N - 1)).fit(X)
        distance, index = others.kneighbors()
        votes = _votes(distance, index, ballots)
        ties = problem.rng.random(votes.shape)
        return Labelling(votes, _Voters(scaling, near, ballots), scores=ties)


@dataclass(frozen=True)
class _Voters:
    scaling: FeatureScaling
    near: NearestNeighbors
    ballots: Floats

    def scores(self, X: Floats) -> Floats:
        distance, index = self.near.kneighbors(self.scaling(X))
        return _votes(distance, index, self.ballots)


def _votes(distance: Floats, index: NDArray[np.intp], ballots: Floats) -> Floats:
    total = distance.sum(axis=1, keepdims=True)
    weight = 1 - distance / np.where(total > 0, total, 1)
    if index.shape[1] == 1:
        weight = np.ones_like(weight)  # a single neighbour would vote with 0
    return np.einsum("nk,nkc->nc", weight, ballots[index])


register(
    "PL-KNN",
    PLKNN,
    "Hüllermeier & Beringer (2006)",
    "a neighbour search; linear in instances times classes",
    "a first look; classes that form dense clusters",
)
