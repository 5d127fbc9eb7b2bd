"""Matchings of names to faces, and the best of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from candidly.solvers import AtMostOnce, assign
from candidly.solvers.assignment import assign_group
from candidly.solvers.matchings import NEVER, balanced, exact, marginals, mean_matching
from problems import seeds


def test_marginals_are_exact_up_to_a_number_of_matchings():
    worth, free = np.random.default_rng(0).normal(size=(3, 2)), np.zeros(3)
    for most, expected in ((13, exact), (12, balanced)):  # 1 + 3 * 2 + 3 * 2 matchings
        for found, wanted in zip(marginals(worth, free, most), expected(worth, free), strict=True):
            np.testing.assert_array_equal(found, wanted)


@given(seeds)
def test_the_mean_matching_is_the_marginals_without_evidence(seed):
    rng = np.random.default_rng(seed)
    allowed = rng.random((3, 4)) < 0.7
    allowed[:, -1] = True
    worth = np.where(allowed, 0.0, NEVER)
    expected = np.column_stack(exact(worth[:, :-1], worth[:, -1]))
    np.testing.assert_allclose(mean_matching(allowed, 1000), expected, atol=1e-12)
    np.testing.assert_allclose(mean_matching(allowed, 0).sum(axis=1), 1)


@given(seeds)
def test_one_group_is_assigned_as_by_the_integer_program(seed):
    rng = np.random.default_rng(seed)
    merit, mask = rng.normal(size=(5, 4)), rng.random((5, 4)) < 0.5
    null = int(rng.integers(5))
    mask[null] = True
    rule = AtMostOnce(np.zeros(4, dtype=int), null)
    np.testing.assert_array_equal(assign_group(merit, mask, null), assign(merit, mask, [rule]))


def test_a_group_that_no_labelling_suits_has_none():
    merit = np.zeros((2, 2))
    assert assign_group(merit, np.array([[True, True], [False, False]])) is None
    assert assign_group(merit, np.array([[True, True], [False, True]])).tolist() == [0, 1]
    assert assign_group(np.zeros((1, 2)), np.ones((1, 2), dtype=bool)) is None
