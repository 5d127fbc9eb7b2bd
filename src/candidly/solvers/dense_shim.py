"""TEMPORARY: what ``row_space`` and ``selection`` still compute on matrices (c x N).

To be deleted with the last import of it, when these work on candidate entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from candidly.solvers import assignment
from candidly.solvers import constraints as on_entries
from candidly.solvers.candidate_sets import CandidateSets
from candidly.solvers.constraints import CandidateSimplex
from candidly.solvers.solution import Round, Solution, Status, Trace


@dataclass(frozen=True)
class DenseSolution:
    """A solution with labels and scores as matrices (c x N)."""

    labels: Any
    scores: Any
    status: Status
    trace: Trace
    features: Any = None
    noise: Any = None
    violations: dict[str, float] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    doubts: tuple[str, ...] = ()


class DenseFeasibleSet:
    """A feasible set for matrices (c x N)."""

    def __init__(self, mask, simplex, constraints=()):
        self.sets = CandidateSets.of_mask(mask)
        own = CandidateSimplex(self.sets.entries_of(simplex.P))
        self.feasible = on_entries.FeasibleSet(self.sets, own, constraints)

    def project(self, Y):
        """Return Y projected."""
        return self.sets.matrix(self.feasible.project(self.sets.entries_of(Y)))

    def violations(self, Y):
        """Return how much Y violates each constraint."""
        return self.feasible.violations(self.sets.entries_of(Y))


def dense_assign(merit, mask, constraints=()):
    """Return the class of every instance, of matrices (c x N)."""
    sets = CandidateSets.of_mask(mask)
    return assignment.assign(sets.entries_of(merit), sets, constraints)


def on_matrices(label: Callable[[Any, Any], Any]) -> Callable[[Any, CandidateSets], Any]:
    """Return a labeller on entries, from one on matrices (c x N) with a ``DenseSolution``."""

    def labeller(P: Any, sets: CandidateSets) -> Any:
        mask = sets.mask
        result = label(sets.matrix(P), mask)
        found = result.solution
        opened = mask | (found.labels > 0)
        own = sets if (opened == mask).all() else CandidateSets.of_mask(opened)
        solution = Solution(
            own.entries_of(found.labels),
            own.entries_of(found.scores),
            own,
            found.status,
            found.trace,
            found.features,
            found.noise,
            found.violations,
            found.rounds,
            found.doubts,
        )
        dense = result.evidence
        evidence = dense and (lambda y, some: some.entries_of(dense(some.matrix(y), some.mask)))
        return replace(result, solution=solution, evidence=evidence)

    return labeller


def dense_labeller(label: Callable[[Any, CandidateSets], Any]) -> Callable[[Any, Any], Any]:
    """Return a labeller on matrices (c x N), from one on entries."""

    def labeller(P: Any, mask: Any) -> Any:
        sets = CandidateSets.of_mask(mask)
        result = label(sets.entries_of(P), sets)
        found = result.solution
        solution = DenseSolution(
            found.matrix(),
            found.sets.matrix(found.scores),
            found.status,
            found.trace,
            found.features,
            found.noise,
            found.violations,
            found.rounds,
            found.doubts,
        )
        return replace(result, solution=solution)

    return labeller


def left_out_evidence(features, labels, sets):
    """Return ``row_space.left_out_evidence`` for entries (E,)."""
    from candidly.solvers.row_space import left_out_evidence as dense

    return sets.entries_of(dense(features, sets.matrix(labels), sets.mask))
