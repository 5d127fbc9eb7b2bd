"""The methods for single instances with candidates, each by its definition."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, nnls
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from candidly import ICE, datasets, labelling_error, methods
from candidly.baselines import CLPL, IPAL, PLAGGD, PLKNN, PLSVM, PRODEN, SURE, PartialLogistic
from candidly.baselines.compared import nearest_labels
from candidly.baselines.feature_scaling import standardise, to_unit_interval
from candidly.baselines.ipal import propagate, shares
from candidly.baselines.local_weights import batched_nnls, graph, neighbours, simplex_weights
from candidly.baselines.partial_logistic import minimise_partial_likelihood, partial_likelihood
from candidly.baselines.pl_aggd import smooth_labels
from candidly.baselines.pl_svm import margin_loss
from candidly.baselines.sure import sure_labels
from candidly.solvers import CandidateSets
from problems import entries, seeds

NAIVE = CLPL(loss="each")
OURS = [NAIVE, CLPL(), PartialLogistic(), PLSVM(), PLKNN(), IPAL(), PLAGGD(), SURE()]
BY_CHANCE = [model for model in OURS if not isinstance(model, SURE)]
TAKE_SOFT_LABELS = [model for model in OURS if model.tags.priors]
NEEDS_TORCH = "needs torch: pip install 'candidly[torch]'"


def decision(model, X):
    """Scores of all classes (N, c) by a fitted method, in the order of its classes."""
    return model.classifier_.predictor.scores(X)[:, model.classifier_._back]


@pytest.fixture(scope="module")
def lost():
    return datasets.load("lost")


def blobs(seed=0, N=60, centers=3, spread=2.0):
    X, y = make_blobs(N, n_features=5, centers=centers, cluster_std=spread, random_state=seed)
    return X, y


def ambiguous(seed=0, N=60, c=4, m=5):
    """Features, mask, truth: two candidates each, one of them right."""
    X, y = make_blobs(N, n_features=m, centers=c, cluster_std=2.0, random_state=seed)
    rng = np.random.default_rng(seed)
    mask = np.eye(c, dtype=bool)[y]
    mask[np.arange(N), (y + rng.integers(1, c, size=N)) % c] = True
    return X, mask, y


def objective(model):
    return model.solution_.trace.column("objective")


def goes_down(values):
    return (np.diff(values) <= 1e-9 * np.abs(values[0])).all()


# Every method


@pytest.mark.parametrize("model", OURS, ids=repr)
def test_it_is_listed_with_reference_cost_and_use(model):
    made = {repr(methods.get(name)): methods.describe(name) for name in methods.names()}
    entry = made[repr(model)]
    assert entry.reference
    assert entry.cost
    assert entry.use


@pytest.mark.parametrize("model", BY_CHANCE, ids=repr)
@pytest.mark.parametrize("width", [2, 4])
def test_one_candidate_set_for_all_gives_chance(model, width):
    X, y = blobs()
    mask = np.ones((len(X), 4), bool)
    if width == 2:  # and another set, of the labels left, for one of the clusters
        mask[:] = (y == 0)[:, None] == [True, True, False, False]
    soft = model.fit(X, mask).label_distributions_
    assert_allclose(soft[mask], 1 / width, atol=0.02)


def test_sure_tells_no_instances_apart_when_all_have_one_candidate_set():
    X, _ = blobs()
    soft = SURE().fit(X, np.ones((len(X), 4), bool)).label_distributions_
    assert_allclose(soft, np.repeat(soft[:1], len(X), axis=0), atol=1e-9)


@pytest.mark.parametrize("model", OURS, ids=repr)
def test_units_of_features_do_not_matter(model):
    X, mask, _ = ambiguous()
    model = clone(model).set_params(random_state=0)
    expected = model.fit(X, mask).label_distributions_
    units = np.array([1e150, 1e-150, 1.0, 3.0, 1e5])
    assert_allclose(model.fit(X * units, mask).label_distributions_, expected, atol=1e-4)
    constant = np.hstack([X, np.full((len(X), 1), 0.1)])
    assert_allclose(model.fit(constant, mask).label_distributions_, expected, atol=1e-4)


@pytest.mark.parametrize("model", OURS, ids=repr)
@pytest.mark.parametrize("N", [1, 2, 5])
def test_few_or_equal_instances_are_labelled(model, N):
    mask = np.ones((N, 3), bool)
    mask[1:, 0] = False
    for X in (np.arange(2.0 * N).reshape(N, 2), np.ones((N, 2)), np.zeros((N, 2))):
        model.fit(X, mask)
        assert np.isfinite(model.label_distributions_).all()
        assert (model.label_distributions_[1:, 0] == 0).all()
        assert model.predict(X).shape == (N,)


@pytest.mark.parametrize("model", OURS, ids=repr)
def test_a_new_instance_far_out_is_predicted(model):
    X, mask, _ = ambiguous()
    assert model.fit(X * 1e-5, mask).predict(np.full((1, 5), 1e300))[0] in range(4)


@pytest.mark.parametrize("model", TAKE_SOFT_LABELS, ids=repr)
def test_priors_sway_the_labels(model):
    X, mask, y = ambiguous()
    flat = np.ones_like(mask)
    prior = np.where(np.eye(4, dtype=bool)[y], 0.4, 0.2)
    model = clone(model).set_params(random_state=0)
    by_chance = np.mean(model.fit(X, flat).transduction_ == y)
    assert np.mean(model.fit(X, prior).transduction_ == y) > by_chance + 0.4


@pytest.mark.parametrize("model", TAKE_SOFT_LABELS, ids=repr)
def test_elimination_runs_over_what_takes_soft_labels(model):
    X, mask, y = ambiguous()
    found = ICE(model, random_state=0).fit(X, mask)
    assert (found.label_distributions_.max(axis=1) > 0.5 + 1e-9).any()
    assert np.mean(found.transduction_ == y) > 0.8
    assert np.mean(found.predict(X) == y) > 0.8


# Scaling


def test_scaling_is_scikit_learns_where_that_has_no_trouble():
    X, _ = blobs()
    assert_allclose(to_unit_interval(X)(X), MinMaxScaler().fit_transform(X))
    assert_allclose(standardise(X)(X), StandardScaler().fit_transform(X))


@pytest.mark.parametrize("scale", [to_unit_interval, standardise])
def test_scaling_keeps_huge_tiny_and_constant_features_in_range(scale):
    X = np.array([[1e306, 1e-306, 7.0], [-1e306, 3e-306, 7.0], [1e305, 2e-306, 7.0]])
    scaled = scale(X)(X)
    assert np.ptp(scaled[:, :2], axis=0).min() >= 1
    assert_array_equal(scaled[:, 2], 0)
    assert np.isfinite(scale(X)(np.full((1, 3), 1.7e308))).all()


# naive and CLPL


def stacked(X, mask, pooled):
    """The binary problem with one block of columns per class, bias included."""
    A = np.hstack([X, np.ones((len(X), 1))])
    rows, signs, weights = [], [], []
    for x, candidates in zip(A, mask, strict=True):
        for a in np.flatnonzero(~candidates):
            rows.append(np.kron(np.eye(len(candidates))[a], x))
            signs.append(-1)
            weights.append(1)
        if pooled:
            rows.append(np.kron(candidates / candidates.sum(), x))
            signs.append(1)
            weights.append(1)
            continue
        for a in np.flatnonzero(candidates):
            rows.append(np.kron(np.eye(len(candidates))[a], x))
            signs.append(1)
            weights.append(1 / candidates.sum())
    return np.array(rows), np.array(signs), np.array(weights)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("model", [NAIVE, CLPL(), CLPL(C=0.1)], ids=repr)
def test_it_is_the_minimum_of_the_stacked_binary_problem(model, wide):
    X, mask, _ = ambiguous(N=30)
    if wide:  # more features than instances
        X = np.hstack([X, np.random.default_rng(1).normal(size=(30, 60))])
    Z = StandardScaler().fit_transform(X)
    rows, signs, weights = stacked(Z, mask, model.loss == "mean")
    svm = LinearSVC(C=model.C, fit_intercept=False, dual=False, tol=1e-9, max_iter=10000)
    svm.fit(rows, signs, sample_weight=weights)
    W = svm.coef_.reshape(4, -1)
    expected = np.hstack([Z, np.ones((30, 1))]) @ W.T
    model.fit(X, mask)
    assert_allclose(model.solution_.scores, expected[mask], atol=1e-4)
    assert_allclose(decision(model, X), expected, atol=1e-4)
    hinge = np.maximum(1 - signs * (rows @ W.ravel()), 0)
    least = 0.5 * np.sum(W**2) + model.C * np.sum(weights * hinge**2)
    assert objective(model)[-1] == pytest.approx(least, rel=1e-7)
    assert goes_down(objective(model))


@pytest.mark.parametrize("model", [NAIVE, CLPL()], ids=repr)
def test_singletons_give_the_one_vs_rest_squared_hinge(model):
    X, y = blobs(centers=4)
    Z = StandardScaler().fit_transform(X)
    svm = LinearSVC(dual=False, tol=1e-9).fit(Z, y)
    model.fit(X, y)
    assert_allclose(decision(model, X), svm.decision_function(Z), atol=1e-4)
    new = X + 1
    assert_array_equal(model.predict(new), svm.predict(StandardScaler().fit(X).transform(new)))


def test_an_optimiser_that_ran_out_says_so():
    X, mask, _ = ambiguous()
    assert CLPL(max_iter=2).fit(X, mask).solution_.status.name == "MAX_ITER"
    assert CLPL().fit(X, mask).solution_.status.name == "DONE"


# PL-LR


def partial_problem(seed=0, N=8, k=3, c=4):
    rng = np.random.default_rng(seed)
    mask = rng.random((N, c)) < 0.5
    mask[np.arange(N), rng.integers(c, size=N)] = True
    P = np.where(mask, rng.uniform(0.2, 1, (N, c)), 0)
    return rng.normal(size=(N, k)), P / P.sum(axis=1, keepdims=True), mask


def plain_objective(W, A, P, mask, penalty, weight):
    """Return the objective in the plainest form, instance by instance."""
    value = penalty / 2 * np.sum(W[:-1] ** 2)
    for a, p, m, w in zip(A, P, mask, weight, strict=True):
        likely = np.exp(a @ W[:-1] + W[-1])
        value -= w * np.log(np.sum(m.sum() * p * likely / likely.sum()))
    return value


def test_the_slope_of_the_partial_likelihood_is_its_derivative():
    rng = np.random.default_rng(0)
    _, P, mask = partial_problem()
    G = 3 * rng.normal(size=P.shape)
    G[0] = np.where(mask[0], -1000, 0)  # its set is so unlikely that exponentials are 0
    pi = P * mask.sum(axis=1, keepdims=True)
    loss, slope = partial_likelihood(G.copy(), pi)
    assert loss[0] == pytest.approx(1000, abs=3)

    def total(g):
        return partial_likelihood(g.reshape(G.shape).copy(), pi)[0].sum()

    assert_allclose(slope.ravel(), approx_fprime(G.ravel(), total, 1e-6), atol=1e-5)


@pytest.mark.parametrize("k", [3, 20])  # the second has more features than instances
def test_the_partial_likelihood_is_at_its_minimum(k):
    A, P, mask = partial_problem(k=k, N=12)
    weight = np.linspace(0, 2, 12)
    W, values, status = minimise_partial_likelihood(A, P, mask, 1.0, 500, weight=weight)
    assert W.shape == (k + 1, 4)
    assert status.name == "DONE"
    assert goes_down(values)
    least = plain_objective(W, A, P, mask, 1.0, weight)
    assert values[-1] == pytest.approx(least)
    rng = np.random.default_rng(1)
    for step in (0.01, 0.1):
        moved = W + step * rng.normal(size=(50, *W.shape))
        assert least < min(plain_objective(V, A, P, mask, 1.0, weight) for V in moved)
    again, values, _ = minimise_partial_likelihood(A, P, mask, 1.0, 500, W, weight)
    assert len(values) <= 3
    assert values[-1] <= least + 1e-9
    assert_allclose(again, W, atol=0.02)


def test_sets_of_everything_have_no_influence_unless_a_label_is_preferred():
    A, P, mask = partial_problem()
    expected, _, _ = minimise_partial_likelihood(A, P, mask, 1.0, 500)
    more = np.vstack([A, A + 1]), np.vstack([P, np.full(P.shape, 0.25)])
    everything = np.vstack([mask, np.ones_like(mask)])
    found, _, _ = minimise_partial_likelihood(*more, everything, 1.0, 500)
    assert_array_equal(found, expected)
    more[1][-1] = [0.7, 0.1, 0.1, 0.1]
    found, _, _ = minimise_partial_likelihood(*more, everything, 1.0, 500)
    assert np.abs(found - expected).max() > 0.01
    nothing, _, _ = minimise_partial_likelihood(A, P * 0 + 0.25, mask | True, 1.0, 500)
    assert_array_equal(nothing, 0)


@pytest.mark.parametrize("scaling", ["range", "standard", "none"])
def test_singletons_give_logistic_regression(scaling):
    X, y = blobs(spread=4.0)
    model = PartialLogistic(scaling=scaling).fit(X, y)
    Z = model.classifier_.predictor.scaling(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    assert np.mean(np.sum(Z**2, axis=1)) == pytest.approx(100)
    plain = LogisticRegression(C=1 / model.penalty, tol=1e-8).fit(Z, y)
    assert_allclose(model.predict_proba(X), plain.predict_proba(Z), atol=5e-3)


def test_pl_lr_has_probabilities_that_fit_its_labels():
    X, mask, _ = ambiguous()
    model = PartialLogistic().fit(X, mask)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(proba.argmax(axis=1), model.predict(X))
    inside = np.where(mask, proba, 0)
    expected = inside / inside.sum(axis=1, keepdims=True)
    assert_allclose(model.label_distributions_, expected, atol=1e-9)
    assert ICE(PartialLogistic(), random_state=0).fit(X, mask).predict_proba(X).shape == (60, 4)
    assert not hasattr(CLPL().fit(X, mask), "predict_proba")


# PL-SVM


def test_pl_svms_best_objective_goes_down():
    X, mask, _ = ambiguous()
    values = objective(PLSVM().fit(X, mask))
    assert goes_down(values)
    assert values[0] == 1  # no weights: every instance misses the whole margin
    assert values[-1] < 0.8


def test_the_slope_of_the_margin_loss_is_its_derivative():
    rng = np.random.default_rng(0)
    G, mask = rng.normal(size=(6, 4)), rng.random((6, 4)) < 0.5
    mask[:, 0] = True
    mask[-1] = True  # every label a candidate: nothing to lose
    _, slope = margin_loss(G, mask)
    numeric = approx_fprime(G.ravel(), lambda g: margin_loss(g.reshape(6, 4), mask)[0], 1e-7)
    assert_allclose(slope.ravel(), numeric, atol=1e-6)
    assert_array_equal(slope[-1], 0)


def test_equal_scores_share_the_slope():
    value, slope = margin_loss(np.zeros((1, 5)), np.array([[True, True, False, False, False]]))
    assert value == 1
    assert_allclose(slope, [[-1 / 2, -1 / 2, 1 / 3, 1 / 3, 1 / 3]])


def test_singletons_give_pl_svm_the_multiclass_machine():
    X, y = blobs(N=90)
    Z = StandardScaler().fit_transform(X)
    svm = LinearSVC(multi_class="crammer_singer", C=1 / 90, fit_intercept=False, tol=1e-8)
    W = svm.fit(Z, y).coef_
    loss, _ = margin_loss(Z @ W.T, np.eye(3, dtype=bool)[y])
    least = 0.5 * np.sum(W**2) + loss
    model = PLSVM(max_iter=5000).fit(X, y)
    assert objective(model)[-1] == pytest.approx(least, rel=2e-3)
    assert np.mean(model.predict(X) == svm.predict(Z)) > 0.97


# PL-KNN


def test_pl_knn_equals_an_example_worked_by_hand():
    X = np.array([[0.0], [1.0], [4.0], [10.0]])  # at 0, 0.1, 0.4 and 1 when scaled
    sets = [{"a", "b"}, {"a"}, {"b", "c"}, {"a", "c"}]
    model = PLKNN(n_neighbors=2, random_state=0).fit(X, sets)
    # The first has neighbours at 0.1 (voting 4/5 for a) and at 0.4 (voting 1/5 for b and c).
    # The third: 4/7 + 3/7 for a, which it may not be, and 3/7 for b.
    # The last: 3/5 for b and c, and 2/5 for a.
    expected = [[0.8, 0.2, 0], [1, 0, 0], [0, 1, 0], [0.4, 0, 0.6]]
    assert_allclose(model.label_distributions_, expected, atol=1e-12)
    assert_array_equal(model.transduction_, ["a", "a", "b", "c"])
    # A new one at 0.3: 1/3 for the second's a, 2/3 for the third's b and c; the first has it.
    assert model.predict([[3.0]])[0] == "b"


def test_singletons_give_pl_knn_the_neighbour_vote():
    X, y = blobs(N=90, spread=4.0)
    scaler = MinMaxScaler().fit(X)

    def votes(distance):
        return 1 - distance / distance.sum(axis=1, keepdims=True)

    knn = KNeighborsClassifier(10, weights=votes).fit(scaler.transform(X), y)
    new = X + np.random.default_rng(0).normal(size=X.shape)
    assert_array_equal(PLKNN().fit(X, y).predict(new), knn.predict(scaler.transform(new)))


def test_pl_knn_draws_among_candidates_with_equal_votes():
    X, _ = blobs(N=200)
    mask = np.ones((200, 2), bool)
    labels = PLKNN(random_state=0).fit(X, mask).transduction_
    assert 70 < np.sum(labels == 0) < 130
    assert_array_equal(PLKNN(random_state=0).fit(X, mask).transduction_, labels)
    assert (PLKNN(random_state=1).fit(X, mask).transduction_ != labels).any()


# Weights of neighbours


@given(seeds)
def test_batched_least_squares_equals_scipys(seed):
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(8, 12, 6)) + rng.random(), rng.normal(size=(8, 12))
    AT = A.transpose(0, 2, 1)
    found = batched_nnls(AT @ A, (AT @ x[:, :, None])[:, :, 0])
    for i in range(8):
        assert_allclose(found[i], nnls(A[i], x[i])[0], atol=1e-8)


def test_duplicates_share_their_weight():
    A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # rows
    weights = batched_nnls((A @ A.T)[None], (A @ np.array([2.0, 3.0]))[None])
    assert_allclose(weights, [[1, 1, 3]], atol=1e-6)


@given(seeds)
def test_simplex_weights_are_optimal(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 6, 9)) + 2 * rng.random()
    G = A @ A.transpose(0, 2, 1)
    w = simplex_weights(G)
    assert_allclose(w.sum(axis=1), 1)
    assert (w >= 0).all()
    slope = (G @ w[:, :, None])[:, :, 0]
    least = (w * slope).sum(axis=1, keepdims=True)  # the slope of every weight in use
    assert (slope >= least - 1e-5 * np.abs(G).max()).all()


# IPAL


def test_ipals_shares_are_least_squares_weights_of_the_neighbours():
    X, _ = blobs()
    X = to_unit_interval(X)(X)
    H_T = shares(X, 4).toarray()
    distance = euclidean_distances(X) + np.diag(np.full(len(X), np.inf))
    for i in range(len(X)):
        near = distance[i].argsort()[:4]
        weight = nnls(X[near].T, X[i])[0]
        expected = np.zeros(len(X))
        expected[near] = weight / weight.sum()
        assert_allclose(H_T[i], expected, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.5, 0.95])
def test_ipals_propagation_equals_its_closed_form_when_every_label_is_a_candidate(alpha):
    X, _ = blobs()
    H_T = shares(to_unit_interval(X)(X), 5)
    P = np.random.default_rng(0).dirichlet(np.ones(4), size=len(X))
    start, sets = entries(P.T, np.ones(P.T.shape, dtype=bool))
    found = sets.matrix(propagate(H_T, start, sets, alpha, max_iter=1000)).T
    expected = (1 - alpha) * np.linalg.solve(np.eye(len(X)) - alpha * H_T.toarray(), P)
    assert_allclose(found, expected, atol=1e-10)


def test_ipal_scales_back_labels_that_spread():
    X, mask, _ = ambiguous()
    P = mask / mask.sum(axis=1, keepdims=True)
    start, sets = entries(P.T, mask.T)
    H_T = shares(to_unit_interval(X)(X), 10)
    F = sets.matrix(propagate(H_T, start, sets, 0.95, 100)).T
    expected = F * P.sum(axis=0) / F.sum(axis=0)
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(IPAL().fit(X, mask).label_distributions_, expected, atol=1e-8)


def test_ipal_predicts_by_what_the_neighbours_of_a_label_leave_over():
    X, mask, _ = ambiguous()
    model = IPAL(n_neighbors=6).fit(X, mask)
    new = X + np.random.default_rng(0).normal(size=X.shape)
    scale = to_unit_interval(X)
    old, labels = scale(X), []
    for x in scale(new):
        near = np.linalg.norm(old - x, axis=1).argsort()[:6]
        weight = nnls(old[near].T, x)[0]
        left = [
            np.sum((x - (weight * (model.transduction_[near] == a)) @ old[near]) ** 2)
            for a in range(4)
        ]
        labels.append(np.argmin(left))
    assert_array_equal(model.predict(new), labels)


# SURE and PL-AGGD


@pytest.mark.parametrize("model", [SURE(), PLAGGD()], ids=repr)
def test_a_penalty_that_rounding_swallows_is_refused(model):
    X = np.repeat(blobs(N=6)[0], 3, axis=0)
    with pytest.raises(ValueError, match="penalty 1e-30 is too small"):
        model.set_params(penalty=1e-30).fit(X, np.ones((18, 2), bool))


@pytest.mark.parametrize("model", [SURE(), PLAGGD()], ids=repr)
def test_singletons_give_kernel_ridge_with_a_bias(model):
    X, y = blobs()
    Z, Y = StandardScaler().fit_transform(X), np.eye(3)[y]
    distance = euclidean_distances(Z)
    gamma = 0.5 / distance[np.triu_indices(60, 1)].mean() ** 2
    K = np.exp(-gamma * distance**2)
    ones = np.ones((60, 1))
    system = np.block([[K + 0.05 * np.eye(60), ones], [ones.T, np.zeros((1, 1))]])
    bias = np.linalg.solve(system, np.vstack([Y, np.zeros((1, 3))]))[-1]
    ridge = KernelRidge(alpha=0.05, kernel="rbf", gamma=gamma).fit(Z, Y - bias)
    model.fit(X, y)
    assert_allclose(decision(model, X), ridge.predict(Z) + bias, atol=1e-9)
    new = X + np.random.default_rng(0).normal(size=X.shape)
    scores = ridge.predict(StandardScaler().fit(X).transform(new)) + bias
    assert_array_equal(model.predict(new), scores.argmax(axis=1))


@pytest.mark.parametrize("model", [SURE(), PLAGGD(), PLAGGD(label_weight=5.0)], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_every_round_lowers_the_objective(model, seed):
    X, mask, _ = ambiguous(seed)
    values = objective(model.fit(X, mask))
    assert len(values) > 2
    assert goes_down(values)
    assert values[-1] < values[0]


@given(seeds)
def test_sure_labels_beat_every_other_point(seed):
    rng = np.random.default_rng(seed)
    f, mask = rng.normal(size=(1, 4)), rng.random((1, 4)) < 0.6
    mask[0, rng.integers(4)] = True

    def cost(p):
        return np.square(p - f).sum(axis=1) - 0.3 * p.max(axis=1)

    found = sure_labels(f, mask, 0.3)
    near = np.maximum(found + rng.normal(size=(500, 4)) * rng.choice([0.01, 0.3], (500, 1)), 0)
    others = np.vstack([near, rng.dirichlet(np.ones(4), 500), np.eye(4)]) * mask
    others = others[others.sum(axis=1) > 0]
    others = others / others.sum(axis=1, keepdims=True)
    assert_allclose(found.sum(), 1)
    assert found[~mask].sum() == 0
    assert cost(found) <= cost(others).min() + 1e-9


@pytest.mark.parametrize("nearness", [1.0, 0.1])
def test_smooth_labels_are_optimal(nearness):
    X, mask, _ = ambiguous()
    index = neighbours(X, 5)
    rng = np.random.default_rng(0)
    W = graph(rng.dirichlet(np.ones(5), size=len(X)), index)
    F, P = rng.normal(size=mask.shape), mask / mask.sum(axis=1, keepdims=True)
    Y = smooth_labels(W, F, P, mask, nearness)
    rest = np.eye(len(X)) - W.toarray()
    slope = rest.T @ rest @ Y + nearness * (Y - F)
    # Of a convex problem: no step down the slope leads anywhere inside.
    assert_allclose(nearest_labels(Y - slope, CandidateSets.of_mask(mask.T)), Y, atol=1e-6)


def test_a_round_of_pl_aggd_equals_its_definition():
    X, mask, _ = ambiguous(N=25)
    prior = np.where(mask, np.random.default_rng(0).random(mask.shape) + 0.1, 0)
    Y = prior / prior.sum(axis=1, keepdims=True)
    Z = StandardScaler().fit_transform(X)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    index = neighbours(unit, 3)
    W = np.zeros((25, 25))
    both = np.hstack([unit, Y])
    steps = np.linspace(0, 1, 101)
    grid = np.array([(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1 + 1e-12])
    for i in range(25):
        cost = np.square(both[i] - grid @ both[index[i]]).sum(axis=1)
        W[i, index[i]] = grid[cost.argmin()]
    distance = euclidean_distances(Z)
    K = np.exp(-0.5 * (distance / distance[np.triu_indices(25, 1)].mean()) ** 2)
    ones = np.ones((25, 1))
    system = np.block([[K + 0.05 * np.eye(25), ones], [ones.T, np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([Y, np.zeros((1, 4))]))
    F = K @ solved[:-1] + solved[-1]
    rest = np.eye(25) - W
    sets = CandidateSets.of_mask(mask.T)
    for _ in range(3000):
        slope = rest.T @ rest @ Y + Y - F
        Y = nearest_labels(Y - 0.1 * slope, sets)
    model = PLAGGD(n_neighbors=3, max_iter=1).fit(X, prior)
    assert_allclose(model.label_distributions_, Y, atol=0.02)  # the grid's step is 0.01


# PRODEN


def test_proden_is_listed_and_made_without_torch_and_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "PRODEN" in methods.names()
    model = methods.get("PRODEN")
    X, mask, _ = ambiguous(N=10)
    with pytest.raises(ImportError, match=r"PRODEN need torch: pip install 'candidly\[torch\]'"):
        model.fit(X, mask)


def test_prodens_objective_goes_down_and_labels_stay_on_the_candidates():
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    X, mask, y = ambiguous()
    for hidden in (0, 16):
        model = PRODEN(hidden=hidden, random_state=0).fit(X, mask)
        values = objective(model)
        assert values[-1] < 0.5 * values[0]
        assert np.mean(model.transduction_ == y) > 0.85
        assert (model.label_distributions_[~mask] == 0).all()


def test_prodens_labels_are_its_softmax_on_the_candidates():
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    X, mask, _ = ambiguous()
    # A step too small to move anything: the labels are those of the network as it started.
    model = PRODEN(epochs=1, learning_rate=1e-12, random_state=0).fit(X, mask)
    scores = model.classifier_.predictor.scores(X)[:, model.classifier_._back]
    expected = np.where(mask, np.exp(scores), 0)
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(model.label_distributions_, expected, atol=1e-9)


def test_a_learning_rate_that_leads_nowhere_is_named():
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    X, mask, _ = ambiguous()
    with pytest.raises(ValueError, match="not finite with learning_rate 1e\\+200; lower it"):
        PRODEN(learning_rate=1e200, random_state=0).fit(X, mask)


def test_singletons_give_proden_logistic_regression():
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    X, y = blobs(spread=4.0)
    Z = np.hstack([StandardScaler().fit_transform(X), np.ones((60, 1))])
    plain = LogisticRegression(C=1 / (60 * 1e-2), fit_intercept=False, tol=1e-10).fit(Z, y)
    model = PRODEN(weight_decay=1e-2, epochs=5000, learning_rate=0.05, random_state=0).fit(X, y)
    scores = model.classifier_.predictor.scores(X)[:, model.classifier_._back]
    expected = Z @ plain.coef_.T
    centred = scores - scores.mean(axis=1, keepdims=True)
    assert_allclose(centred, expected - expected.mean(axis=1, keepdims=True), atol=1e-3)


def test_proden_repeats_with_its_seed_and_leaves_torch_as_it_was():
    torch = pytest.importorskip("torch", reason=NEEDS_TORCH)
    X, mask, _ = ambiguous()
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    first, second = (PRODEN(epochs=20, random_state=3).fit(X, mask) for _ in range(2))
    assert_array_equal(first.label_distributions_, second.label_distributions_)
    other = PRODEN(epochs=20, random_state=4).fit(X, mask)
    assert (other.label_distributions_ != first.label_distributions_).any()
    assert_array_equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads


# Reference figures


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("CLPL", 11.7),
        ("PL-LR", 8.2),
        ("IPAL", 21.0),
        ("PL-SVM", 9.0),
        ("PL-KNN", 32.6),
        ("PL-AGGD", 11.9),
    ],
)
def test_lost_is_labelled_as_well_as_the_reference(lost, name, reference):
    model = methods.get(name).set_params(classifier=None, random_state=0)
    error = 100 * labelling_error(lost.y, model.fit_predict(lost.X, lost.candidates))
    assert error == pytest.approx(reference, abs=1.5)


@pytest.mark.slow
@pytest.mark.real_data
def test_naive_is_worse_than_clpl_and_better_than_chance_on_lost(lost):
    error = {
        name: 100 * labelling_error(lost.y, methods.get(name).fit_predict(lost.X, lost.candidates))
        for name in ("naive", "CLPL", "SURE")
    }
    assert error["CLPL"] + 3 < error["naive"] < 25
    assert error["SURE"] < 20


@pytest.mark.real_data
def test_proden_is_better_than_chance_on_lost(lost):
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    labels = PRODEN(random_state=0).fit_predict(lost.X, lost.candidates)
    assert 100 * labelling_error(lost.y, labels) < 20


@pytest.mark.real_data
def test_ipal_labels_birdsong_well():
    birds = datasets.load("birdsong")
    labels = IPAL().fit_predict(birds.X, birds.candidates)
    assert 100 * labelling_error(birds.y, labels) < 20
