"""Which names may be sure, on made-up embeddings, and what is told where the result is doubtful."""

from __future__ import annotations

import numpy as np
import pytest

from candidly import photos
from candidly.cli.photo_run import RunDisplay
from candidly.photos.certainty import SURE
from candidly.photos.explaining import explain
from candidly.photos.records import Cue
from candidly.photos.reporting.contents import read_contents
from candidly.photos.solving import run, solve
from candidly.photos.solving.labelling import UNUSUAL
from candidly.photos.solving.statistics import UNKNOWN
from made_up import DIMENSIONS, Album, fill, share_right


@pytest.fixture(params=["population known", "population unknown"])
def album(request, tmp_path):
    made = Album(tmp_path / "photos" / "a.candidly")
    if request.param == "population known":
        made.know()
    yield made
    made.project.close()


@pytest.fixture
def plain(tmp_path):
    """An album of whose embedder nothing is known."""
    made = Album(tmp_path / "photos" / "a.candidly")
    yield made
    made.project.close()


# What may be sure


def shuffled(names, seed):
    return list(np.random.default_rng(seed).permutation(names))


def stills(album, same):
    """Five photos of groups of four with names in any order; the truth."""
    truth = {}
    for number in range(5):
        group = [f"Person {chr(65 + k)}{0 if same else number}" for k in range(4)]
        shown = shuffled(group, number)
        numbers = album.add(f"{number}.jpg", shown, shuffled(group, number + 10))
        truth |= dict(zip(numbers, shown, strict=True))
    return truth


@pytest.mark.parametrize("same", [False, True])
def test_of_group_stills_no_name_is_sure_and_that_is_said_first(album, capsys, same):
    truth = stills(album, same)
    done = solve(album.project)
    assert done.sure == 0
    for face, (name, confidence) in album.labels().items():
        assert name in (None, truth[face]) or confidence < 0.5
    RunDisplay().result(done)
    said = capsys.readouterr().err.splitlines()[0], read_contents(album.project).notes[0]
    if done.named:
        assert all(text.startswith("no name is sure: ") for text in said)
    else:  # with 20 faces of an unknown embedder
        assert UNKNOWN in done.doubts
        assert all("0 of 20 faces named: 0 sure" in text for text in said)


@pytest.mark.parametrize("listed", ["as they stand", "otherwise", "either way"])
def test_two_people_who_are_always_mentioned_together_are_not_sure(album, listed):
    fill(album)
    names = ["Xenia", "Yves"]
    numbers = []
    for number in range(6):
        turned = listed == "otherwise" or (listed == "either way" and number % 2)
        numbers += album.add(f"x{number}.jpg", names, names[::-1] if turned else names)
    done = solve(album.project)
    assert done.sure > 50
    labels = album.labels()
    assert {labels[face][0] for face in numbers} == set(names)
    assert max(labels[face][1] for face in numbers) < SURE


def test_a_misspelt_name_is_no_photo_of_the_other_alone(album):
    fill(album)
    both = ["Xenia", "Yves"]
    numbers = [*album.add("x.jpg", both, ["Xenja", "Yves"])]
    for number in range(6):
        numbers += album.add(f"x{number}.jpg", both, both if number % 2 else both[::-1])
    album.propose("Xenja", "Xenia")
    solve(album.project)
    labels = album.labels()
    assert {labels[face][0] for face in numbers} == set(both)
    assert max(labels[face][1] for face in numbers) < 0.9


@pytest.mark.parametrize("first", ["left", "right"])
def test_places_in_captions_say_who_of_two_is_who(album, first):
    fill(album)
    stand = ["Xenia", "Yves"] if first == "left" else ["Yves", "Xenia"]
    named = [("Xenia", Cue(first, 1, 2)), ("Yves", Cue(first, 2, 2))]
    numbers = [album.add(f"x{number}.jpg", stand, named) for number in range(5)]
    solve(album.project)
    assert [album.names(pair) for pair in numbers] == [stand] * 5
    assert min(album.labels()[face][1] for pair in numbers for face in pair) > 0.9


