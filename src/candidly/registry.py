"""Registry of all methods by name, with their reference, their cost and when to use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    """An entry of the registry; ``extra`` names the extra that the method needs, if any."""

    name: str
    make: Callable[[], Any]
    reference: str
    cost: str
    use: str
    extra: str | None = None


_METHODS: dict[str, Method] = {}


def register(
    name: str,
    make: Callable[[], Any],
    reference: str,
    cost: str,
    use: str,
    extra: str | None = None,
) -> None:
    """Add a method, whose name must be free; ``make()`` returns its estimator."""
    if name in _METHODS:
        raise ValueError(f"a method named {name!r} is registered already")
    _METHODS[name] = Method(name, make, reference, cost, use, extra)


def names() -> list[str]:
    """Return the names of all methods.

    Examples
    --------
    >>> import candidly
    >>> "WMCar" in candidly.methods.names()
    True
    """
    return list(_METHODS)


def describe(name: str) -> Method:
    """Return the reference, cost and use of a method.

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


def name_of(estimator: Any) -> str:
    """Return the name of the method that an estimator is, or that of its class.

    Examples
    --------
    >>> import candidly
    >>> candidly.registry.name_of(candidly.methods.get("naive"))
    'naive'
    """
    made = {name: method.make() for name, method in _METHODS.items()}
    alike = {n: m.get_params() for n, m in made.items() if type(m) is type(estimator)}
    own = estimator.get_params().items()
    return max(
        alike, key=lambda name: len(alike[name].items() & own), default=type(estimator).__name__
    )
