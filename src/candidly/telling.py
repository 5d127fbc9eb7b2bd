"""What is told while something runs: lines for ``verbose``, and for a listener."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call ``listener`` with the lines that every fit within this context tells."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def heard_by() -> Callable[[str], None] | None:
    """Return who listens here, or None."""
    return _listener.get()


def teller(verbose: int) -> Callable[[str], None]:
    """Return a function that passes a line to the listener, and prints it if verbose.

    The listener is that of the calling thread; the function can be called from others.
    """
    listener = heard_by()

    def say(text: str) -> None:
        if verbose:
            show(text)
        if listener is not None:
            listener(text)

    return say


def show(text: str) -> None:
    """Write a line to the standard output."""
    sys.stdout.write(text + "\n")
