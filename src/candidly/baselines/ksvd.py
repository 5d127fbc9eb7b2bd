"""Dictionaries by weighted K-SVD, and codes: by matching pursuit on one, by ridge on several."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from candidly.solvers.arrays import Floats

RIDGE = 0.01
"""Penalty on codes over several dictionaries, for rows and atoms of unit norm."""


def squared_residual(X: Floats, atoms: Floats | None, sparsity: int) -> Floats:
    """Return the squared residual of each row on its code; without a dictionary, its norm."""
    if atoms is None or not len(X):
        return (X**2).sum(axis=1)
    return ((X - pursue(X, atoms, sparsity) @ atoms) ** 2).sum(axis=1)


def joint_residuals(X: Floats, dictionaries: Sequence[Floats | None]) -> Floats:
    """Return the squared residual of each row on each class's part of one code over all, (n, c).

    The code has the least |x - sum_j D_j' a_j|^2 + RIDGE |a|^2; the residual of class j is
    |x - D_j' a_j|^2. Without a dictionary it is the norm.
    """
    found = np.repeat((X**2).sum(axis=1)[:, None], len(dictionaries), axis=1)
    known = [(j, atoms) for j, atoms in enumerate(dictionaries) if atoms is not None]
    if not known or not len(X):
        return found
    every = np.vstack([atoms for _, atoms in known])
    codes = np.linalg.solve(every @ every.T + RIDGE * np.eye(len(every)), every @ X.T)
    start = 0
    for j, atoms in known:
        part = codes[start : start + len(atoms)]
        found[:, j] = ((X - part.T @ atoms) ** 2).sum(axis=1)
        start += len(atoms)
    return found


def pursue(X: Floats, atoms: Floats, sparsity: int) -> Floats:
    """Return codes by orthogonal matching pursuit, for all rows at once.

    Parameters
    ----------
    X : (n, r) array
    atoms : (K, r) array
        Rows of unit norm.
    sparsity : int
        Largest number of atoms that a row uses.

    Returns
    -------
    (n, K) array
    """
    return _match(atoms @ X.T, atoms @ atoms.T, (X**2).sum(axis=1), sparsity).T


def _match(products: Floats, gram: Floats, norms: Floats, sparsity: int) -> Floats:
    """Return codes (K, n) from the products of atoms with rows and atoms, and rows' norms."""
    (K, n), T = products.shape, min(sparsity, len(gram))
    row, left, nothing = np.arange(n), products.copy(), 1e-10 * np.sqrt(norms)
    # Chosen atoms are made orthonormal: their products with all atoms, and with those chosen.
    frame, along = np.empty((T, K * n)), np.empty((T, T, n))
    chosen, scale, step = np.empty((T, n), np.intp), np.empty((T, n)), np.empty((T, n))
    for t in range(T):
        best = chosen[t] = np.abs(left).argmax(axis=0)
        place = best * n + row
        pull, made_up = left.take(place), frame[:t].take(place, axis=1)
        size = 1 - (made_up * made_up).sum(axis=0)
        # A row that is fitted already, or an atom that the chosen ones make up, adds nothing.
        adds = (np.abs(pull) > nothing) & (size > 1e-8)
        along[t, :t], scale[t] = made_up, adds / np.sqrt(np.maximum(size, 1e-8))
        step[t] = pull * scale[t]
        if t + 1 < T:
            new = gram.take(best, axis=1)
            new -= np.einsum("tn,tkn->kn", made_up, frame[:t].reshape(t, K, n))
            new *= scale[t]
            frame[t] = new.ravel()
            left -= step[t] * new
    # Back from the orthonormal frame to atoms; one chosen again, adding nothing, is overwritten.
    codes = np.zeros((K, n))
    for t in reversed(range(T)):
        step[t] *= scale[t]
        step[:t] -= along[t, :t] * step[t]
        codes[chosen[t], row] = step[t]
    return codes


def ksvd(X: Floats, atoms: Floats, sparsity: int, n_iter: int) -> tuple[Floats, list[float]]:
    """Return a dictionary for rows of X by K-SVD from a first one; atoms have unit norm.

    A row keeps its last code where the pursuit, being greedy, finds a worse one, and an
    atom and its coefficients are fitted to what the others leave by one step of the power
    method: so the error never rises. An atom that nobody uses becomes the row fitted worst.

    Rows may be long: they are read in at most three matrix products per iteration, and all
    else works on codes and on the products of atoms with rows, (K, n).

    Returns
    -------
    atoms : (K, r) array
    errors : list of float
        |X - codes @ atoms|_F^2 after each iteration, to the rounding of |X|_F^2.
    """
    atoms, errors = atoms.copy(), []
    codes, products = np.zeros((len(atoms), len(X))), atoms @ X.T
    norms = (X**2).sum(axis=1)
    error = norms
    for _ in range(n_iter):
        gram = atoms @ atoms.T
        found = _match(products, gram, norms, sparsity)
        better = _error(found, products, gram, norms) < error
        codes[:, better] = found[:, better]
        idle = _update(X, codes, atoms, products)
        error = _error(codes, products, atoms @ atoms.T, norms)
        errors.append(float(error.sum()))
        worst = np.argsort(-error, kind="stable")[: len(idle)]
        for k, i in zip(idle, worst, strict=False):
            size = np.linalg.norm(X[i])
            if error[i] > 0 and size > 0:
                atoms[k], codes[k] = X[i] / size, 0
                products[k] = X @ atoms[k]
    return atoms, errors


def _error(codes: Floats, products: Floats, gram: Floats, norms: Floats) -> Floats:
    """Return |x - code @ atoms|^2 of each row x, without forming the difference."""
    return np.maximum(norms + (codes * (gram @ codes - 2 * products)).sum(axis=0), 0)


def _update(X: Floats, codes: Floats, atoms: Floats, products: Floats) -> list[int]:
    """Fit each atom and its coefficients, in place, to what the others leave.

    Returns the atoms that no row uses.

    What the others leave of X is never formed. An atom's coefficients stay until its turn, so
    their products with X are known for all atoms at once, before the first turn.
    """
    used = (codes != 0).astype(np.float64)
    sums = codes @ X
    spread = sums @ X.T
    idle = []
    for k in range(len(atoms)):
        others = codes @ codes[k]
        least, others[k] = 1e-24 * others[k], 0
        direction = sums[k] - others @ atoms
        square = float(direction @ direction)
        if not square > least:
            idle.append(k)
            continue
        size = sqrt(square)
        atoms[k] = direction / size
        products[k] = (spread[k] - others @ products) / size
        overlap = atoms @ atoms[k]
        overlap[k] = 0
        codes[k] = (products[k] - overlap @ codes) * used[k]
    return idle
