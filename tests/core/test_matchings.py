"""Matchings of names to faces, and the best of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly.solvers import AtMostOnce, assign
from candidly.solvers.assignment import assign_group
from candidly.solvers.kernels import matching_loops
from candidly.solvers.matchings import (
    NEVER,
    balanced,
    exact,
    marginals,
    matchings,
    matchings_of,
    mean_matching,
    weigh,
)
from problems import entries, seeds


def test_marginals_are_exact_up_to_a_number_of_matchings():
    worth, free = np.random.default_rng(0).normal(size=(3, 2)), np.zeros(3)
    for most, expected in ((13, exact), (12, balanced)):  # 1 + 3 * 2 + 3 * 2 matchings
        soft, rest, _ = expected(worth, free)
        found = marginals(worth, free, most)
        np.testing.assert_array_equal(found[0], soft)
        np.testing.assert_array_equal(found[1], rest)


def every_way(worth, free):
    """Return the marginals of one group and the log of the total weight, by listing all ways."""
    faces, names = worth.shape
    expected, total = np.zeros((faces, names + 1)), 0.0
    for way in product(range(names + 1), repeat=faces):
        used = [name for name in way if name < names]
        if len(set(used)) == len(used):
            size = np.exp(sum(worth[j, i] if i < names else free[j] for j, i in enumerate(way)))
            expected[np.arange(faces), way] += size
            total += size
    return expected / total, np.log(total)


@given(seeds, st.integers(1, 4), st.integers(0, 4), st.booleans())
def test_exact_marginals_are_sums_over_all_ways_to_name_a_group(seed, faces, names, decided):
    rng = np.random.default_rng(seed)
    worth, free = 2 * rng.normal(size=(faces, names)), rng.normal(size=faces)
    if names > 1:
        worth[rng.random((faces, names)) < 0.2] = NEVER
        if decided:
            free[0], worth[0, 0] = NEVER, 0.5
    soft, rest, total = exact(worth, free)
    expected, size = every_way(worth, free)
    np.testing.assert_allclose(np.column_stack([soft, rest]), expected, atol=1e-12)
    assert total == pytest.approx(size)
    assert len(matchings(faces, names)) == matchings_of(faces, names)
    assert (soft.sum(axis=0) <= 1 + 1e-9).all()


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.sampled_from([0, 10**6]))
def test_groups_of_one_size_are_weighed_together_as_alone(seed, faces, names, most):
    rng = np.random.default_rng(seed)
    worth, free = rng.normal(size=(2, 3, faces, names)), rng.normal(size=(2, 3, faces))
    worth[rng.random(worth.shape) < 0.2] = NEVER
    together = weigh(worth, free, most)
    for at in np.ndindex(2, 3):
        for found, alone in zip(together, weigh(worth[at], free[at], most), strict=True):
            np.testing.assert_allclose(found[at], alone, atol=1e-12)


def test_many_groups_are_weighed_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    worth, free = rng.normal(size=(50, 3, 2)), rng.normal(size=(50, 3))
    whole = exact(worth, free)
    monkeypatch.setattr(matching_loops, "PIECE", 40)  # three groups at a time
    for found, expected in zip(exact(worth, free), whole, strict=True):
        np.testing.assert_allclose(found, expected)


@given(seeds)
def test_the_approximation_is_exact_where_no_name_is_in_demand_twice(seed):
    rng = np.random.default_rng(seed)
    worth = np.where(np.eye(4, dtype=bool), rng.normal(size=(4, 4)), NEVER)
    free = rng.normal(size=4)
    for found, expected in zip(balanced(worth, free), exact(worth, free), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_large_groups_use_a_name_about_once():
    rng = np.random.default_rng(0)
    soft, rest, _ = balanced(rng.normal(size=(30, 6)) * 2, np.zeros(30))
    assert (soft.sum(axis=0) <= 1.1).all()
    np.testing.assert_allclose(soft.sum(axis=1) + rest, 1)


@given(seeds)
def test_the_mean_matching_is_the_marginals_without_evidence(seed):
    rng = np.random.default_rng(seed)
    allowed = rng.random((3, 4)) < 0.7
    allowed[:, -1] = True
    worth = np.where(allowed, 0.0, NEVER)
    expected = np.column_stack(exact(worth[:, :-1], worth[:, -1])[:2])
    np.testing.assert_allclose(mean_matching(allowed, 1000), expected, atol=1e-12)
    np.testing.assert_allclose(mean_matching(allowed, 0).sum(axis=1), 1)


@given(seeds)
def test_one_group_is_assigned_as_by_the_integer_program(seed):
    rng = np.random.default_rng(seed)
    merit, mask = rng.normal(size=(5, 4)), rng.random((5, 4)) < 0.5
    null = int(rng.integers(5))
    mask[null] = True
    rule = AtMostOnce(np.zeros(4, dtype=int), null)
    expected = assign(*entries(merit, mask), [rule])
    np.testing.assert_array_equal(assign_group(merit, mask, null), expected)


def test_a_group_that_no_labelling_suits_has_none():
    merit = np.zeros((2, 2))
    assert assign_group(merit, np.array([[True, True], [False, False]])) is None
    assert assign_group(merit, np.array([[True, True], [False, True]])).tolist() == [0, 1]
    assert assign_group(np.zeros((1, 2)), np.ones((1, 2), dtype=bool)) is None
