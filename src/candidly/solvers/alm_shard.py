"""One shard of Algorithm 1: columns of [Y; Z], and their part of an iteration.

Everything is of one column but the singular vectors, which follow from one Gram matrix of all
columns (``low_rank``), and the stopping tests, which are sums.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from candidly.solvers.arrays import double, namespace
from candidly.solvers.kernels.sweep import denoise, multiply
from candidly.solvers.label_rows import LabelRows
from candidly.solvers.low_rank import apply_root, gram_of, triangle_of
from candidly.solvers.shards import Part


class AlmShard:
    """Columns of a weighted problem, with H = [Y; Z], the multipliers L, and A of this iteration.

    Parameters
    ----------
    observed : (c + m, N) array
        [P; X] W.
    labels : LabelRows
    lam, gamma : float
        Penalties on noise and on labels.
    """

    def __init__(self, observed: Any, labels: LabelRows, lam: float, gamma: float) -> None:
        self.xp = namespace(observed)
        self.observed, self.labels = observed, labels
        self.lam, self.gamma = lam, gamma
        self.c = labels.sets.n_classes
        self.H: Any = None
        self.L: Any = None
        self.scores: Any = None
        self.chosen: Any = None
        self._mu: float | None = None

    @cached_property
    def A(self) -> Any:
        """Overwritten by every iteration."""
        return self.xp.empty_like(self.observed)

    @cached_property
    def _nothing(self) -> Any:
        """What is observed of labels where P cancels."""
        return self.xp.zeros_like(self.observed[: self.c])

    def start(self, largest: float) -> None:
        """Set Y = Z = 0 and L = H_obs/sigma_1 (line 2)."""
        self.L = self.observed / largest
        self.H = self.xp.zeros_like(self.L)

    def denoise(self, mu: float) -> Any:
        """Set A = H_obs - E + L/mu (lines 4-5); return lam*|E_X|_1 + gamma*|P - E_P|_1."""
        c, A, H, L, X = self.c, self.A, self.H, self.L, self.observed[self.c :]
        labels = denoise(A[:c], H[:c], L[:c], self._nothing, mu, self.gamma / mu)
        features = denoise(A[c:], H[c:], L[c:], X, mu, self.lam / mu)
        self._mu = mu
        return self.gamma * labels + self.lam * features

    def update(self, H: Any, mu: float) -> tuple[Any, Any, Any, Any]:
        """Take the low-rank H (lines 8 and 13-16); A is overwritten.

        Return squares of the change of L, of the gap and of the norm of labels, and how many
        instances have another best candidate.
        """
        xp, c, labels = self.xp, self.c, self.labels
        labels.level(H)  # before rounding errors of twins are in L
        change = multiply(self.L, self.A, H, mu)  # line 8
        self._mu = None
        self.scores = labels.read(H[:c])
        y = labels.project(self.scores)  # lines 13-16
        Y = labels.rows(y)
        gap, norm = xp.linalg.norm(Y - H[:c]), xp.linalg.norm(Y)
        H[:c] = Y
        self.H = H
        before, self.chosen = self.chosen, labels.best(y)
        changed = len(self.chosen) if before is None else (self.chosen != before).sum()
        return change, gap, norm, changed

    # The same as calls of many shards

    def observe(self) -> Part:
        """Return the Gram matrix of what is observed, and its squared norm and that of labels."""
        norm = self.xp.linalg.norm
        sums = {
            "gram": gram_of(self.observed),
            "norm": float(norm(self.observed)) ** 2,
            "label_norm": float(norm(self.observed[: self.c])) ** 2,
        }
        return Part(sums)

    def begin(self, largest: float, mu: float) -> Part:
        """Start, and return the Gram matrix of the first A."""
        self.start(largest)
        penalty = self.denoise(mu)
        return Part({"gram": gram_of(self.A), "penalty": float(penalty)})

    def step(self, root: Any, resolved: bool, mu: float, after: float) -> Part:
        """Run an iteration by the singular vectors of A; return the Gram matrix of the next A."""
        self._ready(mu)
        A = self.A if resolved else double(self.A)
        H = self.xp.asarray(apply_root(A, root), dtype=self.A.dtype)
        change, gap, norm, changed = self.update(H, mu)
        penalty = self.denoise(after)
        sums = {"change": float(change), "gap": float(gap) ** 2, "norm": float(norm) ** 2}
        sums |= {"changed": int(changed), "gram": gram_of(self.A), "penalty": float(penalty)}
        return Part(sums)

    def gram_without(self, basis: Any, mu: float) -> Part:
        """Return the Gram matrix of A without some directions."""
        self._ready(mu)
        A = double(self.A)
        return Part({"gram": gram_of(A - basis @ (basis.T @ A))})

    def triangle(self, mu: float) -> Part:
        """Return R of a QR factorisation of A^T; those of all shards, stacked, have that of all."""
        self._ready(mu)
        return Part(rows={"R": triangle_of(self.A)})

    def _ready(self, mu: float) -> None:
        """Have A at hand; it follows from H and L."""
        if self._mu != mu:
            self.denoise(mu)
