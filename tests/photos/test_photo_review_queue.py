"""Which faces a person is asked about first."""

from __future__ import annotations

import numpy as np
import pytest

from candidly.photos.reviewing import review_queue
from candidly.photos.reviewing.queue import _beside
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


def test_what_a_decision_settles_beside_it_is_by_definition():
    labels = [label(Ann=0.5, Bob=0.3), label(Ann=0.4, Bob=0.4), label(Bob=0.2)]
    P = [{one.name: one.probability for one in own.scores} for own in labels]
    ways = [
        ((a, b, c), P[0][a] * P[1][b] * P[2][c])
        for a in P[0]
        for b in P[1]
        for c in P[2]
        if len({*filter(None, (a, b, c))}) == len([*filter(None, (a, b, c))])
    ]
    total = sum(weight for _, weight in ways)

    def best(face, some):
        """Return the weight of the likeliest answer for a face, of some ways."""
        return max(sum(w for way, w in some if way[face] == who) for who in P[face])

    def right(face, given):
        """Return how likely the answer is right once another face is known."""
        known = [[(way, w) for way, w in ways if way[given] == who] for who in P[given]]
        return sum(best(face, some) for some in known) / total

    expected = [
        sum(right(other, one) - best(other, ways) / total for other in range(3) if other != one)
        for one in range(3)
    ]
    np.testing.assert_allclose(_beside(labels), expected)


def test_faces_that_settle_others_come_first_and_decided_ones_are_not_asked(album):
    fill(album, photos=30, people=8)
    pairs = [album.add(f"pair-{k}.jpg", ["Ida", "Jon"], ["Ida", "Jon"]) for k in range(3)]
    (alone,) = album.add("alone.jpg", ["Kim"], ["Kim", "Lou"])
    solve(album.project)
    queue = review_queue(album.project)
    order = [one.face for one in queue]
    together = [face for pair in pairs for face in pair]
    assert set(order[:6]) == set(together)  # always together: one answer settles all six
    assert queue[order.index(alone)].settles == pytest.approx(queue[order.index(alone)].doubt)
    assert queue[0].settles > 1
    album.project.confirm(pairs[0][0], "Ida")
    solve(album.project)
    after = review_queue(album.project)
    assert pairs[0][0] not in [one.face for one in after]
    assert after[0].face == alone  # the others are settled
    assert album.names(together) == ["Ida", "Jon"] * 3


def test_a_project_without_faces_has_nothing_to_ask(album):
    assert review_queue(album.project) == []
