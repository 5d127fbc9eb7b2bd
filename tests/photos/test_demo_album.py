"""The album of the demo: it ships with the package, is named as a user would, and is compared."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")

from PIL import Image
from typer.testing import CliRunner

import candidly.demo
from benchmarks.album.__main__ import draw_shipped
from candidly.cli import app
from candidly.demo.album import compare, copy_album, count_right, read_truth
from candidly.photos.captions import CaptionReader
from candidly.photos.solving import solve
from made_up import Album

DATA = Path(candidly.demo.__file__).parent / "data"


def run(*words, cwd):
    command = [sys.executable, "-m", "candidly", "demo", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_the_demo_names_the_album_leaves_a_report_and_continues(tmp_path):
    before = contents(DATA)
    ran = run("--album", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    rows = re.findall(r"(\d+) \D* (\d+) \D* ([\d.]+)%", ran.stdout)
    assert len(rows) == 3
    assert all(0.95 < int(right) / int(of) <= 1 for right, of, _ in rows)
    assert (tmp_path / "candidly-album" / "report.html").stat().st_size > 100_000
    again = run("--album", cwd=tmp_path)
    assert "from an earlier demo" in again.stdout
    assert "40 unchanged" in again.stderr
    assert contents(DATA) == before


def test_a_seed_is_refused_for_an_album_that_is_drawn_already(tmp_path):
    asked = ["demo", "--album", "--random-state", "3", "--folder", str(tmp_path / "album")]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 2
    assert "--random-state is for the digits" in " ".join(re.sub(r"[│\n]", " ", ran.output).split())
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    ran = CliRunner().invoke(app, ["demo", "--album", "--folder", str(tmp_path)])
    assert ran.exit_code == 1
    assert "move it away" in ran.output
    assert contents(tmp_path).keys() == {"mine.txt"}


def test_the_album_is_copied_whole_once_and_again_where_it_is_another(tmp_path):
    assert copy_album(tmp_path / "new")
    assert contents(tmp_path / "new" / "photos") == contents(DATA / "photos")
    (tmp_path / "new" / "photos" / "captions.csv").unlink()
    assert not copy_album(tmp_path / "new")  # a folder of the demo is the user's to change
    (tmp_path / "new" / "album.json").write_text("of another version")
    with pytest.raises(FileExistsError, match="move it away"):
        copy_album(tmp_path / "new")


def test_the_shipped_album_is_small_varied_and_true():
    truth = read_truth()
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) <= 2_500_000
    assert {photo["file"] for photo in truth} == {p.name for p in (DATA / "photos").glob("*.jpg")}
    tags = Counter(tag for photo in truth for tag in photo["tags"])
    assert {"cue", "typo", "foreign", "grey", "large", "turned", "once", "nobody"} <= tags.keys()
    reader = CaptionReader(DATA / "photos")
    for photo in truth:
        assert reader.read(DATA / "photos" / photo["file"]).text == photo["caption"]
        assert all(face["name"] in (None, *photo["mentioned"]) for face in photo["faces"])


@pytest.mark.slow
def test_drawing_the_shipped_album_again_gives_the_same(tmp_path):
    draw_shipped(tmp_path)
    new, old = contents(tmp_path), contents(DATA)
    assert new.keys() == old.keys()
    for name in new:
        if not name.endswith(".jpg"):
            assert new[name] == old[name], name
        elif new[name] != old[name]:  # another processor may round a few pixels otherwise
            one, two = (np.asarray(Image.open(folder / name), int) for folder in (tmp_path, DATA))
            assert np.abs(one - two).mean() < 0.5, name


def test_faces_are_compared_with_the_truth_and_counted(tmp_path):
    album = Album(tmp_path / "a.candidly")
    for number in range(3):
        album.add(f"{number}.jpg", ["Ann"], ["Ann"])
    album.add("both.jpg", ["Ann", "stranger"], ["Ann"])
    solve(album.project)

    def photo(file, *faces, mentioned=("Ann",), spelled=None):
        boxes = [{"name": name, "box": [100.0 * at, 0, 60, 60]} for name, at in faces]
        record = {"file": file, "faces": boxes, "mentioned": [*mentioned], "tags": ["t"]}
        return record | ({"spelled": spelled} if spelled else {})

    truth = [
        photo("0.jpg", ("Ann", 0)),
        photo("1.jpg", ("Anna", 0), spelled={"Anna": "Ann"}),
        photo("2.jpg", ("Bob", 0), ("Ann", 5)),  # another name, and a face that was not found
        photo("both.jpg", ("Ann", 0)),  # and a stranger beside her
    ]
    compared = compare(album.project, truth)
    album.project.close()
    assert [face.right for face in compared] == [True, True, False, False, True, True]
    assert [face.found for face in compared] == [True, True, True, False, True, True]
    assert [face.true for face in compared] == [True] * 5 + [False]
    assert [face.named for face in compared] == [True, True, True, False, True, False]
    assert all(face.tags == {"t"} for face in compared)
    assert [*count_right(compared).values()] == [(3, 5), (2, 3), (3, 4)]
