"""Rows in batches, so that memory does not grow with a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of at most ``size``.

    Examples
    --------
    >>> list(in_batches(range(5), 2))
    [[0, 1], [2, 3], [4]]
    """
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
