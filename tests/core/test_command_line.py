from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from candidly import __version__, extras, registry
from candidly.cli import app
from candidly.registry import Method

runner = CliRunner()


def test_help_has_examples():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "Examples" in result.output


def test_version():
    assert runner.invoke(app, ["--version"]).output == f"candidly {__version__}\n"


@pytest.mark.slow
def test_the_demo_prints_a_table_and_leaves_a_picture(tmp_path):
    picture = tmp_path / "out.png"
    result = runner.invoke(app, ["demo", "--extra", "1", "--picture", str(picture)])
    assert result.exit_code == 0, result.output
    assert "WMCar-ICE" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_demo_without_matplotlib_says_how_to_get_the_picture(tmp_path, monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "plot", ("a_module_nobody_has", "pictures"))
    picture = tmp_path / "out.png"
    result = runner.invoke(app, ["demo", "--extra", "1", "--picture", str(picture)])
    assert result.exit_code == 0
    assert "pip install 'candidly[plot]'" in result.output
    assert not picture.exists()


def test_the_doctor_works_without_extras(monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "plot", ("a_module_nobody_has", "pictures"))
    kept = {name: registry._METHODS[name] for name in ("WMCar-ICE", "PL-KNN", "RowSpace")}
    monkeypatch.setattr(registry, "_METHODS", kept)  # all of them take too long
    assert runner.invoke(app, ["doctor"]).exit_code == 0
    kept["broken"] = Method("broken", lambda: 1 / 0, "", "", "")
    result = runner.invoke(app, ["doctor", "--methods"])
    assert result.exit_code == 1
    assert "pip install 'candidly[plot]'" in result.output
    assert "WMCar-ICE: works" in result.output
    assert "PL-KNN: works" in result.output
    assert "broken: does not work: division by zero" in result.output


def test_a_missing_extra_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "plot", ("a_module_nobody_has", "pictures"))
    with pytest.raises(ImportError, match=r"pip install 'candidly\[plot\]'"):
        extras.require("a_module_nobody_has", "plot")


@pytest.mark.slow
def test_importing_needs_neither_rich_nor_typer_and_loads_nothing_heavy():
    # scikit-learn itself imports Rich if it can: that it is not loaded cannot be tested.
    code = (
        "import sys; sys.modules.update(rich=None, typer=None)\n"
        "import candidly\n"
        "heavy = {'matplotlib', 'torch', 'numba', 'cv2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "candidly.MCar(max_iter=10, verbose=1).fit([[0.0], [1.0]], [{'a'}, {'a', 'b'}])\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "MCar iteration 10" in ran.stdout


@pytest.mark.slow
def test_python_m_candidly_is_the_command():
    ran = subprocess.run(
        [sys.executable, "-m", "candidly", "--version"], check=True, capture_output=True, text=True
    )
    assert ran.stdout.strip() == f"candidly {__version__}"
