"""People learnt from named faces, and recognised in photos without captions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from candidly.cli import app
from candidly.photos.explaining import explain
from candidly.photos.explaining.attribution import RECOGNISED
from candidly.photos.ingesting import Choices, store_choices
from candidly.photos.names.lists import Lists, Text, key
from candidly.photos.project import ProjectProblem
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.recognition import at_most_once, read_training_faces, recognise, train
from candidly.photos.recognition.store import read_recogniser
from candidly.photos.solving import candidate_scores, changes, solve
from candidly.photos.solving.writing import DECIDED
from candidly.solvers.recogniser_fitting import TooFewFacesError, fit
from made_up import DIMENSIONS, MODEL, Album, fill

NO_LISTS = Lists()


@pytest.fixture
def album(tmp_path):
    made = Album(tmp_path / "photos" / "a.candidly")
    yield made
    made.project.close()


@pytest.fixture
def learnt(album):
    fill(album)
    solve(album.project)
    train(album.project)
    return album


def faces_of(people, each, seed, spread=0.25):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(people, DIMENSIONS))
    who = np.repeat(np.arange(people), each)
    return centres[who] + spread * rng.normal(size=(len(who), DIMENSIONS)), who


# Fitting


def test_people_who_were_seen_are_recognised_and_strangers_are_nobody_known():
    X, who = faces_of(24, 10, seed=0)
    known = who < 12
    model, tested = fit(
        X[known], [f"p{k}" for k in who[known]], np.ones(known.sum()), np.arange(known.sum())
    )
    again, asked = faces_of(24, 10, seed=0, spread=0.3)
    P, _ = model.recognise(again)
    names = [*model.names, None]
    found = [names[i] for i in P.argmax(axis=0)]
    right = [name == (f"p{k}" if k < 12 else None) for name, k in zip(found, asked, strict=True)]
    assert np.mean(right) > 0.95
    assert tested.error < 0.05
    np.testing.assert_allclose(P.sum(axis=0), 1)


def test_the_test_error_is_that_of_photos_not_seen():
    # Nothing tells these people apart, so what is learnt by heart must not look good.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, DIMENSIONS))
    _, tested = fit(X, [f"p{k % 6}" for k in range(120)], np.ones(120), np.arange(120))
    assert tested.right < 0.4
    assert tested.missed + tested.right <= 1 + 1e-9


def test_faces_of_one_photo_are_held_out_together():
    # Each photo shows a person twice, almost the same: a twin in training would be a give-away.
    rng = np.random.default_rng(4)
    single = rng.normal(size=(60, DIMENSIONS))
    X = np.repeat(single, 2, axis=0) + 1e-3 * rng.normal(size=(120, DIMENSIONS))
    names = [f"p{k // 2 % 6}" for k in range(120)]
    _, together = fit(X, names, np.ones(120), np.repeat(np.arange(60), 2))
    _, apart = fit(X, names, np.ones(120), np.arange(120))
    assert together.right < 0.4 < apart.right


def test_how_sure_it_says_it_is_is_how_often_it_is_right():
    X, who = faces_of(40, 12, seed=5, spread=1.6)
    order = np.random.default_rng(1).permutation(len(who))
    train_on, rest = order[:320], order[320:]
    model, tested = fit(X[train_on], [f"p{k}" for k in who[train_on]], np.ones(320), np.arange(320))
    P, _ = model.recognise(X[rest])
    names = np.array([*model.names, ""])
    found, sure = names[P.argmax(axis=0)], P.max(axis=0)
    right = np.mean(found == [f"p{k}" for k in who[rest]])
    assert 0.3 < right < 0.98  # else there is nothing to be unsure of
    assert abs(sure.mean() - right) < 0.15
    assert abs(tested.confidence - (1 - tested.error)) < 0.1


def test_doubtful_names_count_for_less():
    X, who = faces_of(6, 20, seed=6)
    names = [f"p{k}" for k in who]
    wrong = np.arange(0, 120, 20)  # the first face of each is called by the next one's name
    for at in wrong:
        names[at] = f"p{(who[at] + 1) % 6}"
    sure = np.ones(120)
    sure[wrong] = 0.1
    doubtful, _ = fit(X, names, sure, np.arange(120))
    trusted, _ = fit(X, names, np.ones(120), np.arange(120))
    np.testing.assert_allclose(trusted.known.count, 20)
    np.testing.assert_allclose(doubtful.known.count, 19.1)


def test_a_few_wrong_names_do_not_make_likeness_count_for_nothing():
    X, who = faces_of(12, 12, seed=7)
    names = [f"p{k}" for k in who]
    for at in range(0, 144, 24):
        names[at] = f"p{(who[at] + 5) % 12}"
    model, _ = fit(X, names, np.ones(144), np.arange(144))
    strangers, _ = faces_of(12, 3, seed=8)
    P, _ = model.recognise(strangers)
    assert (P.argmax(axis=0) == len(model.names)).all()


def test_nobody_in_two_photos_is_nobody_to_learn():
    X, who = faces_of(5, 1, seed=0)
    with pytest.raises(TooFewFacesError, match="two photos"):
        fit(X, [f"p{k}" for k in who], np.ones(5), np.arange(5))
    with pytest.raises(TooFewFacesError, match="several photos"):
        fit(X, [f"p{k}" for k in who], np.ones(5), np.zeros(5, dtype=int))


def test_a_name_goes_to_one_face_of_a_photo_and_the_other_may_be_the_second_best():
    Y, chosen = at_most_once(np.array([[0.9, 0.8], [0.05, 0.15], [0.05, 0.05]]))
    assert chosen.tolist() == [0, 1]
    np.testing.assert_allclose(Y.sum(axis=0), 1)
    assert Y[0].sum() <= 1 + 1e-9


# In a project


def test_what_is_learnt_is_kept_and_read_again(learnt):
    known = read_training_faces(learnt.project)
    made, _ = fit(known.X, known.names, known.sure, known.photos)
    kept = read_recogniser(learnt.project.connection)
    assert kept.model == MODEL
    P, _ = made.recognise(known.X)
    Q, _ = kept.recogniser.recognise(known.X)
    assert kept.recogniser.names == made.names
    np.testing.assert_allclose(P, Q)


def test_photos_without_captions_get_names_and_strangers_none(learnt):
    shown = ["Person A", "Person B", "a stranger"]
    numbers = learnt.add("new.jpg", shown, [])
    before = learnt.all_names()
    done = recognise(learnt.project, NO_LISTS)
    assert learnt.names(numbers) == ["Person A", "Person B", None]
    assert (done.photos, done.faces, done.named) == (1, 3, 2)
    assert {face: name for face, name in learnt.all_names().items() if face in before} == before
    sure = [name_and_confidence(learnt.project.connection, number)[1] for number in numbers]
    assert all(0.5 < value < 1 for value in sure)
    scores = candidate_scores(learnt.project.connection, numbers[0])
    assert sum(one.probability for one in scores) == pytest.approx(1)


def test_a_name_is_given_once_in_a_photo_without_captions(learnt):
    numbers = learnt.add("twice.jpg", ["Person A", "Person A"], [])
    recognise(learnt.project, NO_LISTS)
    assert learnt.names(numbers).count("Person A") <= 1
    for number in numbers:
        (own,) = (
            one
            for one in candidate_scores(learnt.project.connection, number)
            if one.name == "Person A"
        )
        assert own.probability < 0.7  # which of the two it is cannot be told


def test_people_and_folders_never_to_name_are_not_named(learnt):
    one = learnt.add("new.jpg", ["Person A", "Person B"], [])
    other = learnt.add("private/new.jpg", ["Person B"], [])
    never = Lists(never=frozenset({key("Person A")}), folders=("private",))
    recognise(learnt.project, never)
    assert learnt.names(one) == [None, "Person B"]
    assert learnt.names(other) == [None]
    assert name_and_confidence(learnt.project.connection, other[0]) == (None, None)


def test_a_name_taken_back_by_a_list_is_told(learnt):
    numbers = learnt.add("private/new.jpg", ["Person B"], [])
    recognise(learnt.project, NO_LISTS)
    assert learnt.names(numbers) == ["Person B"]
    done = recognise(learnt.project, Lists(folders=("private",)))
    assert [(one.before, one.after) for one in done.changes] == [("Person B", None)]
    assert learnt.names(numbers) == [None]


def test_a_list_given_later_takes_recognised_names_back_when_the_rest_is_solved(learnt):
    numbers = learnt.add("new.jpg", ["Person A", "Person B"], [])
    private = learnt.add("private/new.jpg", ["Person B"], [])
    recognise(learnt.project, NO_LISTS)
    assert learnt.names([*numbers, *private]) == ["Person A", "Person B", "Person B"]
    store_choices(learnt.project, Choices(never=Text("Person A\nprivate/", "never")))
    assert learnt.names(numbers) == [None, "Person B"]
    done = solve(learnt.project)
    assert learnt.names([*numbers, *private]) == [None, "Person B", None]
    recognised = {*numbers, *private}
    assert [(one.face, one.before) for one in done.changes if one.face in recognised] == [
        (numbers[0], "Person A"),
        (private[0], "Person B"),
    ]
    assert {one.before for one in done.changes if one.face not in recognised} == {"Person A"}


def test_a_decision_taken_back_leaves_what_was_recognised_beside_it(learnt):
    first, second = learnt.add("new.jpg", ["Person A", "Person B"], [])
    recognise(learnt.project, NO_LISTS)
    decision = learnt.project.confirm(first, "Zoe New")
    assert [one.why for one in solve(learnt.project).changes] == [DECIDED]
    assert explain(learnt.project, second).source == RECOGNISED
    learnt.project.undo(decision)
    done = solve(learnt.project)
    assert learnt.names([first, second]) == [None, "Person B"]
    assert [(one.face, one.why) for one in done.changes] == [(first, DECIDED)]


def test_changes_are_those_of_captions_too_when_recognising_comes_after(learnt):
    (number,) = learnt.add("late.jpg", ["Person A"], ["Person A"])
    solve(learnt.project)
    learnt.caption("late.jpg", ["Somebody Else"])
    done = solve(learnt.project)
    assert number in [one.face for one in done.changes]
    recognise(learnt.project, NO_LISTS)
    assert list(changes(learnt.project)) == done.changes


def test_only_people_allowed_are_named_and_aliases_count(learnt):
    numbers = learnt.add("new.jpg", ["Person A", "Person B"], [])
    lists = Lists(aliases={key("Person A"): "Ann"}, allow=frozenset({key("Ann")}))
    recognise(learnt.project, lists)
    assert learnt.names(numbers) == ["Ann", None]


def test_decisions_bind_where_nothing_is_written(learnt):
    numbers = learnt.add("new.jpg", ["Person A", "Person B", "Person C"], [])
    learnt.project.confirm(numbers[0], "Person B")
    learnt.project.reject(numbers[2], "Person C")
    recognise(learnt.project, NO_LISTS)
    first, second, third = learnt.names(numbers)
    assert first == "Person B"
    assert second != "Person B"  # it is taken
    assert third != "Person C"


def test_a_decision_in_a_photo_without_captions_leaves_the_other_names_when_solved(learnt):
    numbers = learnt.add("new.jpg", ["Person A", "Person B"], [])
    recognise(learnt.project, NO_LISTS)
    learnt.project.confirm(numbers[0], "Zoe New")
    solve(learnt.project)
    assert learnt.names(numbers) == ["Zoe New", "Person B"]
    solve(learnt.project, full=True)
    assert learnt.names(numbers) == ["Zoe New", "Person B"]


def test_a_face_teaches_no_name_that_was_decided_for_another_since(learnt):
    numbers = learnt.add("new.jpg", ["Person A", "Person B"], ["Person A", "Person B"])
    solve(learnt.project)
    assert learnt.names(numbers) == ["Person A", "Person B"]
    learnt.project.confirm(numbers[1], "Person A")
    learnt_from = read_training_faces(learnt.project)
    known = dict(zip(learnt_from.faces, learnt_from.names, strict=True))
    assert numbers[0] not in known
    assert known[numbers[1]] == "Person A"


def test_a_face_that_was_only_recognised_teaches_nothing(learnt):
    before = len(read_training_faces(learnt.project).faces)
    learnt.add("new.jpg", ["Person A"], [])
    recognise(learnt.project, NO_LISTS)
    solve(learnt.project)
    assert len(read_training_faces(learnt.project).faces) == before


def test_a_caption_that_comes_later_wins_and_the_change_is_told(learnt):
    (number,) = learnt.add("new.jpg", ["a stranger"], [])
    recognise(learnt.project, NO_LISTS)
    assert learnt.names([number]) == [None]
    learnt.caption("new.jpg", ["Zoe New"])
    done = solve(learnt.project)
    assert learnt.names([number]) == ["Zoe New"]
    assert [(one.face, one.after) for one in done.changes] == [(number, "Zoe New")]


def test_the_same_again_changes_nothing(learnt):
    learnt.add("new.jpg", ["Person A", "Person B"], [])
    recognise(learnt.project, NO_LISTS)
    done = recognise(learnt.project, NO_LISTS)
    assert done.changes == []
    assert list(changes(learnt.project)) == []


def test_nothing_learnt_and_nothing_named_say_what_to_do(album):
    album.add("new.jpg", ["Person A"], [])
    with pytest.raises(ProjectProblem, match="candidly train"):
        recognise(album.project, NO_LISTS)
    with pytest.raises(ProjectProblem, match="candidly name"):
        train(album.project)


def test_faces_of_another_model_are_refused(learnt):
    learnt.add("new.jpg", ["Person A"], [])
    learnt.project.begin_run("0.1", {"model": "newer"})
    with learnt.project.transaction() as sql:
        for table in ("faces", "photos"):
            last = f"(SELECT max(id) FROM {table})"
            sql.execute(f"UPDATE {table} SET model = 'newer' WHERE id = {last}")
    with pytest.raises(ProjectProblem, match="newer"):
        recognise(learnt.project, NO_LISTS)


def test_arrays_that_were_damaged_are_refused(learnt):
    with learnt.project.transaction() as sql:
        sql.execute("UPDATE trained SET basis = x'00ff'")
    with pytest.raises(ProjectProblem, match="damaged"):
        read_recogniser(learnt.project.connection)


def test_the_command_tells_the_test_error(album):
    fill(album)
    solve(album.project)
    path = str(album.project.path)
    album.project.close()
    read = CliRunner().invoke(app, ["train", "--project", path])
    assert read.exit_code == 0, read.output
    assert "test error on photos held out" in read.output
    for_programs = CliRunner().invoke(app, ["train", "--project", path, "--json"])
    told = json.loads(for_programs.stdout)
    assert told["people"] == 12
    assert 0 <= told["tested"]["error"] < 0.2


def test_the_command_makes_no_project(tmp_path):
    missing = tmp_path / "none.candidly"
    done = CliRunner().invoke(app, ["train", "--project", str(missing)])
    assert done.exit_code == 1
    assert not missing.exists()


def test_the_commands_name_photos_without_captions(tmp_path, monkeypatch):
    pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
    import stand_ins

    monkeypatch.setattr("candidly.photos.application.default_parts", lambda _: stand_ins.parts())
    photos, rng = tmp_path / "photos", np.random.default_rng(0)
    shade = {"Ann Ash": 40, "Bob Bay": 120, "Cas Cod": 200}
    rows = ["file,caption"]
    for number in range(30):
        who = list(shade)[number % 3]
        squares = [(5, 5, 20, shade[who] + int(rng.integers(-3, 4)))]
        stand_ins.draw(photos / f"{number}.png", squares, seed=number)
        rows.append(f"{number}.png,{who} in Rome")
    (photos / "captions.csv").write_text("\n".join(rows))
    for number, who in enumerate(shade):
        place = photos / ("kept" if who == "Cas Cod" else "new") / f"n{number}.png"
        stand_ins.draw(place, [(5, 5, 20, shade[who] + 1)], seed=100 + number)
    never = tmp_path / "never.txt"
    never.write_text("Bob Bay\nkept/\n")
    project = ["--project", str(tmp_path / "a.candidly")]
    run = CliRunner().invoke
    untrained = run(app, ["name", str(photos), *project, "--no-captions"])
    assert untrained.exit_code == 1
    assert "candidly train" in untrained.output
    assert run(app, ["train", *project]).exit_code == 0
    done = run(app, ["name", str(photos), *project, "--no-captions", "--never", str(never)])
    assert done.exit_code == 0, done.output
    assert "learnt in run 3: 1 of 2 faces named: 1 sure" in done.output, done.output
    listed = json.loads(run(app, ["faces", *project, "--json"]).stdout)
    found = {row["file"]: row["name"] for row in listed if "/" in row["file"]}
    assert found == {"new/n0.png": "Ann Ash", "new/n1.png": None, "kept/n2.png": None}
