"""The low-rank step: singular value thresholding by the Gram matrix of the short side."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import linalg

from candidly.solvers.arrays import double, here, namespace

# Below this ratio of threshold to largest singular value the Gram matrix, which squares the
# condition number, is not accurate enough.
GRAM_LIMIT = 1e-6

NOISE = 1e-7
"""Ratio to the norm below which singular values by the Gram matrix are rounding alone."""

LARGE = 1e-3
"""Ratio to the largest above which singular values are taken off first, where it is not."""

FEW = 0.125
"""Part of all eigenvectors up to which finding them alone is faster than finding all."""

BLOCK = 64_000_000
"""Bytes of float32 arrays that are in float64 at a time."""


def singular_value_threshold(A, tau, out=None, rank=None):
    """Solve argmin_H tau*|H|_* + 1/2 |A - H|_F^2 = U S_tau[Sigma] V^T (Alg. 1, lines 6-7).

    Parameters
    ----------
    A : (d, N) array
    tau : float
    out : (d, N) array, optional
        Where to put H.
    rank : int, optional
        About the rank of H, which decides how eigenvectors are found; the answer is the same.

    Returns
    -------
    H : array like A
    shrunk : 1-d float64 array of the library of A
        Singular values of H, smallest first; zeros among them are possible.
    """
    xp, wide = namespace(A), A.shape[0] <= A.shape[1]
    sigma, basis, resolved = _resolve(_gram(A, wide), tau, rank)
    B = A if resolved else double(A)  # float32 would lose so small a threshold
    if not resolved:
        sigma, basis = _by_parts(B, sigma, basis, tau, rank)
    if xp is np:  # elsewhere counting them would wait for the device
        sigma, basis = _over(tau, sigma, basis)
    shrunk = xp.clip(sigma - tau, 0, None)
    root = xp.asarray(basis * xp.sqrt(shrunk / xp.clip(sigma, tau, None)), dtype=B.dtype)
    if out is not None and out.dtype == B.dtype:
        return _apply(B, root, wide, out), shrunk
    H = _apply(B, root, wide)
    if out is None:
        return xp.asarray(H, dtype=A.dtype), shrunk
    out[...] = H
    return out, shrunk


def threshold_root(calls: GramCalls, gram, tau, rank=None):
    """Return root with H = root root^T A for columns A in many places, by their Gram matrix.

    Parameters
    ----------
    calls : GramCalls
        Sums over the columns, where the first Gram matrix does not resolve tau.
    gram : (d, d) array
        A A^T.
    tau, rank
        As in ``singular_value_threshold``.

    Returns
    -------
    root : (d, r) array
    shrunk : (r,) array
        Singular values of H.
    resolved : bool
        Whether the precision of A is enough to apply it.
    """
    sigma, basis, resolved = _resolve(gram, tau, rank)
    if not resolved:
        sigma, basis = _over(LARGE * float(sigma[-1]), sigma, basis)
        small, others, enough = _resolve(calls.gram_without(basis), tau, rank)
        if enough:
            others = others - basis @ (basis.T @ others)
            sigma, basis = np.concatenate([small, sigma]), np.concatenate([others, basis], axis=1)
        else:
            sigma, basis = _of_triangle(np.linalg.qr(calls.triangle(), mode="r"))
    sigma, basis = _over(tau, sigma, basis)
    shrunk = np.clip(sigma - tau, 0, None)
    return basis * np.sqrt(shrunk / np.clip(sigma, tau, None)), shrunk, resolved


class GramCalls(Protocol):
    """Sums over columns A that are in many places."""

    def gram_without(self, basis: Any) -> Any:
        """Return the Gram matrix of A without some directions."""
        ...

    def triangle(self) -> Any:
        """Return rows whose QR factorisation has the R of A^T."""
        ...


def singular_values(A):
    """Return the singular values of A, smallest first; below 1e-7 of the largest they are noise."""
    gram = _gram(A, A.shape[0] <= A.shape[1])
    sigma2 = linalg.eigvalsh(here(gram), overwrite_a=True, check_finite=False)
    return np.sqrt(np.maximum(sigma2, 0))


def _gram(A, wide):
    """Return the Gram matrix of the short side in float64: float32 would lose the rank."""
    xp = namespace(A)
    B = A if wide else A.T
    if A.dtype == xp.float64:
        return B @ B.T
    short, long = B.shape
    columns = max(short, BLOCK // (8 * max(short, 1)))
    blocks = (double(B[:, j : j + columns]) for j in range(0, long, columns))
    return sum(block @ block.T for block in blocks)


def _by_gram(gram, tau, rank):
    """Return singular values over tau, smallest first, and their vectors; or those of all."""
    xp = namespace(gram)
    if xp is not np:
        sigma2, basis = xp.linalg.eigh(gram)
    elif rank is not None and rank <= FEW * len(gram):
        sigma2, basis = linalg.eigh(
            gram, subset_by_value=(tau**2, np.inf), overwrite_a=True, check_finite=False
        )
    else:  # in place
        sigma2, basis = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    return xp.sqrt(xp.clip(sigma2, 0, None)), basis


def _resolve(gram, tau, rank):
    """Return singular values and vectors by the Gram matrix, and whether it resolves tau."""
    noise = NOISE * float(namespace(gram).trace(gram)) ** 0.5
    sigma, basis = _by_gram(gram, max(tau, noise), rank)
    largest = float(sigma[-1]) if len(sigma) else 0.0
    return sigma, basis, tau >= max(noise, GRAM_LIMIT * largest)


def _by_parts(A, sigma, basis, tau, rank):
    """Return the same by two Gram matrices: large values first, then those of what is left.

    What is left is as much smaller, and its Gram matrix resolves values that the first does not.
    """
    xp, wide = namespace(A), A.shape[0] <= A.shape[1]
    sigma, basis = _over(LARGE * float(sigma[-1]), sigma, basis)
    rest = A - (basis @ (basis.T @ A) if wide else (A @ basis) @ basis.T)
    small, others, resolved = _resolve(_gram(rest, wide), tau, rank)
    if not resolved:
        return _by_qr(A, wide)
    others = others - basis @ (basis.T @ others)  # A would magnify what rounding left of these
    return xp.concatenate([small, sigma]), xp.concatenate([others, basis], axis=1)


def _over(tau, sigma, basis):
    """Return those of ascending singular values that are over tau, and their vectors."""
    first = int((sigma <= tau).sum())
    return sigma[first:], basis[:, first:]


def _by_qr(A, wide):
    """Return singular values and vectors by QR and SVD, which do not square the condition."""
    xp, B = namespace(A), double(A.T if wide else A)
    if xp is np:
        return _of_triangle(np.linalg.qr(B, mode="r"))
    _, sigma, Vt = xp.linalg.svd(xp.linalg.qr(B, mode="r").R)
    return xp.flip(sigma, (0,)), xp.flip(Vt, (0,)).T


def _of_triangle(R):
    """Return singular values, smallest first, and vectors of the short side from R."""
    try:
        _, sigma, Vt = linalg.svd(R, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:  # gesdd can fail in cases where the slower gesvd does not
        _, sigma, Vt = linalg.svd(R, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return np.flip(sigma), np.flip(Vt, axis=0).T


def gram_of(A):
    """Return A A^T in float64."""
    return _gram(A, True)


def triangle_of(A):
    """Return R of a QR factorisation of A^T in float64."""
    return np.linalg.qr(double(A.T), mode="r")


def apply_root(A, root):
    """Return root root^T A."""
    return _apply(A, np.asarray(root, dtype=A.dtype), True)


def _apply(A, root, wide, out=None):
    """Apply root @ root.T to the short side of A, in the cheaper order."""
    xp, (short, rank) = namespace(A), root.shape
    if 2 * rank < short:
        factors = (root, root.T @ A) if wide else (A @ root, root.T)
    else:
        projector = root @ root.T
        factors = (projector, A) if wide else (A, projector)
    return xp.matmul(*factors, out=out)
