"""What is known beforehand of how features vary: estimated, and compared with a collection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candidly import Population, estimate_population


def people(count, each, *, k=6, seed=0):
    """Features of people, who each is, and the covariances that they were drawn from."""
    rng = np.random.default_rng(seed)
    between, within = (A @ A.T / k + np.eye(k) / 4 for A in rng.normal(size=(2, k, k)))
    who = np.repeat(np.arange(count), each)
    means = rng.multivariate_normal(np.full(k, 2.0), 2 * between, size=count)
    X = means[who] + rng.multivariate_normal(np.zeros(k), within, size=len(who))
    return X, who, within, within + 2 * between


def test_the_covariances_that_people_were_drawn_from_are_found_again():
    X, who, within, total = people(4000, 3)
    found = estimate_population(X, who)
    assert (found.people, found.instances) == (4000, 12_000)
    np.testing.assert_allclose(found.mean, 2, atol=0.15)
    np.testing.assert_allclose(found.within, within, atol=0.05 * np.trace(within))
    np.testing.assert_allclose(found.total, total, atol=0.05 * np.trace(total))
    assert found.even <= 0


def test_within_is_that_of_people_with_several_instances():
    X, who, _, _ = people(300, 2)
    alone, _, _, _ = people(300, 1, seed=1)
    both = estimate_population(np.r_[X, alone], np.r_[who, 1000 + np.arange(300)])
    np.testing.assert_allclose(both.within, estimate_population(X, who).within)
    assert both.people == 600


def test_few_instances_leave_no_direction_without_variance():
    X, who, _, _ = people(20, 2, k=40)
    found = estimate_population(X, who)
    off = X - np.repeat((X[::2] + X[1::2]) / 2, 2, axis=0)
    scatter = off.T @ off
    assert np.linalg.matrix_rank(scatter) == 20
    assert np.linalg.eigvalsh(found.within)[0] > 0.5 * np.trace(found.within) / 40
    assert np.trace(found.within) == pytest.approx(np.trace(scatter) / 20)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-10, 10))
def test_features_in_another_unit_have_the_same_population_in_that_unit(seed, unit, shift):
    X, who, _, _ = people(30, 3, k=4, seed=seed)
    one, other = estimate_population(X, who), estimate_population(unit * X + shift, who)
    np.testing.assert_allclose(other.mean, unit * one.mean + shift, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.within, unit**2 * one.within, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.total, unit**2 * one.total, rtol=1e-6, atol=1e-9)
    assert other.even == pytest.approx(one.even, abs=0.01)


def test_what_says_nothing_about_one_person_is_refused():
    X, who, _, _ = people(30, 1)
    with pytest.raises(ValueError, match="of 30 people none has two instances"):
        estimate_population(X, who)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimate_population(X, who[:-1])
    pairs = np.repeat(np.random.default_rng(0).normal(size=(20, 6)), 2, axis=0)
    pairs[1::2] *= -1
    with pytest.raises(ValueError, match="vary as much as those of different people"):
        estimate_population(pairs, np.repeat(np.arange(20), 2))


def test_a_collection_fits_unless_it_is_shifted_or_scaled():
    X, who, _, _ = people(500, 3)
    known = estimate_population(X, who)
    share, off = np.bincount(who), X - known.mean
    assert known.misfit(X[:300], share[:100]) is None
    assert "mean" in known.misfit(X[:300] + 3, share[:100])
    assert known.misfit(known.mean + 2 * off, share) == "they vary 4 times as much"
    assert known.misfit(known.mean + off / 2, share) == "they vary 0.25 times as much"


def test_an_album_of_few_people_may_have_a_mean_of_its_own():
    X, who, _, _ = people(500, 10)
    known, four = estimate_population(X, who), who < 4
    assert known.misfit(X[four], np.bincount(who[four])) is None
    assert known.misfit(X[four], np.ones(four.sum())) is not None


def test_a_population_is_a_value_with_defaults():
    made = Population(np.zeros(2), np.eye(2), 2 * np.eye(2))
    assert (made.even, made.people, made.instances) == (0.0, 0, 0)
