from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from candidly.photos.geometry import Box
from candidly.photos.project import Project, ProjectProblem, default_project, schema
from candidly.photos.project.connection import (
    Lock,
    LockHeldError,
    _connect,
    network_file_system,
)
from candidly.photos.project.face_names import combine_decisions, name_and_confidence
from candidly.photos.project.queries import (
    candidates,
    caption_records,
    embeddings,
    faces,
    photos,
    proposals,
)
from candidly.photos.project.store import (
    keep_caption,
    keep_faces,
    keep_file,
    keep_people,
    keep_photo,
    link_regions,
)
from candidly.photos.records import (
    Caption,
    Cue,
    Face,
    Mention,
    PeopleByCaption,
    Proposal,
    Region,
)


def face(x, y=0, side=10, shade=1.0):
    return Face(
        Box(x, y, side, side),
        0.9,
        np.zeros((5, 2), dtype=np.float32),
        0.5,
        np.array([shade, 0, 0], dtype=np.float32),
    )


@pytest.fixture
def project(tmp_path):
    with Project.open(tmp_path / "a.candidly", write=True) as opened:
        yield opened


def add(project, name, found=(), caption=None, mentions=(), root=Path("/photos")):
    """A photo with its file, faces and caption; returns its number."""
    top = project.root_for(root)
    with project.transaction() as sql:
        photo = keep_photo(sql, f"identity of {name!a}", 100, 100)
        keep_faces(sql, photo, found, "m")
        file = keep_file(sql, top, name, (1, 2), photo)
        keep_caption(sql, file, caption or Caption("", ""), mentions, "r")
        link_regions(sql, photo)
    return photo


def test_a_new_file_has_wal_foreign_keys_and_the_newest_version(project):
    pragma = {
        name: project.connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "foreign_keys", "synchronous", "user_version")
    }
    newest = len(schema.MIGRATIONS)
    assert pragma == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": 2,
        "user_version": newest,
    }
    with pytest.raises(sqlite3.IntegrityError), project.transaction() as sql:
        sql.execute("INSERT INTO embeddings VALUES (99, x'00')")


