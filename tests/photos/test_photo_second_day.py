"""A second day says what solving everything together says."""

from __future__ import annotations

import numpy as np
import pytest

from candidly.photos.certainty import SURE
from candidly.photos.solving import candidate_scores, run, solve
from made_up import fill, share_right


def two_days(album, first, second, people=20):
    """Labels after a second day, what it solved, the truth of that day, and labels by --full."""
    fill(album, photos=first, people=people)
    solve(album.project)
    truth = fill(album, photos=second, people=people, seed=2)
    done = solve(album.project)
    daily = album.labels()
    solve(album.project, full=True)
    return daily, done, truth, album.labels()


def agreement(daily, whole):
    return np.mean([daily[face][0] == name for face, (name, _) in whole.items()])


def surely_missed(daily, whole):
    """Faces that are nobody with 99% on the day, and surely somebody by a full solve."""
    return [
        face
        for face, (name, confidence) in whole.items()
        if name is not None
        and confidence >= 0.95
        and daily[face][0] is None
        and daily[face][1] >= 0.99
    ]


@pytest.mark.parametrize("second", [10, 20])
@pytest.mark.parametrize("known", [False, True])
def test_in_a_small_collection_a_second_day_is_a_full_solve(album, second, known):
    if known:
        album.know()
    daily, done, _, whole = two_days(album, 50, second)
    assert done.full
    assert daily.keys() == whole.keys()
    assert {face: name for face, (name, _) in daily.items()} == {
        face: name for face, (name, _) in whole.items()
    }
    np.testing.assert_allclose([daily[f][1] for f in whole], [c for _, c in whole.values()])


@pytest.mark.parametrize(("first", "second", "agree"), [(50, 10, 0.95), (150, 12, 0.98)])
@pytest.mark.parametrize("known", [False, True])
def test_new_photos_alone_agree_with_a_full_solve(album, monkeypatch, first, second, agree, known):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    if known:
        album.know()
    daily, done, truth, whole = two_days(album, first, second)
    assert not done.full
    assert done.photos < first
    assert agreement(daily, whole) >= agree
    assert share_right(truth, {face: name for face, (name, _) in daily.items()}) > 0.9
    assert surely_missed(daily, whole) == []


def test_where_nothing_known_has_a_face_new_photos_are_solved_together(album, monkeypatch):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    for number in range(8):
        album.add(f"{number}.jpg", [], ["Person A"])
    solve(album.project)
    (face,) = album.add("x.jpg", ["Person A"], ["Person A"])
    assert solve(album.project).full
    assert album.names([face]) == ["Person A"]


def test_a_face_that_is_solved_again_does_not_confirm_itself(album, monkeypatch):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    fill(album)
    (face,) = album.add("x.jpg", ["Xenia"], ["Xenia"])
    solve(album.project)
    first = album.labels()[face]
    album.add("y.jpg", ["Person B"], ["Xenia", "Person B"])
    done = solve(album.project)
    assert not done.full
    name, confidence = album.labels()[face]
    assert (first[0], name) == ("Xenia", "Xenia")
    assert confidence < SURE
    scores = candidate_scores(album.project.connection, face)
    assert next(one for one in scores if one.name == "Xenia").likeness < 1


def test_a_new_photo_makes_nobody_surer_who_could_be_exchanged(album, monkeypatch):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    fill(album)
    both = ["Xenia", "Yves"]
    for number in range(12):
        album.add(f"x{number}.jpg", both, both if number % 2 else both[::-1])
    solve(album.project)
    numbers = album.add("new.jpg", both, both)
    (other,) = album.add("other.jpg", ["Person A"], ["Person A"])
    done = solve(album.project)
    assert (done.full, done.photos) == (False, 2)
    labels = album.labels()
    assert max(labels[face][1] for face in numbers) < 0.9
    assert labels[other][1] > SURE
    album.project.confirm(numbers[0], "Xenia")
    solve(album.project)
    assert album.labels()[numbers[0]] == ("Xenia", 1)
