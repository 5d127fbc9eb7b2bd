"""Progress of a fit, as lines that are told: of steps, iterations and rounds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from candidly.solvers.solution import Solution, Step
from candidly.telling import heard_by, show


class Reporter:
    """Counter that reports each call: "setting 3 of 15"."""

    def __init__(self, tell: Callable[[str], None], what: str, total: int) -> None:
        self.tell, self.what, self.total = tell, what, total
        self._number = count(1)

    def __call__(self) -> None:
        """Report that one more step is done."""
        self.tell(f"{self.what} {next(self._number)} of {self.total}")


def reporter(verbose: int, name: str) -> Callable[[Step], None] | None:
    """Return a callback that prints every tenth iteration, or every one if verbose > 1."""
    listener, number = heard_by(), count(1)
    if not verbose and listener is None:
        return None

    def report(step: Step) -> None:
        k = next(number)
        text = (
            f"{name} iteration {k}: residual {step.residual:.1e}, label gap {step.gap:.1e}, "
            f"rank {step.rank}, {step.changed} labels changed"
        )
        if verbose > 1 or (verbose and k % 10 == 0):
            show(text)
        if listener is not None:
            listener(text)

    return report


def round_reporter(verbose: int) -> Callable[[Solution], None] | None:
    """Return a callback that prints every round of elimination, or None if not verbose."""
    if not verbose:
        return None

    def report(solution: Solution) -> None:
        last = solution.rounds[-1]
        show(
            f"ICE round {len(solution.rounds)}: {last.ambiguous} ambiguous, "
            f"{last.eliminated} candidates eliminated, {last.iterations} iterations"
        )

    return report
