"""Weights of instances against label imbalance (the paper's eq. for W)."""

from __future__ import annotations

import numpy as np

from candidly.solvers.candidate_sets import CandidateSets


def imbalance_weights(P, sets: CandidateSets):
    """Return w_j = 1/sqrt(sum_i p_ij * Nhat_i), Nhat_i = sum_j p_ij: the diagonal of W."""
    class_sizes = sets.class_total(P).astype(P.dtype)
    return 1 / np.sqrt(sets.total(P * class_sizes[sets.classes]))
