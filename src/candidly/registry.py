"""Every method by its name, with what it is, what it costs and when to use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    """An entry of the registry; ``extra`` names the one of ``candidly.extras`` that it needs."""

    name: str
    make: Callable[[], Any]
    reference: str
    cost: str
    use: str
    extra: str | None = None


_METHODS: dict[str, Method] = {}


def register(method: Method) -> None:
    """Add a method; its name must be free."""
    if method.name in _METHODS:
        raise ValueError(f"a method named {method.name!r} is registered already")
    _METHODS[method.name] = method


def names() -> list[str]:
    """Names of all methods.

    Examples
    --------
    >>> import candidly
    >>> "WMCar" in candidly.methods.names()
    True
    """
    return list(_METHODS)


def describe(name: str) -> Method:
    """Reference, cost and use of a method.

    Examples
    --------
    >>> import candidly
    >>> candidly.methods.describe("WMCar").reference
    'Chen, Patel & Chellappa (2018), Algorithm 1'
    """
    if name not in _METHODS:
        raise ValueError(f"there is no method {name!r}; there are {', '.join(_METHODS)}")
    return _METHODS[name]


def get(name: str) -> Any:
    """Return an estimator with its default settings.

    Examples
    --------
    >>> import candidly
    >>> candidly.methods.get("WMCar")
    WMCar()
    """
    return describe(name).make()
