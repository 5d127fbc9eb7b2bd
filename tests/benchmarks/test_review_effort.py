"""How many decisions a collection needs, simulated."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.photos.collection_draws import FaceCollection
from benchmarks.photos.expected_effort import expected_efforts
from benchmarks.photos.review_effort import ORDERS, effort, table, with_noise
from candidly.photos.reviewing import QueuedFace
from candidly.photos.solving import CandidateScore, FaceLabel


@pytest.mark.slow
def test_the_queue_needs_no_more_decisions_than_chance():
    rng = np.random.default_rng(0)
    looks = rng.normal(size=(50, 128))  # most are shown once or twice
    records, rows = [], []
    for number in range(40):
        who = rng.choice(50, size=2, replace=False)
        faces = [
            {"name": f"P{k}", "person": f"P{k}", "box": [100 * at, 0, 50, 50]}
            for at, k in enumerate(who)
        ]
        names = [f"P{k}" for k in rng.permutation([*who, rng.integers(50)])]
        records.append(
            {"file": f"{number}.jpg", "mentioned": list(dict.fromkeys(names)), "faces": faces}
        )
        rows += [looks[k] + 1.2 * rng.normal(size=128) for k in who]
    drawn = FaceCollection(records, np.array(rows))
    found = {name: effort(drawn, ORDERS[name], 10, 0) for name in ("queue", "random", "truth")}
    assert found["queue"].wrong_before == found["random"].wrong_before > 0
    assert found["queue"].decisions <= found["random"].decisions
    assert found["truth"].decisions == found["truth"].corrections
    assert found["queue"].wrong_after <= 0.03 * found["queue"].faces


def queued(*pairs):
    """Faces with their photos, the first one asked first."""
    return [QueuedFace(face, photo, None, 0.5, 1.0) for face, photo in pairs]


def test_orders_that_know_the_truth_ask_about_wrong_faces():
    rng, wrong = np.random.default_rng(0), {2, 4, 5}
    queue = queued((1, 10), (2, 10), (3, 20), (4, 30), (5, 30))
    assert list(ORDERS["truth"](queue, rng, wrong)) == [4, 2, 5]
    assert list(ORDERS["queue, whole photo"](queue, rng, wrong)) == [2, 3, 4, 1, 5]
    assert sorted(ORDERS["random"](queue, rng, wrong)) == [1, 2, 3, 4, 5]


def test_one_answer_for_each_photo_is_expected_where_one_settles_it():
    scores = (CandidateScore("Ann", 0.5, 0.0, 0.0), CandidateScore(None, 0.5, 0.0, 0.0))
    either = FaceLabel("Ann", 0.5, scores)
    found = expected_efforts([{2 * k: either, 2 * k + 1: either} for k in range(8)], 0.0, 0)
    assert found["least sure"] == found["most settled"]  # fitted weights are close, not exact
    assert 8 <= found["least sure"] < 10
    assert found["truth"] <= found["least sure"]


def test_noise_is_as_long_as_it_is_said():
    rng = np.random.default_rng(0)
    faces = FaceCollection([], 3 * rng.normal(size=(50, 128)))
    assert with_noise(faces, 0.0, 0) is faces
    added = np.linalg.norm(with_noise(faces, 0.5, 0).X - faces.X, axis=1)
    assert np.median(added / np.linalg.norm(faces.X, axis=1)) == pytest.approx(0.5, abs=0.05)


def test_the_table_has_a_line_for_each_way_to_ask():
    about = {"photos": 9, "kind": "at random", "draws": 1, "seed": 0, "captions": "c", "noise": 0.0}
    ran = {"every": 5, "faces": 20, "wrong_before": 7, "repaired by a correction": 1.5}
    rows = [
        {**about, **ran, "order": "queue", "decisions": 11},
        {**about, **ran, "order": "random", "decisions": 13},
        {**about, "order": "expected", "least sure": 10.0, "most settled": 9.5, "truth": 4.0},
    ]
    (line,) = table(rows).splitlines()[2:]
    assert (
        line
        == "| 9 at random | 1 | c | every 5 | 7 of 20 | 11 |  |  | 13 |  | 1.5 | 10.0, 9.5, 4.0 |"
    )
