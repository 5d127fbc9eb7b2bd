"""CONTRIBUTING is true: its recipes are followed literally, in a copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COPIED = ("src", "benchmarks", "tests", "docs", "pyproject.toml")
BLOCK = r"\n+```python\n(.*?)```\n"
NEW = re.compile(r"^New file `([^`]+)`:" + BLOCK, re.S | re.M)
REPLACE = re.compile(r"^In `([^`]+)`, replace" + BLOCK + r"\n+by" + BLOCK, re.S | re.M)


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """A copy of the repository, with everything added that CONTRIBUTING tells to add."""
    copy = tmp_path_factory.mktemp("followed")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, copy / name)
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    made = [(copy / path, code) for path, code in NEW.findall(text)]
    replaced = [(copy / path, *pair) for path, *pair in REPLACE.findall(text)]
    assert len(made) == 3  # a constraint, a method, and an example of all
    assert len(made) + 2 * len(replaced) == text.count("```python\n")
    for path, code in made:
        assert not path.exists(), path
        path.write_text(code, encoding="utf-8")
    for path, old, new in replaced:
        before = path.read_text(encoding="utf-8")
        assert before.count(old.rstrip("\n")) == 1, f"{path}: {old}"
        path.write_text(before.replace(old.rstrip("\n"), new.rstrip("\n")), encoding="utf-8")
    return copy


def run(copy, *command):
    path = os.pathsep.join(map(str, (copy / "src", copy)))
    done = subprocess.run(
        [sys.executable, *command],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_example_runs(followed):
    run(followed, "example.py")
    assert "nearest-mean" in run(followed, "-m", "candidly", "methods")
    assert "wine" in run(followed, "-m", "candidly", "datasets")


def test_linters_layers_and_layout_hold(followed):
    run(followed, "-m", "ruff", "check", "src", "benchmarks")
    run(followed, "-m", "ruff", "format", "--check", "src")
    run(followed, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    run(followed, "-m", "pytest", "-q", "tests/core/test_layout.py")


def test_the_contract_is_checked_by_itself(followed):
    checks = ["tests/baselines/test_contract.py", "src/candidly/baselines/nearest_mean.py"]
    said = run(followed, "-m", "pytest", "-q", "-k", "nearest or Nearest", *checks)
    assert int(re.search(r"(\d+) passed", said)[1]) > 40
