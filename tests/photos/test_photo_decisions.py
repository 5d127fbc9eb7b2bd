"""What a person decides: by Python and by the command line, undone and redone."""

from __future__ import annotations

import json
import shlex
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos.ingesting import Choices, store_choices
from candidly.photos.names import Text
from candidly.photos.project import Project, ProjectProblem, schema
from candidly.photos.project.face_names import combine_decisions, name_and_confidence
from candidly.photos.project.known_names import all_names, current_lists
from candidly.photos.project.queries import candidates, photos, proposals
from candidly.photos.solving import solve
from made_up import Album

runner = CliRunner()


@pytest.fixture
def three(album):
    """Ann and Bob are known from several photos, and are together in two."""
    for number in range(4):
        album.add(f"ann-{number}.jpg", ["Ann Ash"], ["Ann Ash"])
        album.add(f"bob-{number}.jpg", ["Bob Bay"], ["Bob Bay"])
        album.add(f"other-{number}.jpg", [f"Other {number}"], [f"Other {number}"])
    album.both = album.add("day/both.jpg", ["Ann Ash", "Bob Bay"], ["Bob Bay", "Ann Ash"])
    album.again = album.add("day/again.jpg", ["Bob Bay", "Ann Ash"], ["Bob Bay", "Ann Ash"])
    solve(album.project)
    return album


def call(album, line):
    """Run a command on the project of an album, which is open for writing in between."""
    album.project.close()
    command = [*shlex.split(line), "--project", str(album.project.path)]
    result = runner.invoke(app, command)
    album.project = Project.open(album.project.path, write=True)
    return result


def done(album, line):
    result = call(album, line)
    assert result.exit_code == 0, result.output
    return result


def refused(album, line):
    before = album.project.history()
    result = call(album, line)
    assert result.exit_code == 1, result.output
    assert album.project.history() == before
    return " ".join(result.stderr.split())


# Faces


def test_a_face_is_decided_as_why_names_it(three):
    left, right = three.both
    result = done(three, "is both.jpg#1 'Bob Bay'")
    assert result.stdout == "1: day/both.jpg#1 is Bob Bay\n"
    assert "candidly undo 1" in result.stderr
    assert three.names([left]) == ["Bob Bay"]
    done(three, "not day/both.jpg#2 'bob bay'")
    done(three, f"nobody {three.again[0]}")
    done(three, "ignore again.jpg#2")
    assert three.names([left, right, *three.again]) == ["Bob Bay", None, None, None]
    said = [(one.what, one.face, one.name) for one in three.project.history()]
    assert said == [
        ("is", left, "Bob Bay"),
        ("not", right, "Bob Bay"),
        ("nobody", three.again[0], None),
        ("ignore", three.again[1], None),
    ]
    shown = done(three, "why both.jpg#1").stdout
    assert "(decision 1)" in shown


