"""What a run was made by: a fingerprint of the code that affects it, commit, NumPy and BLAS."""

from __future__ import annotations

import ast
import hashlib
import inspect
import platform
import subprocess
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import candidly

SOURCE = Path(candidly.__file__).parent
PARTS = ("candidly.candidates.synthetic", "candidly.datasets.images", "candidly.metrics")
"""Modules that affect every run: how candidates are drawn, pictures equalised, errors counted."""


def fingerprint(model: Any, measured_by: tuple[Any, ...]) -> str:
    """Return a short hash of the code that a run depends on.

    Comments, docstrings and the order of files do not count.

    Parameters
    ----------
    model : estimator or None
        Its classes, and those of estimators inside it, with all modules of the package that
        they import.
    measured_by : tuple
        Functions, classes and modules that measure it.
    """
    modules: set[str] = set(PARTS)
    for part in _estimators(model):
        modules.add(type(part).__module__)
    found = hashlib.sha256()
    for name in sorted(_reached(frozenset(modules))):
        found.update(_stripped(_file(name)).encode())
    for part in measured_by:
        found.update(_measuring(part).encode())
    return found.hexdigest()[:12]


@cache
def environment() -> dict[str, str]:
    """Return commit, Python, NumPy and BLAS of this process.

    Examples
    --------
    >>> sorted(environment())
    ['blas', 'commit', 'numpy', 'python']
    """
    blas = sorted(
        {
            f"{one['internal_api']} {one.get('version')} {one.get('architecture', '')}".strip()
            for one in threadpool_info()
            if one["user_api"] == "blas"
        }
    )
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": ", ".join(blas),
    }


def _commit() -> str:
    """Return the commit, with a + where code differs from it; results do not count."""
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", str(SOURCE), str(Path(__file__).parent))
    except (OSError, subprocess.CalledProcessError):  # no git, or no clone
        return "unknown"
    return f"{commit}+" if changed else commit


def _git(*words: str) -> str:
    here = Path(__file__).parent
    found = subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=True)
    return found.stdout.strip()


def _estimators(model: Any) -> Iterator[Any]:
    if model is None:
        return
    yield model
    for value in model.get_params(deep=False).values():
        if hasattr(value, "get_params") and type(value).__module__.startswith("candidly."):
            yield from _estimators(value)


@cache
def _reached(modules: frozenset[str]) -> frozenset[str]:
    """Return these modules and all of the package that they import, by way of others too."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen or not _is_module(name):
            continue
        seen.add(name)
        waiting.extend(_imported(name))
    return frozenset(seen)


@cache
def _imported(name: str) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(_file(name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name.startswith("candidly")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("candidly"):
            found += [_defined_in(str(node.module), one.name) for one in node.names]
    return tuple(found)


@cache
def _defined_in(package: str, name: str) -> str:
    """Return the module that a name of a package comes from, so that siblings do not count."""
    if _is_module(f"{package}.{name}"):
        return f"{package}.{name}"
    path = SOURCE.parent / Path(*package.split(".")) / "__init__.py"
    if not path.is_file():
        return package
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and any(
            (one.asname or one.name) == name for one in node.names
        ):
            return _defined_in(str(node.module), name)
    return package


def _is_module(name: str) -> bool:
    return _file(name).is_file()


def _file(name: str) -> Path:
    path = SOURCE.parent / Path(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _stripped(path: Path) -> str:
    return _dumped(ast.parse(path.read_text(encoding="utf-8")))


@cache
def _measuring(part: Any) -> str:
    return _dumped(ast.parse(textwrap.dedent(inspect.getsource(part))))


def _dumped(tree: ast.AST) -> str:
    """Return the code without comments and docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            del body[0]
    return ast.dump(tree)
