from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos import Choices, Project, ProjectProblem, Text, solve, train
from candidly.photos.ingesting import store_choices
from candidly.photos.keeping import forget_faces, forget_person
from candidly.photos.keeping.forgetting import is_unclean
from candidly.photos.names import find_mentions
from candidly.photos.names.lexicon import fold
from candidly.photos.project.forgotten import UNNAMED, ForgottenNameError, ForgottenNames
from candidly.photos.project.schema import person_id, timestamp
from candidly.photos.project.store import keep_caption
from candidly.photos.records import Caption, Cue, Mention, Region
from made_up import Album, fill


def texts(sql):
    """All texts of a project, and bytes that may be one, with their place."""
    tables = sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        for column in [row[1] for row in sql.execute(f'PRAGMA table_info("{table}")')]:
            for (value,) in sql.execute(f'SELECT "{column}" FROM "{table}"').fetchall():
                if isinstance(value, bytes):
                    yield table, column, value.decode("utf-8", "replace")
                elif isinstance(value, str):
                    yield table, column, value


def holding(sql, *names):
    """Where a name is still, in any spelling."""
    wanted = [re.sub(r"\W+", "", fold(name)) for name in names]
    return [
        (table, column, value[:60])
        for table, column, value in texts(sql)
        if any(word in re.sub(r"[\W_]+", "", fold(value)) for word in wanted)
    ]


def raw(path):
    """The bytes of a project and of what lies beside it."""
    names = (path.name + end for end in ("", "-wal", "-shm", "-journal", ".lock"))
    files = (path.with_name(name) for name in names)
    return b"".join(file.read_bytes() for file in files if file.exists())


@pytest.fixture
def busy(album):
    """A project in which Ann Lee is everywhere that a name can be."""
    fill(album)
    project = album.project
    store_choices(
        project,
        Choices(
            aliases=Text("Ann Lee = Annie Lee, A. Lee\nPerson A = Pa\n", "a"),
            never=Text("Annie Lee  # of Ann Lee\nschool/\n", "n"),
        ),
    )
    store_choices(project, Choices(never=Text("school/\n", "n")))
    first = album.add("1.jpg", ["Ann Lee"], ["Ann Lee"])
    album.add("2.jpg", ["Ann Lee", "Person A"], ["Annie Lee", "Person A"])
    album.add("3.jpg", ["Ann Lee"], [], text="ANN LEE'S house", given=["Ann Lee"])
    album.add(
        "4.jpg", ["Ann Lee"], [], text="The fair", regions=[Region("Ànn  Lee", 0, 0, 0.06, 0.06)]
    )
    batch = album.add("5.jpg", ["Ann Lee", "Zoe New"], ["Person B", "Annette Li"])
    solve(project, full=True)
    project.confirm(first[0], "Ann Lee", by="Ann Lee")
    project.undo()
    project.confirm(first[0], "Ann Lee")
    project.merge("Annette Li", "Ann Lee")
    project.reject(batch[1], "Ann Lee")
    project.confirm(batch[0], "ann lee")
    solve(project, full=True)
    train(project)
    run = project.begin_run("1", {"note": "about Ann Lee"})
    project.end_run(run, {}, ["lee_ann.jpg: Ann Lee is broken"], ["doubt about Lee, Ann"])
    with project.transaction() as sql:
        (person,) = sql.execute("SELECT id FROM people WHERE name = 'Ann Lee'").fetchone()
        sql.execute("INSERT INTO exported VALUES (?, ?, ?)", (first[0], person, timestamp()))
        sql.execute(
            "INSERT INTO changes (run, face, before, after, why) VALUES (?, ?, ?, ?, ?)",
            (run, first[0], None, "Ann Lee", "like Ann Lee"),
        )
        sql.execute("INSERT INTO exports VALUES (1, '/out', '{}', 'now', 'now', NULL)")
        before = b"<rdf>Ann Lee</rdf>"
        sql.execute(
            "INSERT INTO export_files VALUES (1, 1, '/out/1.xmp', 1, 0, 'x', 1, 'y', ?)", (before,)
        )
        sql.execute("INSERT INTO export_names VALUES (1, ?, ?)", (first[0], person))
    return album


