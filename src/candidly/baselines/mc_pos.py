"""MC-Pos: matrix completion with features that stay positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from candidly.baselines.stacked import RecoveredLabels, StackedMethod
from candidly.parameters import COUNT, INSIDE_UNIT, POSITIVE, Constraints
from candidly.registry import register
from candidly.solvers import Status
from candidly.solvers.arrays import Floats
from candidly.solvers.low_rank import singular_value_threshold, singular_values


class MCPos(StackedMethod):
    """Matrix completion of [P; X; 1] with positive features (Cabral 2014).

    Minimises mu*|Z|_* plus the mean chi-squared distance of the features plus ``label_weight``
    times the mean logistic loss of the labels, by fixed-point continuation: gradient step,
    shrinkage of the singular values, features clipped at 0, last row reset to 1; mu falls from
    the largest singular value by a factor. It knows no candidates: they only restrict the
    label that is read off in the end.

    Assumed: every feature is scaled to [0, 1], as the chi-squared distance needs. All labels
    are observed, -1 or 1 as published, and a soft label counts for both: its loss is
    P*l(z) + (1 - P)*l(-z). (With P itself as the observed label, a smaller one would have to
    be recovered as a larger z.) The soft labels that come out are the probabilities of this
    loss. label_weight is 1, the steepness 15 and the last mu 1e-5.
    The published step, min(3.8*|labels|/lambda, |features|), is for a steepness of 1: the
    first part is divided by it. Near 0 the chi-squared distance bends more than the step
    allows: it is halved while the objective would rise.

    Parameters
    ----------
    label_weight : float
        lambda, the weight of the label loss.
    steepness : float
        gamma of the logistic loss.
    mu_factor : float
        Factor by which mu falls, between 0 and 1.
    mu_end : float
        The last mu.
    tol : float
        Relative fall of the objective below which the next mu follows.
    max_iter : int
        Largest number of steps per mu.
    classifier, sparse_output, random_state
        As in every compared method; nothing is drawn.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=30, n_extra=1, random_state=0)
    >>> model = candidly.methods.get("MC-Pos").fit(digits.X, digits.candidates)
    >>> candidly.labelling_error(digits.y, model.transduction_) < 0.4
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **StackedMethod._parameter_constraints,
        "label_weight": POSITIVE,
        "steepness": POSITIVE,
        "mu_factor": INSIDE_UNIT,
        "mu_end": POSITIVE,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        *,
        label_weight: float = 1.0,
        steepness: float = 15.0,
        mu_factor: float = 0.25,
        mu_end: float = 1e-5,
        tol: float = 1e-4,
        max_iter: int = 50,
        classifier: Any = "auto",
        sparse_output: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classifier=classifier, sparse_output=sparse_output, random_state=random_state
        )
        self.label_weight = label_weight
        self.steepness = steepness
        self.mu_factor = mu_factor
        self.mu_end = mu_end
        self.tol = tol
        self.max_iter = max_iter

    def recover(self, P: Floats, X: Floats) -> RecoveredLabels:
        """Return the label rows of the completed matrix."""
        losses = CompletionLosses(P, X, self.label_weight, self.steepness)
        Z = np.vstack([2 * P - 1, X, np.ones(X.shape[1])])
        mu = self.mu_factor * float(singular_values(Z)[-1])
        trace: list[float] = []
        while True:
            Z, objective = losses.minimise(Z, mu, self.tol, self.max_iter)
            trace.append(objective[-1])
            if mu <= self.mu_end:
                rows = Z[: len(P)]
                return RecoveredLabels(rows, expit(self.steepness * rows), trace, Status.DONE)
            mu = max(self.mu_factor * mu, self.mu_end)


@dataclass(frozen=True)
class CompletionLosses:
    """The losses of Z = [Y; X; 1] against what was observed, and their minimiser for a mu."""

    P: Floats
    X: Floats
    label_weight: float
    steepness: float

    def value(self, Z: Floats) -> float:
        """Return the mean chi-squared distance of features plus weighted mean loss of labels."""
        c = len(self.P)
        # P*l(z) + (1 - P)*l(-z) with l(z) = log(1 + exp(-gamma*z)) / gamma
        logistic = np.logaddexp(0, -self.steepness * Z[:c]) / self.steepness + (1 - self.P) * Z[:c]
        features = chi2(Z[c:-1], self.X)
        return float(features.mean() + self.label_weight * logistic.mean())

    def gradient(self, Z: Floats) -> Floats:
        """Return the gradient of :meth:`value`; 0 for the last row, which is fixed."""
        c, g = len(self.P), np.zeros_like(Z)
        slope = expit(self.steepness * Z[:c]) - self.P
        g[:c] = self.label_weight * slope / self.P.size
        g[c:-1] = chi2_slope(Z[c:-1], self.X) / self.X.size
        return g

    def minimise(
        self, Z: Floats, mu: float, tol: float, max_iter: int
    ) -> tuple[Floats, list[float]]:
        """Run the fixed-point iterations for one mu; the objective never rises."""
        curvature = self.label_weight * self.steepness
        longest = min(3.8 * self.P.size / curvature, self.X.size)
        tau, trace = longest, [self.objective(Z, mu)]
        for _ in range(int(max_iter)):
            gradient, before = self.gradient(Z), trace[-1]
            step = self._step(Z, gradient, tau, mu)
            while (after := self.objective(step, mu)) > before and tau > 1e-6 * longest:
                tau /= 2
                step = self._step(Z, gradient, tau, mu)
            if after > before:
                break  # clipping undoes what a step gains: the minimum for this mu is reached
            Z = step
            trace.append(after)
            if before - after <= tol * abs(before):
                break
        return Z, trace

    def objective(self, Z: Floats, mu: float) -> float:
        """Return mu*|Z|_* plus the losses."""
        return mu * float(singular_values(Z).sum()) + self.value(Z)

    def _step(self, Z: Floats, gradient: Floats, tau: float, mu: float) -> Floats:
        c = len(self.P)
        A, _ = singular_value_threshold(Z - tau * gradient, tau * mu)
        A[c:-1] = np.maximum(A[c:-1], 0)
        A[-1] = 1
        return A


def chi2(z: Floats, x: Floats) -> Floats:
    """Return (z - x)^2 / (z + x) of non-negative values; 0 where both are 0."""
    total = z + x
    return (z - x) ** 2 / np.where(total > 0, total, 1)


def chi2_slope(z: Floats, x: Floats) -> Floats:
    """Return the derivative of :func:`chi2` by z: 1 - 4*(x / (z + x))^2; 0 where both are 0."""
    total = z + x
    part = np.where(total > 0, x / np.where(total > 0, total, 1), 0.5)
    return 1 - 4 * part**2


register(
    "MC-Pos",
    MCPos,
    "Cabral et al. (2014), as tailored by Chen, Patel & Chellappa (2018)",
    "some hundred singular value decompositions of labels and features stacked",
    "a baseline: histograms and other features that are never negative",
)
