"""A large project: streamed, memory-mapped, out of core, and paged, as a small one is."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")

from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos.project import Project
from candidly.photos.project.known_names import all_names
from candidly.photos.project.name_counts import name_counts
from candidly.photos.reporting.contents import people as report_people
from candidly.photos.solving import solve, vectors
from candidly.photos.solving.problem import each_problem


def _labels(path: Path) -> list[tuple[int, int | None, float]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as sql:
        return sql.execute("SELECT face, person, confidence FROM labels ORDER BY face").fetchall()


def test_labels_are_equal_in_memory_and_on_disk(tmp_path):
    from benchmarks.photos.large_project import make_project

    path = tmp_path / "a.candidly"
    make_project(path, 600, 60, solved=False)
    found = []
    for limit in (10_000_000, 50):
        copy = tmp_path / f"b{limit}.candidly"
        shutil.copy(path, copy)
        before = vectors.IN_MEMORY
        vectors.IN_MEMORY = limit
        try:
            solve(copy)
        finally:
            vectors.IN_MEMORY = before
        found.append(_labels(copy))
    names_equal = [one[1] for one in found[0]] == [one[1] for one in found[1]]
    assert names_equal
    confidences = np.array([one[2] for one in found[0]]), np.array([one[2] for one in found[1]])
    np.testing.assert_allclose(*confidences, atol=1e-6)


def test_a_working_folder_is_removed_and_left_by_none(tmp_path):
    from benchmarks.photos.large_project import make_project

    path = tmp_path / "a.candidly"
    make_project(path, 60, 6, solved=False)
    before = vectors.IN_MEMORY
    vectors.IN_MEMORY = 10
    try:
        solve(path)
    finally:
        vectors.IN_MEMORY = before
    assert not any(tmp_path.glob(".a.candidly.work-*"))


def test_a_killed_folder_is_cleaned_up_next_time(tmp_path):
    from benchmarks.photos.large_project import make_project

    path = tmp_path / "a.candidly"
    make_project(path, 30, 5, solved=False)
    orphan = tmp_path / ".a.candidly.work-xyz"
    orphan.mkdir()
    (orphan / "leftover").write_text("x")
    before = vectors.IN_MEMORY
    vectors.IN_MEMORY = 10
    try:
        solve(path)
    finally:
        vectors.IN_MEMORY = before
    assert not orphan.exists()


def test_pages_are_given_back_while_faces_are_looked_up(monkeypatch):
    given_back = []
    monkeypatch.setattr(vectors, "RELEASED", 4)
    monkeypatch.setattr(vectors, "release", lambda X: given_back.append(len(X)))
    rows = vectors.Vectors(np.arange(10), np.arange(20.0).reshape(10, 2))
    groups = [[1, 3], [9], [0, 2], [5]]
    found = list(rows.of_each(groups))
    assert [X[:, 0].tolist() for X in found] == [[2, 6], [18], [0, 4], [10]]
    assert len(given_back) == 1


def test_only_what_is_touched_is_read_on_a_second_day(tmp_path, monkeypatch):
    from benchmarks.photos.large_project import add_photos, make_project
    from candidly.photos.solving import run

    monkeypatch.setattr(run, "FEW_FACES", 0)
    path = tmp_path / "a.candidly"
    make_project(path, 300, 30, solved=False)
    solve(path)
    add_photos(path, 3, 30)
    with Project.open(path) as project, project.snapshot() as sql:
        touched = {photo for (photo,) in sql.execute("SELECT photo FROM touched")}
        photos_now = {one.photo for one in each_problem(sql)}
    assert len(touched) == 3
    assert touched <= photos_now
    done = solve(path)
    assert not done.full
    assert 3 <= done.photos < 101  # the new photos, and people in them who are little known
    with Project.open(path) as project, project.snapshot() as sql:
        assert sql.execute("SELECT count(*) FROM touched").fetchone() == (0,)


def test_review_queries_use_indexes(tmp_path):
    from benchmarks.photos.large_project import make_project

    path = tmp_path / "a.candidly"
    make_project(path, 30, 5, solved=False)
    solve(path)
    with Project.open(path) as project, project.snapshot() as sql:
        plan = sql.execute(
            "EXPLAIN QUERY PLAN SELECT face FROM labels WHERE person IN"
            " (SELECT id FROM people WHERE name = 'x' AND stands_for IS NULL)"
        ).fetchall()
        text = " ".join(str(row) for row in plan)
        assert "labels_of_person" in text
        assert "SCAN labels" not in text
        plan = sql.execute(
            "EXPLAIN QUERY PLAN SELECT face FROM labels WHERE confidence <= 0.8 ORDER BY confidence"
        ).fetchall()
        assert any("labels_by_confidence" in str(row) for row in plan)


def test_people_and_report_read_counts_not_every_face(tmp_path, capsys):
    from benchmarks.photos.large_project import make_project

    path = tmp_path / "a.candidly"
    make_project(path, 300, 30, solved=False)
    solve(path)
    with Project.open(path) as project, project.snapshot() as sql:
        counts = name_counts(sql)
        names = set(all_names(sql))
    assert set(counts) <= names
    found = report_people(Project.open(path), most=5)
    assert found.total == len(counts)
    assert len(found) <= 5
    result = CliRunner().invoke(app, ["people", "--project", str(path)])
    assert result.exit_code == 0
    everyone = CliRunner().invoke(app, ["people", "--project", str(path), "--all"])
    assert everyone.exit_code == 0
    assert len(everyone.output.splitlines()) >= len(result.output.splitlines())


@pytest.mark.slow
def test_a_project_of_2000_faces_and_a_second_day(tmp_path):
    import subprocess
    import sys

    out = tmp_path / "scale.json"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.photos.project_scale",
            "--faces",
            "2000",
            "--people",
            "200",
            "--step",
            "solve",
            "--step",
            "second day",
            "--out",
            str(out),
        ],
        check=True,
    )
    import json

    figures = json.loads(out.read_text())
    (key,) = figures
    assert figures[key]["solve"]["full"]
    assert figures[key]["second day"]["full"]  # of so few faces everything is solved together
    assert figures[key]["second day"]["photos"] == figures[key]["solve"]["photos"] + 1000
    assert figures[key]["solve"]["memory MB"] > 0
