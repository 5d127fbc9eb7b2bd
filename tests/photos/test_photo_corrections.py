"""Corrections spread: what is decided about a face counts for faces like it."""

from __future__ import annotations

import numpy as np
import pytest

from candidly.photos.certainty import SURE
from candidly.photos.project.queries import proposals
from candidly.photos.reporting import people
from candidly.photos.solving import run, solve
from candidly.solvers.confidence_limits import Likenesses
from candidly.solvers.decided import DecidedInstances
from candidly.solvers.entries import CandidateEntries
from candidly.solvers.two_covariances import Covariances
from made_up import Album, fill

SFACE = "made up; sface made up"


def wrong_person(album, mentioned, known, photos=12):
    """Wim in photos that name Xan, as if Wim were: others are recognised well."""
    fill(album, photos=40, people=10)
    if known:
        album.know()
    faces = [album.add(f"wim-{k}.jpg", ["Wim"], mentioned)[0] for k in range(photos)]
    solve(album.project)
    return faces


@pytest.mark.parametrize("known", [False, True], ids=["by these photos", "by a population"])
@pytest.mark.parametrize("decide", ["confirm", "reject", "nobody"])
@pytest.mark.parametrize("mentioned", [["Xan"], ["Xan", "Person A"]], ids=["alone", "with another"])
def test_after_four_corrections_the_mistake_is_not_on_lookalikes(album, known, decide, mentioned):
    faces = wrong_person(album, mentioned, known)
    assert album.names(faces) == ["Xan"] * len(faces)  # by elimination, and each confirms the other
    for face in faces[:4]:
        match decide:
            case "confirm":
                album.project.confirm(face, "Wim")
            case "reject":
                album.project.reject(face, "Xan")
            case _:
                album.project.nobody(face)
    done = solve(album.project)
    assert "Xan" not in album.names(faces)
    assert {one.face for one in done.changes} >= set(faces[4:])
    assert "decided" in next(one.why for one in done.changes if one.face == faces[-1])
    for _ in range(4):
        album.project.undo()
    solve(album.project)
    assert album.names(faces) == ["Xan"] * len(faces)


def test_lookalikes_get_the_right_name_where_it_is_mentioned(album):
    faces = wrong_person(album, ["Xan", "Wim"], known=True)
    bad = [face for face, name in zip(faces, album.names(faces), strict=True) if name == "Xan"]
    assert len(bad) > 2
    album.project.confirm(bad[0], "Wim")
    solve(album.project)
    assert album.names(faces) == ["Wim"] * len(faces)


@pytest.mark.parametrize("known", [False, True], ids=["by these photos", "by a population"])
@pytest.mark.parametrize("refusals", [1, 4])
def test_the_name_that_a_refusal_leaves_is_not_sure_until_it_is_confirmed(album, known, refusals):
    faces = wrong_person(album, ["Xan", "Amy"], known)  # it may be neither
    for face in faces[:refusals]:
        album.project.reject(face, "Xan")
    solve(album.project)
    labels = album.labels()
    assert {labels[face][0] for face in faces} == {"Amy"}
    assert max(labels[face][1] for face in faces) < SURE
    album.project.confirm(faces[0], "Amy")
    solve(album.project)
    labels = album.labels()
    assert min(labels[face][1] for face in faces) >= SURE


def test_a_name_that_other_photos_speak_for_is_sure_after_a_refusal(album):
    faces = wrong_person(album, ["Xan", "Amy"], known=True)
    alone = album.add("alone.jpg", ["Wim"], ["Amy"])
    album.project.reject(faces[0], "Xan")
    solve(album.project)
    labels = album.labels()
    assert {labels[face][0] for face in [*faces, *alone]} == {"Amy"}
    assert min(labels[face][1] for face in faces) >= SURE


def test_the_person_who_was_confused_is_still_found(album):
    faces = wrong_person(album, ["Xan"], known=True)
    real = [album.add(f"xan-{k}.jpg", ["Xan"], ["Xan"])[0] for k in range(5)]
    solve(album.project)
    for face in faces[:4]:
        album.project.confirm(face, "Wim")
    album.project.confirm(real[0], "Xan")
    solve(album.project)
    assert album.names(real) == ["Xan"] * 5
    assert "Xan" not in album.names(faces)


