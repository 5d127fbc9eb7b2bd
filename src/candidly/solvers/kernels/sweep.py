"""The elementwise parts of an iteration of the ALM, one pass over the arrays each."""

from __future__ import annotations

from candidly.solvers.arrays import namespace
from candidly.solvers.kernels.compiling import kernel

# Sums in any order, so that they use vector units; infinities and NaN keep their meaning.
SUMS = {"reassoc", "contract", "nsz"}


def _denoise_loops(A, H, L, X, mu, bound):
    rows, columns = A.shape
    inverse, above, below = A.dtype.type(1 / mu), A.dtype.type(bound), A.dtype.type(-bound)
    total = 0.0
    for i in range(rows):
        size = 0.0
        for j in range(columns):
            t = X[i, j] - H[i, j] + L[i, j] * inverse
            clipped = above if t > above else (below if t < below else t)
            size += abs(t - clipped)
            A[i, j] = H[i, j] + clipped
        total += size
    return total


@kernel(_denoise_loops, fastmath=SUMS)
def denoise(A, H, L, X, mu, bound):
    """Set A = H + clip(T, bound) = X - E + L/mu, with T = X - H + L/mu; return |E|_1.

    E = T - clip(T, bound) = S_bound[T] (Alg. 1, line 5; line 4 is the same with X = 0).
    """
    xp = namespace(A)
    A[...] = L
    A /= mu
    A += X
    A -= H
    size = xp.abs(A).sum(dtype=xp.float64)
    xp.clip(A, -bound, bound, out=A)
    size = size - xp.abs(A).sum(dtype=xp.float64)  # |T - clip(T)| = |T| - |clip(T)|
    A += H
    return size


def _multiply_loops(L, A, H, mu):
    rows, columns = A.shape
    factor = A.dtype.type(mu)
    total = 0.0
    for i in range(rows):
        size = 0.0
        for j in range(columns):
            after = factor * (A[i, j] - H[i, j])
            change = after - L[i, j]
            size += change * change
            L[i, j] = after
        total += size
    return total


@kernel(_multiply_loops, fastmath=SUMS)
def multiply(L, A, H, mu):
    """Set L = mu*(A - H) (Alg. 1, line 8); return |change of L|_F^2 = mu^2 |H_obs - H - E|_F^2.

    A is overwritten.
    """
    xp = namespace(A)
    A -= H
    A *= mu
    L -= A
    change = xp.square(L, out=L).sum(dtype=xp.float64)
    L[...] = A
    return change
