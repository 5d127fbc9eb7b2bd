"""Collections of every size: draws keep what they promise, and figures what they are defined as."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from benchmarks.photos.collection_draws import (
    FaceCollection,
    at_random,
    by_person,
    group_stills,
    newsroom_faces,
    other_faces,
    times_shown,
)
from benchmarks.photos.collection_sizes import Extent, main, merged, name_arrays, sizes, stills
from benchmarks.photos.gaussian_people import NULL, collapse, gaussian_people
from benchmarks.photos.size_tables import table
from benchmarks.photos.small_albums import SeenPictures, SmallAlbum, count_same
from benchmarks.photos.sure_names import JudgedFace, Limit, figures, judge, limits
from candidly.datasets.caption_simulation import NOBODY
from candidly.datasets.store import data_folder
from candidly.demo.album import read_truth


def photo(file, people, mentioned):
    faces = [{"name": who if who in mentioned else None, "person": who} for who in people]
    return {"file": file, "tags": [], "mentioned": list(mentioned), "faces": faces}


@pytest.fixture
def collection():
    """Sixty photos of twelve people, the first of whom are shown most; groups at the end."""
    rng = np.random.default_rng(0)
    mu = 4 * rng.normal(size=(12, 16))
    records, rows = [], []
    for number in range(60):
        size = 2 if number < 50 else 3
        people = rng.choice(12, size=size, replace=False, p=np.arange(12, 0, -1) / 78)
        names = [f"P{one}" for one in people]
        records.append(photo(f"{number}.jpg", names, names[: 1 + number % size]))
        rows += [mu[one] + rng.normal(size=16) for one in people]
    return FaceCollection(records, np.array(rows))


# Draws


def test_photos_taken_have_the_rows_of_their_faces(collection):
    some = collection.take([50, 1])
    assert [record["file"] for record in some.records] == ["50.jpg", "1.jpg"]
    assert np.array_equal(some.X, collection.X[[100, 101, 102, 2, 3]])
    names = set(some.records[0]["mentioned"])
    assert some.candidates.sets()[:3] == [names | {NOBODY}] * 3
    assert len(set(some.candidates.group_numbers)) == 2


def test_random_draws_have_so_many_photos_and_follow_their_seed(collection):
    one, again = (at_random(collection.records, 20, (0, 20, 3)) for _ in range(2))
    assert one == again == sorted(set(one))
    assert len(one) == 20
    assert one != at_random(collection.records, 20, (0, 20, 4))
    assert at_random(collection.records, 99, (0,)) == list(range(60))


def test_draws_by_person_have_all_photos_of_everybody_but_the_last(collection):
    rare = [photo(f"rare{k}.jpg", ["Rare"], ["Rare"]) for k in range(3)]
    records = collection.records + rare
    mentions = Counter(name for record in records for name in record["mentioned"])
    for number in range(10):
        drawn = by_person(records, 20, (0, number))
        assert len(drawn) == 20
        assert all(max(mentions[n] for n in records[at]["mentioned"]) >= 4 for at in drawn)
        own = Counter(name for at in drawn for name in records[at]["mentioned"])
        whole = [name for name, count in own.items() if count == mentions[name]]
        left = [at for at in drawn if not {*records[at]["mentioned"]} & {*whole}]
        shared = set.intersection(*({*records[at]["mentioned"]} for at in left)) if left else {""}
        assert whole
        assert shared  # photos beside those of people drawn wholly are of the last one


def test_stills_show_everybody_once_and_mention_everybody(collection):
    rng = np.random.default_rng(1)
    groups = [photo(f"g{k}.jpg", [f"G{k}{j}" for j in range(4)], []) for k in range(8)]
    mixed = FaceCollection(collection.records + groups, rng.normal(size=(162, 16)))
    five = group_stills(mixed, (0, 0))
    shown = [face["person"] for record in five.records for face in record["faces"]]
    assert len(five.records) == 5
    assert len(shown) == len(set(shown)) == len(five.X)
    for record in five.records:
        assert sorted(record["mentioned"]) == sorted(face["name"] for face in record["faces"])
        assert all(name in record["caption"] for name in record["mentioned"])
    orders = [
        record["mentioned"] == [face["name"] for face in record["faces"]]
        for number in range(10)
        for record in group_stills(mixed, (0, number)).records
    ]
    assert np.mean(orders) < 0.3


@pytest.mark.real_data
def test_other_photos_are_no_newsroom_photos_and_their_people_come_back():
    home, away = newsroom_faces(), other_faces(0)
    assert not {r["file"] for r in home.records} & {r["file"] for r in away.records}
    assert len(away.X) == sum(len(record["faces"]) for record in away.records) > 2000
    with np.load(data_folder() / "faces" / "sface_people.npz") as learnt:
        assert (away.X @ learnt["X"].T.astype(float)).max() < 0.995
    assert len(by_person(away.records, 500, (0,))) == 500
    assert max(times_shown(away.records)) > 50


# Figures


FACES = [
    JudgedFace(True, True, 0.97, shown=3),
    JudgedFace(True, True, 0.93, shown=3),
    JudgedFace(False, False, 0.99, shown=3),  # its name was to be found
    JudgedFace(True, False, 0.5, mentioned=False, shown=4),
    JudgedFace(False, True, 0.95),
    JudgedFace(False, True, 0.6, true=False, mentioned=False, shown=0),
]


def test_figures_of_six_faces():
    found = figures(FACES)
    assert (found["true faces"], found["names"], found["sure names"]) == (5, 4, 2)
    assert found["sure names, wrong"] == 1
    assert found["sure names wrong %"] == 50
    assert found["right %"] == 60
    assert found["right of the names given %"] == 50
    assert found["faces of people shown 3 times"] == 3
    assert found["right, shown 3 times %"] == pytest.approx(66.67)
    assert found["right, shown 3 times, also not mentioned %"] == 75
    assert found["sure of these %"] == 50
    # Bins: three names from 0.9 on claim 2.85 and two are right, one at 0.6 claims 0.6.
    assert found["ECE"] == pytest.approx((0.85 + 0.6) / 4, abs=1e-3)


def test_figures_without_any_name_are_none():
    found = figures([JudgedFace(True, False, 0.9, mentioned=False)])
    assert (found["ECE"], found["sure names wrong %"], found["right %"]) == (None, None, 100)


def test_faces_are_right_by_name_or_rightly_nobody():
    records = [photo("a.jpg", ["Ann", "Bob", "Cas"], ["Ann", "Cas"])]
    judged = judge(records, ["Ann", NOBODY, "Ann"], [0.9, 0.8, 0.7], times_shown(records))
    assert [face.right for face in judged] == [True, True, False]
    assert [face.named for face in judged] == [True, False, True]
    assert [face.mentioned for face in judged] == [True, False, True]


def test_values_stand_beside_their_limits():
    assert Limit(2, most=True).cell(2.5) == "**2.5** (2)"
    assert Limit(2, most=True).cell(2.0) == "2 (2)"
    assert [Limit(55, 60).cell(v) for v in (54.9, 55, 60)] == [
        "**54.9** (55)",
        "55 (55)",
        "60+ (55)",
    ]
    assert Limit(95).cell(None) == "none (95)"


def test_limits_are_those_of_the_size():
    assert limits("at random", 2021)["sure names wrong %"].limit == 0.6
    assert limits("by person", 200)["right, shown 3 times %"].limit == 97
    assert limits("by person", 50)["ECE"].limit == 0.10
    assert limits("at random", 500)["ECE"].limit == 0.06
    assert "sure of these %" not in limits("at random", 500)


def test_sizes_that_were_not_measured_stay():
    before = {"at random": {"50": 1, "200": 2}, "by person": {"50": 3}}
    assert merged(before, {"at random": {"50": 9}}) == {
        "at random": {"50": 9, "200": 2},
        "by person": {"50": 3},
    }
    assert merged(before, None) == before
    assert merged([1], [2]) == [2]


def test_a_second_day_is_compared_face_by_face():
    full = {("a", 1): ("Ann", 0.99), ("a", 2): ("Bob", 0.96), ("b", 1): (None, 0.5)}
    daily = {("a", 1): (None, 0.995), ("a", 2): (None, 0.9), ("b", 1): (None, 0.999)}
    assert count_same(daily, full) == {"faces": 3, "same": 1, "denied": 1}
    assert count_same(full, full) == {"faces": 3, "same": 3, "denied": 0}


# Gaussian people


def test_gaussian_photos_show_three_people_and_name_one_too_many():
    X, candidates, y = gaussian_people(30, 8, 1.0, 20, seed=0)
    assert X.shape == (600, 8)
    assert 0.05 < np.mean(y == NULL) < 0.15
    assert candidates.contain(y).all()
    photos = np.arange(600) // 3
    for number in range(200):
        named = [who for who in y[photos == number].tolist() if who != NULL]
        assert len(set(named)) == len(named)
        (listed,) = {frozenset(candidates.sets()[3 * number + k]) for k in range(3)}
        assert len(listed) == len(named) + 2


def test_people_who_are_far_apart_are_told_apart():
    found = collapse(8, 16, 8.0, 20, seed=0)
    assert found["error %"] < 5
    assert found["sure names"] > 50
    assert found["nobody %"] < 25


def test_nothing_sure_among_gaussian_people_is_not_zero_percent_wrong():
    row = {"people": 9, "dimensions": 4, "faces each": 6, "error %": 90.0, "sure names": 0}
    text = table({"clouds": [row | {"sure names wrong %": None}]})
    assert "| 9 with 6 faces: sure names wrong % | none (3) |" in text
    worse = [row | {"sure names wrong %": wrong} for wrong in (1.5, 4.0)]
    assert "| **4** (3) |" in table({"clouds": worse})


# Tiny runs


def test_a_tiny_run_on_arrays(collection):
    found = sizes(collection, name_arrays, Extent(sizes=[50], draws=2))
    assert found["at random"]["50"]["draws"] == 2
    assert found["by person"]["50"]["true faces"] > 150
    assert found["at random"]["50"]["right %"] > 80
    five = stills(collection, name_arrays, Extent(draws=1))
    assert 0 <= five["largest confidence of a wrong name"] <= 1
    text = table({"arrays": found, "stills": {"arrays": five}})
    assert "true boxes: 50 by person | 2 |" in text
    assert "(0.5)" in text


@pytest.fixture
def drawn_photos(tmp_path):
    """The photos of the demo's album in a folder of their own, without captions in them."""
    image = pytest.importorskip("PIL.Image", reason="needs the extra photos")
    source, truth = tmp_path / "photos", read_truth()[:6]
    source.mkdir()
    for record in truth:
        place = Path(str(files("candidly.demo") / "data" / "photos" / record["file"]))
        with image.open(place) as picture:
            picture.convert("RGB").save(source / record["file"], quality=95)
    return source, truth


