"""Constraints by their formulas on whole matrices Y (c x N) and masks."""

from __future__ import annotations

import numpy as np


def normalise(Y, P, mask):
    """Scale columns to sum to 1; one without mass gets its part of P, or equal labels."""
    Y = np.where(mask, np.maximum(Y, 0), 0)
    for j in np.flatnonzero(Y.sum(axis=0) <= 0):
        prior = np.where(mask[:, j], P[:, j], 0)
        Y[:, j] = prior if prior.sum() > 0 else mask[:, j]
    return Y / Y.sum(axis=0)


def project_to_simplex(Y, mask):
    """The nearest point of each column's simplex, by sorting (Held, Wolfe & Crowder, 1974)."""
    B = np.zeros(Y.shape)
    for j, allowed in enumerate(mask.T):
        y = Y[allowed, j]
        ordered = np.sort(y)[::-1]
        excess = (np.cumsum(ordered) - 1) / np.arange(1, len(y) + 1)
        B[allowed, j] = np.maximum(y - excess[np.flatnonzero(ordered > excess)[-1]], 0)
    return B


def at_most_once(Y, groups, null):
    """Every name of a group divided by its mass there, where that exceeds 1."""
    sums = np.zeros(Y.shape)
    for j, group in enumerate(groups):
        sums[:, j] = Y[:, groups == group].sum(axis=1)
    if null is not None:
        sums[null] = 0
    return Y / np.maximum(sums, 1), np.maximum(sums - 1, 0).max()


def at_least_one_named(Y, mask, groups, null, exempt):
    """Every name of a group divided by the mass of all names there, where that is below 1."""
    named, could = np.delete(Y, null, axis=0), np.delete(mask, null, axis=0)
    Y, worst = Y.copy(), 0.0
    for group in set(groups.tolist()) - exempt:
        own = np.flatnonzero(groups == group)
        if could[:, own].any():
            mass = named[:, own].sum()
            worst = max(worst, 1 - mass)
            if mass > 0:
                rows = np.delete(np.arange(len(Y)), null)
                Y[np.ix_(rows, own)] /= min(mass, 1)
    return Y, worst


def must_link(Y, mask, linked):
    """Linked columns all their mean, on the classes that all of them could have."""
    Y, worst = Y.copy(), 0.0
    for own in linked:
        worst = max(worst, np.ptp(Y[:, own], axis=1).max())
        mean = Y[:, own].mean(axis=1)
        shared = mean * mask[:, own].all(axis=1)
        Y[:, own] = (shared if shared.any() else mean)[:, None]
    return np.where(mask, Y, 0), worst


def cannot_link(Y, pairs, null):
    """Every label divided by the largest mass above 1 of a pair that it is in."""
    divisor, worst = np.ones(Y.shape), 0.0
    for a, b in pairs:
        mass = Y[:, a] + Y[:, b]
        if null is not None:
            mass[null] = 0
        worst = max(worst, mass.max() - 1)
        divisor[:, a], divisor[:, b] = (
            np.maximum(divisor[:, a], mass),
            np.maximum(divisor[:, b], mass),
        )
    return Y / divisor, worst


def proportions(Y, wanted, sweeps):
    """Rows scaled to the proportions and columns to 1 in turn."""
    size = np.asarray(wanted) / np.sum(wanted) * Y.shape[1]
    worst = np.abs(Y.sum(axis=1) - size).max() / Y.shape[1]
    for _ in range(sweeps):
        total = Y.sum(axis=1)
        scaled = total > 1e-9 * size
        Y = Y * np.where(scaled, size / np.where(scaled, total, 1), 1)[:, None]
        mass = Y.sum(axis=0)
        Y = np.where(mass > 0, Y / np.where(mass > 0, mass, 1), 0)
    return Y, worst