def test_a_new_name_is_allowed_and_told(three):
    result = done(three, "is both.jpg#1 'Anne Ash'")
    assert "note: 'Anne Ash' is a new name in this project; did you mean 'Ann Ash'" in result.stderr
    assert three.names(three.both[:1]) == ["Anne Ash"]
    result = done(three, "is both.jpg#1 'ann ash'")
    assert "'ann ash' is 'Ann Ash' in this project" in result.stderr
    assert three.names(three.both[:1]) == ["Ann Ash"]
    result = done(three, "is both.jpg#2 'Ann Ash'")
    assert "note: day/both.jpg#1 is decided to be this person, too" in result.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("is both.jpg#3 Ann", "has 2 faces, so there is no day/both.jpg#3; the nearest is"),
        ("is boht.jpg#1 Ann", "there is no face and no photo 'boht.jpg#1'"),
        ("is boht.jpg#1 Ann", "did you mean day/both.jpg"),
        ("is both.jpg Ann", "say which, from left: day/both.jpg#1 to day/both.jpg#2"),
        ("is 99999999999999999999 Ann", "there is no face and no photo '99999999999999999999'"),
        ("is both.jpg#1 '  '", "this one is empty"),
        ("is both.jpg#1 '???'", "'???' has none"),
        ("not both.jpg#1 'An Ash'", "nobody is called 'An Ash' in this project; did you mean"),
        ("not both.jpg#1 Zzz", "nobody is called 'Zzz' in this project; candidly people lists"),
        ("merge Ann 'Bob Bay'", "nobody is called 'Ann' in this project; did you mean 'Ann Ash'"),
        ("merge 'Ann Ash' Zzz", "candidly rename gives 'Ann Ash' a new name"),
        ("merge 'Ann Ash' 'ann ash'", "are one person already"),
        ("rename 'Ann Ash' 'Bob Bay'", "candidly merge makes 'Ann Ash' and 'Bob Bay' one person"),
        ("rename 'Ann Ash' 'Ann Ash'", "is called 'Ann Ash' already"),
        ("split 'Ann Ash' 'Ann Ash' both.jpg#1", "nothing would be split"),
        ("split 'Ann Ash' 'Zoe' both.jpg#2", "is 'Bob Bay', not 'Ann Ash'"),
        ("undo", "there is nothing to undo in"),
        ("undo 7", "there is no decision 7"),
        ("undo 99999999999999999999", "there is no decision 99999999999999999999"),
        ("undo --since 2020-01-01", "nothing to undo"),
        ("photos --person Zzz", "nobody is called 'Zzz'"),
    ],
)
def test_a_refusal_names_what_is_wrong_and_what_to_do(three, line, told):
    assert told in refused(three, line)


def test_nothing_is_decided_in_a_project_that_is_not_there(tmp_path):
    result = runner.invoke(app, ["nobody", "1", "--project", str(tmp_path / "none.candidly")])
    assert result.exit_code == 1
    assert "there is no project file" in result.stderr
    assert not (tmp_path / "none.candidly").exists()


def test_decisions_and_their_history_as_json(three):
    (row,) = json.loads(done(three, "is both.jpg#2 'Bob Bay' --json").stdout)
    assert row | {"by": "", "at": ""} == {
        "number": 1, "what": "is", "face": three.both[1], "file": "day/both.jpg#2",
        "name": "Bob Bay", "becomes": None, "undoes": None, "batch": 1, "stands": True,
        "by": "", "at": "",
    }  # fmt: skip
    done(three, "undo")
    first, second = json.loads(done(three, "history --json").stdout)
    assert (first["stands"], second["undoes"]) == (False, 1)
    plain = done(three, "history").stdout.splitlines()
    assert plain[0].endswith("day/both.jpg#2 is Bob Bay  (taken back)")
    assert plain[1].endswith("decision 1 is taken back")
    assert done(three, "history --csv").stdout.splitlines()[0].startswith("number,at,by,what,file")


# Undo


def test_an_undo_takes_back_one_and_keeps_later_ones(three):
    face, other = three.both
    for line in ("is both.jpg#1 Zoe", "is both.jpg#2 Yan", "not both.jpg#1 'Ann Ash'"):
        done(three, line)
    done(three, "undo 1")
    assert three.names([face, other]) == [None, "Yan"]  # it is still not Ann
    assert "decision 1 is undone already, by 4; candidly undo 4 brings" in refused(three, "undo 1")
    done(three, "undo 4")
    assert three.names([face, other]) == ["Zoe", "Yan"]
    assert done(three, "undo 2 3").stdout.count("is taken back") == 2
    assert three.names([face, other]) == ["Zoe", "Bob Bay"]
    done(three, "undo")
    assert three.names([face, other]) == ["Ann Ash", "Bob Bay"]


