"""Ridge regression by Gram matrices, against the same by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly.solvers import CandidateSets
from candidly.solvers.ridge_gram import RidgeGram, regression_of_folds
from candidly.solvers.row_space import Basis, RidgeRows
from problems import seeds

SHAPES = [(20, 5), (60, 40), (9, 14)]
"""Instances and features: few, more than are found by all eigenvalues, more features."""


def made_up(seed, shape, weighted):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2, size=shape[0]) if weighted else np.ones(shape[0])
    return rng.normal(size=shape), rng.random((3, shape[0])), weight


def regressed(X, Y, weight, ridge, learnt, predicted):
    """Return the regression of Y on some rows, for others, by the normal equations."""
    F, size = X - (weight / weight.sum()) @ X, weight / weight.mean()
    r = ridge * np.linalg.eigvalsh((F.T * size) @ F)[-1]
    A = (F[learnt].T * size[learnt]) @ F[learnt] + r * np.eye(X.shape[1])
    return (F[predicted] @ np.linalg.solve(A, (F[learnt].T * size[learnt]) @ Y[:, learnt].T)).T


@given(seeds, st.booleans(), st.sampled_from(SHAPES))
def test_hidden_instances_are_predicted_by_the_regression_of_the_others(seed, weighted, shape):
    X, Y, weight = made_up(seed, shape, weighted)
    hidden, shown = np.arange(4), np.arange(4, len(X))
    rows = RidgeGram.of(X, weight).rows(0.1, hidden=hidden)
    sets = CandidateSets.of_mask(np.ones((3, len(shown)), bool))
    B = rows.of_instances(shown).sums(sets, sets.entries_of(Y[:, shown]))
    expected = regressed(X, Y, weight, 0.1, shown, hidden)
    np.testing.assert_allclose(rows.predict(B, hidden), expected, atol=1e-8)


@given(seeds, st.booleans(), st.sampled_from(SHAPES), st.sampled_from([np.float64, np.float32]))
def test_rows_are_those_of_a_basis_but_for_a_rotation(seed, weighted, shape, dtype):
    X, _, weight = made_up(seed, shape, weighted)
    found = RidgeGram.of(X, weight).rows(1e-3, dtype)
    expected = RidgeRows.of(Basis.of(X, weight), 1e-3)
    assert found.Q.dtype == dtype
    close = 1e-8 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(found.Q @ found.Q.T, expected.Q @ expected.Q.T, atol=close)


@given(seeds, st.booleans(), st.sampled_from(SHAPES))
def test_coefficients_and_leverage_are_those_of_the_rows(seed, weighted, shape):
    X, _, weight = made_up(seed, shape, weighted)
    label = np.arange(len(X)) % 3
    gram = RidgeGram.of(X, weight)
    found = (X - gram.mean) @ gram.in_features(gram.regress(0.1, label))
    Y, everybody = np.eye(3)[:, label], np.arange(len(X))
    expected = regressed(X, Y, weight, 0.1, everybody, everybody)
    np.testing.assert_allclose(found.T, expected, atol=1e-8)
    np.testing.assert_allclose(gram.leverage(0.1), (gram.rows(0.1).Q ** 2).sum(axis=1))


@given(seeds, st.booleans())
def test_a_fold_is_predicted_by_the_others(seed, weighted):
    X, Y, weight = made_up(seed, (30, 6), weighted)
    fold = np.arange(30) % 3
    found = regression_of_folds(RidgeGram.of(X, weight), 0.1, Y, fold)
    mean = (Y @ weight / weight.sum())[:, None]
    for k in range(3):
        inside, others = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        expected = regressed(X, Y - mean, weight, 0.1, others, inside) + mean
        np.testing.assert_allclose(found[:, inside], expected, atol=1e-4)


@pytest.mark.parametrize("shape", [(8, 4), (64, 40), (4, 8)])
def test_features_without_variety_predict_nothing(shape):
    gram = RidgeGram.of(np.ones(shape))
    assert not gram.rows(1e-3).Q.any()
    assert not gram.regress(1e-3, np.arange(shape[0]) % 2).any()