def test_a_person_without_a_name_beside_somebody_in_every_photo_is_as_likely_meant(album):
    fill(album)
    both = [album.add(f"x{n}.jpg", ["Xenia", "her dog's sitter"], ["Xenia"]) for n in range(6)]
    alone = [album.add(f"y{n}.jpg", ["Yves", f"stranger {n}"], ["Yves"]) for n in range(6)]
    solve(album.project)
    labels = album.labels()
    assert max(labels[face][1] for pair in both for face in pair if labels[face][0]) < SURE
    # Beside changing people it is clear who is meant.
    assert [labels[face][0] for face, _ in alone] == ["Yves"] * 6
    assert min(labels[face][1] for face, _ in alone) > SURE


def test_a_face_that_surely_is_somebody_known_is_not_given_to_a_new_name(album):
    fill(album)
    (face,) = album.add("x.jpg", ["Person A"], ["Xenia"])
    (other,) = album.add("y.jpg", ["somebody new"], ["Yves"])
    solve(album.project)
    assert album.names([face, other]) == [None, "Yves"]
    found = explain(album.project, face)
    assert found.lookalike.name == "Person A"
    assert any("Person A" in reason for reason in found.reasons)


@pytest.mark.parametrize("mentions", [1, 2])
def test_elimination_is_never_sure(album, mentions):
    for number in range(40):  # everybody who is mentioned is shown, so the next will be
        album.add(f"{number}.jpg", [f"Person {number % 10}"], [f"Person {number % 10}"])
    numbers = [
        *album.add("x.jpg", ["Xenia"], ["Xenia"]),
        *album.add("y.jpg", ["Person 1", "Yves"], ["Person 1", "Yves"]),
    ]
    for number in range(1, mentions):  # mentioned again, and somebody known is shown
        album.add(f"x{number}.jpg", ["Person 2"], ["Xenia", "Person 2"])
        album.add(f"y{number}.jpg", ["Person 3"], ["Yves", "Person 3"])
    solve(album.project)
    labels = album.labels()
    assert [labels[face][0] for face in numbers] == ["Xenia", "Person 1", "Yves"]
    assert max(labels[numbers[0]][1], labels[numbers[2]][1]) < SURE <= labels[numbers[1]][1]


# What is told


def test_faces_unlike_those_known_are_told_and_named_all_the_same(tmp_path, monkeypatch, capsys):
    album = Album(tmp_path / "photos" / "a.candidly")
    album.know()
    fill(album, photos=20, people=40)
    assert solve(album.project).doubts == []
    drawn = Album(tmp_path / "drawn" / "a.candidly")
    drawn.know()
    far = np.full(DIMENSIONS, 3.0)
    monkeypatch.setattr(drawn, "look", lambda person: Album.look(drawn, person) + far)
    truth = fill(drawn)
    monkeypatch.setattr(run, "FEW_FACES", 0)
    for full in (True, False):  # on the first day, and on the second
        done = solve(drawn.project)
        assert done.full is full
        (doubt,) = done.doubts
        assert doubt.startswith(UNUSUAL)
        assert share_right(truth, drawn.all_names()) > 0.9
        RunDisplay().result(done)
        assert capsys.readouterr().err.count(doubt) == 1
        assert read_contents(drawn.project).notes.count(doubt) == 1
        truth |= dict(
            zip(drawn.add("new.jpg", ["Person A"], ["Person A"]), ["Person A"], strict=True)
        )
    photos.report(drawn.project, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert doubt[1:] in page[: page.index("Person A")]
    for made in (album, drawn):
        made.project.close()


def test_that_nothing_is_known_of_an_embedder_is_told_once(plain, monkeypatch, capsys):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    fill(plain, photos=20)
    for _ in range(2):
        done = solve(plain.project)
        assert done.doubts == [UNKNOWN]
        RunDisplay().result(done)
        assert capsys.readouterr().err.count(UNKNOWN) == 1
        plain.add("new.jpg", ["Person A"], ["Person A"])
    assert read_contents(plain.project).notes.count(UNKNOWN) == 1