def test_nothing_of_a_person_is_left_in_any_table_nor_in_the_bytes(busy):
    project = busy.project
    assert {table for table, *_ in holding(project.connection, "Ann Lee")} >= {
        "captions", "mentions", "given", "regions", "people", "problems", "runs", "changes",
        "lists", "decisions", "export_files",
    }  # fmt: skip
    vectors = [
        vector
        for (vector,) in project.connection.execute(
            "SELECT vector FROM embeddings JOIN labels USING (face) JOIN known ON known.id = person"
            " WHERE name = 'Ann Lee'"
        )
    ]
    assert vectors
    assert vectors[0] in raw(project.path)
    done = forget_person(project, "ann lee")
    assert set(done.names) >= {"Ann Lee", "Annie Lee", "A. Lee", "Annette Li"}
    assert done.exports == ["/out/1.xmp"]
    assert (done.faces, done.recogniser, done.unclean) == (5, True, "")
    assert holding(project.connection, *done.names) == []
    for bytes_left in (raw(project.path), (project.close(), raw(project.path))[1]):
        assert not any(vector in bytes_left for vector in vectors)
        for name in (*done.names, "Annette", "Annie"):
            assert name.encode() not in bytes_left
    found = Project.open(project.path, write=True)
    busy.project = found
    assert found.connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert found.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert [one for one in found.history() if one.name] == []
    solve(found)


def test_it_stays_forgotten_when_captions_and_lists_are_read_again(busy):
    project = busy.project
    forget_person(project, "Ann Lee")
    text = "From left: Person A, Ann LÉE, Person B and annette li. Lee, Ann (Annie Lee)"
    mentions = [Mention(name, text.index(name), text.index(name) + len(name)) for name in
                ("Person A", "Ann LÉE", "Person B", "Annie Lee")]  # fmt: skip
    caption = Caption(
        text, "csv", given=("Ann Lee", "Person A"), regions=(Region("A Lee", 0, 0, 1, 1),)
    )
    with project.transaction() as sql:
        (file,) = sql.execute("SELECT id FROM files WHERE path = '1.jpg'").fetchone()
        number = keep_caption(sql, file, caption, mentions, "again")
        kept = sql.execute(
            'SELECT name, substr(text, start + 1, "end" - start) FROM mentions'
            " JOIN captions ON captions.id = caption WHERE caption = ? ORDER BY start",
            (number,),
        ).fetchall()
        assert kept == [("Person A", "Person A"), ("Person B", "Person B")]
    aliases = Text("Ann Lee = Ännchen Lee\nPerson A = Pa", "a")
    store_choices(project, Choices(aliases=aliases, allow=Text("Ann Lee\n", "b")))
    assert holding(project.connection, "Ann Lee", "Annie Lee", "Annette Li", "Ännchen Lee") == []
    with project.transaction() as sql, pytest.raises(ForgottenNameError):
        person_id(sql, "ännchen lee")
    with project.transaction() as sql:  # an allow list of nobody else does not allow everybody
        (barred,) = sql.execute("SELECT barred FROM people WHERE name = 'Person A'").fetchone()
        assert barred
    store_choices(project, Choices(allow=Text("", "b")))
    with pytest.raises(ForgottenNameError):
        project.confirm(1, "ANN LEE")
    with pytest.raises(ForgottenNameError):
        project.rename("Person A", "Ann Lee")


def test_a_face_of_somebody_forgotten_is_never_embedded_again(busy):
    project = busy.project
    (face,) = project.connection.execute("SELECT id FROM faces WHERE photo ="
        " (SELECT photo FROM files WHERE path = '1.jpg')").fetchone()  # fmt: skip
    forget_person(project, "Ann Lee")
    assert busy.names([face]) == [None]
    again = busy.add("1.jpg", ["Ann Lee"], ["Ann Lee"])  # as another embedder would find it
    assert again == [face]
    rows = project.connection.execute("SELECT landmarks FROM faces WHERE id = ?", (face,))
    assert rows.fetchone() == (b"",)
    query = "SELECT 1 FROM embeddings WHERE face = ?"
    assert project.connection.execute(query, (face,)).fetchone() is None


