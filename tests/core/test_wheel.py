"""The built wheel in an empty environment: what a user without a clone gets."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_the_album_and_no_benchmarks(wheel):
    sizes = {one.filename: one.file_size for one in zipfile.ZipFile(wheel).infolist()}
    folders = {name.split("/")[0] for name in sizes}
    assert folders == {"candidly", next(one for one in folders if one.endswith(".dist-info"))}
    album = {name: size for name, size in sizes.items() if name.startswith("candidly/demo/data/")}
    shipped = ROOT / "src" / "candidly" / "demo" / "data"
    files = [path for path in shipped.rglob("*") if path.is_file()]
    assert album.keys() == {
        f"candidly/demo/data/{path.relative_to(shipped).as_posix()}" for path in files
    }
    assert sum(name.endswith(".jpg") for name in album) == 40
    assert sum(album.values()) <= 2_500_000
    assert sizes["candidly/photos/faces/data/sface_population.npz"] < 80_000
    assert 0 < sizes["candidly/photos/names/data/tagger.npz"] < 2_000_000
    assert 0 < sizes["candidly/photos/names/data/mentions.txt.gz"] < 500_000
    pages = ROOT / "src" / "candidly" / "photos" / "review" / "page"
    assert {f"candidly/photos/review/page/{path.name}" for path in pages.iterdir()} <= sizes.keys()
    assert any(name.endswith(".dist-info/licenses/NOTICE") for name in sizes)


@pytest.mark.slow
def test_the_wheel_installs_and_runs_in_an_empty_environment(tmp_path, wheel):
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
    assert "RowSpace on 300 digits: works" in run("doctor")
    assert "pip install 'candidly[plot]'" in run("demo", "--extra", "1")
    read = "from candidly.photos.names import find_mentions as f; print(f('Children in the snow'), "
    read += "[m.name for m in f('Mr. Blair meets Jutta Kleinschmidt in Rome.')])"
    names = subprocess.run([bin_folder / "python", "-c", read], capture_output=True, text=True)
    assert names.stdout.strip() == "[] ['Blair', 'Jutta Kleinschmidt']", names.stderr