def test_a_small_album_is_named_end_to_end_and_each_picture_looked_at_once(drawn_photos, tmp_path):
    source, truth = drawn_photos
    kept = SeenPictures(tmp_path / "seen.pickle")
    captions = {record["file"]: record["caption"] for record in truth}
    first = SmallAlbum(source, captions, tmp_path / "first", kept)
    first.name(truth[:4])
    first.name(truth[4:])
    daily = first.answers()
    assert {file for file, _ in daily} == {record["file"] for record in truth}
    first.name([], full=True)
    assert count_same(daily, first.answers())["faces"] == len(daily)
    judged = first.judge(truth)
    assert sum(face.true for face in judged) == sum(len(record["faces"]) for record in truth)
    assert all(face.named == face.mentioned for face in judged if face.true and face.right)
    assert figures(judged)["right %"] > 50
    kept.keep()
    again = SeenPictures(tmp_path / "seen.pickle")
    count = len(again.found)
    assert count == 2 * len(truth)
    second = SmallAlbum(source, captions, tmp_path / "second", again)
    second.name(truth, full=True)
    assert len(again.found) == count
    ours, theirs = second.answers(), first.answers()
    assert {face: name for face, (name, _) in ours.items()} == {
        face: name for face, (name, _) in theirs.items()
    }
    for face, (_, sure) in ours.items():  # photos came in another order
        assert sure == pytest.approx(theirs[face][1], abs=1e-6)


@pytest.mark.real_data
@pytest.mark.slow
def test_the_command_stores_what_it_measured(tmp_path):
    document = tmp_path / "results.md"
    document.write_text("<!-- sizes: begin -->\n<!-- sizes: end -->\n")
    only = ["arrays", "second-day"]
    main(only, [50], 1, 0, None, store=True, out=tmp_path, document=document)
    stored = json.loads((tmp_path / "collection_sizes.json").read_text())
    assert set(stored["arrays"]["by person"]) == {"50"}
    assert stored["second-day"][0]["photos"] == [50, 20]
    assert table(stored) in document.read_text()