def test_places_in_a_list_stay_right_when_a_redacted_caption_is_read_again(album):
    text = "From left: Ann Lee, Eva Stone, Bob Ray and Carl Fox at the fair."
    before = {one.name: one.cue for one in find_mentions(text)}
    forgotten = ForgottenNames.of(album.project.connection, ["Eva Stone"], [])
    redacted, kept = forgotten.redact(text, find_mentions(text))
    assert redacted == text.replace("Eva Stone", UNNAMED)
    assert [redacted[one.start : one.end] for one in kept if one] == [
        "Ann Lee",
        "Bob Ray",
        "Carl Fox",
    ]
    again = {one.name: one.cue for one in find_mentions(redacted)}
    assert again == {name: cue for name, cue in before.items() if name != "Eva Stone"}
    assert again["Bob Ray"] == Cue("left", 3, 4)


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("Ann Lee", "ANN LEE, ann-lee and Lee, Ann", "{0}, {0} and {0}"),
        ("Ann Lee", "Ann Lee's and ann_lee.jpg, annlee", "{0}'s and {0}.jpg, {0}"),
        ("Jean-Luc O'Brien",
         "jean luc obrien? Jean\u2010Luc O\u2019Brien!", "jean luc obrien? {0}!"),
        ("Renée", "Rene\u0301e and renée are two words", "{0} and renée are two words"),
        ("王小明", "王小明和李华", "{0}和李华"),
        ("عمر الشريف", "مع عمر الشريف.", "مع {0}."),
        ("Ann Lee", "Joann Lee and Ann Leeson, Ann. Lee", "Joann Lee and Ann Leeson, {0}"),
        ("J. K. Rowling", "J.K. Rowling; JK Rowling", "{0}; {0}"),
    ],
)  # fmt: skip
def test_names_are_found_in_texts_however_they_are_written(album, name, text, left):
    forgotten = ForgottenNames.of(album.project.connection, [name], [])
    assert forgotten.redacted(text) == left.format(UNNAMED)


def test_a_surname_alone_goes_where_nothing_makes_it_somebody_elses(album):
    album.add("1.jpg", ["Ann"], ["Ann Stone"], text="Ann Stone speaks. Stone smiled.")
    with album.project.transaction() as sql:
        person = person_id(sql, "Ann Stone")
        sql.execute(
            "INSERT INTO mentions (caption, name, start, \"end\", person) VALUES (1, 'Stone', 18,"
            " 23, ?)",
            (person,),
        )
    forget_person(album.project, "Ann Stone")
    (text,) = album.project.connection.execute("SELECT text FROM captions").fetchone()
    assert text == f"{UNNAMED} speaks. {UNNAMED} smiled."
    album.add("2.jpg", ["x"], ["Stone"], text="Stone at home")
    album.add("3.jpg", ["x"], ["Bob Stone"], text="Bob Stone at home")
    rows = album.project.connection.execute("SELECT text FROM captions ORDER BY id DESC LIMIT 2")
    assert [row[0] for row in rows] == ["Bob Stone at home", f"{UNNAMED} at home"]


def test_names_of_others_that_touch_are_not_taken_for_it(album):
    text = "Bob Lee, Ann Ray"
    mentions = [Mention("Bob Lee", 0, 7), Mention("Ann Ray", 9, 16)]
    forgotten = ForgottenNames.of(album.project.connection, ["Ann Lee"], [])
    assert forgotten.redact(text, mentions) == (text, mentions)


def test_somebody_whose_name_contains_it_stays_and_is_told(album):
    album.add("1.jpg", ["Ann", "x"], ["Ann Lee Smith", "Bob Ray"])
    album.add("2.jpg", ["Ann"], ["Ann Lee"])
    done = forget_person(album.project, "Ann Lee")
    assert done.alike == ["Ann Lee Smith"]
    rows = album.project.connection.execute("SELECT text FROM captions ORDER BY id").fetchall()
    assert rows == [("Ann Lee Smith Bob Ray",), (UNNAMED,)]


def test_a_face_that_is_somebody_else_by_now_keeps_what_it_looks_like(album):
    (face,) = album.add("1.jpg", ["Bob Ray"], ["Ann Lee", "Bob Ray"])
    album.project.confirm(face, "Ann Lee")
    album.project.confirm(face, "Bob Ray")
    assert forget_person(album.project, "Ann Lee").faces == 0
    assert album.project.count("embeddings") == 1
    assert album.names([face]) == ["Bob Ray"]


def test_a_dry_run_says_the_same_and_changes_nothing(busy):
    before = list(busy.project.connection.iterdump())
    would = forget_person(busy.project, "Ann Lee", dry_run=True)
    assert list(busy.project.connection.iterdump()) == before
    would_faces = forget_faces(busy.project, dry_run=True)
    assert list(busy.project.connection.iterdump()) == before
    assert would_faces.faces > would.faces
    assert forget_person(busy.project, "Ann Lee") == would


