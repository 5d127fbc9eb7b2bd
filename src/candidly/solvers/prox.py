"""The proximal operator of the l1 norm, with the problem it solves."""

from __future__ import annotations

import numpy as np


def soft_threshold(A, tau):
    """S_tau[A] = argmin_B tau*|B|_1 + 1/2 |A - B|_F^2."""
    return np.sign(A) * np.maximum(np.abs(A) - tau, 0)
