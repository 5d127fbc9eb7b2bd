from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos import Project, ProjectProblem, list_faces, solve
from candidly.photos.keeping import backup, faults, forget_person, restore, salvage
from candidly.photos.keeping.examination import new_tables
from candidly.photos.project import schema
from candidly.photos.project.connection import _connect
from candidly.photos.reporting import report
from made_up import Album, fill

run = CliRunner().invoke
posix = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


@pytest.fixture
def filled(tmp_path):
    """A closed project with photos, names and decisions."""
    photos = tmp_path / "photos"
    photos.mkdir()
    album = Album(photos / "a.candidly")
    fill(album)
    solve(album.project)
    (face,) = album.add("ann.jpg", ["Ann Lee"], ["Ann Lee"])
    album.project.confirm(face, "Ann Lee")
    album.project.close()
    return (photos / "a.candidly").rename(tmp_path / "a.candidly")


def contents(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as sql:
        found = list(sql.iterdump())
    sql.close()
    return found


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# Rights


@posix
def test_all_that_is_written_is_its_owners_alone_from_the_first_byte(tmp_path):
    before = os.umask(0)
    try:
        path = tmp_path / "new" / "deep" / "a.candidly"
        album = Album(path)
        album.add("1.jpg", ["Ann Lee"], ["Ann Lee"])
        solve(album.project)
        written = list(path.parent.iterdir())
        assert {one.name for one in written} == {
            "a.candidly", "a.candidly-wal", "a.candidly-shm", "a.candidly.lock",
        }  # fmt: skip
        assert {mode(one) for one in written} == {0o600}
        assert [mode(one) for one in (path.parent, path.parent.parent)] == [0o700, 0o700]
        pages = tmp_path / "pages"
        pages.mkdir()
        with Project.open(path) as reader:
            page = report(reader, pages / "report.html", force=True)
        assert mode(page.path) == 0o600
        assert mode(backup(path, pages / "copy.candidly")) == 0o600
        album.project.close()
    finally:
        os.umask(before)


@posix
def test_a_project_that_others_could_read_is_closed_to_them_by_its_next_writer(filled):
    filled.chmod(0o644)
    assert "others may read it" in faults(filled)[0]
    Project.open(filled, write=True).close()
    assert mode(filled) == 0o600
    assert faults(filled) == []


# Damage


def test_a_refused_file_gets_no_lock_and_nothing_else_beside_it(tmp_path):
    notes, zeros, other = (tmp_path / name for name in ("notes.txt", "z.candidly", "o.db"))
    notes.write_text("these are my notes\n" * 500)
    zeros.write_bytes(bytes(8192))
    with sqlite3.connect(other) as sql:
        sql.execute("PRAGMA journal_mode = WAL")
        sql.execute("CREATE TABLE mine (x)")
    sql.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for write in (True, False):
        for path, why in (
            (notes, "is no project file"),
            (zeros, "is damaged"),
            (other, "database of another program"),
        ):
            with pytest.raises(ProjectProblem, match=why):
                Project.open(path, write=write)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="permissions of POSIX")
def test_a_project_of_somebody_else_is_refused_in_words(tmp_path):
    path = tmp_path / "a.candidly"
    Project.open(path, write=True).close()
    for place in (tmp_path, *tmp_path.parents[:2]):
        place.chmod(0o755)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    else:
        path.chmod(0)
    try:
        for write in (True, False):
            with pytest.raises(ProjectProblem, match="cannot be"):
                Project.open(path, write=write)
    finally:
        os.seteuid(user)


def damage(path, start, length):
    data = bytearray(path.read_bytes())
    data[start : start + length] = b"\xa5" * length
    path.write_bytes(data)


@pytest.mark.parametrize("start", [0, 100])
def test_a_project_whose_beginning_is_overwritten_is_damaged_and_not_foreign(filled, start):
    damage(filled, start, 60)
    refused = run(app, ["people", "--project", str(filled)])
    assert (refused.exit_code, "Traceback" in refused.output) == (1, False)
    assert "is damaged" in refused.output
    assert "candidly doctor --project" in refused.output