def test_decisions_about_others_stay_and_are_still_never_edited(busy):
    project = busy.project
    (other,) = busy.add("6.jpg", ["Person B"], ["Person B"])
    project.confirm(other, "Person B")
    both = project.split("Person B", [other], "Person C")
    forget_person(project, "Ann Lee")
    assert [(one.what, one.name) for one in project.history()] == [
        ("is", "Person B"),
        ("is", "Person C"),
    ]
    assert project.undo() != both
    for statement in ("DELETE FROM decisions", "UPDATE decisions SET \"by\" = 'x'"):
        with pytest.raises(sqlite3.IntegrityError, match="never"), project.transaction() as sql:
            sql.execute(statement)


def test_all_faces_are_forgotten_and_names_stay(busy):
    project = busy.project
    vectors = [v for (v,) in project.connection.execute("SELECT vector FROM embeddings")]
    names = [person for (person,) in project.connection.execute("SELECT name FROM people")]
    decided = project.history()
    done = forget_faces(project)
    assert done.faces == len(vectors)
    left = raw(project.path)
    assert not any(vector in left for vector in vectors)
    for table in ("embeddings", "trained", "learnt", "populations"):
        assert project.count(table) == 0
    now = [person for (person,) in project.connection.execute("SELECT name FROM people")]
    assert (now, project.history()) == (names, decided)


def test_nobody_is_forgotten_by_a_typing_error(busy):
    with pytest.raises(ProjectProblem, match=r"nobody is called 'Ann Le'.*did you mean 'Ann Lee'"):
        forget_person(busy.project, "Ann Le")
    for name in ("", "...", UNNAMED):
        with pytest.raises(ProjectProblem, match="is no name"):
            forget_person(busy.project, name)


@pytest.mark.slow
def test_a_reader_that_holds_the_log_is_told_and_the_next_call_finishes(busy):
    path = busy.project.path
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM people").fetchone()
    done = forget_person(busy.project, "Ann Lee")
    assert "another program reads" in done.unclean
    assert is_unclean(busy.project.connection)
    reader.execute("ROLLBACK")
    reader.close()
    assert forget_person(busy.project, "Ann Lee").unclean == ""
    assert b"Ann Lee" not in raw(path)
    assert not is_unclean(busy.project.connection)


WORD = st.text("abcdefgiklmnoprstuéøßñ", min_size=3, max_size=7).map(str.title)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.tuples(WORD, WORD).map(" ".join), min_size=3, max_size=5, unique_by=fold),
    st.randoms(use_true_random=False),
)
def test_after_forgetting_no_table_has_the_name_and_all_others_are_as_before(
    tmp_path_factory, people, rng
):
    goes, *stay = people
    words = {word for name in stay for word in fold(name).split()}
    if words & set(fold(goes).split()):
        return
    album = Album(tmp_path_factory.mktemp("any") / "a.candidly")
    try:
        expected = []
        for number in range(6):
            least = 1 if number else len(people)  # whoever goes is there
            named = rng.sample(people, rng.randint(least, len(people)))
            written = [rng.choice([str, str.upper])(name) for name in named]
            text = rng.choice(["{}", "Here: {}.", "«{}»"]).format(", ".join(written))
            mentions = [Mention(n, text.index(w), text.index(w) + len(w)) for n, w in
                        zip(named, written, strict=True)]  # fmt: skip
            faces = album.add(f"{number}.jpg", named, [], text=text)
            with album.project.transaction() as sql:
                keep_caption(sql, number + 1, Caption(text, "txt"), mentions, "r")
            album.project.confirm(faces[0], named[0])
            expected.append([(n, w) for n, w in zip(named, written, strict=True) if n != goes])
        forget_person(album.project, goes)
        sql = album.project.connection
        assert holding(sql, goes) == []
        for number, pairs in enumerate(expected):
            rows = sql.execute(
                'SELECT name, substr(text, start + 1, "end" - start) FROM mentions JOIN captions'
                " ON captions.id = caption WHERE file = ? ORDER BY start",
                (number + 1,),
            ).fetchall()
            assert rows == pairs
        album.project.close()
        for name in (goes, goes.upper()):
            assert name.encode() not in raw(album.project.path)
    finally:
        album.project.close()


