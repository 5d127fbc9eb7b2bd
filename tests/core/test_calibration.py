"""Probabilities without truth: what wrong candidates that go with the label do to them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from candidly.selection.calibration import (
    Calibration,
    HedgedCalibration,
    estimate_error,
    sampling,
)
from candidly.solvers.set_information import LEAST, PRIOR, log_given_others


def companions(n=3000, c=6, right=0.7, seed=0):
    """Sets of a label and, nine times in ten, the next class, which is guessed where wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=n)
    guess = np.where(rng.random(n) < right, y, (y + 1) % c)
    mask = np.zeros((c, n), dtype=bool)
    mask[y, np.arange(n)] = True
    mask[(y + 1) % c, np.arange(n)] |= rng.random(n) < 0.9
    proba = np.where(np.arange(c)[:, None] == guess, 0.9, 0.1 / (c - 1))
    return y, guess, mask, proba


def test_sets_given_each_label_are_counted_on_the_other_instances():
    rng = np.random.default_rng(0)
    label = rng.integers(3, size=25)
    mask = (rng.random((4, 25)) < 0.4) | (np.arange(4)[:, None] == label)
    found, base = log_given_others(label, mask), mask.mean(axis=1)
    for j in range(25):
        others = np.arange(25) != j
        for a in range(4):
            same = others & (label == a)
            told = (mask[:, same].sum(axis=1) + PRIOR * base) / (same.sum() + PRIOR)
            told = np.clip(told, LEAST, 1 - LEAST)
            each = np.where(mask[:, j], np.log(told), np.log1p(-told))
            expected = np.delete(each, a).sum() if mask[a, j] else -np.inf
            assert found[a, j] == pytest.approx(expected)


def test_a_wrong_guess_in_the_set_is_not_taken_for_a_right_one():
    y, guess, mask, proba = companions()
    right = (guess == y).mean()
    plain = Calibration.of(proba, mask)(proba).max(axis=0).mean()
    told = Calibration.of(proba, mask, log_given_others(y, mask))(proba).max(axis=0).mean()
    assert plain > right + 0.2
    assert told == pytest.approx(right, abs=0.03)
    hedged = HedgedCalibration.of(proba, mask, y)(proba)
    assert hedged.max(axis=0).mean() == pytest.approx((plain + told) / 2)
    assert np.array_equal(hedged.argmax(axis=0), guess)
    assert hedged.sum(axis=0) == pytest.approx(1)


def test_two_standard_errors_cover_what_happens_in_all_of_which_some_are_seen():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        chance = rng.beta(0.3, 1.2, size=500)
        seen = chance[:200]
        happened = (rng.random(500) < chance).mean()
        inside += abs(seen.mean() - happened) <= sampling(seen, 500)
    assert 0.92 < inside / 400 < 0.985


def test_the_interval_covers_labels_that_leave_class_sizes_out():
    rng = np.random.default_rng(0)
    sizes = np.array([0.6, 0.3, 0.06, 0.04])
    y = rng.choice(4, 2000, p=sizes)
    mask = (rng.random((4, 2000)) < 0.5) | (np.arange(4)[:, None] == y)
    seen = 1.5 * (np.arange(4)[:, None] == y) + rng.normal(size=(4, 2000))
    even = softmax(1.5 * seen, axis=0)  # the probability of each label if all were as frequent
    labels = np.where(mask, even, 0)
    error = (labels.argmax(axis=0) != y).mean()
    found = estimate_error(even, labels, mask, np.arange(2000) % 3, False, 2000)
    assert found.low < error < found.high
    assert found.high - found.low < 0.1
