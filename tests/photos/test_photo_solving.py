"""Names on faces, with made-up embeddings: no detector is needed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import made_up
from candidly import Candidates, OpenSet
from candidly.photos.geometry import Box
from candidly.photos.ingesting import Choices, store_choices
from candidly.photos.names import Text
from candidly.photos.project.face_names import name_and_confidence
from candidly.photos.project.store import keep_caption, link_regions
from candidly.photos.records import Caption, Cue, Region
from candidly.photos.solving import PhotoProblem, candidate_scores, changes, last_solve, run, solve
from candidly.photos.solving.labelling import fitting, label_together
from candidly.photos.solving.photo_entries import PhotoEntries
from candidly.photos.solving.placement import COUNTED, WRONG, by_cue, by_size, odds
from candidly.photos.solving.problem import read_problems
from candidly.photos.solving.vectors import read_vectors
from candidly.photos.solving.writing import DECIDED
from made_up import fill, share_right

# Positions


def brute(place, of, odds):
    """Probability of each face to be the place-th, over all ways to choose who is counted."""
    weight = np.zeros(len(odds))
    for n in [of] if of else range(place, len(odds) + 1):
        for chosen in combinations(range(len(odds)), n):
            weight[chosen[place - 1]] += np.prod([odds[f] for f in chosen])
    return weight / weight.sum()


@pytest.mark.parametrize(("place", "of"), [(1, None), (2, None), (1, 2), (2, 3), (3, 3)])
def test_a_cue_counts_all_ways_to_choose_who_is_meant(place, of):
    boxes = [Box(300, 0, 40, 40), Box(0, 0, 80, 80), Box(100, 0, 20, 20), Box(200, 9, 60, 60)]
    area = np.array([box.w * box.h for box in boxes])
    order = [1, 2, 3, 0]
    expected = np.zeros(4)
    expected[order] = brute(place, of, (area / area.max() * COUNTED / (1 - COUNTED))[order])
    expected = (1 - WRONG) * expected + WRONG * by_size(boxes)
    np.testing.assert_allclose(by_cue(Cue("left", place, of), boxes), expected)


def test_right_is_left_mirrored():
    boxes = [Box(0, 0, 40, 40), Box(100, 0, 60, 60), Box(200, 0, 50, 50)]
    mirrored = [Box(-box.x - box.w, box.y, box.w, box.h) for box in boxes]
    for place in (1, 2, 3):
        np.testing.assert_allclose(
            by_cue(Cue("right", place, 3), boxes), by_cue(Cue("left", place, 3), mirrored)
        )


@pytest.mark.parametrize(
    ("side", "most"), [("centre", 1), ("top", 2), ("bottom", 0), ("front", 0), ("back", 2)]
)
def test_other_sides_go_by_place_and_size(side, most):
    boxes = [Box(0, 200, 90, 90), Box(120, 120, 70, 70), Box(240, 0, 50, 50)]
    assert by_cue(Cue(side), boxes).argmax() == most


def test_a_list_longer_than_the_faces_leaves_room_for_those_who_are_missing():
    boxes = [Box(0, 0, 50, 50), Box(100, 0, 50, 50)]
    first = by_cue(Cue("left", 1, 3), boxes)
    # Of three ways to miss one of three, two leave the first on the left.
    np.testing.assert_allclose(first, [0.95 * 2 / 3 + 0.025, 0.025])
    middle = by_cue(Cue("left", 2, 3), boxes)
    assert middle[0] == pytest.approx(middle[1])


def test_people_who_share_a_cue_share_the_faces_there():
    boxes = [Box(0, 100, 90, 90), Box(100, 100, 90, 90), Box(0, 0, 40, 40), Box(100, 0, 40, 40)]
    front = by_cue(Cue("front"), boxes, sharing=2)
    assert front[:2].sum() > 0.8
    assert front[0] == pytest.approx(front[1], rel=0.3)


def test_a_place_beyond_the_faces_says_nothing():
    boxes = [Box(0, 0, 50, 50), Box(100, 0, 50, 50)]
    np.testing.assert_allclose(by_cue(Cue("left", 5), boxes), [0.5, 0.5])


def test_odds_without_cues_are_those_of_sizes_and_sum_to_the_faces():
    photo = PhotoProblem(1, {1: Box(0, 0, 30, 30), 2: Box(50, 0, 10, 10)}, {"Ann": None})
    assert [own["Ann"] for own in odds(photo).values()] == pytest.approx([1.8, 0.2])


# Solving


def test_people_are_recognised_and_strangers_are_nobody(album):
    truth = fill(album)
    done = solve(album.project)
    assert done.full
    assert done.photos == 60
    assert share_right(truth, album.all_names()) > 0.95


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dimensions", [24, 128])
def test_the_labels_are_those_of_the_estimator(album, monkeypatch, dimensions, known):
    monkeypatch.setattr(made_up, "DIMENSIONS", dimensions)  # 128 are more than there are faces
    fill(album, photos=30)
    photos = list(read_problems(album.project.connection).values())
    population = made_up.population_of_looks() if known else None
    vectors = read_vectors(album.project, None)
    entries = PhotoEntries(photos)
    assert fitting(population, entries, vectors) == (population, [])
    found = label_together(entries, vectors, population)
    assert found.doubts == []
    names = sorted({name for one in photos for name in one.names})
    assert entries.names == names
    P = np.zeros((len(entries.faces), len(names) + 1))
    P[:, -1] = 1
    P[entries.entries.instance, entries.entries.name] = np.exp(entries.entries.prior)
    groups = [one.photo for one in photos for _ in one.faces]
    candidates = Candidates.from_priors(
        P / P.sum(axis=1, keepdims=True), classes=[*names, "-"], null="-", groups=groups
    )
    model = OpenSet(population=population, classifier=None).fit(
        vectors.of_faces(entries.faces), candidates
    )
    labels = [found.labels[face] for face in entries.faces.tolist()]
    assert model.transduction_.tolist() == [label.name or "-" for label in labels]
    soft = [[label.probability(name) for name in [*names, None]] for label in labels]
    np.testing.assert_allclose(model.label_distributions_, soft, atol=1e-6)
    own = model.label_distributions_.max(axis=1)
    np.testing.assert_allclose([label.confidence for label in labels], own, atol=1e-6)


def test_an_album_with_fewer_faces_than_dimensions_is_solved(album, monkeypatch):
    monkeypatch.setattr(made_up, "DIMENSIONS", 128)
    monkeypatch.setattr(run, "FEW_FACES", 0)
    truth = fill(album, photos=40, people=10)
    assert len(truth) < 128
    solve(album.project)
    assert share_right(truth, album.all_names()) > 0.85
    later = {}
    for number in range(5):
        (face,) = album.add(f"later-{number}.jpg", ["Person A"], ["Person A", "Person B"])
        later[face] = "Person A"
    assert not solve(album.project).full
    assert share_right(later, album.all_names()) == 1


def test_a_name_is_given_once_in_a_photo_and_probabilities_sum_to_one(album):
    fill(album)
    solve(album.project)
    twice = album.project.connection.execute(
        "SELECT count(*) FROM labels JOIN faces ON faces.id = face WHERE person IS NOT NULL"
        " GROUP BY photo, person HAVING count(*) > 1"
    ).fetchall()
    assert twice == []
    sums = album.project.connection.execute(
        "SELECT sum(probability) FROM weighed GROUP BY face"
    ).fetchall()
    np.testing.assert_allclose(sums, 1, atol=1e-6)


def test_cues_decide_between_people_who_are_named_once(album):
    fill(album)
    places = [("Xenia", Cue("right", 1, 2)), ("Yves", Cue("right", 2, 2))]
    faces = album.add("x.jpg", ["Yves", "Xenia"], places)
    solve(album.project)
    assert album.names(faces) == ["Yves", "Xenia"]
    with_cues = album.project.connection.execute(
        "SELECT min(confidence) FROM labels WHERE face IN (?, ?)", faces
    ).fetchone()[0]
    solve(album.project, cues=False)
    without = album.project.connection.execute(
        "SELECT max(confidence) FROM labels WHERE face IN (?, ?)", faces
    ).fetchone()[0]
    assert with_cues > 0.8 > 0.55 > without


def test_between_equals_names_go_from_left_to_right_and_nobody_is_surer_for_it(album):
    fill(album)
    for number, names in enumerate((["Xenia", "Yves"], ["Zoe", "Wim"])):
        faces = album.add(f"x{number}.jpg", names, names)
        solve(album.project, full=True)
        assert album.names(faces) == names
        assert all(name_and_confidence(album.project.connection, face)[1] < 0.55 for face in faces)


def test_a_small_face_behind_is_not_taken_for_who_is_named_once(album):
    fill(album)
    boxes = [Box(0, 0, 100, 100), Box(200, 0, 40, 40)]
    faces = album.add("x.jpg", ["Xenia", "passer-by"], ["Xenia"], boxes=boxes)
    solve(album.project)
    assert album.names(faces) == ["Xenia", None]


def test_somebody_named_once_in_a_photo_of_two_strangers_is_not_sure(album):
    fill(album)
    faces = album.add("x.jpg", ["Xenia", "passer-by"], ["Xenia"])
    solve(album.project)
    assert all(name_and_confidence(album.project.connection, face)[1] < 0.6 for face in faces)


def test_decisions_bind(album):
    truth = fill(album)
    solve(album.project)
    face, other, third, fourth = [face for face, name in truth.items() if name is not None][:4]
    album.project.confirm(face, "Somebody Else")
    album.project.reject(other, truth[other])
    album.project.nobody(third)
    album.project.ignore(fourth)
    for full in (False, True):
        done = solve(album.project, full=full)
        assert [album.labels()[one] for one in (face, third)] == [("Somebody Else", 1), (None, 1)]
        assert album.names([other])[0] != truth[other]
        assert fourth not in album.all_names()
        if not full:
            assert {change.why for change in done.changes if change.face in (face, third)} == {
                "something was decided in this photo"
            }
    assert album.all_names()[face] == "Somebody Else"


def test_a_name_decided_for_one_face_is_off_the_others_before_anything_is_solved(album):
    numbers = album.add("x.jpg", ["Ann", "Bob"], ["Ann", "Bob"])
    solve(album.project)
    with_ann = album.names(numbers).index("Ann")
    album.project.confirm(numbers[1 - with_ann], "Ann")
    assert album.names(numbers).count("Ann") == 1
    assert name_and_confidence(album.project.connection, numbers[with_ann]) == (None, None)
    album.project.undo()
    assert album.names(numbers).count("Ann") == 1


def test_one_person_decided_twice_in_a_photo_is_no_contradiction(album):
    fill(album)
    faces = album.add("mirror.jpg", ["Xenia", "Xenia", "Person A"], ["Xenia", "Person A"])
    for face in faces[:2]:
        album.project.confirm(face, "Xenia")
    solve(album.project)
    assert album.names(faces) == ["Xenia", "Xenia", "Person A"]


def test_a_region_of_the_metadata_names_its_face_and_no_other(album):
    fill(album)
    region = Region("Xenia", 0.1, 0, 0.06, 0.06)
    drawn = Region("Yves", 0.8, 0.8, 0.05, 0.05)
    faces = album.add(
        "x.jpg", ["Person B", "Xenia", "Yves"], ["Person B", "Yves"], regions=[region, drawn]
    )
    solve(album.project)
    assert album.names(faces) == ["Person B", "Xenia", None]  # Yves is on the face drawn


def test_a_misspelt_name_is_borne_out_by_the_face(album):
    fill(album)
    right = album.add("x.jpg", ["Person A"], ["Persno A"])
    wrong = album.add("y.jpg", ["somebody"], ["Persom A"])
    album.propose("Persno A", "Person A")
    album.propose("Persom A", "Person A")
    solve(album.project)
    assert album.names(right) == ["Person A"]
    assert album.names(wrong) == ["Persom A"]


@pytest.mark.parametrize("few", [run.FEW_FACES, 0])
def test_of_two_spellings_that_occur_once_each_photo_keeps_its_own(album, monkeypatch, few):
    monkeypatch.setattr(run, "FEW_FACES", few)
    fill(album)
    numbers = [*album.add("x.jpg", ["P"], ["Jon Doe"]), *album.add("y.jpg", ["P"], ["John Doe"])]
    solve(album.project)
    alone = album.labels()
    album.propose("Jon Doe", "John Doe")
    solve(album.project, full=True)
    assert album.names(numbers) == ["Jon Doe", "John Doe"]
    first = album.labels()[numbers[0]]
    assert first[1] > alone[numbers[0]][1]  # the other photo confirms the face
    album.add("z.jpg", ["P"], ["John Doe"])
    solve(album.project)
    assert album.names(numbers) == ["John Doe", "John Doe"]


def test_photos_about_which_nothing_is_written_are_left_alone(album):
    fill(album, photos=20)
    silent = album.add("x.jpg", ["Person A"], [])
    spoken = album.add("y.jpg", ["Person A"], [], text="a day at the sea")
    solve(album.project)
    assert silent[0] not in album.all_names()
    assert album.all_names()[spoken[0]] is None


def test_candidates_tell_why_they_lost(album):
    fill(album)
    faces = album.add("x.jpg", ["Person A", "Person B"], ["Person A", "Person B"])
    solve(album.project)
    first = {one.name: one for one in candidate_scores(album.project.connection, faces[0])}
    assert set(first) == {"Person A", "Person B", None}
    assert first["Person A"].likeness > 0 > first["Person B"].likeness
    assert first["Person B"].taken_by == faces[1]
    assert first["Person A"].taken_by is None
    assert next(iter(first)) == "Person A"


# Day by day


def test_nothing_new_is_nothing_to_solve(album):
    fill(album, photos=30)
    solve(album.project)
    done = solve(album.project)
    assert (done.full, done.photos, done.changes) == (False, 0, [])


def test_a_corrected_caption_changes_names_and_says_so(album):
    fill(album)
    (face,) = album.add("x.jpg", ["Person A"], ["Person B"])
    solve(album.project)
    assert album.names([face]) == [None]
    album.caption("x.jpg", ["Person A"])
    done = solve(album.project)
    (change,) = [one for one in changes(album.project) if one.face == face]
    assert (change.before, change.after) == (None, "Person A")
    assert change.why == "what is read about the photo changed"
    assert change in done.changes
    assert change.run == done.run == last_solve(album.project.connection)


@pytest.mark.parametrize(("few", "full"), [(run.FEW_FACES, True), (0, False)])
def test_new_photos_of_somebody_settle_an_old_face_and_are_the_reason(
    album, monkeypatch, few, full
):
    monkeypatch.setattr(run, "FEW_FACES", few)
    fill(album)
    faces = album.add("x.jpg", ["stranger", "Xenia"], ["Xenia"])
    solve(album.project)
    assert "Xenia" not in album.names(faces)
    for number in range(3):
        album.add(f"x{number}.jpg", ["Xenia"], ["Xenia"])
    done = solve(album.project)
    assert done.full is full
    assert album.names(faces) == [None, "Xenia"]
    (change,) = [one for one in done.changes if one.face == faces[1]]
    assert change.why == "3 new photos with Xenia"


def test_a_caption_taken_away_takes_its_names_away(album):
    fill(album)
    (face,) = album.add("x.jpg", ["Person A"], ["Person A"])
    solve(album.project)
    with album.project.transaction() as sql:
        sql.execute("UPDATE captions SET text = '' WHERE text = 'Person A'")
        sql.execute(
            "DELETE FROM mentions WHERE caption IN (SELECT id FROM captions WHERE text = '')"
        )
    done = solve(album.project)
    assert face not in album.all_names()
    assert ("Person A", None) in {(one.before, one.after) for one in done.changes}


def test_a_name_that_was_given_out_stays_and_that_is_told(album):
    fill(album)
    (face,) = album.add("x.jpg", ["Person A"], ["Person A"])
    solve(album.project)
    with album.project.transaction() as sql:
        sql.execute(
            "INSERT INTO exported SELECT face, person, '2026-01-01' FROM labels WHERE face = ?",
            (face,),
        )
    album.caption("x.jpg", ["Person B"])
    done = solve(album.project, full=True)
    assert album.names([face]) == ["Person A"]
    assert len(done.kept) == 1
    assert f"face {face} stays Person A" in done.kept[0]
    album.project.reject(face, "Person A")
    solve(album.project)
    assert album.names([face]) == [None]


def test_an_empty_project_is_solved_without_fuss(album):
    done = solve(album.project)
    assert (done.photos, done.faces, done.changes) == (0, 0, [])


def test_faces_without_an_extent_are_solved_all_the_same(album):
    numbers = album.add("x.jpg", ["Ann", "Bob"], ["Ann", "Bob"], boxes=[Box(0, 0, 0, 0)] * 2)
    solve(album.project)
    assert set(album.names(numbers)) == {"Ann", "Bob"}


# The user's lists, given later


def listed(album, **texts):
    """The lists of a run that comes now."""
    store_choices(
        album.project, Choices(**{kind: Text(text, kind) for kind, text in texts.items()})
    )


def test_decisions_are_of_a_person_whatever_an_alias_calls_them(album):
    fill(album)
    first, *_ = album.add("x.jpg", ["Person A", "Person B"], ["Person A", "Person B"])
    other, *_ = album.add("y.jpg", ["Person A", "Person C"], ["Person A", "Person C"])
    solve(album.project)
    album.project.confirm(first, "Person A")
    album.project.reject(other, "Person A")
    listed(album, aliases="Ann Alias = Person A")
    assert album.names([first]) == ["Ann Alias"]
    album.caption("x.jpg", ["Ann Alias", "Person B"])
    album.caption("y.jpg", ["Ann Alias", "Person C"])
    for full in (False, True):
        solve(album.project, full=full)
        assert album.names([first, other]) == ["Ann Alias", None]
    listed(album, aliases="")
    assert album.names([first]) == ["Person A"]


def test_a_name_that_is_never_to_be_given_is_off_its_faces_at_once(album):
    numbers = album.add("x.jpg", ["Ann", "Bob"], ["Ann", "Bob"])
    solve(album.project)
    before = album.names(numbers)
    assert set(before) == {"Ann", "Bob"}
    listed(album, never="Ann")
    assert album.names(numbers) == [None if name == "Ann" else name for name in before]


def test_a_name_that_was_given_out_is_not_replaced_by_a_region(album):
    (face,) = album.add("x.jpg", ["Ann"], ["Ann"])
    solve(album.project)
    with album.project.transaction() as sql:
        sql.execute("INSERT INTO exported SELECT face, person, '' FROM labels")
        (row,) = sql.execute("SELECT id FROM files").fetchone()
        region = Region("Bob", 0.0, 0.0, 0.06, 0.06)
        keep_caption(sql, row, Caption("Ann", "txt", regions=(region,)), [], "by hand")
        link_regions(sql, 1)
    solve(album.project)
    assert album.names([face]) == ["Ann"]


def test_a_face_that_is_to_be_ignored_is_told_as_a_change(album):
    first, _ = album.add("x.jpg", ["Ann", "Bob"], ["Ann", "Bob"])
    solve(album.project)
    (before,) = album.names([first])
    album.project.ignore(first)
    told = [(one.face, one.before, one.after, one.why) for one in solve(album.project).changes]
    assert (first, before, None, DECIDED) in told


def test_a_decided_name_on_the_never_list_is_not_shown_and_that_is_told(album):
    fill(album)
    (face,) = album.add("x.jpg", ["Person A"], ["Person A"])
    album.project.confirm(face, "Person A", by="Eva")
    assert solve(album.project).kept == []
    store_choices(album.project, Choices(never=Text("Person A", "never.txt")))
    done = solve(album.project, full=True)
    assert album.names([face]) == [None]
    assert done.kept == [
        f"face {face} has no name, though Eva decided one: a list says not to name this person; "
        "the name is back when the list no longer says so"
    ]
    store_choices(album.project, Choices(never=Text("", "never.txt")))
    assert album.names([face]) == ["Person A"]