SERVER = """
import json, os, sys
from pathlib import Path
from candidly.photos import Project
from candidly.photos.keeping import forget_person
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        with Project.open(line.strip(), write=True) as project:
            print(os.getpid(), flush=True)
            forget_person(project, "Person A")
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


@pytest.mark.slow
def test_killed_at_any_moment_all_is_forgotten_or_nothing(tmp_path):
    album = Album(tmp_path / "a.candidly")
    fill(album, photos=150)
    solve(album.project)
    album.project.close()
    with sqlite3.connect(tmp_path / "a.candidly") as sql:
        before = len(holding(sql, "Person A"))
    sql.close()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    rng, seen, longest = random.Random(0), set(), 0.0
    try:
        for attempt in range(21):
            place = tmp_path / str(attempt)
            place.mkdir()
            path = place / "a.candidly"
            shutil.copy(tmp_path / "a.candidly", path)
            server.stdin.write(f"{path}\n")
            server.stdin.flush()
            child = int(server.stdout.readline())
            start = time.monotonic()
            if attempt:
                time.sleep(rng.uniform(0, longest))
                subprocess.run(["kill", "-9", str(child)], check=False, capture_output=True)
            assert server.stdout.readline() == "ended\n"
            longest = longest or time.monotonic() - start
            with Project.open(path, write=True) as project:
                left = len(holding(project.connection, "Person A"))
                assert left in (0, before)
                seen.add(left)
                forget_person(project, "Person A")
                assert holding(project.connection, "Person A") == []
            assert b"Person A" not in raw(path)
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()
    assert seen == {0, before}  # some were killed early enough, and the first not at all


def test_the_verb_asks_first_and_lists_where_the_name_is_still(busy, monkeypatch):
    path = busy.project.path
    page = path.with_name("report.html")
    page.write_text('<meta name="generator" content="candidly"><p>Ann&#32;Lee</p>')
    other = path.with_name("other.html")
    other.write_text('<meta name="generator" content="candidly"><p>Bob</p>')
    here = path.parent / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    shutil.copy(page, here / "mine.html")
    busy.project.close()
    shutil.copy(path, path.with_name("copy.candidly"))
    run = CliRunner().invoke
    words = ["forget", "--project", str(path)]
    refused = run(app, [*words, "--person", "Ann Lee"])
    assert refused.exit_code == 1
    assert "add --yes" in refused.output
    looked = run(app, [*words, "--person", "Ann Lee", "--dry-run"])
    for text in (
        "5 faces look like", "/out/1.xmp", "report.html", "copy.candidly", "mine.html", "would go",
    ):  # fmt: skip
        assert text in looked.output
    assert page.exists()
    assert run(app, words).exit_code == 1
    assert run(app, [*words, "--person", "x", "--all-faces"]).exit_code == 1
    done = run(app, [*words, "--person", "Ann Lee", "--yes"])
    assert (done.exit_code, page.exists(), other.exists()) == (0, False, True)
    assert (here / "mine.html").exists()
    assert done.output.rstrip().endswith("candidly train learns people again")
    assert b"Ann Lee" not in raw(path)


def test_nobody_is_named_in_a_folder_or_under_a_name_on_the_never_list(album):
    project = album.project
    (child,) = album.add("school/1.jpg", ["Ann Lee"], ["Ann Lee"])
    one, other = album.add("2.jpg", ["Ann Lee", "Bob Ray"], ["Ann Lee", "Bob Ray"])
    drawn = album.add(
        "3.jpg", ["Bob Ray"], ["Bob Ray"], regions=[Region("Bob Ray", 0, 0, 0.06, 0.06)]
    )
    project.confirm(child, "Ann Lee")
    project.confirm(other, "Bob Ray")
    solve(project)
    assert album.names([child, one, other, *drawn]) == ["Ann Lee", "Ann Lee", "Bob Ray", "Bob Ray"]
    store_choices(project, Choices(never=Text("School/\nbob ray", "never.txt")))
    assert album.names([child, one, other, *drawn]) == [None, "Ann Lee", None, None]
    with pytest.raises(ProjectProblem, match="nobody is to be named in the folder"):
        project.confirm(child, "Ann Lee")
    with pytest.raises(ProjectProblem, match="not to be named"):
        project.confirm(one, "BOB RAY")
    solve(project, full=True)
    assert album.names([child, one, other, *drawn]) == [None, "Ann Lee", None, None]
    late = album.add("school/late.jpg", ["Ann Lee"], ["Ann Lee"])
    with pytest.raises(ProjectProblem, match="nobody is to be named in the folder"):
        project.confirm(late[0], "Ann Lee")
    store_choices(project, Choices(never=Text("", "never.txt")))
    assert album.names([child, other]) == ["Ann Lee", "Bob Ray"]
