"""Progress of a fit: lines for ``verbose``, and for a listener such as the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from candidly.solvers.solution import Solution, Step

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call ``listener`` with a line per iteration of every fit within this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def teller(verbose: int) -> Callable[[str], None]:
    """Return a function that passes a line to the listener, and prints it if verbose.

    The listener is that of the calling thread; the function can be called from others.
    """
    listener = _listener.get()

    def say(text: str) -> None:
        if verbose:
            _print(text)
        if listener is not None:
            listener(text)

    return say


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
            _print(text)
        if listener is not None:
            listener(text)

    return report


def round_reporter(verbose: int) -> Callable[[Solution], None] | None:
    """Return a callback that prints every round of elimination, or None if not verbose."""
    if not verbose:
        return None

    def report(solution: Solution) -> None:
        last = solution.rounds[-1]
        _print(
            f"ICE round {len(solution.rounds)}: {last.ambiguous} ambiguous, "
            f"{last.eliminated} candidates eliminated, {last.iterations} iterations"
        )

    return report


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