def test_undo_since_a_time_gives_the_state_of_that_time_undos_included(three):
    face, other = three.both
    first = three.project.confirm(face, "Zoe")
    at = datetime.now(UTC) + timedelta(milliseconds=2)
    while datetime.now(UTC) < at:
        pass
    three.project.undo(first)
    last = three.project.nobody(other)
    three.project.undo(last)
    three.project.undo(since=at)
    assert three.names([face, other]) == ["Zoe", "Bob Bay"]
    with pytest.raises(ProjectProblem, match="nothing to undo"):
        three.project.undo(since=datetime.now(UTC) + timedelta(hours=1))
    with pytest.raises(ValueError, match="not both"):
        three.project.undo(1, since=at)
    tomorrow = (datetime.now() + timedelta(days=1)).strftime("%Y-%m-%d")
    assert "nothing to undo" in refused(three, f"undo --since {tomorrow}")
    done(three, "undo --since 2000-01-01T00:00:00")
    assert three.names([face, other]) == ["Ann Ash", "Bob Bay"]


def test_what_was_decided_at_once_is_undone_at_once(three):
    faces = [three.both[0], three.again[1]]
    done(three, "split 'Ann Ash' 'Ann Elm' both.jpg#1 again.jpg#2")
    assert three.names(faces) == ["Ann Elm", "Ann Elm"]
    assert [one.batch for one in three.project.history()] == [1, 1]
    done(three, "undo")
    assert three.names(faces) == ["Ann Ash", "Ann Ash"]
    assert {one.batch for one in three.project.history()} == {1, 3}


NAMES = ("Ann", "Bob", "Cas")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["confirm", "reject"]), st.integers(0, 1), st.integers(0, 2)),
        st.tuples(st.sampled_from(["nobody", "ignore"]), st.integers(0, 1), st.none()),
        st.tuples(st.sampled_from(["merge", "rename"]), st.integers(0, 2), st.integers(0, 2)),
        st.tuples(st.just("undo"), st.integers(1, 12), st.none()),
        st.tuples(st.just("undo last"), st.none(), st.none()),
    ),
    max_size=14,
)


def by_definition(log):
    """The decisions that stand: those of which no undo stands."""
    undoes = dict(log)

    def stands(number):
        return not any(stands(undo) for undo, what in undoes.items() if what == number)

    return {number for number in undoes if stands(number)}


def take(project, step, faces):
    kind, one, other = step
    match kind:
        case "confirm" | "reject":
            getattr(project, kind)(faces[one], NAMES[other])
        case "nobody" | "ignore":
            getattr(project, kind)(faces[one])
        case "merge" | "rename":
            getattr(project, kind)(NAMES[one], NAMES[other])
        case "undo":
            project.undo(one)
        case _:
            project.undo()


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_any_decisions_and_undos_give_the_state_by_definition(steps):
    with TemporaryDirectory() as folder:
        album = Album(Path(folder, "a.candidly"))
        faces = album.add("a.jpg", ["Ann", "Bob"], ["Ann", "Bob"])
        project, sql = album.project, album.project.connection
        for step in steps:
            before = project.history()
            try:
                take(project, step, faces)
            except ProjectProblem:
                assert project.history() == before
            log = sql.execute("SELECT id, undoes FROM decisions").fetchall()
            expected = by_definition(log)
            assert {one.number for one in project.history() if one.stands} == expected
            rows = sql.execute(
                "SELECT decisions.id, what, face, known.name, one.name, other.name FROM decisions"
                " LEFT JOIN known ON known.id = person LEFT JOIN people one ON one.id = person"
                " LEFT JOIN people other ON other.id = becomes ORDER BY decisions.id"
            ).fetchall()
            for face in faces:
                said = [(what, now) for n, what, f, now, *_ in rows if f == face and n in expected]
                decided, name = combine_decisions(said), name_and_confidence(sql, face)
                if decided.name is not None or decided.nobody:
                    assert name == (decided.name, 1.0)
                else:
                    assert name == (None, None)
            check_names(sql, [row[4:] for row in rows if row[5] and row[0] in expected])
        project.close()


def check_names(sql, renamed):
    """Names end somewhere, the last decision holds, and without any names are as written."""
    known = dict(sql.execute("SELECT people.name, known.name FROM people JOIN known USING (id)"))
    assert all(known[now] == now for now in known.values())
    if renamed:
        old, new = renamed[-1]
        assert known[old] == known[new]
    else:
        assert all(own == now for own, now in known.items())
    touched = {name for pair in renamed for name in pair}
    assert all(own == now for own, now in known.items() if own not in touched)