@pytest.mark.slow
def test_a_damaged_project_never_gives_a_traceback_and_is_mostly_salvaged(filled):
    whole, good = len(contents(filled)), filled.read_bytes()
    saved = 0
    for seed in range(6):
        rng = random.Random(seed)
        filled.write_bytes(good)
        pages = len(good) // 4096
        if seed % 2:
            with filled.open("r+b") as file:  # a copy that was cut off
                file.truncate(4096 * rng.randrange(pages * 3 // 4, pages))
        else:
            for _ in range(2):
                damage(filled, 4096 * rng.randrange(pages // 2, pages), 4096)
        broken = filled.read_bytes()
        for words in (["people"], ["faces"], ["photos"], ["history"]):
            result = run(app, [*words, "--project", str(filled)])
            assert result.exception is None or isinstance(result.exception, SystemExit)
        checked = run(app, ["doctor", "--project", str(filled)])
        assert (checked.exit_code, "fault:" in checked.output) == (1, True)
        into = filled.with_name(f"saved{seed}.candidly")
        result = run(app, ["doctor", "--project", str(filled), "--save", str(into)])
        assert filled.read_bytes() == broken
        if not into.exists():  # where the tables are stood on one of the pages
            assert "nothing can be read" in result.output
            continue
        assert "saved into" in result.output
        assert faults(into) == []
        with Project.open(into, write=True) as opened:
            solve(opened)
            list(list_faces(opened))
        assert 0.1 * whole < len(contents(into)) <= 1.2 * whole
        saved += 1
    assert saved >= 3


def test_what_is_whole_is_salvaged_whole(filled):
    saved = filled.with_name("saved.candidly")
    rows = salvage(filled, saved)
    looked_at = 'INSERT INTO "touched"'  # everything is looked at again
    made, before = (
        [line for line in contents(path) if not line.startswith(looked_at)]
        for path in (saved, filled)
    )
    assert made == before
    assert rows["decisions"] == 1
    assert rows["touched"] == rows["photos"]
    with pytest.raises(ProjectProblem, match="is there already"):
        salvage(filled, saved)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("INSERT INTO undone VALUES (1)", "1 undo and the log differ"),
        ("UPDATE captions SET text = ''", "mentions outside of the caption"),
        ("UPDATE embeddings SET vector = x'0000c07f' WHERE face = 1", "no numbers"),
        ("UPDATE people SET stands_for = 999 WHERE id = 1", "1 of people refer to people"),
        ("DROP TABLE solved", "table solved is missing"),
        ("DROP TRIGGER decisions_stay", "trigger decisions_stay is missing"),
        ("PRAGMA user_version = 99", "newer version"),
        ("INSERT INTO own VALUES ('unclean', 1)", "bytes of what was forgotten"),
    ],
)
def test_the_doctor_finds_what_does_not_fit_together(filled, statement, fault):
    with sqlite3.connect(filled) as sql:
        sql.execute(statement)
    sql.close()
    assert any(fault in found for found in faults(filled)), faults(filled)
    result = run(app, ["doctor", "--project", str(filled)])
    assert result.exit_code == 1
    assert fault in result.output


def test_the_doctor_says_that_all_is_well_and_refuses_to_save_nothing(filled):
    result = run(app, ["doctor", "--project", str(filled)])
    assert (result.exit_code, "are well" in result.output) == (0, True)
    assert run(app, ["doctor", "--save", "x.candidly"]).exit_code == 2
    with pytest.raises(ProjectProblem, match="there is no project file"):
        faults(filled.with_name("none.candidly"))


def test_an_earlier_version_is_examined_as_it_is(tmp_path):
    path = tmp_path / "old.candidly"
    with _connect(path, "rwc") as sql:
        schema.migrate(sql, schema.MIGRATIONS[:2])
    sql.close()
    path.chmod(0o600)
    assert faults(path) == []
    new_tables(1).close()


@pytest.mark.slow
def test_the_doctor_tries_the_photo_parts_in_seconds():
    start = os.times()
    result = subprocess.run(
        [sys.executable, "-m", "candidly", "doctor"], capture_output=True, text=True, check=True
    )
    spent = os.times()
    for part in ("the detector", "the embedder", "candidly name on two drawn photos: works"):
        assert part in result.stdout
    used = spent.children_user + spent.children_system - start.children_user - start.children_system
    assert used < 10


# Backups


def test_a_backup_is_the_project_of_one_moment_while_it_is_written_to(filled):
    with Project.open(filled, write=True) as writer:
        writer.nobody(1)
        before = contents(filled)
        with writer.transaction() as sql:
            sql.execute("DELETE FROM proposals")
            sql.execute("INSERT INTO people (name) VALUES ('Not Yet')")
            made = backup(filled)
        assert contents(made) == before
    assert made.parent == filled.parent
    assert made.name.startswith("a-backup-20")
    assert not list(filled.parent.glob(".*"))
    assert faults(made) == []
    with pytest.raises(ProjectProblem, match="is there already"):
        backup(filled, made)
    assert contents(made) == before


def test_a_backup_among_the_photos_is_refused(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    with Project.open(tmp_path / "a.candidly", write=True) as project:
        project.root_for(photos)
    with pytest.raises(ProjectProblem, match="among the photos"):
        backup(tmp_path / "a.candidly", photos / "copy.candidly")
    copy = backup(tmp_path / "a.candidly", tmp_path / "copy.candidly")
    with pytest.raises(ProjectProblem, match="among the photos"):
        restore(copy, photos / "new.candidly")
    assert not list(photos.iterdir())


def test_a_damaged_project_is_not_taken_for_a_backup(filled):
    damage(filled, 4096 * 20, 4096 * 4)
    with pytest.raises(ProjectProblem, match="damaged"):
        backup(filled, filled.with_name("copy.candidly"))
    assert not filled.with_name("copy.candidly").exists()
    good = filled.with_name("good.candidly")
    Project.open(good, write=True).close()
    with pytest.raises(ProjectProblem, match="damaged"):
        restore(filled, good, force=True)
    assert faults(good) == []


def test_what_is_there_is_kept_when_a_backup_is_taken_back(filled):
    made, then = backup(filled), contents(filled)
    with Project.open(filled, write=True) as writer:
        writer.nobody(1)
    now = contents(filled)
    with pytest.raises(ProjectProblem, match="--force"):
        restore(made, filled)
    with pytest.raises(ProjectProblem, match="is the project itself"):
        restore(filled, filled)
    done = restore(made, filled, force=True)
    assert (contents(filled), contents(done.before)) == (then, now)
    with Project.open(filled, write=True) as writer:
        with pytest.raises(ProjectProblem, match="being written to"):
            restore(made, filled, force=True)
        writer.nobody(1)
    new = filled.with_name("new.candidly")
    assert restore(made, new).before is None
    assert contents(new) == then


def test_a_damaged_project_is_put_aside_for_its_backup(filled):
    made, then = backup(filled), contents(filled)
    damage(filled, 0, 4096)
    broken = filled.read_bytes()
    done = restore(made, filled, force=True)
    assert contents(filled) == then
    assert done.before.read_bytes() == broken


def test_who_was_forgotten_since_a_backup_stays_forgotten_when_it_is_taken_back(filled):
    made = backup(filled)
    with Project.open(filled, write=True) as writer:
        forget_person(writer, "Ann Lee")
    done = restore(made, filled, force=True)
    assert done.forgotten == 1
    assert b"Ann Lee" not in filled.read_bytes()
    with Project.open(filled) as reader:
        assert reader.history() == []
        assert reader.count("faces") > 100


def test_the_verbs_say_where_the_copy_is_and_what_was_there(filled):
    words = ["--project", str(filled)]
    copy = filled.with_name("copy.candidly")
    made = run(app, ["project", "backup", str(copy), *words])
    assert (made.exit_code, f"backup: {copy}, checked" in made.output) == (0, True)
    refused = run(app, ["project", "restore", str(copy), *words])
    assert (refused.exit_code, "--force" in refused.output) == (1, True)
    done = run(app, ["project", "restore", str(copy), "--force", *words])
    assert done.exit_code == 0
    assert "what was there: " in done.output


SERVER = """
import os, sys
from candidly.photos.keeping import backup, restore
for line in sys.stdin:
    verb, source, target = line.strip().split("|")
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        backup(source, target) if verb == "backup" else restore(source, target, force=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


@pytest.mark.slow
def test_killed_at_any_moment_there_is_a_whole_project_and_no_half_copy(filled):
    first = backup(filled, filled.with_name("first.candidly"))
    with Project.open(filled, write=True) as writer:
        writer.nobody(1)
    copy = filled.with_name("copy.candidly")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    rng = random.Random(0)
    try:
        for attempt in range(12):
            backs_up = bool(attempt % 2)
            words = ("backup", filled, copy) if backs_up else ("restore", first, filled)
            server.stdin.write("|".join(map(str, words)) + "\n")
            server.stdin.flush()
            child = server.stdout.readline().strip()
            time.sleep(rng.uniform(0, 0.08))
            subprocess.run(["kill", "-9", child], check=False, capture_output=True)
            assert server.stdout.readline() == "ended\n"
            assert faults(filled) == []
            if copy.exists():
                assert faults(copy) == []
                copy.unlink()
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
