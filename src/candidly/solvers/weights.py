"""Column weights against label imbalance (the paper's eq. for W)."""

from __future__ import annotations

import numpy as np


def imbalance_weights(P):
    """Return w_j = 1/sqrt(sum_i p_ij * Nhat_i), Nhat_i = sum_j p_ij: the diagonal of W."""
    class_sizes = P.sum(axis=1)
    return 1 / np.sqrt(class_sizes @ P)
