"""The paper's algorithms line by line, with a full SVD and every array: slow and plain.

Kept apart from the package: nothing here is shared with the code it checks.
"""

from __future__ import annotations

from math import ceil

import numpy as np


def shrink(A, tau):
    return np.sign(A) * np.maximum(np.abs(A) - tau, 0)


def project_labels(Ybar, P, mask, w, least=0.0):
    """Lines 13-16, and P where a column has no mass."""
    Ybar = Ybar.copy()
    Ybar[~mask] = 0
    Ybar = np.maximum(Ybar, 0)
    for j in range(Ybar.shape[1]):
        column = Ybar[:, j] if Ybar[:, j].sum() > least * w[j] else P[:, j] * mask[:, j]
        Ybar[:, j] = w[j] * (column / column.sum())
    return Ybar


def algorithm_1_step(state, P, X, mask, w, lam, gamma, rho, mu_max):
    """One pass of lines 4-16 on state (Ybar, Zbar, Lambda, mu)."""
    Y, Z, L, mu = state
    c = len(P)
    Pbar, Xbar = P * w, X * w
    H_obs = np.vstack([Pbar, Xbar])
    E_P = Pbar - shrink(Y - L[:c] / mu, gamma / mu)  # line 4
    E_X = shrink(Xbar - Z + L[c:] / mu, lam / mu)  # line 5
    E = np.vstack([E_P, E_X])
    U, sigma, Vt = np.linalg.svd(H_obs - E + L / mu, full_matrices=False)  # line 6
    H = (U * shrink(sigma, 1 / mu)) @ Vt  # line 7
    L = L + mu * (H_obs - H - E)  # line 8
    residual = np.linalg.norm(H_obs - H - E) / np.linalg.norm(H_obs)
    Y = project_labels(H[:c], P, mask, w, least=1e-9)  # lines 10-16; less is rounding
    gap = np.linalg.norm(Y - H[:c]) / np.linalg.norm(Y)
    objective = (
        shrink(sigma, 1 / mu).sum() + lam * np.abs(E_X).sum() + gamma * np.abs(Pbar - E_P).sum()
    )
    return (Y, H[c:], L, min(rho * mu, mu_max)), residual, gap, objective, H[:c]


def noise(state, P, X, w, lam, gamma):
    """Lines 4 and 5 on state (Ybar, Zbar, Lambda, mu): E = [E_P; E_X], unweighted."""
    Y, Z, L, mu = state
    E_P = P * w - shrink(Y - L[: len(P)] / mu, gamma / mu)
    E_X = shrink(X * w - Z + L[len(P) :] / mu, lam / mu)
    return E_P / w, E_X / w


def algorithm_1(P, X, mask, w, lam, gamma, rho, mu, mu_max, tol, max_iter):
    """Whole Algorithm 1; returns Y, Z and the number of iterations."""
    H_obs = np.vstack([P, X]) * w
    state = (np.zeros_like(P), np.zeros_like(X), H_obs / np.linalg.norm(H_obs, 2), mu)
    iterations = 0
    while iterations < max_iter:
        iterations += 1
        state, residual, gap, *_ = algorithm_1_step(state, P, X, mask, w, lam, gamma, rho, mu_max)
        if residual <= tol and gap <= tol:
            break
    return state[0] / w, state[1] / w, iterations


def algorithm_2(labeller, P, mask, fraction, rounds):
    """ICE with loops; the labeller maps (P, mask) to (Y, unprojected scores)."""
    mask = mask.copy()
    for _ in range(rounds):
        if not (mask.sum(axis=0) > 1).any():
            break
        Y, scores = labeller(P, mask)
        least = []
        ambiguous = [j for j in range(mask.shape[1]) if mask[:, j].sum() > 1]
        for j in ambiguous:
            i = min(np.flatnonzero(mask[:, j]), key=lambda i: (Y[i, j], scores[i, j], i))
            least.append((Y[i, j], scores[i, j], i, j))
        for _, _, i, j in sorted(least)[: ceil(fraction * len(ambiguous) - 1e-9)]:
            mask[i, j] = False
        P = project_labels(Y, P, mask, np.ones(mask.shape[1]))
    return P, mask


def algorithm_3_projection(Y, P, mask, groups, null):
    """Lines 11-29 with loops, on unweighted Y; an all-null photo is skipped (0/0)."""
    N = Y.shape[1]
    ones = np.ones(N)
    names = [i for i in range(len(Y)) if i != null]
    Y = project_labels(Y, P, mask, ones)  # lines 11-13
    for k in set(groups):  # lines 15-21
        photo = [j for j in range(N) if groups[j] == k]
        if any(mask[i, j] for i in names for j in photo):
            total = sum(Y[i, g] for i in names for g in photo)
            if total > 1e-9:  # less is rounding
                for j in photo:
                    for i in names:
                        Y[i, j] = Y[i, j] / min(total, 1)
    Y = Y / Y.sum(axis=0)  # line 22
    for k in set(groups):  # lines 24-28
        photo = [j for j in range(N) if groups[j] == k]
        for i in names:
            total = sum(Y[i, g] for g in photo)
            for j in photo:
                Y[i, j] = Y[i, j] / max(total, 1)
    return Y / Y.sum(axis=0)  # line 29
