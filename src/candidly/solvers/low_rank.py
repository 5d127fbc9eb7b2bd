"""The low-rank step: singular value thresholding by the Gram matrix of the short side."""

from __future__ import annotations

import numpy as np
from scipy import linalg

# Below this ratio of threshold to the norm the Gram matrix, which squares the condition
# number, no longer resolves what is thresholded.
GRAM_LIMIT = 1e-6


def singular_value_threshold(A, tau):
    """Solve argmin_H tau*|H|_* + 1/2 |A - H|_F^2 = U S_tau[Sigma] V^T (Alg. 1, lines 6-7).

    Returns
    -------
    H : array like A
    sigma : 1-d float64 array
        Singular values of A, smallest first, before thresholding.
    """
    wide = A.shape[0] <= A.shape[1]
    resolved = tau >= GRAM_LIMIT * np.linalg.norm(A)
    sigma, basis = _by_gram(A, wide) if resolved else _by_qr(A, wide)
    keep = sigma > tau
    basis = basis[:, keep]
    shrunk = basis * (1 - tau / sigma[keep])
    return _apply(A, basis.astype(A.dtype), shrunk.astype(A.dtype), wide), sigma


def singular_values(A):
    """Singular values of A, smallest first; those far below 1e-7 of the largest are noise."""
    gram = _gram(A, A.shape[0] <= A.shape[1])
    sigma2 = linalg.eigvalsh(gram, overwrite_a=True, check_finite=False)
    return np.sqrt(np.maximum(sigma2, 0))


def _gram(A, wide):
    """Gram matrix of the short side, always in float64: float32 would lose the rank."""
    B = np.asarray(A, dtype=np.float64)
    return B @ B.T if wide else B.T @ B


def _by_gram(A, wide):
    """Singular values, smallest first, and singular vectors of the short side."""
    gram = _gram(A, wide)
    sigma2, basis = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    return np.sqrt(np.maximum(sigma2, 0)), basis


def _by_qr(A, wide):
    """The same without squares: of the triangle, which is as short on both sides."""
    B = np.asarray(A.T if wide else A, dtype=np.float64)
    R = linalg.qr(B, mode="r", check_finite=False)[0][: B.shape[1]]
    try:
        _, sigma, Vt = linalg.svd(R, check_finite=False)
    except linalg.LinAlgError:  # gesdd can fail where the slower gesvd does not
        _, sigma, Vt = linalg.svd(R, check_finite=False, lapack_driver="gesvd")
    return sigma[::-1], Vt[::-1].T


def _apply(A, basis, shrunk, wide):
    """Apply basis @ shrunk.T to the short side of A, in the cheaper order."""
    short, rank = basis.shape
    if 2 * rank < short:
        return shrunk @ (basis.T @ A) if wide else (A @ basis) @ shrunk.T
    projector = shrunk @ basis.T
    return projector @ A if wide else A @ projector
