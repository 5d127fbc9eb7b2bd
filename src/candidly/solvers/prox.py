"""The proximal operator of the l1 norm, with the problem it solves."""

from __future__ import annotations

from candidly.solvers.arrays import namespace


def soft_threshold(A, tau):
    """Return S_tau[A] = argmin_B tau*|B|_1 + 1/2 |A - B|_F^2."""
    xp = namespace(A)
    return xp.sign(A) * xp.clip(xp.abs(A) - tau, 0, None)
