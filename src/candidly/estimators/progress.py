"""Progress of a fit: lines for ``verbose``, and whoever listens, such as the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from rich.console import Console

from candidly.solvers.solution import Solution, Step

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Tell ``listener`` about every iteration within this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def teller(verbose: int) -> Callable[[str], None]:
    """Tell whoever listens here, also from other threads, and print when verbose."""
    listener = _listener.get()

    def say(text: str) -> None:
        if verbose:
            Console().print(text)
        if listener is not None:
            listener(text)

    return say


class Reporter:
    """Counts what is done: "setting 3 of 15"."""

    def __init__(self, tell: Callable[[str], None], what: str, total: int) -> None:
        self.tell, self.what, self.total = tell, what, total
        self._number = count(1)

    def __call__(self) -> None:
        """One more."""
        self.tell(f"{self.what} {next(self._number)} of {self.total}")


def reporter(verbose: int, name: str) -> Callable[[Step], None] | None:
    """Return a callback for iterations: every tenth is printed, every one when verbose > 1."""
    listener, number = _listener.get(), count(1)
    if not verbose and listener is None:
        return None

    def report(step: Step) -> None:
        k = next(number)
        text = (
            f"{name} iteration {k}: residual {step.residual:.1e}, label gap {step.gap:.1e}, "
            f"rank {step.rank}, {step.changed} labels changed"
        )
        if verbose > 1 or (verbose and k % 10 == 0):
            Console().print(text)
        if listener is not None:
            listener(text)

    return report


def round_reporter(verbose: int) -> Callable[[Solution], None] | None:
    """Return a callback that prints every round of elimination."""
    if not verbose:
        return None

    def report(solution: Solution) -> None:
        last = solution.rounds[-1]
        Console().print(
            f"ICE round {len(solution.rounds)}: {last.ambiguous} ambiguous, "
            f"{last.eliminated} candidates eliminated, {last.iterations} iterations"
        )

    return report