def test_every_foreign_key_has_an_index_so_that_deleting_stays_fast(project):
    sql = project.connection
    tables = [n for (n,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    few = {("problems", "run"), ("labels", "run"), ("solved", "run"), ("files", "root")}
    for table in tables:
        first = set()
        for _, name, *_ in sql.execute(f"PRAGMA index_list({table})").fetchall():
            first.add(sql.execute(f"PRAGMA index_info({name})").fetchone()[2])
        keys = {c[1] for c in sql.execute(f"PRAGMA table_info({table})") if c[5]}
        for key in sql.execute(f"PRAGMA foreign_key_list({table})"):
            assert key[3] in first | keys or (table, key[3]) in few, (table, key[3])


def test_a_newer_version_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "a.candidly"
    Project.open(path, write=True).close()
    with sqlite3.connect(path) as sql:
        sql.execute("PRAGMA user_version = 99")
    sql.close()
    before = path.read_bytes()
    for write in (True, False):
        with pytest.raises(ProjectProblem, match=r"newer version .*format 99.*--upgrade"):
            Project.open(path, write=write)
    assert path.read_bytes() == before


def test_an_older_version_is_brought_up_to_date_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a.candidly"
    with Project.open(path, write=True) as opened:
        add(opened, "a.png", [face(1)])
    broken = (*schema.MIGRATIONS, ("ALTER TABLE photos ADD COLUMN stars", "NONSENSE"))
    connection = _connect(path, "rw")
    with pytest.raises(sqlite3.OperationalError, match="NONSENSE"):
        schema.migrate(connection, broken)
    assert schema.version_of(connection) == len(schema.MIGRATIONS)
    connection.execute("PRAGMA wal_checkpoint")
    connection.close()
    next_one = (*schema.MIGRATIONS, ("ALTER TABLE photos ADD COLUMN stars INTEGER DEFAULT 3",))
    monkeypatch.setattr(schema, "MIGRATIONS", next_one)
    monkeypatch.setattr(schema.migrate, "__defaults__", (next_one,))
    monkeypatch.setattr(schema.version_of, "__defaults__", (next_one,))
    with Project.open(path) as opened:  # a reader brings it up to date as well
        assert opened.connection.execute("SELECT stars FROM photos").fetchall() == [(3,)]
        assert len(list(faces(opened))) == 1


@pytest.mark.parametrize("write", [True, False])
def test_what_is_no_project_file_is_refused_and_not_touched(tmp_path, write):
    text = tmp_path / "notes.txt"
    text.write_text("these are my notes, and no database\n" * 40)
    with pytest.raises(ProjectProblem, match="is no project file"):
        Project.open(text, write=write)
    assert text.read_text().startswith("these are my notes")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as sql:
        sql.execute("CREATE TABLE mine (x)")
    sql.close()
    before = other.read_bytes()
    with pytest.raises(ProjectProblem, match="database of another program"):
        Project.open(other, write=write)
    assert other.read_bytes() == before
    with pytest.raises(ProjectProblem, match="is a folder"):
        Project.open(tmp_path, write=write)


def test_a_reader_of_no_file_is_told_how_to_make_one(tmp_path):
    with pytest.raises(ProjectProblem, match="candidly ingest PHOTOS makes it"):
        Project.open(tmp_path / "none.candidly")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"])
def test_network_file_systems_are_recognised_by_their_mount(tmp_path, kind):
    mounts = (
        "/dev/sda / ext4 rw 0 0\n"
        f"server:/x /media/my\\040nas {kind} rw 0 0\n"
        "/dev/sdb /media/my\\040nas/local ext4 rw 0 0\n"
    )
    assert network_file_system(Path("/media/my nas/deep/a.candidly"), mounts) == kind
    assert network_file_system(Path("/media/my nas/local/a.candidly"), mounts) is None
    assert network_file_system(Path("/media/my nasty/a.candidly"), mounts) is None
    link = tmp_path / "link"
    link.symlink_to("/media/my nas")
    assert network_file_system(link / "a.candidly", mounts) == kind


def test_a_project_on_a_network_file_system_is_refused_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("candidly.photos.project.project.network_file_system", lambda _: "nfs4")
    with pytest.raises(ProjectProblem, match=r"network file system \(nfs4\).*--project FILE"):
        Project.open(tmp_path / "a.candidly", write=True)


def test_by_default_it_is_in_the_data_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_project() == tmp_path / "candidly" / "photos.candidly"
    with Project.open(write=True) as opened:
        assert opened.path == default_project().resolve()
    monkeypatch.setenv("XDG_DATA_HOME", "not/whole")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_project() == tmp_path / ".local" / "share" / "candidly" / "photos.candidly"


def test_a_second_writer_gets_an_answer_at_once_and_readers_are_let_in(tmp_path):
    path = tmp_path / "a.candidly"
    first = Project.open(path, write=True)
    add(first, "a.png", [face(1)])
    link = tmp_path / "link.candidly"
    link.symlink_to(path)
    for other in (path, link):  # another name of the same file is the same project
        with pytest.raises(ProjectProblem, match=rf"being written to \(process {os.getpid()}"):
            Project.open(other, write=True)  # one that waited would wait for ever
    with Project.open(path) as reader:
        assert len(list(faces(reader))) == 1
        with pytest.raises(ProjectProblem, match="opened for reading"), reader.transaction():
            pass
    first.close()
    Project.open(path, write=True).close()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; "
        "from candidly.photos.project.connection import Lock; "
        "held = Lock(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    path = tmp_path / "a.lock"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LockHeldError, match=f"process {other.pid}, since 20"):
            Lock(path)
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    Lock(path).release()


@pytest.mark.slow
def test_another_program_that_writes_gives_a_clear_answer(project):
    other = sqlite3.connect(project.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ProjectProblem, match="another program is writing"):
        project.begin_run("1", {})
    other.execute("ROLLBACK")
    other.close()
    assert project.begin_run("1", {}) == 1


def test_a_full_disk_undoes_the_transaction_and_says_so(project):
    add(project, "a.png", [face(1)])
    (pages,) = project.connection.execute("PRAGMA page_count").fetchone()
    project.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ProjectProblem, match=r"is full; make room.*continues"):
        add(project, "b.png", [face(1)], Caption("x" * 100_000, "txt"))
    assert [photo.file for photo in photos(project)] == ["a.png"]
    project.connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    add(project, "b.png", [face(1)], Caption("x" * 100_000, "txt"))
    assert [photo.file for photo in photos(project)] == ["a.png", "b.png"]


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="permissions of POSIX")
def test_a_folder_that_is_read_only_can_be_read_and_refuses_writers():
    # Nobody may write there; root may anyhow, so it becomes somebody else for a moment.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Project.open(folder / "a.candidly", write=True) as opened:
            add(opened, "a.png", [face(1)])
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            with Project.open(folder / "a.candidly") as reader:
                assert len(list(faces(reader))) == 1
            with pytest.raises(ProjectProblem, match="cannot be written to"):
                Project.open(folder / "a.candidly", write=True)
            with pytest.raises(ProjectProblem, match="choose another place with --project"):
                Project.open(folder / "new" / "b.candidly", write=True)
        finally:
            os.seteuid(user)
            folder.chmod(0o755)


