"""How a kernel is run: its loops compiled by numba where that is installed, else its NumPy twin.

Arrays of PyTorch, perhaps on a GPU, are for a third body, or for the NumPy twin where that serves
both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import update_wrapper
from threading import RLock
from typing import Any

import numpy as np

from candidly.extras import installed, require

VARIABLE = "CANDIDLY_KERNELS"
"""Environment variable that says by what kernels run: "numba" or "numpy"."""

MANY = 2_000_000
"""Numbers from which compiled loops save more than it takes to import numba and to load them."""

prange = range
"""A loop over all cores in the loops of a kernel with ``parallel=True``, which import this name."""

one_at_a_time = RLock()
"""Held while loops are compiled, which parses Python, and by all that parses it in threads: two at
once fail now and then (cpython issue 106905). Held by loops over all cores too: not all of numba's
ways to run these bear two callers, and they take all cores anyway."""

_chosen: ContextVar[str | None] = ContextVar("kernels", default=None)


def chosen_kernels() -> str | None:
    """Return by what kernels are told to run, or None."""
    return _chosen.get() or os.environ.get(VARIABLE)


def kernels_by() -> str:
    """Return by what kernels run here: "numba" if it is installed, unless chosen otherwise."""
    return chosen_kernels() or ("numba" if installed("fast") else "numpy")


@contextmanager
def running_by(library: str) -> Iterator[None]:
    """Run kernels by "numpy" or "numba" inside.

    Examples
    --------
    >>> from candidly.solvers.kernels import kernels_by, running_by
    >>> with running_by("numpy"):
    ...     kernels_by()
    'numpy'
    """
    if library not in ("numba", "numpy"):
        raise ValueError(f"kernels run by 'numba' or 'numpy', got {library!r}")
    token = _chosen.set(library)
    try:
        yield
    finally:
        _chosen.reset(token)


class Kernel:
    """A function with bodies that give the same answer; calling it runs the one chosen.

    Parameters
    ----------
    plain : callable
        The NumPy twin, with the docstring.
    loops : callable
        The same in loops over scalars, which numba compiles on the first call and caches beside
        the module, or in the user's cache folder where that cannot be written to.
    least : int
        Numbers in the first argument from which the loops run, unless it is chosen: importing numba
        and loading what it compiled takes about a second.
    tensors : callable, optional
        The same for arrays of PyTorch; without it the NumPy twin is run with them.
    options : mapping
        Passed to ``numba.njit``, e.g. ``parallel=True`` for ``prange`` over all cores.
    """

    def __init__(
        self,
        plain: Callable[..., Any],
        loops: Callable[..., Any],
        least: int = 0,
        tensors: Callable[..., Any] | None = None,
        **options: Any,
    ) -> None:
        update_wrapper(self, plain)
        self.plain, self.loops, self.least, self.options = plain, loops, least, options
        self.tensors = tensors or plain
        self._compiled: Callable[..., Any] | None = None
        self._kinds: set[tuple[Any, ...]] = set()

    def __call__(self, *arguments: Any) -> Any:
        """Run the body that is chosen, or the one for arrays of PyTorch where these are given."""
        if not isinstance(arguments[0], np.ndarray):
            return self.tensors(*arguments)
        loops = kernels_by() == "numba"
        if loops and chosen_kernels() is None:
            loops = arguments[0].size >= self.least
        if not loops:
            return self.plain(*arguments)
        kinds = tuple(_kind(argument) for argument in arguments)
        alone = kinds not in self._kinds or self.options.get("parallel")
        with one_at_a_time if alone else nullcontext():
            found = self.compiled(*arguments)
        self._kinds.add(kinds)
        return found

    @property
    def compiled(self) -> Callable[..., Any]:
        """The loops compiled; numba is imported here and nowhere else."""
        with one_at_a_time:
            if self._compiled is None:
                numba = require("numba", "fast")
                if self.options.get("parallel"):
                    self.loops.__globals__["prange"] = numba.prange  # known by this name alone
                compiler = numba.njit(cache=True, error_model="numpy", **self.options)
                self._compiled = compiler(self.loops)
            return self._compiled


def _kind(argument: Any) -> Any:
    """Return what loops are compiled anew for."""
    if not isinstance(argument, np.ndarray):
        return type(argument)
    flags = argument.flags
    return argument.dtype, argument.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable


def kernel(
    loops: Callable[..., Any],
    *,
    least: int = 0,
    tensors: Callable[..., Any] | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorate a NumPy function with the loops that do the same, and perhaps with PyTorch's way."""
    return lambda plain: Kernel(plain, loops, least, tensors, **options)
