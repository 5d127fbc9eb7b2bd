"""The elementwise part of an iteration of the ALM, in one pass over the feature rows."""

from __future__ import annotations

import numpy as np

from candidly.solvers.kernels.compiling import kernel


def _denoise_loops(A, H, X, rho, bound):
    rows, columns = A.shape
    penalty = 0.0
    for i in range(rows):
        for j in range(columns):
            z = H[i, j]
            t = X[i, j] - z + (A[i, j] - z) / rho
            clipped = min(max(t, -bound), bound)
            penalty += abs(t) - abs(clipped)
            A[i, j] = z + clipped
    return penalty


@kernel(_denoise_loops)
def denoise(A, H, X, rho, bound):
    """Overwrite A by the next one, H + clip(X - H + (A - H)/rho, bound); return |E_X|_1.

    With L = mu*(A - H), L/mu' = (A - H)/rho for mu' = rho*mu (Alg. 1, lines 5 and 8).
    """
    A -= H
    A /= rho
    A += X
    A -= H
    size = np.abs(A).sum(dtype=np.float64)
    np.clip(A, -bound, bound, out=A)
    penalty = size - np.abs(A).sum(dtype=np.float64)
    A += H
    return float(penalty)
