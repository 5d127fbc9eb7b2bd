"""Each part by its definition: no perturbed point may be better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidly.solvers import CandidateSets, low_rank
from candidly.solvers.constraints import CandidateSimplex, FeasibleSet
from candidly.solvers.label_rows import LabelRows
from candidly.solvers.low_rank import singular_value_threshold, singular_values
from candidly.solvers.prox import soft_threshold
from candidly.solvers.twins import class_keys, twins_of
from candidly.solvers.weights import imbalance_weights
from problems import entries, problem, seeds


def _beats_neighbours(value, point, rng, feasible=lambda B: B):
    best = value(point)
    for scale in (1e-3, 1e-2, 1e-1, 1):
        for _ in range(20):
            near = feasible(point + scale * rng.normal(size=point.shape))
            assert value(near) >= best - 1e-9


@given(seeds, st.floats(0, 3))
def test_soft_threshold_minimises_its_problem(seed, tau):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 4))
    _beats_neighbours(
        lambda B: tau * np.abs(B).sum() + ((A - B) ** 2).sum() / 2, soft_threshold(A, tau), rng
    )


@given(seeds, st.floats(0.01, 3), st.sampled_from([(3, 7), (7, 3), (5, 5)]))
def test_singular_value_threshold_minimises_its_problem(seed, tau, shape):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=shape)
    H, shrunk = singular_value_threshold(A, tau)
    sigma = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(shrunk[::-1], sigma[sigma > tau] - tau, atol=1e-6)
    _beats_neighbours(lambda B: tau * np.linalg.norm(B, "nuc") + ((A - B) ** 2).sum() / 2, H, rng)


@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
@pytest.mark.parametrize("ratio", [0.5, 1e-2, 1e-4, 1e-5, 1e-7, 1e-8, 1e-10])
def test_the_gram_matrix_and_its_fallback_agree_with_a_full_svd(shape, ratio):
    rng = np.random.default_rng(0)
    U, _, Vt = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    sigma = np.logspace(0, -9, 40)
    A = (U * sigma) @ Vt
    H, _ = singular_value_threshold(A, ratio)
    exact = (U * np.maximum(sigma - ratio, 0)) @ Vt
    assert np.abs(H - exact).max() < min(1e-10, 1e-3 * ratio)
    assert H.dtype == A.dtype


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)], ids=["wide", "tall"])
def test_a_threshold_below_the_limit_is_taken_off_float32_too(shape):
    A = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    U, sigma, Vt = np.linalg.svd(A.astype(np.float64), full_matrices=False)
    tau = 3e-7 * sigma[0]
    H, _ = singular_value_threshold(A, tau)
    off = np.linalg.norm(H - (U * (sigma - tau)) @ Vt, 2)
    assert off < 0.1 * tau  # all that rounding the result itself leaves


def test_below_the_limits_nothing_is_squared(monkeypatch):
    calls = []
    full = low_rank._by_qr
    monkeypatch.setattr(low_rank, "_by_qr", lambda *a: calls.append(1) or full(*a))
    A = np.diag(np.logspace(0, -9, 20))
    for tau in (1e-3, 1e-7):  # by one Gram matrix, and by two
        singular_value_threshold(A, tau)
        assert not calls
    singular_value_threshold(A, 1e-10)
    assert calls


def test_float32_keeps_its_type_and_the_rank_of_float64():
    rng = np.random.default_rng(0)
    A = (rng.normal(size=(30, 5)) @ rng.normal(size=(5, 80))).astype(np.float32)
    H, shrunk = singular_value_threshold(A, np.float32(1e-3) * 100)
    _, shrunk64 = singular_value_threshold(A.astype(float), 0.1)
    assert H.dtype == np.float32
    assert len(shrunk) == len(shrunk64) == 5


@pytest.mark.parametrize("shape", [(60, 90), (90, 60)], ids=["wide", "tall"])
@pytest.mark.parametrize("rank", [None, 0, 3, 60])
def test_the_rank_that_is_expected_changes_nothing(shape, rank):
    A = np.random.default_rng(0).normal(size=shape)
    sigma = np.linalg.svd(A, compute_uv=False)
    for tau in (sigma[2], sigma[40], 2 * sigma[0]):
        exact, _ = singular_value_threshold(A, tau)
        out = np.empty_like(A)
        H, shrunk = singular_value_threshold(A, tau, out, rank)
        assert H is out
        np.testing.assert_allclose(H, exact, atol=1e-12)
        assert shrunk.sum() == pytest.approx(np.maximum(sigma - tau, 0).sum(), abs=1e-9)


def test_blocks_of_float32_add_up_to_the_gram_matrix(monkeypatch):
    A = np.random.default_rng(0).normal(size=(5, 700)).astype(np.float32)
    monkeypatch.setattr(low_rank, "BLOCK", 8 * 5 * 64)
    for B in (A, A.T.copy()):
        np.testing.assert_allclose(
            singular_values(B)[::-1], np.linalg.svd(B.astype(float), compute_uv=False)
        )


def test_singular_values_are_those_of_a_full_svd():
    A = np.random.default_rng(0).normal(size=(20, 9))
    np.testing.assert_allclose(singular_values(A)[::-1], np.linalg.svd(A, compute_uv=False))


@given(seeds, st.booleans())
def test_a_projection_is_feasible_and_leaves_feasible_labels_alone(seed, euclidean):
    rng = np.random.default_rng(seed)
    _, P, mask = problem(seed)
    P, sets = entries(P, mask)
    simplex = CandidateSimplex(P, euclidean)
    y = simplex.project(rng.normal(size=P.shape), sets)
    assert simplex.violation(y, sets) < 1e-12
    np.testing.assert_allclose(simplex.project(y, sets), y, atol=1e-12)
    np.testing.assert_allclose(simplex.project(P, sets), P, atol=1e-12)


@given(seeds)
def test_the_euclidean_projection_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    _, P, mask = problem(seed, c=3, N=1)
    P, sets = entries(P, mask)
    y = rng.normal(size=P.shape)
    nearest = CandidateSimplex(P, euclidean=True).project(y, sets)
    simple = FeasibleSet(sets, CandidateSimplex(P))
    _beats_neighbours(lambda b: ((b - y) ** 2).sum(), nearest, rng, feasible=simple.project)


def test_a_column_without_mass_falls_back_to_its_prior():
    mask = np.array([[True, True], [True, True], [False, True]])
    P = np.array([[0.75, 0.0], [0.25, 0.0], [0.0, 0.0]])
    P, sets = entries(P, mask)
    Y = sets.matrix(CandidateSimplex(P).project(-np.ones(len(sets)), sets))
    np.testing.assert_allclose(Y[:, 0], [0.75, 0.25, 0])
    np.testing.assert_allclose(Y[:, 1], 1 / 3)  # a prior without mass: all candidates alike


@pytest.mark.parametrize(("kind", "rounding"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_a_column_of_rounding_errors_falls_back_to_its_prior_in_the_alm(kind, rounding):
    mask = np.ones((2, 3), dtype=bool)
    P, sets = entries(np.array([[0.75, 0.75, 0.75], [0.25, 0.25, 0.25]]), mask)
    labels = LabelRows(P, sets, np.ones(3, dtype=kind))
    scores = np.array([[-1, -1, 1e-4], [0, rounding, 3e-4]], dtype=kind)
    Y = sets.matrix(labels.project(labels.read(scores)))
    np.testing.assert_allclose(Y, [[0.75, 0.75, 0.25], [0.25, 0.25, 0.75]], rtol=1e-6)


def test_denormal_columns_still_sum_to_one():
    y, sets = entries(np.array([[5e-324], [1e-323], [0.0]]), np.ones((3, 1), bool))
    assert CandidateSimplex(sets.uniform()).project(y, sets).sum() == pytest.approx(1)


def test_violation_measures_each_way_to_be_wrong():
    sets = CandidateSets.of_mask(np.array([[True], [True], [False]]))
    simplex = CandidateSimplex(sets.uniform())
    assert simplex.violation(np.array([0.5, 0.5]), sets) == 0
    assert simplex.violation(np.array([1.2, -0.2]), sets) == pytest.approx(0.2)
    assert simplex.violation(np.array([0.5, 0.2]), sets) == pytest.approx(0.3)


def test_weights_follow_the_definition():
    P = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    sizes = P.sum(axis=1)
    expected = [1 / np.sqrt(sum(P[i, j] * sizes[i] for i in range(2))) for j in range(3)]
    np.testing.assert_allclose(imbalance_weights(*entries(P, P > 0)), expected)
    balanced = np.eye(3).repeat(4, axis=1)
    np.testing.assert_allclose(imbalance_weights(*entries(balanced, balanced > 0)), 0.5)


@given(seeds, st.integers(1, 4))
def test_twins_are_classes_with_the_same_candidates_and_labels(seed, shards):
    rng = np.random.default_rng(seed)
    mask = rng.random((4, 12)) < 0.5
    mask = np.vstack([mask, mask[1], mask[2], mask[1], np.zeros(12, bool), np.zeros(12, bool)])
    mask[0, ~mask.any(axis=0)] = True
    P = mask / mask.sum(axis=0)
    P[[2, 5]] *= np.array([[0.5], [1.5]]) * (P[2] > 0)  # the same candidates, other labels
    keys = np.zeros(9, dtype=np.uint64)
    for rows in np.array_split(rng.permutation(12), shards):
        y, sets = entries(P[:, rows], mask[:, rows])
        keys += class_keys(y, sets, rows)
    alike = {(a, b) for part in twins_of(keys) for a in part.tolist() for b in part.tolist()}
    for a in range(9):
        for b in range(9):
            same = (P[a] == P[b]).all() and P[a].any() and a != b
            assert ((a, b) in alike and a != b) == same


def test_rows_of_twins_are_levelled():
    y, sets = entries(np.full((3, 2), 1 / 3), np.ones((3, 2), dtype=bool))
    rows = np.arange(6.0).reshape(3, 2)
    LabelRows(y, sets, np.ones(2)).level(rows)
    np.testing.assert_array_equal(rows, [[2, 3]] * 3)
