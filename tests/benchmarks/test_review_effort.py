"""How many decisions a collection needs, simulated."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.photos.collection_draws import FaceCollection
from benchmarks.photos.review_effort import ORDERS, effort


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
    found = {name: effort(drawn, order, 5, 0) for name, order in ORDERS.items()}
    assert found["queue"].wrong_before == found["random"].wrong_before > 0
    assert found["queue"].decisions <= found["random"].decisions
    assert found["queue"].wrong_after <= 0.03 * found["queue"].faces
