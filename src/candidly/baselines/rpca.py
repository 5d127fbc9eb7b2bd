"""RPCA: robust principal component analysis of labels and features stacked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from candidly.baselines.stacked import RecoveredLabels, StackedMethod
from candidly.parameters import ABOVE_ONE, COUNT, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers import Status
from candidly.solvers.arrays import Floats
from candidly.solvers.kernels.sweep import denoise, multiply
from candidly.solvers.low_rank import singular_value_threshold, singular_values
from candidly.solvers.prox import soft_threshold


class RPCA(StackedMethod):
    """Robust PCA of [P; X], labels read off the low-rank part (Lin 2009).

    The inexact augmented Lagrangian splits the stacked matrix, as it is, into a low-rank and
    a sparse part. It knows no candidates: they only restrict the label that is read off in
    the end. It is here to show what the constraints of MCar are worth.

    Assumed: every feature is scaled to [0, 1]; the multipliers start at D / max(|D|_2,
    |D|_inf / lambda), mu at 1.25 / |D|_2; a row whose candidates are all below 0 is shifted
    up, which leaves their order.

    Parameters
    ----------
    noise_weight : float
        lambda in units of 1 / sqrt(max(rows, columns)).
    rho : float
        Growth of mu per iteration, above 1.
    tol : float
        Stop when |D - A - E|_F is below ``tol`` times |D|_F.
    max_iter : int
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("RPCA").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.4
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **StackedMethod._parameter_constraints,
        "noise_weight": POSITIVE,
        "rho": ABOVE_ONE,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        noise_weight: float = 1.0,
        rho: float = 1.6,
        tol: float = 1e-7,
        max_iter: int = 200,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.noise_weight = noise_weight
        self.rho = rho
        self.tol = tol
        self.max_iter = max_iter

    def recover(self, P: Floats, X: Floats) -> RecoveredLabels:
        """Return the label rows of the low-rank part."""
        D = np.vstack([P, X])
        lam = self.noise_weight / np.sqrt(max(D.shape))
        parts = robust_pca(D, lam, rho=self.rho, tol=self.tol, max_iter=self.max_iter)
        rows = parts.low_rank[: len(P)]
        return RecoveredLabels(rows, rows, parts.residuals, parts.status)


@dataclass(frozen=True)
class LowRankPlusSparse:
    """Decomposition D = low_rank + sparse, and the relative residual along the iterations."""

    low_rank: Floats
    sparse: Floats
    residuals: list[float]
    status: Status


def robust_pca(
    D: Floats, lam: float, *, rho: float = 1.6, tol: float = 1e-7, max_iter: int = 200
) -> LowRankPlusSparse:
    """Minimise |A|_* + lam*|E|_1 with A + E = D, by the inexact augmented Lagrangian.

    E is never formed: B = D - E + Y/mu is all that an iteration needs of it.
    """
    D = np.ascontiguousarray(D)
    A, B, residuals, status = np.zeros_like(D), np.empty_like(D), [], Status.MAX_ITER
    spectral, size = float(singular_values(D)[-1]), float(np.linalg.norm(D))
    if size == 0:
        return LowRankPlusSparse(A, A, [0.0], Status.CONVERGED)
    Y = D / max(spectral, float(np.abs(D).max()) / lam)
    mu, rank = 1.25 / spectral, 1
    for _ in range(int(max_iter)):
        denoise(B, A, Y, D, mu, lam / mu)
        A, shrunk = singular_value_threshold(B, 1 / mu, A, rank)
        change, rank = multiply(Y, B, A, mu), len(shrunk)
        residuals.append(float(np.sqrt(change)) / (mu * size))
        mu = min(rho * mu, 1e7 * 1.25 / spectral)  # beyond, rounding is all that is left
        if residuals[-1] < tol:
            status = Status.CONVERGED
            break
    E = soft_threshold(D - A + Y / mu, lam / mu)
    return LowRankPlusSparse(A, E, residuals, status)


register(
    "RPCA",
    RPCA,
    "Lin, Chen & Ma (2009), as tailored by Chen, Patel & Chellappa (2018)",
    "about 30 singular value decompositions of labels and features stacked",
    "a baseline: what low rank gives without the constraints of MCar",
)
