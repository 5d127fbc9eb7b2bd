"""The layout of the code: one name for one thing, and packages that list their parts."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import candidly
from candidly.cli import app

ROOT = Path(__file__).parents[2]
ROOTS = (ROOT / "src" / "candidly", ROOT / "benchmarks")
FILES = sorted(file for root in ROOTS for file in root.rglob("*.py"))
PACKAGES = sorted(file.parent for file in FILES if file.name == "__init__.py")

MAY_REPEAT = {
    "__init__": "every package has one",
    "__main__": "what python -m runs",
    "base": "the protocol or base class of its package",
    "store": "what its package keeps on disk",
}
PAIRS = ("open_set", "row_space")  # an estimator has the name of its solver


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def repeated(names: list[tuple[str, str]]) -> list[str]:
    """Return one line per name that occurs in several places."""
    found = defaultdict(list)
    for name, where in names:
        found[name].append(where)
    return [f"{name}: {', '.join(where)}" for name, where in found.items() if len(where) > 1]


def test_there_is_something_to_check():
    assert len(FILES) > 150
    assert len(PACKAGES) > 15


def test_no_class_name_is_defined_twice():
    classes = [
        (node.name, place(file))
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert not repeated(classes), "\n".join(repeated(classes))


def test_no_file_name_is_used_twice():
    verbs = {command.callback.__name__ for command in app.registered_commands}
    allowed = {
        *(f"src/candidly/cli/{verb}.py" for verb in verbs),  # a verb is named after what it calls
        *(f"src/candidly/estimators/{name}.py" for name in PAIRS),
    }
    names = [
        (file.stem, place(file))
        for file in FILES
        if file.stem not in MAY_REPEAT and place(file) not in allowed
    ]
    assert not repeated(names), "\n".join(repeated(names))


@pytest.mark.parametrize("package", PACKAGES, ids=place)
def test_the_docstring_of_a_package_names_all_its_parts(package):
    said = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {file.stem for file in package.glob("*.py")} - {"__init__", "__main__"}
    parts = modules | {file.parent.name for file in package.glob("*/__init__.py")}
    assert [part for part in sorted(parts) if not re.search(rf"\b{part}\b", said)] == []


def test_the_public_surface_is_small():
    # Solver parts and return types are in their modules; warnings that one may want to silence
    # or turn into errors are here. A constraint of general use may come.
    assert 20 <= len(set(candidly.__all__)) <= 30
    assert all(hasattr(candidly, name) for name in candidly.__all__)
