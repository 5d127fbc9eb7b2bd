"""Promises about exported names, simulated."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.photos.collection_draws import at_random, newsroom_faces
from benchmarks.photos.export_promise import (
    JudgedNames,
    audit_figures,
    judged,
    promise_figures,
    summary,
)
from candidly.photos.auditing.sample import AuditSample


def boasting(N=800, seed=0):
    """Names that are wrong far more often than their confidence says."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.5, 1, N)
    wrong = rng.random(N) < np.minimum(1.5 * (1 - confidence) + 0.02, 1)
    nobody = np.full(N, -1, dtype=np.int8)
    mentions = rng.integers(1, 9, N)
    sample = AuditSample(1, 1, np.arange(N), ["Ann"] * N, confidence, mentions, nobody)
    return JudgedNames(sample, wrong, int((~wrong).sum()))


@pytest.mark.slow
@pytest.mark.parametrize("audited", [0, 200])
@pytest.mark.parametrize("max_error", [0.03, 0.1])
def test_promises_are_kept_where_confidence_boasts_also_after_an_audit(max_error, audited):
    names = boasting()
    found = [promise_figures(names, max_error, 200, seed, audited) for seed in range(60)]
    assert summary(found)["broken"] <= 0.06
    assert all(one["asked"] <= 200 for one in found)
    if max_error == 0.1 and not audited:
        assert summary(found)["holds"] > 0.3  # and something is promised


@pytest.mark.slow
def test_intervals_hold_when_an_audit_stops():
    names = boasting(seed=1)
    found = summary([audit_figures(names, 200, seed) for seed in range(150)])
    assert min(found[key] for key in ("overall", "often", "rarely", "once")) >= 0.93


@pytest.mark.slow
@pytest.mark.real_data
def test_most_right_names_of_the_newsroom_can_be_promised():
    everything = newsroom_faces()
    names = judged(everything.take(at_random(everything.records, 1000, (0,))))
    found = summary([promise_figures(names, 0.02, 300, seed) for seed in range(50)])
    assert found["broken"] <= 0.06
    assert found["written"] >= 0.5
