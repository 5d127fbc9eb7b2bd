"""The rule that chooses a setting, and the scaling itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from candidly.estimators.scaling import SETTINGS, FeatureScaler, choose_setting, differ_in_unit


def correlated(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)) + 0.1 * rng.normal(size=(n, m))


def test_instances_a_feature_decide_between_the_settings():
    assert choose_setting(correlated(24, 10)) == SETTINGS["pixels"]
    assert choose_setting(correlated(25, 10)) == SETTINGS["features"]


def test_features_in_different_units_are_standardised():
    X = correlated(300, 10)
    assert not differ_in_unit(X)
    X[:, 4] *= 1000
    assert differ_in_unit(X)
    assert choose_setting(X).standardize
    assert choose_setting(X[:20]) == replace(SETTINGS["pixels"], standardize=True)


def test_principal_components_keep_their_sizes():
    X = correlated(300, 10)
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    components = U * (s / s[-1]) ** 2
    spread = components.std(axis=0)
    assert spread.max() > 30 * np.median(spread)
    assert not differ_in_unit(components)
    assert not differ_in_unit(components[::2])


@pytest.mark.parametrize("X", [np.zeros((20, 3)), np.ones((20, 1)), np.eye(20)[:, :1] * 1e300])
def test_features_without_variety_have_one_unit(X):
    assert not differ_in_unit(X)


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e8, 1e300])
@pytest.mark.parametrize("standardize", [True, False])
def test_scaling_centres_and_gives_the_mean_norm(scale, standardize):
    X = correlated(50, 6) + 3
    scaled = FeatureScaler(standardize=standardize, norm=15.0).fit_transform(X * scale)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-9)
    assert np.linalg.norm(scaled, axis=1).mean() == pytest.approx(15)
    if standardize:
        np.testing.assert_allclose(scaled.std(axis=0), scaled.std(axis=0)[0])


@pytest.mark.parametrize("divisor", [None, 255.0])
@pytest.mark.parametrize("center", [False, True])
def test_without_a_norm_rows_keep_their_scale(center, divisor):
    X = 40 * correlated(50, 6) + 3
    expected = (X - center * X.mean(axis=0)) / (divisor or 1)
    scaler = FeatureScaler(center=center, norm=None, divisor=divisor).fit(X)
    np.testing.assert_allclose(scaler.transform(X), expected)
    np.testing.assert_allclose(scaler.inverse_transform(expected), X)


@pytest.mark.parametrize("norm", [None, 3.0])
def test_a_divisor_cancels_where_something_else_gives_the_scale(norm):
    X = correlated(50, 6)
    plain, divided = (
        FeatureScaler(standardize=norm is None, norm=norm, divisor=by).fit_transform(X)
        for by in (None, 255.0)
    )
    np.testing.assert_array_equal(plain, divided)


def test_constant_features_become_exactly_zero():
    X = correlated(50, 3)
    X[:, 1] = 0.1 + 0.2
    for standardize in (True, False):
        assert (FeatureScaler(standardize=standardize).fit_transform(X)[:, 1] == 0).all()


def test_without_any_scaling_features_stay_as_they_are():
    X = correlated(20, 3)
    same = FeatureScaler(center=False, norm=None).fit_transform(X)
    np.testing.assert_array_equal(same, X)


def test_weights_count_as_repetition():
    X = correlated(20, 3)
    weight = np.arange(20) % 3
    repeated = FeatureScaler(standardize=True).fit(np.repeat(X, weight, axis=0))
    weighted = FeatureScaler(standardize=True).fit(X, sample_weight=weight)
    np.testing.assert_allclose(repeated.mean_ * repeated.unit_, weighted.mean_ * weighted.unit_)
    np.testing.assert_allclose(repeated.transform(X), weighted.transform(X))


@pytest.mark.parametrize("standardize", [False, True])
def test_scaling_can_be_undone(standardize):
    X = correlated(40, 6)
    X[:, 2] = 3.0  # a constant feature
    scaler = FeatureScaler(standardize=standardize, norm=5.0).fit(X)
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, atol=1e-12)
