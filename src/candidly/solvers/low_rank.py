"""The low-rank step: singular value thresholding by the Gram matrix of the short side."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from candidly.solvers.arrays import double, here, namespace

# Below this ratio of threshold to norm the Gram matrix, which squares the condition number,
# is not accurate enough.
GRAM_LIMIT = 1e-6


def singular_value_threshold(A, tau):
    """Solve argmin_H tau*|H|_* + 1/2 |A - H|_F^2 = U S_tau[Sigma] V^T (Alg. 1, lines 6-7).

    Returns
    -------
    H : array like A
    sigma : 1-d float64 array of NumPy
        Singular values of A, smallest first, before thresholding.
    """
    xp, wide = namespace(A), A.shape[0] <= A.shape[1]
    resolved = tau >= GRAM_LIMIT * float(xp.linalg.norm(A))
    sigma, basis = _by_gram(A, wide) if resolved else _by_qr(A, wide)
    found = here(sigma)
    first = len(found) - int(np.count_nonzero(found > tau))
    basis = basis[:, first:]
    shrunk = basis * (1 - tau / sigma[first:])
    B = A if resolved else double(A)  # float32 would lose so small a threshold
    basis, shrunk = (xp.asarray(factor, dtype=B.dtype) for factor in (basis, shrunk))
    return xp.asarray(_apply(B, basis, shrunk, wide), dtype=A.dtype), found


def singular_values(A):
    """Return the singular values of A, smallest first; below 1e-7 of the largest they are noise."""
    gram = _gram(A, A.shape[0] <= A.shape[1])
    sigma2 = linalg.eigvalsh(here(gram), overwrite_a=True, check_finite=False)
    return np.sqrt(np.maximum(sigma2, 0))


def _gram(A, wide):
    """Return the Gram matrix of the short side in float64: float32 would lose the rank."""
    B = double(A)
    return B @ B.T if wide else B.T @ B


def _by_gram(A, wide):
    """Return singular values, smallest first, and singular vectors of the short side."""
    xp, gram = namespace(A), _gram(A, wide)
    if xp is np:  # the same, without a copy
        sigma2, basis = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    else:
        sigma2, basis = xp.linalg.eigh(gram)
    return xp.sqrt(xp.clip(sigma2, 0, None)), basis


def _by_qr(A, wide):
    """Return the same as ``_by_gram`` by QR and SVD, which do not square the condition number."""
    xp, B = namespace(A), double(A.T if wide else A)
    if xp is np:
        R = np.linalg.qr(B, mode="r")
        try:
            _, sigma, Vt = linalg.svd(R, check_finite=False)
        except linalg.LinAlgError:  # gesdd can fail in cases where the slower gesvd does not
            _, sigma, Vt = linalg.svd(R, check_finite=False, lapack_driver="gesvd")
    else:
        _, sigma, Vt = xp.linalg.svd(xp.linalg.qr(B, mode="r").R)
    return xp.flip(sigma, (0,)), xp.flip(Vt, (0,)).T


def _apply(A, basis, shrunk, wide):
    """Apply basis @ shrunk.T to the short side of A, in the cheaper order."""
    short, rank = basis.shape
    if 2 * rank < short:
        return shrunk @ (basis.T @ A) if wide else (A @ basis) @ shrunk.T
    projector = shrunk @ basis.T
    return projector @ A if wide else A @ projector
