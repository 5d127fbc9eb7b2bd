"""Proximal operators: one line each, with the problem it solves."""

from __future__ import annotations

import numpy as np


def soft_threshold(A, tau):
    """S_tau[A] = argmin_B tau*|B|_1 + 1/2 |A - B|_F^2."""
    return np.sign(A) * np.maximum(np.abs(A) - tau, 0)


def clip(A, tau):
    """A - S_tau[A]: the projection of A onto the box [-tau, tau]."""
    return np.clip(A, -tau, tau)
