"""The built wheel in an empty environment: what a user without a clone gets."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_wheel_installs_and_runs_in_an_empty_environment(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    bin_folder = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    install = subprocess.run(
        [
            bin_folder / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--constraint",
            ROOT / "constraints.txt",
            wheel,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    unreached = ("Failed to establish a new connection", "No matching distribution found")
    if install.returncode != 0 and any(reason in install.stderr for reason in unreached):
        pytest.skip("needs a package index to install numpy, scipy, scikit-learn, typer, rich")
    assert install.returncode == 0, install.stderr

    def run(*command):
        return subprocess.run(
            [bin_folder / "candidly", *command],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    listed = subprocess.run(
        [bin_folder / "python", "-m", "pip", "list"], check=True, capture_output=True, text=True
    ).stdout
    assert "matplotlib" not in listed
    assert "pandas" not in listed
    for command in ([], ["demo"], ["doctor"]):
        assert "Usage" in run(*command, "--help")
    assert "WMCar-ICE: works" in run("doctor")
    assert "pip install 'candidly[plot]'" in run("demo", "--extra", "1")
    read = "from candidly.photos.names import find_mentions as f; print(f('Photo: Al Bee')[:], "
    read += "[m.name for m in f('Mr. Blair meets Jutta Kleinschmidt in Rome.')])"
    names = subprocess.run([bin_folder / "python", "-c", read], capture_output=True, text=True)
    assert names.stdout.strip() == "[] ['Blair', 'Jutta Kleinschmidt']", names.stderr
