"""PL-AGGD: a graph, soft labels and a kernel model, each fitted to the other two."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candidly.baselines.compared import CandidateProblem, ComparedMethod, Labelling, nearest_labels
from candidly.baselines.feature_scaling import standardise
from candidly.baselines.kernel_ridge import FactoredKernelRidge, KernelScores
from candidly.baselines.local_weights import graph, neighbours, simplex_weights
from candidly.parameters import COUNT, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers import CandidateSets
from candidly.solvers.arrays import Floats, Mask


class PLAGGD(ComparedMethod):
    """Adaptive graph guided disambiguation (Wang, Zhang & Li 2022).

    Every round fits three things, each with the other two fixed: weights W that reconstruct every
    instance from its neighbours, by features and soft labels at once; kernel ridge
    regression of the soft labels Y; and Y itself, near WY and near the regression F. All
    three lower feature_weight |X - WX|^2 + label_weight |Y - WY|^2 + |Y - F|^2 +
    penalty |F|_K^2, with rows of W, and of Y on the candidates, not negative and summing to 1.

    Features are standardised, since the kernel has one width for all (the mean distance), and
    rows brought to norm 1 for the graph. Assumed: it starts from the labels that are smoothest
    on the graph of features alone, or from the priors where there are any; a round goes in
    the order W, F, Y; the label is the largest of Y.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours that an instance is reconstructed from.
    feature_weight, label_weight : float
        Weights of the graph's error in features and in labels; lambda and mu in the publication.
    penalty : float
        Penalty on the size of the regression; gamma in the publication.
    max_iter : int
        Rounds.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("PL-AGGD").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.05
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ComparedMethod._parameter_constraints,
        "n_neighbors": COUNT,
        "feature_weight": POSITIVE,
        "label_weight": POSITIVE,
        "penalty": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        feature_weight: float = 1.0,
        label_weight: float = 1.0,
        penalty: float = 0.05,
        max_iter: int = 10,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.n_neighbors = n_neighbors
        self.feature_weight = feature_weight
        self.label_weight = label_weight
        self.penalty = penalty
        self.max_iter = max_iter

    def label(self, problem: CandidateProblem) -> Labelling:
        """Alternate graph, regression and soft labels; the label is the largest soft label."""
        scaling = standardise(problem.X)
        X, Y = scaling(problem.X), problem.P
        ridge = FactoredKernelRidge.of(X, self.penalty)
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
        index = neighbours(X, self.n_neighbors)
        of_features = self.feature_weight * gram_of_differences(X, index)
        if np.allclose(Y, problem.mask / problem.mask.sum(axis=1, keepdims=True)):
            W = graph(simplex_weights(of_features), index)
            Y = smooth_labels(W, Y, Y, problem.mask, nearness=0)
        objective = []
        for _ in range(self.max_iter):
            gram = of_features + self.label_weight * gram_of_differences(Y, index)
            w = simplex_weights(gram)
            A, b = ridge.fit(Y)
            Y = smooth_labels(
                graph(w, index), ridge.K @ A + b, Y, problem.mask, 1 / self.label_weight
            )
            gram = of_features + self.label_weight * gram_of_differences(Y, index)
            graph_cost = float(np.einsum("nj,njk,nk->", w, gram, w))
            objective.append(graph_cost + ridge.loss(Y, A, b))
        A, b = ridge.fit(Y)
        return Labelling(Y, KernelScores(scaling, ridge, A, b), objective, ridge.K @ A + b)


def gram_of_differences(X: Floats, index: NDArray[np.intp]) -> Floats:
    """Return (x_j - x_i)'(x_k - x_i) over the neighbours j, k of every i; (N, k, k)."""
    near = X[index] - X[:, None, :]
    return near @ near.transpose(0, 2, 1)


def smooth_labels(
    W: sparse.csr_array,
    F: Floats,
    start: Floats,
    mask: Mask,
    nearness: float,
    max_iter: int = 500,
    tol: float = 1e-8,
) -> Floats:
    """Return argmin_Y |Y - WY|^2 + nearness |Y - F|^2, rows of Y on the candidate simplex.

    Accelerated projected gradient; its momentum starts anew where it points uphill.
    """
    rest = sparse.csr_array(sparse.eye_array(len(F)) - W)
    back = rest.T
    # |I - W|^2 is at most its largest row sum times its largest column sum.
    curve = float(abs(rest).sum(axis=0).max() * abs(rest).sum(axis=1).max()) + nearness
    sets = CandidateSets.of_mask(mask.T)
    Y = Z = nearest_labels(start, sets)
    speed = 1.0
    for _ in range(max_iter):
        slope = back @ (rest @ Z) + nearness * (Z - F)
        new = nearest_labels(Z - slope / curve, sets)
        change = new - Y
        if np.sum((Z - new) * change) > 0:
            speed, Z = 1.0, Y
            continue
        faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        Z, speed = new + (speed - 1) / faster * change, faster
        Y = new
        if np.abs(change).max() <= tol:
            break
    return Y


register(
    "PL-AGGD",
    PLAGGD,
    "Wang, Zhang & Li (2022)",
    "an N x N kernel, factored once; some ten thousand instances at most",
    "classes that are not linear",
)
