"""Progress of a fit, for ``verbose``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from rich.console import Console

from candidly.solvers.solution import Solution, Step


def reporter(verbose: int, name: str) -> Callable[[Step], None] | None:
    """Return a callback that prints every tenth iteration, or every one when verbose > 1."""
    if not verbose:
        return None
    console, number = Console(), count(1)

    def report(step: Step) -> None:
        k = next(number)
        if verbose > 1 or k % 10 == 0:
            console.print(
                f"{name} iteration {k}: residual {step.residual:.1e}, label gap {step.gap:.1e}, "
                f"rank {step.rank}, {step.changed} labels changed"
            )

    return report


def round_reporter(verbose: int) -> Callable[[Solution], None] | None:
    """Return a callback that prints every round of elimination."""
    if not verbose:
        return None
    console = Console()

    def report(solution: Solution) -> None:
        last = solution.rounds[-1]
        console.print(
            f"ICE round {len(solution.rounds)}: {last.ambiguous} ambiguous, "
            f"{last.eliminated} candidates eliminated, {last.iterations} iterations"
        )

    return report
