"""What every solver returns: soft labels, recovered features if any, and how the solve went."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from candidly.solvers.candidate_sets import CandidateSets


class Status(Enum):
    """How a solve ended, in words that say what to do next.

    Examples
    --------
    >>> from candidly.solvers import Status
    >>> Status.MAX_ITER.value
    'stopped at max_iter; raise it, raise rho, or raise tol'
    """

    CONVERGED = "converged: what the solver tests for stopping is below tol"
    MAX_ITER = "stopped at max_iter; raise it, raise rho, or raise tol"
    DONE = "done: ran all its iterations; more change little"
    STALLED = (
        "stopped: mu is at its largest and no label changes any more; where the label gap is "
        "large, the constraints contradict the low rank: raise rho, or drop one"
    )
    RESOLVED = "every instance is down to one candidate"
    DOUBTFUL = "doubtful: all labels, or those of some names, may be wrong; doubts says why"
    MAX_ROUNDS = "stopped after max_rounds; raise it to go on"


@dataclass(frozen=True)
class Step:
    """One iteration of a solver, as it is reported while it runs."""

    residual: float
    gap: float
    rank: int
    mu: float
    objective: float
    changed: int


@dataclass
class Trace:
    """The iterations of one solve, in order.

    Examples
    --------
    >>> from candidly.solvers import Trace
    >>> len(Trace())
    0
    """

    steps: list[Step] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.steps)

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one quantity along the iterations, e.g. ``column("residual")``."""
        return np.array([getattr(step, name) for step in self.steps])

    def changed_in(self, count: int) -> bool:
        """Return whether a label changed in the last iterations, or there were fewer so far."""
        return len(self) < count or any(step.changed for step in self.steps[-count:])

    @property
    def labels_changed(self) -> int:
        """Number of label changes over the last ten iterations."""
        return sum(step.changed for step in self.steps[-10:])


@dataclass(frozen=True)
class Round:
    """One round of candidate elimination (Algorithm 2)."""

    ambiguous: int
    eliminated: int
    iterations: int
    status: Status


@dataclass(frozen=True)
class Solution:
    """Result of a solve: soft labels as vectors over the entries of candidate sets.

    Attributes
    ----------
    labels : (E,) array
        Y: soft labels of the candidates, those of an instance summing to 1.
    scores : (E,) array
        The labels before their projection; orders what the projection ties at 0.
    sets : CandidateSets
        The entries: the candidates given, or more of them where a solver opens sets.
    status : Status
    trace : Trace
    features : (m, N) array or None
        Z: the low-rank features, from solvers that recover them.
    noise : (m, N) array or None
        E_X: what was removed from the features as noise, by one more line 5 at the end.
    label_noise : (c, N) array or None
        E_P: what was removed from the soft labels given, by one more line 4 at the end; it also
        has entries where a class is no candidate, as small as the label gap there.
    violations : dict of str to float
        How far the soft labels are from each constraint; projections can undo each other.
    rounds : tuple of Round
        Filled by candidate elimination only.
    doubts : tuple of str
        What makes all labels, or those of some names, doubtful, from solvers that notice.

    Examples
    --------
    >>> import candidly
    >>> digits = candidly.datasets.load("digits", each=20, n_extra=1, random_state=0)
    >>> solution = candidly.MCar().fit(digits.X, digits.candidates).solution_
    >>> solution.labels.shape, solution.features.shape, solution.trace.labels_changed
    ((400,), (64, 200), 0)
    >>> solution.matrix().shape
    (10, 200)
    """

    labels: NDArray[np.floating]
    scores: NDArray[np.floating]
    sets: CandidateSets
    status: Status
    trace: Trace
    features: NDArray[np.floating] | None = None
    noise: NDArray[np.floating] | None = None
    label_noise: NDArray[np.floating] | None = None
    violations: dict[str, float] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    doubts: tuple[str, ...] = ()

    def matrix(self) -> NDArray[np.floating]:
        """Return the soft labels in the paper's shape (c x N), 0 off the candidates."""
        return self.sets.matrix(self.labels)

    def __repr__(self) -> str:
        features = "" if self.features is None else f", features {self.features.shape}"
        counts = {"rounds": self.rounds, "doubts": self.doubts}
        more = "".join(f", {len(found)} {name}" for name, found in counts.items() if found)
        return (
            f"Solution({self.status.name}, labels {self.sets.shape}{features}, "
            f"{len(self.trace)} iterations{more})"
        )