def test_an_undone_undo_may_leave_another_one(album):
    (face,) = album.add("a.jpg", ["Ann"], ["Ann"])
    project = album.project
    one = project.confirm(face, "Zoe")
    (two,) = project.undo(one)
    (three,) = project.undo(two)
    project.undo(one)
    project.undo(three)  # two stands again, and so do both undos of one
    assert [a.number for a in project.history() if a.stands] == [2, 4, 5]
    with pytest.raises(ProjectProblem, match="undone already, by 4"):
        project.undo(one)
    project.undo(2, 4)
    assert album.names([face]) == ["Zoe"]


def test_decisions_of_an_earlier_format_are_kept_and_undecided_becomes_undos(tmp_path):
    path = tmp_path / "old.candidly"
    sql = sqlite3.connect(path, isolation_level=None)
    schema.migrate(sql, schema.MIGRATIONS[:2])
    sql.execute("INSERT INTO photos (id, identity, width, height) VALUES (1, 'x', 9, 9)")
    sql.execute("INSERT INTO people (id, name) VALUES (1, 'Ann'), (2, 'Bob')")
    for face in (1, 2):
        sql.execute("INSERT INTO faces VALUES (?, 1, 0, 0, 1, 1, 1, 1, x'', 'm')", (face,))
    rows = [
        (1, "is", 1), (2, "is", 1), (1, "undecided", None), (1, "not", 2),
        (1, "undecided", None), (1, "undecided", None), (1, "is", 2), (2, "undecided", None),
    ]  # fmt: skip
    for number, row in enumerate(rows, 1):
        values = (number, *row, "Eva", f"2026-01-0{number}")
        sql.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)", values)
    sql.close()
    with Project.open(path, write=True) as project:
        found = [(one.number, one.what, one.undoes, one.stands) for one in project.history()]
        assert found == [
            (1, "is", None, False),
            (2, "is", None, False),
            (4, "not", None, False),
            (7, "is", None, True),
            (9, "undo", 1, True),
            (10, "undo", 2, True),
            (11, "undo", 4, True),
        ]
        assert [one.at for one in project.history()][4:] == [
            "2026-01-03",
            "2026-01-08",
            "2026-01-05",
        ]
        assert name_and_confidence(project.connection, 1) == ("Bob", 1.0)
        assert name_and_confidence(project.connection, 2) == (None, None)
        with pytest.raises(sqlite3.IntegrityError, match="never"), project.transaction() as sql:
            sql.execute("DELETE FROM decisions")


# Names


def test_merged_names_are_one_person_in_captions_labels_and_decisions(three):
    project = three.project
    project.confirm(three.both[0], "Ann Ash")
    (late,) = three.add("late.jpg", ["Ann Ash"], ["Annie"])
    three.propose("Annie", "Ann Ash")
    solve(project)
    assert [(one.name, one.likely) for one in proposals(project)] == [("Annie", "Ann Ash")]
    merged = project.merge("Ann Ash", "annie")
    assert list(proposals(project)) == []
    assert "Ann Ash" not in all_names(project.connection)
    assert three.names([three.both[0], late]) == ["Annie", "Annie"]
    solved = solve(project)
    assert three.names([three.both[0], three.again[1], late]) == ["Annie"] * 3
    assert solved.changes == []  # a name that is called otherwise is no other person
    (photo,) = project.connection.execute(
        "SELECT photo FROM faces WHERE id = ?", (late,)
    ).fetchone()
    assert candidates(project.connection, photo) == ("Annie",)
    project.undo(merged)
    assert three.names([three.both[0]]) == ["Ann Ash"]
    solve(project)
    assert three.names([three.both[0], three.again[1]]) == ["Ann Ash", "Ann Ash"]


