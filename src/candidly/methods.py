"""Every method by name: ``names``, ``get`` and ``describe``.

Importing this module imports the packages whose methods register themselves.

Examples
--------
>>> from candidly import methods
>>> "CLPL" in methods.names()
True
"""

from candidly import baselines, estimators, selection  # noqa: F401  each registers its methods
from candidly.registry import Method, describe, get, names

__all__ = ["Method", "describe", "get", "names"]
