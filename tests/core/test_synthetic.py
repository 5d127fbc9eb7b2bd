from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly import make_ambiguous

Y = np.repeat(np.arange(10), 50)


@given(
    fraction=st.floats(0, 1),
    n_extra=st.integers(0, 9),
    seed=st.integers(0, 1000),
)
def test_truth_is_kept_and_just_the_asked_instances_get_the_asked_extras(fraction, n_extra, seed):
    made = make_ambiguous(Y, ambiguous_fraction=fraction, n_extra=n_extra, random_state=seed)
    assert made.contain(Y).all()
    sizes = np.sort(made.sizes)
    ambiguous = round(fraction * len(Y)) if n_extra else 0
    np.testing.assert_array_equal(sizes[len(Y) - ambiguous :], n_extra + 1)
    np.testing.assert_array_equal(sizes[: len(Y) - ambiguous], 1)


def test_extra_labels_are_uniform_over_the_other_classes():
    made = make_ambiguous(np.zeros(20000, int), n_extra=2, classes=range(5), random_state=0)
    np.testing.assert_allclose(made.counts[1:], 10000, rtol=0.05)


def test_equal_seeds_give_equal_candidates_and_a_generator_moves_on():
    assert make_ambiguous(Y, random_state=3) == make_ambiguous(Y, random_state=3)
    assert make_ambiguous(Y, random_state=3) != make_ambiguous(Y, random_state=4)
    rng = np.random.default_rng(3)
    assert make_ambiguous(Y, random_state=rng) != make_ambiguous(Y, random_state=rng)


def test_the_partner_of_a_class_joins_with_the_given_probability():
    y = np.repeat(np.arange(10), 4000)
    made = make_ambiguous(y, n_extra=1, cooccurrence=0.6, random_state=0)
    assert made.degree_of_ambiguity(y) == pytest.approx(0.6, abs=0.02)
    certain = make_ambiguous(y, n_extra=1, cooccurrence=1.0, random_state=0)
    for name in range(10):
        assert certain.mask[y == name].all(axis=0).sum() == 2
    with_others = make_ambiguous(y, n_extra=3, cooccurrence=0.6, random_state=0)
    assert (with_others.sizes == 4).all()
    assert with_others.degree_of_ambiguity(y) == pytest.approx(0.6, abs=0.02)


def test_imbalance_along_cooccurrence_is_the_papers():
    # The paper reports 1.33 to 3.58 on 10 people x 50.
    low, high = (
        np.mean(
            [make_ambiguous(Y, cooccurrence=e, random_state=s).imbalance_factor for s in range(40)]
        )
        for e in (1 / 9, 1.0)
    )
    assert 1.2 < low < 1.6
    assert 3.2 < high < 4.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ambiguous_fraction": 1.5}, "between 0 and 1, got 1.5"),
        ({"n_extra": 10}, "number of other classes \\(9\\), got 10"),
        ({"n_extra": 1.5}, "whole number"),
        ({"cooccurrence": 2.0}, "a probability, got 2.0"),
        ({"cooccurrence": 0.5, "n_extra": 0}, "at least 1"),
        ({"cooccurrence": 0.5, "n_extra": 9}, "can only be 1"),
    ],
)
def test_impossible_wishes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_ambiguous(Y, **options)
