"""The application called from Python: candidly.photos.name, ingest, solve, report, train."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

from candidly import extras, photos
from candidly.cli import app
from candidly.cli.photo_run import RunDisplay
from candidly.demo import album
from candidly.photos import ReportFile
from candidly.photos.names import ListError, Text
from candidly.photos.project import Project, ProjectProblem, default_project
from stand_ins import draw, parts

ANN, BOB = (4, 8, 10, 40), (30, 8, 12, 200)

WITHOUT_THE_EXTRA = """
import sys
import candidly
before = set(sys.modules)

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("cv2", "PIL"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Block())
import candidly.photos as photos
new = {name.partition(".")[0] for name in set(sys.modules) - before}
assert not new & {"rich", "typer", "cv2", "PIL"}, new
for call in (photos.ingest, photos.name):
    try:
        call(".", sys.argv[1])
    except ImportError as problem:
        assert "pip install 'candidly[photos]'" in str(problem), problem
    else:
        raise AssertionError("it worked without the extra")
with photos.Project.open(sys.argv[2], write=True) as project:
    assert photos.solve(project).photos == 0
    try:
        photos.report(project, sys.argv[1])
    except ImportError as problem:
        assert "pip install 'candidly[photos]'" in str(problem), problem
    else:
        raise AssertionError("it worked without the extra")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Photos of two people, and stand-ins for the parts."""
    monkeypatch.setattr("candidly.photos.application.default_parts", lambda _: parts())
    monkeypatch.setitem(extras.EXTRAS, "photos", ("PIL", "photos"))
    top = tmp_path / "photos"
    for number in range(4):
        draw(top / f"ann-{number}.png", [(*ANN[:3], ANN[3] + number)], seed=number)
        (top / f"ann-{number}.txt").write_text("Ann Lee in Rome")
        draw(top / f"bob-{number}.png", [(*BOB[:3], BOB[3] + number)], seed=10 + number)
        (top / f"bob-{number}.txt").write_text("Bob Ray in Rome")
    draw(top / "silent.png", [(*ANN[:3], ANN[3] + 1)], seed=20)
    return top


@pytest.mark.slow
def test_importing_needs_no_extra_and_calling_says_what_to_install(tmp_path):
    project, other = tmp_path / "a.candidly", tmp_path / "b.candidly"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_EXTRA, str(project), str(other)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not project.exists()


def test_name_ingests_solves_and_writes_a_page(folder, tmp_path):
    news, results = [], []
    named = photos.name(
        folder,
        tmp_path / "a.candidly",
        report=tmp_path / "report.html",
        on_progress=news.append,
        on_result=results.append,
    )
    assert named.project == (tmp_path / "a.candidly").resolve()
    assert (named.ingested.new, named.ingested.faces) == (9, 9)
    assert (named.solved.full, named.solved.named, named.recognised) == (True, 8, None)
    assert (named.report.path, named.report.faces) == (tmp_path / "report.html", 8)
    assert named.changes == []
    assert list(dict.fromkeys(one.stage for one in news)) == ["ingest", "solve", "report"]
    assert [one for one in news if one.total is None] == [
        photos.StageProgress(stage) for stage in ("ingest", "solve", "report")
    ]
    assert results == [photos.Choices(), named.ingested, named.solved, named.report]


def test_people_who_are_learnt_are_recognised_in_photos_without_captions(folder, tmp_path):
    path = tmp_path / "a.candidly"
    with pytest.raises(photos.ProjectProblem, match="candidly train"):
        photos.name(folder, path, uncaptioned=True)
    assert photos.train(path).people == 2
    named = photos.name(folder, path, uncaptioned=True)
    assert (named.solved.photos, named.recognised.photos, named.recognised.named) == (0, 1, 1)


def test_changes_come_with_their_files(folder, tmp_path):
    path = tmp_path / "a.candidly"
    photos.name(folder, path)
    (folder / "bob-0.txt").write_text("Cas Cod in Rome")
    (change,) = photos.name(folder, path).changes
    assert (change.before, change.file) == ("Bob Ray", "bob-0.png")
    assert change.after != "Bob Ray"  # nine faces do not tell whether it is Cas


def test_an_open_project_stays_open(folder, tmp_path):
    with photos.Project.open(tmp_path / "a.candidly", write=True) as project:
        assert photos.ingest(folder, project).new == 9
        assert photos.solve(project).named == 8
        assert photos.report(project, tmp_path / "report.html").faces == 8
        assert project.count("runs") == 2


def test_what_cannot_be_done_is_refused_before_a_project_is_made(folder, tmp_path):
    path = tmp_path / "a.candidly"
    with pytest.raises(photos.ProjectProblem, match="among the photos"):
        photos.name(folder, path, report=folder / "report.html")
    with pytest.raises(photos.ProjectProblem, match="there is no folder"):
        photos.name(tmp_path / "nowhere", path)
    with pytest.raises(ListError):
        photos.ingest(folder, path, choices=photos.Choices(aliases=Text("=", "aliases.txt")))
    for call in (photos.solve, photos.train, photos.report):
        with pytest.raises(photos.ProjectProblem, match="there is no project file"):
            call(path)
    assert not path.exists()


# Where the project is


def two_photos_in(folder):
    truth = album.two_photos()
    album.copy_photos(folder, list(truth))
    return truth


@pytest.mark.slow
def test_each_folder_has_its_own_project_and_the_last_one_is_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    first, second = tmp_path / "a" / "Holiday", tmp_path / "b" / "Holiday"
    for folder in (first, second):
        two_photos_in(folder)
    data = tmp_path / "data" / "candidly"
    assert default_project() == data / "photos.candidly"
    photos.ingest(first)
    assert default_project() == default_project(first) == data / "Holiday.candidly"
    photos.ingest(second)
    assert default_project() == default_project(second) == data / "Holiday 2.candidly"
    assert default_project(first) == data / "Holiday.candidly"
    assert default_project(first / "deeper") == data / "Holiday.candidly"
    with pytest.raises(ProjectProblem, match=r"several projects: .*Holiday 2.*--project"):
        default_project(tmp_path)
    listed = run(app, ["photos"])
    assert "2 photos" in listed.output
    assert "Holiday 2.candidly; --project FILE is another" in " ".join(listed.output.split())
    (data / "last-project").unlink()
    refused = run(app, ["people"])
    assert (refused.exit_code, "say which project" in refused.output) == (1, True)
    shutil.move(first, tmp_path / "moved")  # the folder took its project along
    assert default_project(tmp_path / "moved") == data / "Holiday.candidly"


def test_a_default_project_of_an_earlier_version_stays_that_of_its_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    old = tmp_path / "data" / "candidly" / "photos.candidly"
    with Project.open(old, write=True) as project:
        project.root_for(tmp_path / "one")
        project.root_for(tmp_path / "two")
    assert default_project() == old
    assert {default_project(tmp_path / name) for name in ("one", "two/deep")} == {old}
    assert default_project(tmp_path / "three") == old.with_name("three.candidly")


def test_name_works_inside_of_the_folder_of_photos_and_writes_nothing_there(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "Pictures"
    two_photos_in(folder)
    before = sorted(path.name for path in folder.iterdir())
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, ["name", "."])
    assert result.exit_code == 0, result.output
    assert "2 photos in" in result.output
    assert sorted(path.name for path in folder.iterdir()) == before
    page = tmp_path / "data" / "candidly" / "Pictures.html"
    assert f"report: {page}" in result.output
    assert page.stat().st_mode & 0o077 == 0


def test_a_new_project_among_the_photos_is_refused_and_an_old_one_warned_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "photos"
    two_photos_in(folder)
    words = ["ingest", str(folder), "--project", str(folder / "a.candidly")]
    refused = CliRunner().invoke(app, words)
    assert (refused.exit_code, "among the photos" in refused.output) == (1, True)
    assert not list(folder.glob("a.candidly*"))
    Project.open(folder / "a.candidly", write=True).close()
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, "warning: " in done.output) == (0, True)
    hidden = folder / ".candidly" / "a.candidly"
    photos.ingest(folder, hidden)
    assert hidden.exists()


def test_one_is_not_counted_as_several(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "photos"
    one, _ = album.two_photos()
    album.copy_photos(folder, [one])
    words = ["--project", str(tmp_path / "a.candidly")]
    output = CliRunner().invoke(app, ["name", str(folder), *words]).output
    for verb in ("people", "faces", "photos", "history", "changes"):
        output += CliRunner().invoke(app, [verb, *words]).output
    assert "1 photo in" in output
    assert "1 face found, 1 caption read" in output
    assert not re.findall(r"\b1 (?:faces|photos|captions|people|names|decisions)\b", output)


def test_the_command_for_the_least_sure_photo_names_the_project(capsys):
    page = ReportFile(Path("report.html"), 1000, 2, 0, "day 1/a.jpg")
    for project, command in (
        (None, "candidly review --photo 'day 1/a.jpg'"),
        (Path("my archive.candidly"), "--photo 'day 1/a.jpg' --project 'my archive.candidly'"),
    ):
        with RunDisplay(project=project) as display:
            display.result(page)
        assert capsys.readouterr().err.endswith(f"{command}\n")


def test_a_pipe_that_nobody_reads_is_no_refusal():
    with pytest.raises(BrokenPipeError), RunDisplay():
        raise BrokenPipeError


def test_what_to_do_with_a_damaged_project_is_not_told_of_none(tmp_path):
    result = CliRunner().invoke(app, ["doctor", "--project", str(tmp_path / "none.candidly")])
    assert (result.exit_code, "there is no project file" in result.output) == (1, True)
    assert "--save" not in result.output
