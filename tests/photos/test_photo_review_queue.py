"""Which faces a person is asked about first."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly.photos.reviewing import review_queue
from candidly.photos.reviewing.joint_answers import Coupling, couplings_in_photos, settled
from candidly.photos.reviewing.queue import greedy_order
from candidly.photos.solving import CandidateScore, FaceLabel, solve
from made_up import Album, fill

SFACE = "made up; sface made up"


@pytest.fixture
def album(tmp_path):
    made = Album(tmp_path / "a.candidly", model=SFACE)
    yield made
    made.project.close()


def label(**probabilities):
    scores = [CandidateScore(name, p, 0.0, 0.0) for name, p in probabilities.items()]
    scores.append(CandidateScore(None, 1 - sum(probabilities.values()), 0.0, 0.0))
    best = max(scores, key=lambda one: one.probability)
    return FaceLabel(best.name, best.probability, tuple(scores))


# Faces of one photo


@pytest.mark.parametrize(("faces", "names"), [(2, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_what_an_answer_settles_beside_it_is_by_definition(faces, names, seed):
    odds = np.exp(np.random.default_rng(seed).normal(size=(faces, names + 1)))
    ways = [
        (way, np.prod([odds[j, i] for j, i in enumerate(way)]))
        for way in product(range(names + 1), repeat=faces)
        if all(way.count(i) <= 1 for i in range(names))
    ]
    total = sum(weight for _, weight in ways)

    def chance(**known):
        """Return how likely faces have answers: j0=1 is that face 0 has answer 1."""
        pairs = [(int(face[1:]), answer) for face, answer in known.items()]
        return sum(w for way, w in ways if all(way[j] == i for j, i in pairs)) / total

    answers = range(names + 1)
    P = np.array([[chance(**{f"j{j}": i}) for i in answers] for j in range(faces)])
    found = settled(P[None])[0]
    for one in range(faces):
        for other in range(faces):
            if one == other:
                continue
            after = sum(
                max(chance(**{f"j{one}": a, f"j{other}": b}) for b in answers) for a in answers
            )
            now = P[other].max()
            assert found[one, other] == pytest.approx((after - now) / (1 - now), abs=0.01)


def test_faces_that_are_sure_settle_nothing_and_take_their_name():
    photo = {
        1: label(Ann=0.999),
        2: label(Ann=0.3, Bob=0.4),
        3: label(Ann=0.3, Bob=0.4),
    }
    found = {(one.face, one.other): one.part for one in couplings_in_photos([photo])}
    assert set(found) == {(2, 3), (3, 2)}
    without = {2: label(Bob=4 / 7), 3: label(Bob=4 / 7)}
    alone = {(one.face, one.other): one.part for one in couplings_in_photos([without])}
    assert found == pytest.approx(alone)


def test_a_crowd_with_too_many_ways_is_asked_one_by_one():
    names = {f"P{k}": 0.05 for k in range(12)}
    assert list(couplings_in_photos([{face: label(**names) for face in range(12)}])) == []


# The order


@given(st.data())
def test_every_face_is_asked_once_and_never_more_is_settled_than_before(data):
    faces = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True))
    share = st.floats(0, 1)
    doubt = {face: data.draw(share) for face in faces}
    pairs = st.tuples(st.sampled_from(faces), st.sampled_from(faces), share)
    couplings = [Coupling(*one) for one in data.draw(st.lists(pairs)) if one[0] != one[1]]
    known = data.draw(st.sets(st.sampled_from(faces)))
    order = greedy_order(doubt, couplings, set(faces) - known, known)
    assert sorted(face for face, _ in order) == sorted(set(faces) - known)
    values = np.array([value for _, value in order])
    assert (np.diff(values) <= 1e-9).all()
    assert values.sum() <= sum(doubt.values()) + 1e-9  # each doubt is taken once


@given(st.dictionaries(st.integers(), st.floats(0, 1)))
def test_faces_that_settle_no_others_are_asked_least_sure_first(doubt):
    expected = sorted(doubt.items(), key=lambda pair: (-pair[1], pair[0]))
    assert greedy_order(doubt, [], doubt.keys()) == expected


def test_what_an_earlier_answer_settles_is_asked_last():
    doubt = {1: 0.5, 2: 0.5, 3: 0.3, 4: 0.1}
    pair = [Coupling(1, 2, 0.9), Coupling(2, 1, 0.9)]
    assert [face for face, _ in greedy_order(doubt, pair, doubt)] == [1, 3, 4, 2]
    after = greedy_order(doubt, pair, [2, 3, 4], answered=[1])  # the same once it is answered
    assert [face for face, _ in after] == [3, 4, 2]


# Of a project


def test_one_face_of_people_always_together_is_asked_and_decided_ones_are_not(album):
    fill(album, photos=30, people=8)
    pairs = [album.add(f"pair-{k}.jpg", ["Ida", "Jon"], ["Ida", "Jon"]) for k in range(3)]
    (alone,) = album.add("alone.jpg", ["Kim"], ["Kim", "Lou"])
    solve(album.project)
    queue = review_queue(album.project)
    order = [one.face for one in queue]
    together = [face for pair in pairs for face in pair]
    assert order[0] in together  # one answer settles all six
    assert queue[0].settles > 3 * queue[0].doubt
    at = order.index(alone)
    assert at <= 2  # at most one face of each of the two comes before
    assert queue[at].settles == pytest.approx(queue[at].doubt)
    album.project.confirm(order[0], "Ida" if order[0] in [one for one, _ in pairs] else "Jon")
    assert order[0] not in [one.face for one in review_queue(album.project)]
    solve(album.project)
    assert review_queue(album.project)[0].face == alone
    assert album.names(together) == ["Ida", "Jon"] * 3


def test_of_a_name_with_an_unnamed_companion_one_face_is_asked_first_and_settles_all(album):
    fill(album, photos=30, people=8)
    album.know()
    pairs = [album.add(f"{k}.jpg", ["Ida", "companion"], ["Ida"]) for k in range(5)]
    solve(album.project)
    queue = review_queue(album.project)
    order = [one.face for one in queue]
    both = {face for pair in pairs for face in pair}
    assert queue[0].face in both
    assert queue[0].settles > 3  # about half of ten are wrong
    assert queue[1].settles < 1
    ida = [one for one, _ in pairs]
    if order[0] in ida:
        album.project.confirm(order[0], "Ida")
    else:
        album.project.nobody(order[0])
    solve(album.project)
    assert album.names(ida) == ["Ida"] * 5
    assert album.names([other for _, other in pairs]) == [None] * 5


def test_of_two_faces_and_one_name_one_is_asked_whether_or_not_all_is_solved_again(album):
    fill(album, photos=30, people=8)
    pairs = [album.add(f"{k}.jpg", [f"P{k}", f"Q{k}"], [f"P{k}"]) for k in range(4)]
    solve(album.project)
    order = [one.face for one in review_queue(album.project)]
    assert [len({*pair} & {*order[:4]}) for pair in pairs] == [1, 1, 1, 1]
    for face in order[:4]:
        album.project.nobody(face)
        left = [one.face for one in review_queue(album.project)]
        assert left == order[len(order) - len(left) :]  # the answer was expected to settle as much


def test_a_project_without_faces_has_nothing_to_ask(album):
    assert review_queue(album.project) == []
