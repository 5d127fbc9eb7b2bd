"""What the paper states without an experiment, checked by numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidly.solvers import CandidateSets
from candidly.solvers.constraints.feasible import normalise, project_to_simplex

Floats = NDArray[np.float64]


def low_rank(seed: int, classes: int = 6, vertices: int = 4, each: int = 40) -> dict[str, Any]:
    """Return ranks of [P; X] with and without ambiguity, for points inside convex hulls.

    Proposition 1: without noise the rank is at most the number of vertices of all hulls.
    """
    rng = np.random.default_rng(seed)
    m = 100
    D = rng.normal(size=(m, classes * vertices))
    Q = np.zeros((classes * vertices, classes * each))
    P = np.zeros((classes, classes * each))
    for k in range(classes):
        columns = slice(k * each, (k + 1) * each)
        Q[k * vertices : (k + 1) * vertices, columns] = rng.dirichlet(np.ones(vertices), each).T
        P[k, columns] = 1
    X = D @ Q
    noisy = P.copy()
    for j in range(classes * each):
        noisy[rng.integers(classes), j] = 1
    noisy /= noisy.sum(axis=0)
    return {
        "rank": int(np.linalg.matrix_rank(np.vstack([P, X]))),
        "rank_of_features": int(np.linalg.matrix_rank(X)),
        "rank_ambiguous": int(np.linalg.matrix_rank(np.vstack([noisy, X]))),
        "vertices": classes * vertices,
        "instances": classes * each,
    }


def expansion(seed: int, pairs: int = 5000, c: int = 5) -> dict[str, Any]:
    """Return by how much two soft labels can move apart in the simple and Euclidean projection."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(pairs, c)) * rng.choice([0.05, 1.0], size=(pairs, 1))
    B = A + rng.normal(size=(pairs, c)) * 0.05
    found = {}
    for name, projection in (("simple", _simple), ("euclidean", _nearest)):
        before = np.linalg.norm(A - B, axis=1)
        after = np.linalg.norm(projection(A) - projection(B), axis=1)
        found[name] = round(float((after / before).max()), 4)
    return found


def _simple(A: Floats) -> Floats:
    sets = _all_classes(A)
    return np.asarray(normalise(np.maximum(A, 0).ravel(), sets.uniform(), sets)).reshape(A.shape)


def _nearest(A: Floats) -> Floats:
    return np.asarray(project_to_simplex(A.ravel(), _all_classes(A))).reshape(A.shape)


def _all_classes(A: Floats) -> CandidateSets:
    return CandidateSets.of_mask(np.ones(A.T.shape, dtype=bool))