def test_roots_never_overlap_and_files_keep_their_places(project, tmp_path):
    inner = tmp_path / "all" / "2024"
    inner.mkdir(parents=True)
    add(project, "a.png", [face(1)], root=inner)
    assert project.root_for(inner / "deeper").path == inner
    outer = project.root_for(tmp_path / "all")
    assert [root.path for root in project.roots()] == [outer.path]
    (shown,) = photos(project)
    assert (shown.root, shown.file) == (tmp_path / "all", "2024/a.png")


def test_a_root_can_be_moved_and_only_a_root(project, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    new.mkdir()
    add(project, "a.png", [face(1)], root=old)
    project.move_root(old, new)
    (shown,) = faces(project)
    assert (shown.root, shown.file) == (new, "a.png")
    with pytest.raises(ProjectProblem, match="is no photo root"):
        project.move_root(old, new)
    with pytest.raises(ProjectProblem, match="there is no folder"):
        project.move_root(new, old)
    other = tmp_path / "other"
    other.mkdir()
    project.root_for(other)
    with pytest.raises(ProjectProblem, match="overlaps the root"):
        project.move_root(new, other)


def test_decisions_are_never_deleted_or_edited_and_later_ones_win(project):
    add(project, "a.png", [face(1)])
    (shown,) = faces(project)
    assert (shown.name, shown.confidence) == (None, None)
    seen = []
    for decide in (
        partial(project.confirm, name="Ann Lee"),
        partial(project.reject, name="Ann Lee"),
        partial(project.confirm, name="Bob Ray"),
        project.nobody,
    ):
        decide(shown.id, by="me")
        (now,) = faces(project)
        seen.append((now.name, now.confidence))
    assert seen == [("Ann Lee", 1.0), (None, None), ("Bob Ray", 1.0), (None, 1.0)]
    rows = project.connection.execute('SELECT what, "by", at FROM decisions').fetchall()
    assert [row[0] for row in rows] == ["is", "not", "is", "nobody"]
    assert {row[1] for row in rows} == {"me"}
    assert all(datetime.fromisoformat(row[2]).tzinfo for row in rows)
    for statement in ("DELETE FROM decisions", "UPDATE decisions SET what = 'nobody'"):
        with pytest.raises(sqlite3.IntegrityError, match="never"), project.transaction() as sql:
            sql.execute(statement)


@pytest.mark.parametrize("table", ["labels", "decisions", "standing", "exported"])
def test_the_name_of_a_face_is_looked_up_without_going_through_everybody(project, table):
    plan = project.connection.execute(
        f"EXPLAIN QUERY PLAN SELECT name FROM {table} LEFT JOIN known ON known.id = person"
        " WHERE face = 1"
    )
    assert not [row[3] for row in plan if not row[3].startswith(("SEARCH", "CORRELATED"))]


@pytest.mark.parametrize(
    ("face_", "name", "message"),
    [(99, "Ann Lee", "no face 99"), (2**70, "Ann Lee", f"no face {2**70}"), (1, "  ", "is empty")],
)
def test_a_decision_that_says_nothing_is_refused_since_it_could_not_be_deleted(
    project, face_, name, message
):
    with project.transaction() as sql:
        keep_faces(sql, keep_photo(sql, "one", 100, 100), [face(0)], "m")
    with pytest.raises((ProjectProblem, ValueError), match=message):
        project.confirm(face_, name)
    assert project.count("decisions") == 0
    assert project.count("people") == 0
    project.confirm(1, " Ann  Lee ")
    assert name_and_confidence(project.connection, 1) == ("Ann Lee", 1.0)


def test_what_decisions_come_to():
    assert combine_decisions([]).name is None
    assert combine_decisions([("not", "A"), ("not", "B"), ("is", "A")]).refused == {"B"}
    assert combine_decisions([("is", "A"), ("not", "B")]).name == "A"
    assert combine_decisions([("nobody", None), ("is", "A")]).nobody is False


def test_looking_again_keeps_the_numbers_of_faces_and_what_was_decided(project):
    photo = add(project, "a.png", [face(0), face(40), face(80)])
    one, two, three = (shown.id for shown in faces(project))
    project.confirm(three, "Ann Lee")
    with project.transaction() as sql:
        keep_faces(sql, photo, [face(41, shade=5), face(20), face(2)], "another model")
    shown = {f.id: f.box.x for f in faces(project)}
    assert shown[one] == 2
    assert shown[two] == 41
    assert shown[three] == 80  # found no more, and kept for its decision
    assert len(shown) == 4
    vectors = {
        n: row[0] for ns, rows in embeddings(project) for n, row in zip(ns, rows, strict=True)
    }
    assert vectors[two] == 5
    assert three not in vectors  # its vector was of another model


def test_regions_of_the_metadata_name_faces_and_add_those_not_found(project):
    regions = (Region("Ann Lee", 0.05, 0.0, 0.16, 0.14), Region(None, 0.8, 0.8, 0.1, 0.1))
    caption = Caption("", "xmp", regions=regions)
    add(project, "a.png", [face(8), face(50)], caption)
    shown = {round(f.box.x): (f.name, f.confidence) for f in faces(project)}
    assert shown == {8: ("Ann Lee", 1.0), 50: (None, None), 80: (None, None)}
    add(project, "a.png", [face(8), face(50)], Caption("", "xmp"))  # the regions are gone
    assert [round(f.box.x) for f in faces(project)] == [8, 50]
    assert {f.name for f in faces(project)} == {None}


def test_a_corrected_caption_changes_names_and_keeps_faces_and_decisions(project):
    first = [Mention("Bob Ray", 0, 7, Cue("left", 2, 3, "back")), Mention("Ann Lee", 12, 19)]
    photo = add(project, "a.png", [face(1)], Caption("Bob Ray and Ann Lee", "csv"), first)
    (before,) = faces(project)
    assert before.candidates == ("Bob Ray", "Ann Lee")
    row = project.connection.execute('SELECT start, "end", side, place, "of", "row" FROM mentions')
    assert row.fetchone() == (0, 7, "left", 2, 3, "back")
    assert caption_records(project)[0].mentions == tuple(first)
    project.confirm(before.id, "Bob Ray")
    caption = Caption("Cy Fox", "csv", given=("Dee Orr",))
    add(project, "a.png", [face(1)], caption, [Mention("Cy Fox", 0, 6)])
    with project.transaction() as sql:
        captions = caption_records(project)
        same = PeopleByCaption(
            [list(one.mentions) for one in captions],
            [{name: name for name in one.given} for one in captions],
        )
        keep_people(sql, captions, same)
    (after,) = faces(project)
    assert (after.id, after.name) == (before.id, "Bob Ray")
    assert after.candidates == ("Dee Orr", "Cy Fox")  # names given come first
    people = {name for (name,) in project.connection.execute("SELECT name FROM people")}
    assert people == {"Bob Ray", "Cy Fox", "Dee Orr"}  # nothing points at Ann Lee any more
    assert candidates(project.connection, photo) == after.candidates


def test_who_a_mention_is_may_change_and_may_be_nobody_to_name(project):
    mentions = [Mention("Bush", 0, 4), Mention("The End", 5, 12)]
    add(project, "a.png", [face(1)], Caption("Bush The End", "csv"), mentions)
    found = [Mention("George W. Bush", 0, 4), Mention("Hen", 6, 9)]
    for _ in range(2):  # again changes nothing
        captions = caption_records(project)
        assert captions[0].mentions == tuple(mentions)  # evidence stays
        with project.transaction() as sql:
            likely = [Proposal("Hen", "George W. Bush", "sound")]
            keep_people(sql, captions, PeopleByCaption([found], [{}], likely))
        (shown,) = faces(project)
        assert shown.candidates == ("George W. Bush", "Hen")
        assert project.count("mentions") == 3
        assert list(proposals(project)) == likely


def test_the_work_for_names_given_with_one_photo_grows_with_their_number(project):
    names = tuple(f"Ann {number} Lee" for number in range(6000))
    add(project, "a.png", [face(1)], Caption("", "csv", given=names))
    captions = caption_records(project)
    steps = []
    with project.transaction() as sql:
        sql.set_progress_handler(lambda: steps.append(1000) or 0, 1000)
        keep_people(sql, captions, PeopleByCaption([[]], [{name: name + "s" for name in names}]))
        sql.set_progress_handler(None, 0)
    assert 0 < sum(steps) < 500 * len(names)  # steps of SQLite; all pairs are 36 million
    (shown,) = faces(project)
    assert shown.candidates[-1] == "Ann 5999 Lees"


def test_odd_texts_and_paths_are_kept(project):
    name = os.fsdecode(b"caf\xe9/\xff.png")
    text = "Ann \ud800 Lee <b>\x00\n../" + "y" * 1_000_000
    add(project, name, [face(1)], Caption(text, "txt"), [Mention("Ann\nLee", 0, 7)])
    (photo,) = photos(project)
    assert photo.file == name
    assert photo.caption == text.replace("\ud800", "?")
    assert photo.candidates == ("Ann\nLee",)


def test_a_reader_sees_one_moment_while_a_writer_goes_on(tmp_path):
    with Project.open(tmp_path / "a.candidly", write=True) as writer:
        for number in range(3):
            add(writer, f"{number}.png", [face(1)])
        with Project.open(writer.path) as reader:
            listed = faces(reader)
            assert next(listed).file == "0.png"
            add(writer, "3.png", [face(1)])
            assert [f.file for f in listed] == ["1.png", "2.png"]
            assert len(list(faces(reader))) == 4


def test_runs_keep_settings_version_and_how_they_ended(project):
    run = project.begin_run("0.1", {"spacy": "any"})
    project.end_run(run, {"found": 3}, ["captions.csv: line 2 is broken"])
    row = project.connection.execute("SELECT version, settings, counts FROM runs").fetchone()
    assert row == ("0.1", '{"spacy": "any"}', '{"found": 3}')
    assert project.count("problems") == 1


MEMORY = """
import sys
from pathlib import Path
import numpy as np
from candidly.photos.project import Project
from candidly.photos.project.queries import embeddings, faces
from candidly.photos.geometry import Box
from candidly.photos.project.store import keep_caption, keep_faces, keep_file, keep_photo
from candidly.photos.records import Caption, Face, Mention

n_photos, each, n_names = 25_000, 4, 10_000
random = np.random.default_rng(0)
marks = np.zeros((5, 2), dtype=np.float32)
with Project.open(Path(sys.argv[1]), write=True) as project:
    root = project.root_for(Path("/photos"))
    for start in range(0, n_photos, 5000):
        with project.transaction() as sql:
            for number in range(start, start + 5000):
                photo = keep_photo(sql, f"identity {number}", 1000, 1000)
                vectors = random.standard_normal((each, 128)).astype(np.float32)
                boxes = [Box(100 * i, 10, 80, 80) for i in range(each)]
                found = [Face(b, 0.9, marks, 0.5, v) for b, v in zip(boxes, vectors)]
                keep_faces(sql, photo, found, "made up")
                file = keep_file(sql, root, f"{number}.jpg", (1, 1), photo)
                said = [f"Name {(number * 3 + i) % n_names}" for i in range(3)]
                mentions = [Mention(name, 0, 4) for name in said]
                keep_caption(sql, file, Caption("a caption", "csv"), mentions, "made up")
    assert project.count("people") == n_names
    listed = sum(len(face.candidates) == 3 for face in faces(project))
    assert listed == n_photos * each == sum(len(rows) for _, rows in embeddings(project))
status = Path("/proc/self/status").read_text().split()  # getrusage counts the parent's, too
print(int(status[status.index("VmHWM:") + 1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measured by Linux's /proc")
def test_100_000_faces_and_10_000_names_take_little_memory(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "large.candidly")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 400  # MB; importing alone takes about 130
