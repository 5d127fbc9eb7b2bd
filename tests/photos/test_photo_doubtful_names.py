"""Names that may be no person's: kept with their probability, given where faces confirm them."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos.explaining import explain
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, default_parts
from candidly.photos.project import Project, schema
from candidly.photos.project.caption_counts import caption_counts
from candidly.photos.project.connection import _connect
from candidly.photos.project.queries import caption_records, photos, proposals
from candidly.photos.project.store import keep_people
from candidly.photos.records import LEAST, NAMED, Cue, PeopleByCaption
from candidly.photos.reporting import people
from candidly.photos.reporting.contents import read_contents
from candidly.photos.solving import PhotoProblem, candidate_scores, run, solve
from candidly.photos.solving.placement import misplaced, odds
from candidly.photos.solving.problem import read_problems
from made_up import Album, fill, share_right

DOUBT = 0.3
WORD = "Arctic Thrust"


def command(album, *words):
    result = CliRunner().invoke(app, [*words, "--project", str(album.project.path)])
    assert result.exit_code == 0, result.output
    return result.stdout


# The solution


def test_doubtful_names_that_no_face_confirms_change_nothing(tmp_path):
    found = []
    for doubtful in (False, True):
        album = Album(tmp_path / f"{doubtful}.candidly")
        fill(album)
        for number in range(12):
            words = [WORD, f"Word {number}"] if doubtful else []
            shown = ["Person A", f"passer-by {number}"]
            chance = dict.fromkeys(words, DOUBT)
            album.add(f"w{number}.jpg", shown, ["Person A", *words], likely=chance)
        solve(album.project)
        found.append(album.labels())
        album.project.close()
    assert found[0] == found[1]


def test_a_doubtful_name_beside_a_sure_one_takes_no_strangers_face(album):
    fill(album)
    shown = ["Person A", "a stranger"]
    faces = album.add("a.jpg", shown, ["Person A", WORD], likely={WORD: DOUBT})
    solve(album.project)
    assert album.names(faces) == ["Person A", None]


@pytest.mark.parametrize("probability", [LEAST, DOUBT])
def test_a_doubtful_name_is_given_where_faces_of_several_photos_agree(album, probability):
    truth = fill(album)
    own = [
        album.add(f"d{k}.jpg", ["Zen", f"Person {c}"], ["Zen", f"Person {c}"], likely=likely)[0]
        for k, c in enumerate("ABCDEF")
        for likely in [{"Zen": probability}]
    ]
    solve(album.project)
    assert album.names(own) == ["Zen"] * 6
    assert share_right(truth, album.all_names()) > 0.95


def test_a_person_named_elsewhere_is_found_where_the_name_is_doubtful(album):
    fill(album)
    shown = album.add("a.jpg", ["Person A"], ["Person A"], likely={"Person A": DOUBT})
    other = album.add("b.jpg", ["a stranger"], ["Person A"], likely={"Person A": DOUBT})
    solve(album.project)
    assert album.names(shown + other) == ["Person A", None]


def test_faces_decide_who_a_surname_is_that_fits_several(album):
    fill(album)
    faces = [
        album.add(f"{shown}.jpg", [shown], ["Person"])[0]
        for shown in ("Person A", "Person B", "a stranger")
    ]
    with album.project.transaction() as sql:
        sql.execute(
            "INSERT INTO mentions (caption, name, start, end, person, probability)"
            " SELECT caption, people.name, start, end, people.id, 0.39 FROM mentions"
            " JOIN people ON people.name IN ('Person A', 'Person B') WHERE mentions.name = 'Person'"
        )
    solve(album.project)
    assert album.names(faces) == ["Person A", "Person B", "Person"]
    reasons = explain(album.project, faces[0]).reasons
    assert '"Person A" is one of 2 people whom the words fit' in reasons


def test_one_stranger_in_few_of_the_photos_that_have_a_word_does_not_get_it(album):
    fill(album)
    faces = [
        album.add(f"w{k}.jpg", ["the same" if k < 2 else f"s{k}"], [WORD], likely={WORD: DOUBT})[0]
        for k in range(12)
    ]
    solve(album.project)
    assert set(album.names(faces)) == {None}


def test_a_doubtful_name_is_confirmed_on_a_second_day(album, monkeypatch):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    fill(album)
    first = album.add("d0.jpg", ["Zen"], ["Zen"], likely={"Zen": DOUBT})
    solve(album.project)
    assert album.names(first) == [None]
    later = [album.add(f"d{k}.jpg", ["Zen"], ["Zen"], likely={"Zen": DOUBT})[0] for k in (1, 2, 3)]
    done = solve(album.project)
    assert not done.full
    assert album.names(first + later) == ["Zen"] * 4


# The problem of a photo


def test_of_several_mentions_the_largest_product_counts(album):
    album.add("a.jpg", ["Ann"], ["Ann", "Bob", "Cas"], likely={"Ann": 0.8, "Bob": 0.3})
    with album.project.transaction() as sql:
        sql.execute("UPDATE mentions SET shown = 0.5 WHERE name = 'Ann'")
        sql.execute(
            "INSERT INTO mentions (caption, name, start, end, person, probability, shown)"
            " SELECT caption, name, 50, 53, person, 0.6, 1 FROM mentions WHERE name = 'Ann'"
        )
    (found,) = read_problems(album.project.connection).values()
    assert found.shown == pytest.approx({"Ann": 0.6, "Bob": 0.3})
    assert found.doubtful == {"Bob"}
    respelled = found.respelled({"Bob": "Rob"})
    assert (respelled.doubtful, respelled.shown["Rob"]) == ({"Rob"}, 0.3)
    assert found.respelled({"Bob": "Ann"}).doubtful == frozenset()


def test_another_probability_is_a_reason_to_solve_again(album):
    album.add("a.jpg", ["Ann"], ["Ann"], likely={"Ann": 0.8})
    (before,) = read_problems(album.project.connection).values()
    with album.project.transaction() as sql:
        sql.execute("UPDATE mentions SET probability = 0.7")
    (after,) = read_problems(album.project.connection).values()
    assert before.stamp != after.stamp


def test_a_name_that_is_also_given_is_not_doubtful(album):
    album.add("a.jpg", ["Ann"], ["Ann"], likely={"Ann": 0.1}, given=["Ann"])
    (found,) = read_problems(album.project.connection).values()
    assert (found.doubtful, found.shown) == (frozenset(), {})


def test_doubtful_names_have_no_place_in_the_order_from_left_to_right():
    faces = {1: Box(0, 0, 9, 9), 2: Box(50, 0, 9, 9)}
    names = {WORD: None, "Ann": None, "Bob": None}
    photo = PhotoProblem(7, faces, names, doubtful=frozenset({WORD}))
    assert misplaced(photo) == misplaced(PhotoProblem(7, faces, {"Ann": None, "Bob": None}))


def test_a_doubtful_name_with_the_same_cue_leaves_the_place_to_the_others():
    faces = {1: Box(0, 0, 9, 9), 2: Box(50, 0, 9, 9)}
    left = Cue("left")
    photo = PhotoProblem(7, faces, {"Ann": left, WORD: left}, doubtful=frozenset({WORD}))
    alone = odds(PhotoProblem(7, faces, {"Ann": left}))
    assert odds(photo)[1]["Ann"] == alone[1]["Ann"]


# The project


def test_a_project_keeps_the_probability_as_read_and_as_resolved(album):
    album.add("a.jpg", ["Ann"], ["Ann"], likely={"Ann": DOUBT})
    (record,) = caption_records(album.project)
    assert record.mentions[0].probability == DOUBT
    surer = [[replace(mention, probability=0.9) for mention in record.mentions]]
    with album.project.transaction() as sql:
        keep_people(sql, [record], PeopleByCaption(surer, [{}]))
    assert caption_records(album.project) == [record]  # what is read in the text alone stays
    (found,) = read_problems(album.project.connection).values()
    assert found.shown == {"Ann": 0.9}


def test_an_older_project_file_has_no_doubts(tmp_path):
    path = tmp_path / "old.candidly"
    connection = _connect(path, "rwc")
    schema.migrate(connection, schema.MIGRATIONS[:1])
    for statement in (
        "INSERT INTO roots VALUES (1, '/p')",
        "INSERT INTO photos VALUES (1, 'x', 9, 9, NULL, NULL)",
        "INSERT INTO files (id, root, path, size, mtime_ns, photo) VALUES (1, 1, 'a.jpg', 1, 1, 1)",
        "INSERT INTO captions VALUES (1, 1, 'Ann Lee', 'txt', NULL, 'before')",
        "INSERT INTO people (id, name) VALUES (1, 'Ann Lee')",
        "INSERT INTO mentions (caption, name, start, end, person) VALUES (1, 'Ann Lee', 0, 7, 1)",
    ):
        connection.execute(statement)
    connection.close()
    with Project.open(path) as project:
        (photo,) = photos(project)
        assert photo.candidates == ("Ann Lee",)
        assert photo.mentions[0].probability == 1
        assert caption_records(project)[0].mentions[0].probability == 1


def test_a_probability_outside_0_and_1_is_refused(album):
    with pytest.raises(sqlite3.IntegrityError):
        album.add("a.jpg", ["Ann"], ["Ann"], likely={"Ann": 1.2})


def test_the_way_in_which_names_are_found_is_in_the_identity_of_the_reader(monkeypatch):
    before = default_parts(Choices()).names.identity
    monkeypatch.setattr(
        "candidly.photos.ingesting.choices.mention_model_stamp", lambda: "another model"
    )
    assert default_parts(Choices()).names.identity != before


# What is told


def test_json_has_named_people_as_candidates_and_all_as_mentions(album):
    cue = Cue("left", 1, 2)
    likely = {WORD: DOUBT, "Bob Ray": NAMED}
    text = f"{WORD}: Ann Lee, Bob Ray"
    who = [("Ann Lee", cue), "Bob Ray", WORD]
    album.add("a.jpg", ["x"], who, text=text, likely=likely, given=["Cas Dee"])
    for verb in ("photos", "faces"):
        (row,) = json.loads(command(album, verb, "--json"))
        assert row["candidates"] == ["Cas Dee", "Ann Lee", "Bob Ray"]
        given, *found = row["mentions"]
        assert (given["name"], given["probability"], given["start"]) == ("Cas Dee", 1.0, None)
        assert [(one["name"], one["probability"]) for one in found] == [
            (WORD, DOUBT),
            ("Ann Lee", 1.0),
            ("Bob Ray", NAMED),
        ]
        assert set(given) == {"name", "probability", "shown", "start", "end", "cue"}
        assert [text[one["start"] : one["end"]] for one in found] == [WORD, "Ann Lee", "Bob Ray"]
        place = found[1]["cue"]
        assert (place["side"], place["place"], place["of"]) == ("left", 1, 2)
        (line,) = csv.DictReader(io.StringIO(command(album, verb, "--csv")))
        assert line["candidates"] == "Cas Dee|Ann Lee|Bob Ray"
        assert WORD not in command(album, verb)


def test_mentions_of_copies_have_their_places_in_the_caption_that_is_listed(album):
    album.add("a.jpg", ["x"], ["Ann Lee"])
    album.project.connection.execute(
        "INSERT INTO files (root, path, size, mtime_ns, photo) SELECT root, 'b.jpg', 1, 1, photo"
        " FROM files"
    )
    album.caption("b.jpg", ["Bob Ray"])
    (row,) = json.loads(command(album, "photos", "--json"))
    found = [row["caption"][one["start"] : one["end"]] for one in row["mentions"]]
    assert found == ["Ann Lee", "Bob Ray"]


def test_doubtful_names_without_faces_are_nowhere_listed_as_people(album):
    album.add("a.jpg", ["x"], ["Ann Lee", WORD, "Ann Lea"], likely={WORD: DOUBT, "Ann Lea": 0.1})
    album.add("b.jpg", ["y"], [WORD], likely={WORD: DOUBT})
    album.propose("Ann Lea", "Ann Lee")
    solve(album.project)
    assert [one.name for one in people(album.project)] == ["Ann Lee"]
    assert list(proposals(album.project)) == []
    contents = read_contents(album.project)
    assert WORD not in repr((contents.absent, contents.people))
    assert caption_counts(album.project.connection).nameless == 1


def test_doubtful_people_with_faces_are_listed(album):
    fill(album)
    for number in range(4):
        album.add(f"z{number}.jpg", ["Zen"], ["Zen"], likely={"Zen": DOUBT})
    solve(album.project)
    (own,) = [one for one in people(album.project) if one.name == "Zen"]
    assert (own.faces, own.photos) == (4, 4)


@pytest.mark.parametrize(("probability", "words"), [(0.62, "probably"), (DOUBT, "perhaps")])
def test_why_says_that_words_are_only_probably_a_name(album, probability, words):
    fill(album)
    for number in range(4):
        (face,) = album.add(f"z{number}.jpg", ["Zen"], ["Zen"], likely={"Zen": probability})
    solve(album.project)
    found = explain(album.project, face)
    assert found.name == "Zen"
    assert found.passages[0].spans[0].probability == probability
    assert f'"Zen" is {words} a name: {100 * probability:.0f}%' in found.reasons
    assert f"[Zen] ({words} a name: {100 * probability:.0f}%)" in command(album, "why", str(face))
    sure, *_ = album.add("sure.jpg", ["Person A"], ["Person A"], likely={"Person A": 0.95})
    solve(album.project)
    assert not any("a name" in reason for reason in explain(album.project, sure).reasons)


def test_a_name_that_is_probably_one_is_weighed_with_its_probability(album):
    own = {"Zed": 1.0, "Yan": 0.6}
    faces = {who: album.add(f"{who}.jpg", [who], [who], likely=own)[0] for who in own}
    solve(album.project)
    chance = {
        one.name: one.probability
        for face in faces.values()
        for one in candidate_scores(album.project.connection, face)
    }
    assert chance["Zed"] >= 0.9  # by elimination alone: as often as names are shown
    assert chance["Yan"] == pytest.approx(0.9 * 0.6, abs=0.02)