def test_corrections_spread_in_a_large_project_too(album, monkeypatch):
    monkeypatch.setattr(run, "FEW_FACES", 0)
    faces = wrong_person(album, ["Xan"], known=True)
    for face in faces[:4]:
        album.project.confirm(face, "Wim")
    done = solve(album.project)
    assert not done.full
    assert done.photos < 40
    assert "Xan" not in album.names(faces)


# The evidence of decided instances


def odds_of(decided, Z, names, damping=0.5):
    """Odds lost by the entries of one name, in a basis that is given."""
    k = Z.shape[1]
    covariances = Covariances(np.eye(k), np.full(k, 9.0))
    n = len(Z)
    entries = CandidateEntries(
        np.arange(n), np.array(names), np.zeros(n), np.zeros(n), np.arange(n), 2
    )
    return decided.odds(entries, Likenesses(Z, covariances, damping, 0.0)), covariances


def test_the_odds_lost_are_by_definition():
    rng = np.random.default_rng(3)
    Z, D = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    decided = DecidedInstances(D.T, np.zeros(3, dtype=int), np.array([False, True, False]))
    lost, covariances = odds_of(decided, Z, [0, 0, 0, 0, 1, 1])
    for j in range(4):
        ratios = [np.exp(0.5 * covariances.pairs(Z[j : j + 1], D[m : m + 1])[0]) for m in range(3)]
        expected = -np.log(1 + max(ratios[0], ratios[2]) / (1 + ratios[1]))
        assert lost[j] == pytest.approx(expected)
    assert (lost[4:] == 0).all()  # nothing is decided about that name


def test_what_looks_like_a_confirmed_face_loses_little_and_a_stranger_nothing():
    wrong, right, stranger = 6 * np.eye(3)
    Z = np.array([wrong, right, stranger])
    decided = DecidedInstances(
        np.array([wrong, right]).T, np.zeros(2, int), np.array([False, True])
    )
    lost, _ = odds_of(decided, Z, [0, 0, 0], damping=1.0)
    assert lost[0] < -3
    assert lost[1] > -0.01
    assert lost[2] > -0.1


# One person under two names


@pytest.fixture
def johnny(tmp_path):
    made = Album(tmp_path / "j.candidly", model=SFACE)
    fill(made, photos=30, people=8)
    made.look("Johnny Galecki")
    made.people["Johnny"] = made.people["Johnny Galecki"]  # they look the same
    for k in range(4):
        made.add(f"short-{k}.jpg", ["Johnny"], ["Johnny"])
        made.add(f"long-{k}.jpg", ["Johnny Galecki"], ["Johnny Galecki"])
        made.add(f"depp-{k}.jpg", ["Johnny Depp"], ["Johnny Depp"])
    yield made
    made.project.close()


def proposed(album):
    return [(one.name, one.likely) for one in proposals(album.project)]


def test_people_who_look_alike_and_share_a_forename_are_proposed_and_never_merged(johnny):
    for _ in range(2):
        solve(johnny.project, full=True)
        assert proposed(johnny) == [("Johnny", "Johnny Galecki")]
        counts = {one.name: (one.faces, one.likely) for one in people(johnny.project)}
        assert counts["Johnny"] == (4, ("Johnny Galecki",))
        assert counts["Johnny Galecki"] == (4, ("Johnny",))
    johnny.project.merge("Johnny", "Johnny Galecki")
    assert proposed(johnny) == []
    solve(johnny.project)
    assert {one.name: one.faces for one in people(johnny.project)}["Johnny Galecki"] == 8
    assert proposed(johnny) == []


def test_two_in_one_photo_are_two_people(johnny):
    johnny.add("both.jpg", ["Johnny", "Johnny Galecki"], ["Johnny", "Johnny Galecki"])
    solve(johnny.project)
    assert proposed(johnny) == []


def test_of_another_embedder_nobody_is_said_to_look_alike(johnny):
    with johnny.project.transaction() as sql:
        sql.execute("UPDATE faces SET model = 'made up'")
    solve(johnny.project)
    assert proposed(johnny) == []