def test_a_renamed_person_keeps_the_name_when_captions_are_read_again(three):
    project = three.project
    done(three, "rename 'Ann Ash' 'Ann Österby'")
    project = three.project
    three.caption("day/both.jpg", ["Bob Bay", "Ann Ash"])
    three.add("new.jpg", ["Ann Ash"], ["ANN ASH"])  # another way to write it
    solve(project)
    assert three.names([three.both[0]]) == ["Ann Österby"]
    assert "Ann Ash" not in all_names(project.connection)
    assert "ANN ASH" not in all_names(project.connection)
    done(three, "rename 'Ann Osterby' 'Ann Ash'")  # back again
    assert three.names([three.both[0]]) == ["Ann Ash"]
    done(three, "is both.jpg#1 'ann österby'")
    assert three.names([three.both[0]]) == ["Ann Ash"]


def test_somebody_merged_with_one_who_is_never_to_be_named_is_not_named(three):
    store_choices(three.project, Choices(never=Text("Bob Bay", "never")))
    merged = three.project.merge("Ann Ash", "Bob Bay")
    assert three.names([three.both[0]]) == [None]
    solve(three.project)
    assert three.names([three.both[0]]) == [None]
    three.project.undo(merged)
    solve(three.project)
    assert three.names([three.both[0]]) == ["Ann Ash"]


def test_lists_and_decisions_about_names_follow_each_other(three):
    store_choices(three.project, Choices(aliases=Text("Ann Elm = Ann Ash", "aliases")))
    three.project.merge("Ann Elm", "Bob Bay")
    assert current_lists(three.project.connection).canonical("Ann Ash") == "Bob Bay"
    three.project.rename("Bob Bay", "Ann Elm")
    assert three.names([three.both[0]]) == ["Ann Elm"]


def test_a_name_that_was_merged_is_split_off_once_that_is_undone(three):
    done(three, "merge 'Ann Ash' 'Bob Bay'")
    assert "nothing would be split" in refused(three, "split 'Bob Bay' 'Ann Ash' both.jpg#1")
    done(three, "undo")
    assert three.names([three.both[0]]) == ["Ann Ash"]


# Finding and completing


def test_photos_of_several_people_are_those_that_show_all_of_them(three):
    def found(line):
        return [row["file"] for row in json.loads(done(three, f"photos {line} --json").stdout)]

    assert found("--person 'Ann Ash' --person 'bob bay'") == ["day/again.jpg", "day/both.jpg"]
    done(three, "not both.jpg#1 'Ann Ash'")
    assert found("--person 'Ann Ash' --person 'Bob Bay'") == ["day/again.jpg"]
    assert len(found("--person 'Bob Bay'")) == 6
    done(three, "is ann-0.jpg Zoe")
    assert found("--person Zoe") == ["ann-0.jpg"]
    assert found("--person Zoe --person 'Bob Bay'") == []
    assert len(found("")) == len(list(photos(three.project))) == 14


def test_the_shell_completes_names(three):
    store_choices(three.project, Choices(never=Text("Bob Bay", "never")))

    def completed(line, project=three.project.path):
        words = {"COMP_WORDS": f"candidly {line}", "COMP_CWORD": str(len(line.split(" ")))}
        asked = {"_CANDIDLY_COMPLETE": "complete_bash", "CANDIDLY_PROJECT": str(project), **words}
        lines = runner.invoke(app, env=asked, prog_name="candidly").stdout.splitlines()
        return [line for line in lines if line]

    assert completed("is both.jpg#1 A") == ["Ann Ash"]
    assert completed(f"merge --project {three.project.path} An", "none") == ["Ann Ash"]
    assert completed("photos --person Bob") == []  # not to be named
    assert len(completed("rename ")) == 5
    assert completed("not 1 A", three.project.path.with_name("none")) == []


@pytest.mark.parametrize(
    "verb", ["is", "not", "nobody", "ignore", "undo", "merge", "rename", "split", "history"]
)
def test_every_verb_has_help_with_an_example(verb):
    result = runner.invoke(app, [verb, "--help"])
    assert result.exit_code == 0
    assert f"candidly {verb}" in result.output.partition("Example")[2]
